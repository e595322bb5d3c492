import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReplyActions } from "../../../api/types";
import { Roster } from "../agent/roster";
import { ChatStore } from "../list/chats";
import {
  chatRow,
  errorResponse,
  fakeApi,
  jsonResponse,
  memoryStorage,
  ownChat,
  type RecordedCall,
} from "../test-support";
import { ChatHeaders } from "./chat-headers";
import { Organizing } from "./organizing";
import { Ownership } from "./ownership";
import { describeActions, MacroRunner } from "./reply-actions";
import { Timelines } from "./timeline";

const people = {
  agents: [],
  departments: [{ id: 3, name: "Sales" }],
  tags: [{ tag_id: 1, name: "VIP", color: "red" as const }],
};
const none: ReplyActions = { add_tags: [], close: false };
const me = { id: 1, name: "Marta" } as ConstructorParameters<typeof Ownership>[1];

async function run(actions: ReplyActions, respond: (call: RecordedCall) => Response) {
  const { api, calls } = fakeApi(respond);
  const chats = new ChatStore(api, 1, memoryStorage());
  chats.applyRows([chatRow(1, ownChat)]);
  const headers = new ChatHeaders(chats, new Timelines(api));
  const roster = new Roster(api);
  roster.people.value = people;
  const ownership = new Ownership(api, me, chats, headers, memoryStorage());
  const runner = new MacroRunner(new Organizing(api, chats, headers), ownership, headers, roster);
  const closed: number[] = [];
  runner.onClose = (chatId) => closed.push(chatId);
  await runner.run(1, actions);
  return { requests: calls.map(({ method, path, body }) => [method, path, body]), closed };
}

const tagged = ["PATCH", "/agent/chats/1", { add_tags: [1] }];

test("macro tags the chat before it closes it, without deleted tags", async () => {
  const result = await run({ ...none, add_tags: [9, 1], close: true }, () => jsonResponse(chatRow(1, ownChat)));
  assert.deepEqual(result, { requests: [tagged], closed: [1] });
});

test("macro transfers the chat", async () => {
  const result = await run({ ...none, transfer_to: { department_id: 3 } }, () => jsonResponse(chatRow(1)));
  assert.deepEqual(result.requests[0], ["POST", "/agent/chats/1/transfer", { department_id: 3 }]);
});

test("chat stays open if its tags are not stored", async () => {
  const result = await run({ ...none, add_tags: [1], close: true }, () => errorResponse(409));
  assert.deepEqual(result, { requests: [tagged], closed: [] });
});

test("actions are described by names", () => {
  const actions = { add_tags: [1, 9], transfer_to: { department_id: 3 }, close: false };
  assert.deepEqual(describeActions(actions, people), ["Tag VIP", "Transfer to Sales"]);
  assert.deepEqual(describeActions({ ...none, close: true }, undefined), ["Close"]);
});
