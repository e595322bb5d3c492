import { Avatar } from "../../ui/avatar";
import { loadedPhotos } from "../state/list/view-state";
import { isAnonymous } from "../state/list/chats";
import { isWebUrl } from "./external-link";
import { t } from "../../texts/translate";

/** Returns the address of a visitor's picture if the agent has loaded it. */
export const loadedPhoto = (photo: string | null | undefined) =>
  photo && loadedPhotos.value.has(photo) ? photo : undefined;

interface VisitorAvatarProps {
  number: number;
  name: string;
  photo: string | null;
}

function togglePhoto(photo: string): void {
  const photos = new Set(loadedPhotos.peek());
  if (!photos.delete(photo)) photos.add(photo);
  loadedPhotos.value = photos;
}

/** A visitor's initials. If the visitor has a picture, a click loads it, and another one hides it. */
export function VisitorAvatar({ number, name, photo }: VisitorAvatarProps) {
  const loaded = loadedPhoto(photo);
  const avatar = <Avatar id={number} name={name} photo={loaded} isAnonymous={isAnonymous(name)} />;
  if (!isWebUrl(photo) || !URL.canParse(photo)) return avatar;
  const host = new URL(photo).host;
  return (
    <button
      type="button"
      class="photo-button"
      title={loaded === undefined ? t`Show the picture. ${host} will see your network address.` : t`Hide the picture`}
      onClick={() => togglePhoto(photo)}
    >
      <span class="sr">{loaded === undefined ? t`Show the picture` : t`Hide the picture`}</span>
      {avatar}
    </button>
  );
}
