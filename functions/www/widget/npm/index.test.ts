/* The types of the package name what the widget has. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { CALLBACK_NAMES } from "../api/callbacks";
import { PageApi } from "../api/page-api";

const types = readFileSync("widget/npm/index.d.ts", "utf8");

const membersOf = (name: string): string[] => {
  const [, body = ""] = new RegExp(`interface ${name} \\{\\n(.*?)\\n\\}`, "s").exec(types) ?? [];
  return [...body.matchAll(/^ {2}(\w+)\(/gm)].map(([, member]) => member!).toSorted();
};

test("package types each method of the API", () => {
  const { methods } = new PageApi(null);
  assert.deepEqual(membersOf("WidgetApi"), Object.keys(methods).toSorted());
});

test("package types each callback", () => {
  assert.deepEqual(membersOf("WidgetCallbacks"), [...CALLBACK_NAMES].toSorted());
});
