import assert from "node:assert/strict";
import { test } from "node:test";
import { chatRow, fakeApi, jsonResponse } from "./state/test-support";
import { searchUntil } from "./use-chat-search";

/** A service with this many pages of one chat each: the first page contains chat 100, the second one chat 99. */
const apiWithPages = (count: number) =>
  fakeApi(({ query }) => {
    const page = Number(query.get("cursor") ?? "0");
    return jsonResponse({ chats: [chatRow(100 - page)], next: page + 1 < count ? String(page + 1) : null });
  });
const idsOf = (rows: readonly { chat_id: number }[]) => rows.map(({ chat_id }) => chat_id);

test("search ends with the first page that is enough", async () => {
  const { api } = apiWithPages(9);
  const { rows, next } = await searchUntil((found) => found.some(({ chat_id }) => chat_id === 98), api, "amara");
  assert.deepEqual(idsOf(rows), [100, 99, 98]);
  assert.equal(next, "3");
});

test("search without enough results ends at the last page, or pauses after five", async () => {
  const short = await searchUntil(() => false, apiWithPages(3).api, "amara");
  assert.deepEqual([idsOf(short.rows), short.next], [[100, 99, 98], null]);
  const { api } = apiWithPages(7);
  const paused = await searchUntil(() => false, api, "amara");
  assert.deepEqual([idsOf(paused.rows), paused.next], [[100, 99, 98, 97, 96], "5"]);
  const rest = await searchUntil(() => false, api, "amara", paused);
  assert.deepEqual([rest.rows.length, rest.next], [7, null]);
});
