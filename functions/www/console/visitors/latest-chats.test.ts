import assert from "node:assert/strict";
import { test } from "node:test";
import { chatRow } from "../state/test-support";
import { latestChatPerVisitor } from "./latest-chats";

const rowOf = (chatId: number, number: number) => chatRow(chatId, { visitor: { number, name: "Amara" } });

test("each visitor is listed once, with the latest chat", () => {
  const rows = latestChatPerVisitor([rowOf(3, 17), rowOf(8, 12), rowOf(5, 17)]);
  assert.deepEqual(
    rows.map(({ chat_id }) => chat_id),
    [5, 8],
  );
});
