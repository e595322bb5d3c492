import assert from "node:assert/strict";
import { test } from "node:test";
import { chatRow } from "../test-support.ts";
import { filterOf, filterOfView, queryOf, selects, serviceFilter, viewOf, type ChatFilter } from "./chat-filter.ts";

const FULL: ChatFilter = { unread: true, unanswered: true, tagId: 3, channelId: "ch", departmentId: 4 };

test("filter survives in the address", () => {
  assert.deepEqual(filterOf(queryOf(FULL)), FULL);
  assert.equal(queryOf({}), "");
  assert.deepEqual(filterOf("tagId=x&unread=false&channelId=%3Cb%3E&other=1"), {});
});

test("filter survives in a saved view", () => {
  assert.deepEqual(filterOfView(viewOf("VIPs", "mine", FULL)), FULL);
  assert.deepEqual(filterOfView(viewOf("All", "all", {})), {});
});

test("chat must meet every condition", () => {
  const row = chatRow(1, { tag_ids: [3], department: { id: 4, name: "Sales" } });
  assert.equal(selects(FULL, row, true), true);
  assert.equal(selects(FULL, row, false), false);
  assert.equal(selects({ tagId: 9 }, row, true), false);
  assert.equal(selects({ unanswered: true }, chatRow(1, { lastMessage: ["agent", 5] }), true), false);
  assert.equal(selects({ departmentId: 4 }, chatRow(1), true), false);
});

test("service gets all conditions except what is unread", () => {
  assert.deepEqual(serviceFilter(FULL), { unanswered: true, tag_id: 3, channel_id: "ch", department_id: 4 });
});
