import assert from "node:assert/strict";
import { test } from "node:test";
import { chatRow } from "../state/test-support";
import { duplicateSearch, mergeableVisitors } from "./mergeable-visitors";

const rowOf = (chatId: number, number: number) => chatRow(chatId, { visitor: { number, name: "Amara" } });

test("duplicates are searched by e-mail address, or else by phone number", () => {
  assert.equal(duplicateSearch({ email: "amara@example.com", phone: "+225 27" }), "amara@example.com");
  assert.equal(duplicateSearch({ email: "", phone: "+225 27" }), "+225 27");
  assert.equal(duplicateSearch({ email: "[link blocked]", phone: null }), "");
});

test("visitor and those who are merged already are not offered", () => {
  const rows = [rowOf(9, 21), rowOf(8, 12), rowOf(7, 17), rowOf(6, 21)];
  const offered = mergeableVisitors(rows, { number: 12, merged_with: [17] });
  assert.deepEqual(
    offered.map(({ visitor, chat_id }) => [visitor.number, chat_id]),
    [[21, 9]],
  );
});
