import assert from "node:assert/strict";
import { test } from "node:test";
import { ChatHeaders } from "./chat-headers";
import { ChatStore } from "../list/chats";
import { Ownership } from "./ownership";
import type { Session } from "../agent/session";
import { chatRow, errorResponse, fakeApi, jsonResponse, memoryStorage, ownChat } from "../test-support";
import { Timelines } from "./timeline";

const ME = { token: "t1", id: 1, name: "Marta", role: "agent", accountId: "a", photo: null } as Session;

/** Returns a list with one waiting chat. */
function waitingChat(respond: () => Response) {
  const { api } = fakeApi(respond);
  const storage = memoryStorage();
  const chats = new ChatStore(api, ME.id, storage);
  chats.applyRows([chatRow(7)]);
  const ownership = new Ownership(api, ME, chats, new ChatHeaders(chats, new Timelines(api)), storage);
  return { chats, ownership };
}

test("accepted chat is shown as the agent's before the response", async () => {
  const { chats, ownership } = waitingChat(() => jsonResponse(chatRow(7, ownChat)));
  const settled: number[] = [];
  ownership.onSettled = (chatId) => settled.push(chatId);
  const request = ownership.accept(7);
  assert.equal(chats.peek(7)?.agent?.id, ME.id);
  assert.ok(ownership.acceptingChatIds.value.has(7));
  await request;
  assert.deepEqual([...ownership.acceptingChatIds.value], []);
  assert.deepEqual(settled, [7]);
  assert.ok(ownership.hasTaken(7), "a push about the chat is no news");
});

test("chat that could not be accepted waits again", async () => {
  const { chats, ownership } = waitingChat(() => errorResponse(500));
  await ownership.accept(7);
  assert.equal(chats.peek(7)?.state, "waiting");
  assert.ok(!ownership.hasTaken(7));
});

test("accepting a chat that is gone reports it", async () => {
  const { ownership } = waitingChat(() => errorResponse(404));
  const missing: number[] = [];
  ownership.onMissing = (chatId) => missing.push(chatId);
  await ownership.accept(7);
  assert.deepEqual(missing, [7]);
});

test("chat that is transferred away may be given back", async () => {
  const { ownership } = waitingChat(() => jsonResponse(chatRow(7, ownChat)));
  await ownership.transfer(7, { agent_id: ME.id });
  assert.ok(ownership.hasTaken(7));
  await ownership.transfer(7, { agent_id: 2 });
  assert.ok(!ownership.hasTaken(7));
});
