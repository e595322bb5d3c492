/** @jsxImportSource #widget */
import { safeMedia } from "../chat/safe-address";
import type { Person } from "../service/types";
import type { State } from "../state";
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

/** Returns a person of the team with the picture that is known. */
export function personNamed(name: string, { conversation, agents, settings }: State): Person {
  const isNamed = (person: { name?: string; photo?: string | null }) => person.name === name && person.photo;
  const known = conversation.messages.findLast(isNamed) ?? agents.find(isNamed);
  return { name, photo: known?.photo ?? (name === settings.title ? settings.avatar : null) };
}

/** Returns one of the three colours of initials, which is always the same for a name. */
const toneOf = (name: string): number => [...name].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0) % 3;

/** A person's picture, or the initials if there is no picture or it cannot be loaded. */
export function Avatar({ person, state, actions }: Props & { person: Person }) {
  const photo = safeMedia(person.photo);
  return (
    <span class={`avatar tone${toneOf(person.name)}`} aria-hidden="true">
      {photo !== undefined && !state.broken.has(photo) ? (
        <img src={photo} alt="" width="36" height="36" onError={() => actions.mediaFailed(photo)} />
      ) : (
        initials(person.name)
      )}
    </span>
  );
}
