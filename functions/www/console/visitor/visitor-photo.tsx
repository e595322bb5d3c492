import { signal } from "@preact/signals";
import { Avatar } from "../../ui/avatar";
import { isAnonymous } from "../state/workspace";
import { isWebUrl } from "./external-link";

/** The pictures that the agent has chosen to load. The server of a picture learns the agent's address, so no picture of
 * a visitor is loaded by itself. */
const loadedPhotos = signal<ReadonlySet<string>>(new Set());

/** Returns the address of a visitor's picture if the agent has loaded it. */
export const loadedPhoto = (photo: string | null | undefined) =>
  photo && loadedPhotos.value.has(photo) ? photo : undefined;

interface VisitorAvatarProps {
  number: number;
  name: string;
  photo: string | null;
}

/** A visitor's initials. If the visitor has a picture, a click loads it. */
export function VisitorAvatar({ number, name, photo }: VisitorAvatarProps) {
  const loaded = loadedPhoto(photo);
  const avatar = <Avatar id={number} name={name} photo={loaded} isAnonymous={isAnonymous(name)} />;
  if (!isWebUrl(photo) || loaded !== undefined || !URL.canParse(photo)) return avatar;
  return (
    <button
      type="button"
      class="photo-button"
      title={`Show the picture. ${new URL(photo).host} will see your network address.`}
      onClick={() => (loadedPhotos.value = new Set(loadedPhotos.peek()).add(photo))}
    >
      <span class="sr">Show the picture</span>
      {avatar}
    </button>
  );
}
