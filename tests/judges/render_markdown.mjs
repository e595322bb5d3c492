/* Compares the widget's and the console's Markdown with the examples of CommonMark's specification. The argument is the
   file of the compiled parser. Writes an array of examples that we show in another way.

   An example belongs to our Markdown if its HTML consists of paragraphs, bold and italic text and links to web and mail
   addresses. It must have the same meaning. In any other, we may only leave characters out and make text bold, italic or
   a link to such an address. */

import { createRequire } from "node:module";
import { tests } from "commonmark-spec";

const { parseMarkdown } = createRequire(import.meta.url)(process.argv[2]);
const SAFE = /^(https?:|mailto:)/i;
const ENTITIES = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&amp;": "&" };
const decode = (text) => text.replace(/&(lt|gt|quot|amp);/g, (entity) => ENTITIES[entity]);
const collapse = (text) => text.replace(/\s+/g, " ").trim();

/** Returns the text of an example with absolute addresses, because we do not link to other ones. */
const absolute = (text) => text.replace(/(?<![\w/:.])\/?(ur[li])\b/g, "https://a.example/$1");

/** Returns bold, italic and linked text with tags. A link whose text is its address is only the address, because we also
    find addresses in plain text. */
function tagged(part) {
  if (typeof part === "string") return part;
  const { kind, href, children } = part;
  const inner = children.map(tagged).join("");
  if (kind === "link") return inner === href ? inner : `<a ${href}>${inner}</a>`;
  return kind === "bold" ? `<strong>${inner}</strong>` : `<em>${inner}</em>`;
}

function expected(html) {
  const links = html.replace(/<a href="([^"]*)">([^<]*)<\/a>/g, (tag, href, text) => (href === text ? text : tag));
  const tags = links.replace(/<\/?p>/g, "").replace(/<a href="([^"]*)">/g, "<a $1>");
  return collapse(decode(tags));
}

function isOurs(html) {
  const tags = html.match(/<[^>]*>/g) ?? [];
  const address = (tag) => tag.match(/^<a href="([^"]*)">$/)?.[1];
  return tags.every((tag) => /^<\/?(p|em|strong)>$|^<\/a>$/.test(tag) || SAFE.test(address(tag) ?? ""));
}

const textOf = (part) => (typeof part === "string" ? part : part.children.map(textOf).join(""));
const partsOf = (part) => (typeof part === "string" ? [part] : [part, ...part.children.flatMap(partsOf)]);

function isHarmless(markdown, parts) {
  const source = [...markdown];
  const isLeftOut = [...parts.map(textOf).join("")].every((char) => {
    const next = source.indexOf(char);
    source.splice(0, next + 1);
    return next >= 0;
  });
  return isLeftOut && parts.flatMap(partsOf).every((part) => part.kind !== "link" || SAFE.test(part.href));
}

const found = [];
for (const example of tests) {
  const [markdown, html] = [absolute(example.markdown.replaceAll("→", "\t")), absolute(example.html)];
  const parts = parseMarkdown(markdown);
  const [ours, theirs] = [collapse(parts.map(tagged).join("")), expected(html)];
  const { section, number } = example;
  if (isOurs(html) && ours !== theirs) found.push({ rule: section, number, ours, theirs });
  if (!isHarmless(markdown, parts)) found.push({ rule: "harmful", number, ours, theirs });
}
console.log(JSON.stringify(found));
