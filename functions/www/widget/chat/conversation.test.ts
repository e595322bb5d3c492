import assert from "node:assert/strict";
import { test } from "node:test";
import type { Message } from "../service/types";
import { Conversation } from "./conversation";

const message = (seq: number, from: Message["from"] = "agent", fields: Partial<Message> = {}): Message => ({
  seq,
  chat_id: 7,
  at: seq,
  from,
  type: "text",
  text: `text ${seq}`,
  ...fields,
});

test("messages are ordered and repeated ones are ignored", () => {
  const conversation = new Conversation();
  conversation.add([message(3), message(1)]);
  assert.deepEqual(
    conversation.add([message(1), message(2)]).map(({ seq }) => seq),
    [2],
  );
  assert.deepEqual(
    conversation.messages.map(({ seq }) => seq),
    [1, 2, 3],
  );
});

test("a later chat follows an earlier one", () => {
  const conversation = new Conversation();
  conversation.add([message(1, "agent", { chat_id: 8 }), message(9)]);
  assert.deepEqual(
    conversation.messages.map(({ chat_id }) => chat_id),
    [7, 8],
  );
});

test("unread count has the messages of agents and bots", () => {
  const conversation = new Conversation();
  conversation.add([message(1), message(2, "visitor"), message(3, "bot"), message(5)]);
  assert.equal(conversation.answersAfter(undefined).length, 3);
  assert.equal(conversation.answersAfter({ chatId: 7, seq: 1 }).length, 2);
  assert.equal(conversation.answersAfter({ chatId: 6, seq: 99 }).length, 3);
  assert.equal(conversation.answersAfter(conversation.end).length, 0);
});

test("cleared messages do not come back with a late response", () => {
  const conversation = new Conversation();
  conversation.add([message(1), message(2)]);
  conversation.clear();
  conversation.add([message(1), message(2), message(3)]);
  assert.deepEqual(
    conversation.messages.map(({ seq }) => seq),
    [3],
  );
});

test("own message that is read again keeps its id", () => {
  const conversation = new Conversation();
  conversation.add([message(1, "visitor", { message_id: "a" })]);
  conversation.add([message(1, "visitor")]);
  assert.equal(conversation.messages[0]?.message_id, "a");
});

test("message counts as seen once an agent has seen or answered it", () => {
  const conversation = new Conversation();
  conversation.add([message(1, "visitor"), message(2, "bot"), message(3, "visitor")]);
  const lastSeen = () => conversation.lastSeen?.seq;
  assert.equal(lastSeen(), undefined);
  conversation.markSeen(7, 2);
  assert.equal(lastSeen(), 1);
  conversation.add([message(4)]);
  assert.equal(lastSeen(), 3);
  conversation.markSeen(7, 1);
  conversation.add([message(5, "visitor")]);
  assert.equal(lastSeen(), 3, "a late report changes nothing");
  conversation.markSeen(7, 5);
  assert.equal(lastSeen(), 5);
  conversation.clear();
  assert.equal(lastSeen(), undefined);
});

test("edited message replaces the text, and a late older response does not", () => {
  const conversation = new Conversation();
  const edited = message(1, "agent", { text: "new", edited_at: 5 });
  conversation.add([message(1)]);
  assert.deepEqual(conversation.add([edited]), []);
  conversation.add([message(1)]);
  assert.deepEqual(conversation.messages, [edited]);
});

test("deleted message keeps its place, but no text, and is not unread", () => {
  const conversation = new Conversation();
  const { text: _text, ...rest } = message(1, "agent", { type: "deleted", deleted_at: 9 });
  conversation.add([message(1), message(2)]);
  conversation.add([rest]);
  conversation.add([message(1, "agent", { edited_at: 8 })]);
  assert.deepEqual(conversation.messages[0], rest);
  assert.equal(conversation.answersAfter(undefined).length, 1);
});
