/** @jsxImportSource #widget */
import { parseMarkdown, parseText, type Inline } from "../chat/markdown";
import type { Child } from "./jsx/jsx-runtime";

const renderInline = (inline: Inline): Child => {
  if (typeof inline === "string") return inline;
  const children = inline.children.map(renderInline);
  if (inline.kind !== "link") return inline.kind === "bold" ? <b>{children}</b> : <em>{children}</em>;
  return (
    <a href={inline.href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
};

/** Plain text whose addresses are shown as links. */
export const LinkedText = ({ text }: { text: string }) => <>{parseText(text).map(renderInline)}</>;
export const Markdown = ({ text }: { text: string }) => <>{parseMarkdown(text).map(renderInline)}</>;
