import assert from "node:assert/strict";
import { test } from "node:test";
import { parseMarkdown, parseText } from "./markdown";
import { safeLink, safeMedia } from "./safe-address";

const bold = (...children: unknown[]) => ({ kind: "bold", children });
const italic = (...children: unknown[]) => ({ kind: "italic", children });
const link = (href: string, label = href) => ({ kind: "link", href, children: [label] });

test("bold, italic and links are parsed", () => {
  assert.deepEqual(parseMarkdown("Ask **us** or *them*, __now__ or _later_."), [
    "Ask ",
    bold("us"),
    " or ",
    italic("them"),
    ", ",
    bold("now"),
    " or ",
    italic("later"),
    ".",
  ]);
  assert.deepEqual(parseMarkdown("[Track it](https://a.example/t?x=1) please"), [
    link("https://a.example/t?x=1", "Track it"),
    " please",
  ]);
  assert.deepEqual(parseMarkdown("[Write](mailto:a@b.example)"), [link("mailto:a@b.example", "Write")]);
});

test("emphasis can be nested", () => {
  assert.deepEqual(parseMarkdown("**very *very* good**"), [bold("very ", italic("very"), " good")]);
  assert.deepEqual(parseMarkdown("*very **very** good*"), [italic("very ", bold("very"), " good")]);
  assert.deepEqual(parseMarkdown("**[Go](https://a.example)**"), [bold(link("https://a.example", "Go"))]);
});

test("addresses in plain text become links without punctuation", () => {
  assert.deepEqual(parseText("See https://a.example/x, please."), [
    "See ",
    link("https://a.example/x"),
    ",",
    " please.",
  ]);
  assert.deepEqual(parseMarkdown("(https://a.example)"), ["(", link("https://a.example"), ")"]);
});

test("links to other protocols stay text", () => {
  for (const address of ["javascript:alert(1)", "JAVASCRIPT:alert(1)", "data:text/html,x", "vbscript:x", "/relative"]) {
    const text = `[click](${address})`;
    assert.equal(
      parseMarkdown(text)
        .map((part) => (typeof part === "string" ? part : part.kind))
        .join(""),
      text,
    );
    assert.equal(safeLink(address), undefined);
  }
});

test("HTML stays text", () => {
  assert.deepEqual(parseMarkdown("<b>x</b><script>1</script>"), ["<b>x</b><script>1</script>"]);
});

test("names with underscores and single stars stay text", () => {
  for (const text of ["snake_case_name and 2 * 3", "2 * 3 * 4", "2 ** 3 ** 4", "snake__case__name", "_ a _"])
    assert.deepEqual(parseMarkdown(text), [text]);
});

test("media must have an http address", () => {
  assert.equal(safeMedia("https://a.example/p.png"), "https://a.example/p.png");
  for (const address of ["mailto:a@b.example", "blob:x", "data:image/png;base64,", "", null, undefined])
    assert.equal(safeMedia(address), undefined);
});

test("long hostile text is parsed quickly", () => {
  for (const text of ["*".repeat(5000), "[".repeat(5000), "**a".repeat(2000), "_".repeat(5000), "*a**a**".repeat(1000)])
    assert.ok(parseMarkdown(text).length > 0);
});
