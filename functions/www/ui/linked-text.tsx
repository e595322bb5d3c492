/* Renders untrusted text as DOM nodes, with links and simple Markdown. It never parses HTML. */

import type { ComponentChild } from "preact";
import { t } from "../texts/translate";

export const BLOCKED_LINK = "[link blocked]";

const LINK_PATTERN = /(https?:\/\/[^\s<>"'`]+)|(\[link blocked\])/gi;
/** Punctuation at the end of a URL. It belongs to the surrounding sentence, not to the link. */
const TRAILING_PUNCTUATION = /[.,;:!?…»”’)\]}]+$/;

type TextPart = { kind: "text" | "link" | "blocked"; text: string };

/** Splits a text into plain text, links, and the markers that the link filter has inserted in place of blocked
 * links. */
export function splitText(text: string): TextPart[] {
  const result: TextPart[] = [];
  const add = (kind: TextPart["kind"], value: string) => {
    if (value.length > 0) result.push({ kind, text: value });
  };
  let end = 0;
  for (const match of text.matchAll(LINK_PATTERN)) {
    add("text", text.slice(end, match.index));
    end = match.index + match[0].length;
    if (match[2] !== undefined) {
      add("blocked", match[2]);
      continue;
    }
    let address = match[0];
    const trailing = TRAILING_PUNCTUATION.exec(address)?.[0] ?? "";
    const openBrackets = (address.match(/\(/g) ?? []).length;
    const keptBrackets = trailing.startsWith(")") && openBrackets > 0 ? openBrackets : 0;
    address = address.slice(0, address.length - trailing.length + keptBrackets);
    add("link", address);
    end = match.index + address.length;
  }
  add("text", text.slice(end));
  return result;
}

export function BlockedLink() {
  return (
    <span class="blocked" title={t`Safe URL does not allow this domain`}>
      {t`link blocked`}
    </span>
  );
}

export function LinkedText({ text }: { text: string }): ComponentChild {
  return splitText(text).map((part, index) =>
    part.kind === "text" ? (
      part.text
    ) : part.kind === "blocked" ? (
      <BlockedLink key={index} />
    ) : (
      <a key={index} class="link" href={part.text} target="_blank" rel="noopener noreferrer nofollow" dir="ltr">
        {part.text}
      </a>
    ),
  );
}

const MARKDOWN_PATTERN =
  /\[([^\]\n]+)\]\((https?:\/\/[^\s)]+)\)|\*\*([^*\n]+)\*\*|__([^_\n]+)__|\*([^*\n]+)\*|(?<![\p{L}\p{N}])_([^_\n]+)_(?![\p{L}\p{N}])/gu;

/** Returns the text of Markdown without its marks. */
export const textOfMarkdown = (text: string): string =>
  text.replace(MARKDOWN_PATTERN, (_, label, __, ...marked: unknown[]) =>
    String(label ?? marked.slice(0, 4).find((part) => part !== undefined)),
  );

/** Renders the Markdown subset that the specification defines (B-2): links, bold and italic. */
export function Markdown({ text }: { text: string }): ComponentChild {
  const nodes: ComponentChild[] = [];
  let end = 0;
  for (const match of text.matchAll(MARKDOWN_PATTERN)) {
    if (match.index > end) nodes.push(<LinkedText key={end} text={text.slice(end, match.index)} />);
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
  if (end < text.length) nodes.push(<LinkedText key={end} text={text.slice(end)} />);
  return nodes;
}
