import { useState } from "preact/hooks";
import { Icon } from "./icons";

const TINT_COUNT = 6;

/** Returns the initials of the first and last word. If the name does not start with a Latin, Cyrillic or Greek letter
 * or a digit, returns only the first character. */
export function initials(name: string): string {
  const words = name
    .replace(/[^\p{L}\p{M}\p{N}\s]/gu, " ")
    .trim()
    .split(/\s+/)
    .filter((word) => word.length > 0);
  const first = [...(words[0] ?? "")][0] ?? "";
  const last = words.length > 1 ? ([...(words.at(-1) ?? "")][0] ?? "") : "";
  const isLatin = /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}]/u.test(first);
  return (isLatin ? first + last : first).toUpperCase();
}

interface AvatarProps {
  /** The person's id, which determines the colour. */
  id: number;
  name: string;
  photo?: string | null | undefined;
  /** Whether the person's name is unknown. */
  isAnonymous?: boolean;
  isBot?: boolean;
  class?: string;
}

export function Avatar({ id, name, photo, isAnonymous, isBot, class: extra }: AvatarProps) {
  const [brokenPhoto, setBrokenPhoto] = useState<string>();
  const tint = isBot ? "bot" : isAnonymous ? "f0" : `f${(id % TINT_COUNT) + 1}`;
  const isPhoto = photo && photo !== brokenPhoto && /^https?:\/\//i.test(photo);
  return (
    <span class={`face ${tint} ${extra ?? ""}`} aria-hidden="true">
      {isPhoto ? (
        <img
          src={photo}
          alt=""
          loading="lazy"
          decoding="async"
          referrerpolicy="no-referrer"
          onError={() => setBrokenPhoto(photo)}
        />
      ) : isBot ? (
        <Icon name="bot" />
      ) : isAnonymous ? (
        <Icon name="user-round" />
      ) : (
        initials(name)
      )}
    </span>
  );
}
