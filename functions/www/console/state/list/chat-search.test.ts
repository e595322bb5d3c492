import assert from "node:assert/strict";
import { test } from "node:test";
import { filterRows, numberSearched } from "./chat-search";
import { chatRow } from "../test-support";

test("chat with the searched number comes first", () => {
  const rows = [chatRow(242), chatRow(42), chatRow(142)];
  for (const text of ["42", "#42"]) assert.equal(filterRows(rows, text)[0]?.chat_id, 42, text);
});

test("only a text with a number sign names a chat", () => {
  assert.deepEqual(["#42", " #42 ", "42", "#4x", "#"].map(numberSearched), [42, 42, undefined, undefined, undefined]);
});
