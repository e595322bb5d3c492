/** @jsxImportSource #widget */
import { safeMedia } from "../chat/safe-address";
import type { Person } from "../service/types";
import type { Props } from "./props";

/** Returns the initials of the first and the last word of a name, in upper case. A single word has one initial. */
function initials(name: string): string {
  const words = name.trim().split(/\s+/);
  const letters = words.length > 1 ? [words[0], words.at(-1)] : words;
  return letters
    .map((word) => [...(word ?? "")][0] ?? "")
    .join("")
    .toUpperCase();
}

/** A person's picture, or the initials if there is no picture or it cannot be loaded. */
export function Avatar({ person, index = 0, state, actions }: Props & { person: Person; index?: number }) {
  const photo = safeMedia(person.photo);
  return (
    <span class={`avatar tone${index % 3}`} aria-hidden="true">
      {photo !== undefined && !state.broken.has(photo) ? (
        <img src={photo} alt="" width="36" height="36" onError={() => actions.mediaFailed(photo)} />
      ) : (
        initials(person.name)
      )}
    </span>
  );
}
