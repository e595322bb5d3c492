import assert from "node:assert/strict";
import { test } from "node:test";
import { Selection } from "./selection";

test("range extends from the chat that was selected last, in both directions", () => {
  const selection = new Selection();
  selection.toggle(3);
  selection.extendTo(1, [5, 1, 4, 3, 2]);
  assert.deepEqual([...selection.chatIds.peek()].sort(), [1, 3, 4]);
  selection.toggle(4);
  assert.deepEqual([...selection.chatIds.peek()].sort(), [1, 3]);
  selection.extendTo(2, [5, 1, 4, 3, 2]);
  assert.deepEqual([...selection.chatIds.peek()].sort(), [1, 2, 3, 4]);
});

test("range without a beginning in the list selects one chat", () => {
  const selection = new Selection();
  selection.extendTo(1, [1, 2]);
  selection.clear();
  selection.toggle(9);
  selection.extendTo(2, [1, 2]);
  assert.deepEqual([...selection.chatIds.peek()], [9, 2]);
});

test("all chats of the list are selected, and then none", () => {
  const selection = new Selection();
  selection.toggle(1);
  selection.toggleAll([1, 2]);
  assert.deepEqual([...selection.chatIds.peek()], [1, 2]);
  selection.toggleAll([1, 2]);
  assert.equal(selection.chatIds.peek().size, 0);
});
