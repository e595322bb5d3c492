import assert from "node:assert/strict";
import { test } from "node:test";
import { errorResponse, fakeApi, jsonResponse } from "../../state/test-support";
import { PlaygroundConversation } from "./playground-conversation";

const PAGE = { url: "https://chat.example/console/", title: "Playground" };
const stored = (seq: number, text: string, chat_id = 7) => ({
  chat_id,
  message: { seq, chat_id, at: 0, from: "visitor", type: "text", text },
});

/** Returns a conversation whose service responds to each message with the next of `responses`. */
function start(responses: Response[]) {
  const { api, calls } = fakeApi(({ path }) => {
    if (path.endsWith("/session")) return jsonResponse({ visitor: { token: "secret" }, messages: [] });
    if (path.endsWith("/visitor")) return jsonResponse({ visitor: {} });
    return responses.shift();
  });
  const conversation = new PlaygroundConversation(api, "W1", "Playground (Ada)", PAGE);
  const endpoints = () => calls.map(({ path }) => path.replace("/widget/W1/", ""));
  return { conversation, calls, endpoints };
}

test("visitor is created and named before the first message", async () => {
  const { conversation, calls, endpoints } = start([jsonResponse(stored(1, "Hi")), jsonResponse(stored(2, "Ho"))]);
  await conversation.read();
  assert.equal(calls.length, 0);
  await conversation.send("Hi");
  await conversation.send("Ho");
  assert.deepEqual(endpoints(), ["session", "visitor", "message", "message"]);
  assert.deepEqual(calls[1]?.body, {
    token: "secret",
    contact_info: { name: "Playground (Ada)" },
    source: "script",
  });
  assert.deepEqual(
    conversation.messages.value.map(({ text }) => text),
    ["Hi", "Ho"],
  );
  assert.deepEqual(conversation.chatIds.value, [7]);
});

test("message that failed is sent again with the same id, before later ones", async () => {
  const { conversation, calls } = start([
    errorResponse(503),
    jsonResponse(stored(1, "Hi")),
    jsonResponse(stored(2, "Ho")),
  ]);
  await conversation.send("Hi");
  assert.notEqual(conversation.sendProblem.value, undefined);
  assert.equal(conversation.unsent.value.length, 1);
  await conversation.send("Ho");
  assert.equal(conversation.sendProblem.value, undefined);
  assert.deepEqual(conversation.unsent.value, []);
  const sent = calls.filter(({ path }) => path.endsWith("/message")).map(({ body }) => body as { message_id: string });
  assert.equal(sent.length, 3);
  assert.equal(sent[0]?.message_id, sent[1]?.message_id);
  assert.notEqual(sent[1]?.message_id, sent[2]?.message_id);
});

test("message after the end of a chat adds the new chat", async () => {
  const { conversation } = start([jsonResponse(stored(4, "Hi")), jsonResponse(stored(1, "Ho", 8))]);
  await conversation.send("Hi");
  await conversation.send("Ho");
  assert.deepEqual(conversation.chatIds.value, [7, 8]);
  assert.deepEqual(
    conversation.messages.value.map(({ text }) => text),
    ["Hi", "Ho"],
  );
});

test("dropped message of a blacklisted visitor belongs to no chat", async () => {
  const { conversation } = start([jsonResponse(stored(0, "Hi", 0))]);
  await conversation.send("Hi");
  assert.deepEqual(conversation.chatIds.value, []);
});
