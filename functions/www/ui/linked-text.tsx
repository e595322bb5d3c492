/* Other people's words as nodes. Nothing here is ever HTML. */

import type { ComponentChild } from "preact";

export const BLOCKED = "[link blocked]";

const LINKS = /(https?:\/\/[^\s<>"'`]+)|(\[link blocked\])/gi;
/** Closing marks belong to the sentence, not to the address. */
const TAIL = /[.,;:!?…»”’)\]}]+$/;

type Part = { kind: "text" | "link" | "blocked"; text: string };

/** Cuts a text into words, addresses and places where Safe URL took an address away. */
export function parts(text: string): Part[] {
  const found: Part[] = [];
  const add = (kind: Part["kind"], piece: string) => {
    if (piece.length > 0) found.push({ kind, text: piece });
  };
  let end = 0;
  for (const match of text.matchAll(LINKS)) {
    add("text", text.slice(end, match.index));
    end = match.index + match[0].length;
    if (match[2] !== undefined) {
      add("blocked", match[2]);
      continue;
    }
    let address = match[0];
    const tail = TAIL.exec(address)?.[0] ?? "";
    const opens = (address.match(/\(/g) ?? []).length;
    const keeps = tail.startsWith(")") && opens > 0 ? opens : 0;
    address = address.slice(0, address.length - tail.length + keeps);
    add("link", address);
    end = match.index + address.length;
  }
  add("text", text.slice(end));
  return found;
}

export function Blocked() {
  return (
    <span class="blocked" title="Safe URL does not allow this domain">
      link blocked
    </span>
  );
}

export function Words({ text }: { text: string }): ComponentChild {
  return parts(text).map((part, index) =>
    part.kind === "text" ? (
      part.text
    ) : part.kind === "blocked" ? (
      <Blocked key={index} />
    ) : (
      <a key={index} class="link" href={part.text} target="_blank" rel="noopener noreferrer nofollow" dir="ltr">
        {part.text}
      </a>
    ),
  );
}

const MARKS =
  /\[([^\]\n]+)\]\((https?:\/\/[^\s)]+)\)|\*\*([^*\n]+)\*\*|__([^_\n]+)__|\*([^*\n]+)\*|(?<![\p{L}\p{N}])_([^_\n]+)_(?![\p{L}\p{N}])/gu;

/** Markdown's first version (specification B2): links, bold, italic. */
export function Markdown({ text }: { text: string }): ComponentChild {
  const nodes: ComponentChild[] = [];
  let end = 0;
  for (const match of text.matchAll(MARKS)) {
    if (match.index > end) nodes.push(<Words key={end} text={text.slice(end, match.index)} />);
    const [, label, address, bold, strong, italic, emphasis] = match;
    const key = `m${match.index}`;
    if (label !== undefined && address !== undefined) {
      nodes.push(
        <a key={key} class="link" href={address} target="_blank" rel="noopener noreferrer nofollow">
          {label}
        </a>,
      );
    } else if (bold !== undefined || strong !== undefined) {
      nodes.push(<strong key={key}>{bold ?? strong}</strong>);
    } else {
      nodes.push(<em key={key}>{italic ?? emphasis}</em>);
    }
    end = match.index + match[0].length;
  }
  if (end < text.length) nodes.push(<Words key={end} text={text.slice(end)} />);
  return nodes;
}
