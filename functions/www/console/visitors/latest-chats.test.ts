import assert from "node:assert/strict";
import { test } from "node:test";
import { chatRow, fakeApi, jsonResponse } from "../state/test-support";
import { findNewestChat, latestChatPerVisitor } from "./latest-chats";

const rowOf = (chatId: number, number: number) => chatRow(chatId, { visitor: { number, name: "Amara" } });
const idsOf = (rows: readonly { chat_id: number }[]) => rows.map(({ chat_id }) => chat_id);

test("each visitor is listed once, with the latest chat", () => {
  const rows = latestChatPerVisitor([rowOf(3, 17), rowOf(8, 12), rowOf(5, 17)]);
  assert.deepEqual(idsOf(rows), [5, 8]);
});

test("newest chat of a merged visitor is found behind the chats of the others", async () => {
  const pages: Record<string, unknown> = {
    "": { chats: [rowOf(9, 17), rowOf(8, 17)], next: "8" },
    "8": { chats: [rowOf(7, 17), rowOf(6, 12), rowOf(5, 12)], next: "5" },
  };
  const { api, calls } = fakeApi(({ query }) => jsonResponse(pages[query.get("cursor") ?? ""]));
  const { newest, rows } = await findNewestChat(api, 12);
  assert.equal(newest?.chat_id, 6);
  assert.deepEqual(idsOf(rows), [9, 8, 7, 6, 5]);
  assert.equal(calls.length, 2);
});

test("visitor without a visible chat has no newest chat", async () => {
  const { api } = fakeApi(() => jsonResponse({ chats: [rowOf(9, 17)], next: null }));
  assert.equal((await findNewestChat(api, 12)).newest, undefined);
});
