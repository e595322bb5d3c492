import assert from "node:assert/strict";
import { test } from "node:test";
import type { Settings } from "../service/types";
import { settingsStyles } from "./settings-styles";

const LAUNCHER = { hidden: false, offset_x: 20, offset_y: 20, z_index: 2_147_483_000 };
const stylesOf = (fields: Partial<Settings>) =>
  settingsStyles({ theme: "system", color: "#00464a", color2: null, launcher: LAUNCHER, ...fields } as Settings);
const countOf = (text: string, part: string | RegExp) => text.split(part).length - 1;

test("theme of the visitor's device applies unless the settings choose one", () => {
  const queries = /@media ?\(prefers-color-scheme: ?dark\)/;
  const system = stylesOf({});
  assert.equal(countOf(system, queries), 2, "the colours of the theme and of the brand");
  assert.match(system, /color-scheme:light dark!important/);
  for (const [theme, query] of [
    ["dark", "@media all"],
    ["light", "@media not all"],
  ] as const) {
    const styles = stylesOf({ theme });
    assert.equal(countOf(styles, queries), 0, theme);
    assert.equal(countOf(styles, query), 2, theme);
    assert.ok(styles.includes(`color-scheme:${theme}!important`), theme);
  }
});

test("hidden launcher leaves no room below the window", () => {
  assert.match(stylesOf({}), /--launcher:72px/);
  const styles = stylesOf({ launcher: { hidden: true, offset_x: 7, offset_y: 80, z_index: 5 } });
  assert.match(styles, /z-index:5!important/);
  assert.match(styles, /--offset-x:7px;--offset-y:80px;--launcher:0px/);
});
