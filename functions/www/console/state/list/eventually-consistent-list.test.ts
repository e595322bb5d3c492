import assert from "node:assert/strict";
import { test } from "node:test";
import { withRecentChanges } from "./eventually-consistent-list";

const item = (id: string, name: string) => ({ id, name });

test("list contains changes that the index does not have yet", () => {
  const listed = [item("b", "Shop"), item("a", "App"), item("c", "Old")];
  const changes = new Map([
    ["d", { at: 1000, item: item("d", "New") }],
    ["b", { at: 1000, item: item("b", "Store") }],
    ["c", { at: 1000, item: undefined }],
  ]);
  const namesAt = (now: number) => withRecentChanges(listed, ({ id }) => id, changes, now).map(({ name }) => name);
  assert.deepEqual(namesAt(2000), ["App", "New", "Store"]);
  assert.deepEqual(namesAt(60_000), ["App", "Old", "Shop"]);
});
