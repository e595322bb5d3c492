/* The Markdown of bots (specification, B2): links, bold and italic. The result is a tree of plain values, from which
   the view creates text nodes and elements. */

import { safeLink } from "./safe-address";

export type Inline =
  string | { kind: "bold" | "italic"; children: Inline[] } | { kind: "link"; href: string; children: Inline[] };

/* A mark next to white space and underscores within a word are text. Italic text can contain bold text. */
const MARKDOWN =
  /\[([^\]\n]+)\]\(([^\s)]+)\)|\*\*(?!\s)([^\n]+?)(?<!\s)\*\*(?!\*)|(?<![\p{L}\p{N}_])__(?!\s)([^\n]+?)(?<!\s)__(?![\p{L}\p{N}_])|\*(?![\s*])((?:[^*\n]|\*\*[^*\n]+\*\*)+)(?<!\s)\*|(?<![\p{L}\p{N}_])_(?!\s)([^_\n]+)(?<!\s)_(?![\p{L}\p{N}])/gu;
const ADDRESS = /https?:\/\/[^\s<>"'`]+/gi;
const TRAILING_PUNCTUATION = /[.,;:!?…»”’)\]}*]+$/;
const MAX_DEPTH = 4;

/** Parses plain text, in which `http:` and `https:` URLs become links. */
export function parseText(text: string): Inline[] {
  return split(text, ADDRESS, ([match]) => {
    const address = match.replace(TRAILING_PUNCTUATION, "");
    return [{ kind: "link", href: address, children: [address] }, match.slice(address.length)];
  });
}

/** Parses Markdown. A link with a forbidden protocol stays as it was written. */
export function parseMarkdown(text: string, depth = 0): Inline[] {
  if (depth > MAX_DEPTH) return [text];
  return split(
    text,
    MARKDOWN,
    ([match, label, address, bold, strong, italic, emphasis]) => {
      const isBold = bold ?? strong;
      if (isBold !== undefined) return [{ kind: "bold", children: parseMarkdown(isBold, depth + 1) }];
      const isItalic = italic ?? emphasis;
      if (isItalic !== undefined) return [{ kind: "italic", children: parseMarkdown(isItalic, depth + 1) }];
      const href = safeLink(address);
      return href === undefined ? [match] : [{ kind: "link", href, children: [label ?? href] }];
    },
    parseText,
  );
}

function split(
  text: string,
  pattern: RegExp,
  replace: (match: RegExpMatchArray & [string]) => Inline[],
  between: (text: string) => Inline[] = (text) => [text],
): Inline[] {
  const parts: Inline[] = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    parts.push(...between(text.slice(end, match.index)), ...replace(match as RegExpMatchArray & [string]));
    end = (match.index ?? 0) + match[0].length;
  }
  return [...parts, ...between(text.slice(end))].filter((part) => part !== "");
}
