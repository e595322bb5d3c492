import assert from "node:assert/strict";
import { test } from "node:test";
import { chatRow, errorResponse, fakeApi, jsonResponse } from "../state/test-support";
import { readErasureSubject } from "./erasure-subject";

/** A service with these visitors by their number: those with whom they are merged, and how many chats they have. */
const apiWith = (visitors: Record<string, { merged_with?: number[]; chats: number; is_complete?: boolean }>) =>
  fakeApi(({ path }) => {
    const number = path.split("/")[3] ?? "";
    if (path.startsWith("/agent/")) return jsonResponse({ chats: [chatRow(9), chatRow(8)], next: null });
    const visitor = visitors[number];
    if (visitor === undefined) return undefined;
    const { chats, is_complete = true, ...fields } = visitor;
    return jsonResponse({
      visitor: { number: Number(number), ...fields },
      chats_count: chats,
      entries: 10,
      is_complete,
    });
  });
const numbersOf = (visitors: readonly { number: number }[] = []) => visitors.map(({ number }) => number);

test("erasure of a merged visitor deletes what all of them have", async () => {
  const { api } = apiWith({
    12: { merged_with: [17, 21], chats: 3 },
    17: { merged_with: [12, 21], chats: 1, is_complete: false },
    21: { merged_with: [12, 17], chats: 0 },
  });
  const subject = await readErasureSubject(api, 12);
  assert.deepEqual(numbersOf(subject?.merged), [17, 21]);
  assert.deepEqual([subject?.chatsCount, subject?.entries, subject?.isComplete], [4, 30, false]);
  assert.equal(subject?.chats.length, 2);
});

test("merged visitor who is gone or was separated is not listed", async () => {
  const { api } = apiWith({ 12: { merged_with: [17, 21], chats: 0 }, 21: { chats: 5 } });
  const subject = await readErasureSubject(api, 12);
  assert.deepEqual([subject?.merged, subject?.chatsCount, subject?.chats], [[], 0, []]);
});

test("missing visitor has nothing to erase, and a failure is not taken for one", async () => {
  assert.equal(await readErasureSubject(apiWith({}).api, 12), undefined);
  const { api } = fakeApi(() => errorResponse(503));
  await assert.rejects(readErasureSubject(api, 12));
});
