import assert from "node:assert/strict";
import { test } from "node:test";
import { brandStyles } from "./brand-colors";

const THEMES = { light: "#ffffff", dark: "#181b20" };

/** Returns the custom properties of the light and of the dark theme. */
function propertiesOf(color: string, color2: string | null = null) {
  const [light, dark] = brandStyles(color, color2).split("@media");
  const parse = (styles = "") =>
    Object.fromEntries(
      [...styles.matchAll(/--([\w-]+):(#[0-9a-f]{6})/g)].map(([, name, value]) => [name, value ?? ""]),
    );
  return { light: parse(light), dark: parse(dark) };
}

/** The contrast ratio as WCAG 2.2 defines it. */
function contrast(one = "", other = ""): number {
  const luminance = (color: string) => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
      const part = parseInt(color.slice(start, start + 2), 16) / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

const WHITE = "#ffffff";
const DARK = "#11181c";
const BLACK = "#000000";

// For each colour: the text on it, and whether it needs an edge on a light and on a dark page.
const COLORS: [color: string, text: string, edgeOnLight: boolean, edgeOnDark: boolean][] = [
  ["#ffee00", DARK, true, false],
  ["#ffdd00", DARK, true, false],
  ["#ffffff", DARK, true, false],
  ["#c8f7c5", DARK, true, false],
  ["#00e5ff", DARK, true, false],
  ["#ff8800", DARK, true, false],
  // Neither white nor the usual dark colour is readable on these.
  ["#7a7a7a", BLACK, false, false],
  ["#e53935", BLACK, false, false],
  ["#0a84ff", DARK, false, false],
  ["#c2410c", WHITE, false, false],
  ["#00464a", WHITE, false, true],
  ["#123456", WHITE, false, true],
  ["#000000", WHITE, false, true],
];

for (const [color, text, edgeOnLight, edgeOnDark] of COLORS)
  test(`${color} keeps its colour, with readable text on it and an edge where it needs one`, () => {
    const themes = propertiesOf(color);
    const needsEdge = { light: edgeOnLight, dark: edgeOnDark };
    for (const theme of ["light", "dark"] as const) {
      const found = themes[theme];
      assert.deepEqual([found["brand-fill"], found["own-fill"]], [color, color], theme);
      assert.equal(found["on-brand-fill"], text, theme);
      assert.ok(contrast(color, text) >= 4.5, `text on ${color}: ${contrast(color, text)}`);
      assert.ok(contrast(found["brand-edge"], THEMES[theme]) >= 3, `edge in the ${theme} theme`);
      assert.equal(found["brand-edge"] !== color, needsEdge[theme], `edge in the ${theme} theme`);
      assert.ok(contrast(found["own-edge"], THEMES[theme]) >= 1.3, `edge of messages in the ${theme} theme`);
      assert.ok(contrast(found["brand-text"], THEMES[theme]) >= 4.5, `text in the ${theme} theme`);
    }
  });

test("visitor's messages have a colour of their own", () => {
  const { light } = propertiesOf("#ffee00", "#123456");
  assert.deepEqual([light["own-fill"], light["on-own-fill"], light["own-edge"]], ["#123456", WHITE, "#123456"]);
});
