import assert from "node:assert/strict";
import { test } from "node:test";
import { brandStyles } from "./brand-colors";

const value = (styles: string, name: string) =>
  [...styles.matchAll(new RegExp(`--${name}:(#[0-9a-f]{6})`, "g"))].map((match) => match[1]);

test("dark brand colour stays on a light page and is lightened for text on a dark one", () => {
  const styles = brandStyles("#00464a", null);
  assert.equal(value(styles, "brand-fill")[0], "#00464a");
  assert.equal(value(styles, "on-brand-fill")[0], "#ffffff");
  assert.equal(value(styles, "brand-text")[0], "#00464a");
  assert.notEqual(value(styles, "brand-text")[1], "#00464a");
});

test("bright brand colour gets dark text on it and is darkened for text", () => {
  const styles = brandStyles("#ffdd00", "#123456");
  assert.equal(value(styles, "on-brand-fill")[0], "#11181c");
  assert.notEqual(value(styles, "brand-text")[0], "#ffdd00");
  assert.equal(value(styles, "own-fill")[0], "#123456");
  assert.equal(value(styles, "on-own-fill")[0], "#ffffff");
});
