import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChatRow } from "../../../api/types";
import { ChatStore } from "../list/chats";
import { chatRow, errorResponse, fakeApi, jsonResponse, memoryStorage, ownChat } from "../test-support";
import { ChatHeaders } from "./chat-headers";
import { Organizing } from "./organizing";
import { Timelines } from "./timeline";

function createOrganizing(row: ChatRow, response: () => Response) {
  const { api, calls } = fakeApi(response);
  const chats = new ChatStore(api, 1, memoryStorage());
  chats.applyRows([row]);
  return { organizing: new Organizing(api, chats, new ChatHeaders(chats, new Timelines(api))), chats, calls };
}

test("tag is shown at once and stored", async () => {
  const row = chatRow(1, { tag_ids: [2] });
  const { organizing, chats, calls } = createOrganizing(row, () => jsonResponse({ ...row, tag_ids: [2, 3] }));
  const stored = organizing.setTag(1, 3, true);
  assert.deepEqual(chats.peek(1)?.tag_ids, [2, 3]);
  await stored;
  assert.deepEqual(
    calls.map(({ method, path, body }) => [method, path, body]),
    [["PATCH", "/agent/chats/1", { add_tags: [3] }]],
  );
});

test("tag that was not stored disappears", async () => {
  const { organizing, chats } = createOrganizing(chatRow(1, { tag_ids: [2] }), () => errorResponse(409));
  await organizing.setTag(1, 3, true);
  assert.deepEqual(chats.peek(1)?.tag_ids, [2]);
});

test("chat comes back when its time has come", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout", "Date"], now: Date.now() });
  const until = Math.floor(Date.now() / 1000) + 60;
  const { organizing, chats } = createOrganizing(chatRow(1, ownChat), () => errorResponse(500));
  const returned: number[] = [];
  const stop = organizing.watchSnoozes((row) => returned.push(row.chat_id));
  chats.applyRows([chatRow(1, { ...ownChat, snoozed_until: until })]);
  context.mock.timers.tick(58_000);
  assert.deepEqual(returned, []);
  context.mock.timers.tick(3_000);
  assert.deepEqual(returned, [1]);
  stop();
});
