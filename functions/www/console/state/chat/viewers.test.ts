import assert from "node:assert/strict";
import { test } from "node:test";
import { Viewers } from "./viewers";

test("viewers are the colleagues who show the same chat", () => {
  const viewers = new Viewers(1);
  viewers.set(7, [1, 2, 3]);
  assert.deepEqual([viewers.others(7), viewers.others(8)], [[2, 3], []]);
  viewers.set(7, [1]);
  assert.deepEqual(viewers.others(7), []);
  viewers.set(7, [1, 2]);
  viewers.clear();
  assert.deepEqual(viewers.others(7), []);
});
