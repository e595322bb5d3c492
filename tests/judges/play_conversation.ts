/* The first conversation, with the client of @hey-api/openapi-ts: a visitor writes, an agent accepts the chat, answers
   and closes it. */

import * as assert from "node:assert";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { acceptChat, agentChats, agentLogin, agentMessage, agentMessages, channelMessage, closeChat } from "./client";
import { client } from "./client/client.gen";

async function play() {
  const host = JSON.parse(readFileSync(process.env.READY_FILE!, "utf8"));
  client.setConfig({ baseUrl: host.base_url, throwOnError: true });
  const options = { throwOnError: true } as const;

  const [secret, channel_id] = host.demo.channel_url.split("/").slice(-2);
  const question = `Do you deliver on Sundays? ${randomUUID()}`;
  const sent = await channelMessage({
    ...options,
    path: { secret, channel_id },
    body: { sender: { id: `visitor-${randomUUID()}`, name: "Ada" }, message: { type: "text", text: question } },
  });
  assert.strictEqual(sent.data.result, "ok");

  const credentials = { email: host.demo.agent_email, password: host.demo.agent_password };
  const { token } = (await agentLogin({ ...options, body: credentials })).data;
  client.setConfig({ auth: token });
  const { chats } = (await agentChats(options)).data;
  const chat = chats.find((one) => one.last_message?.text === question);
  assert.ok(chat);
  assert.strictEqual(chat.state, "waiting");
  const path = { chat_id: chat.chat_id };
  assert.strictEqual((await acceptChat({ ...options, path })).data.state, "active");
  const stored = await agentMessage({ ...options, path, body: { type: "text", text: "We do." } });
  const { messages } = (await agentMessages({ ...options, path })).data;
  assert.deepStrictEqual(
    messages.map((entry) => entry.text).filter(Boolean),
    [question, "We do."],
  );
  assert.ok("seq" in stored.data);
  const { seq } = stored.data;
  assert.ok(messages.some((entry) => entry.seq === seq));
  assert.strictEqual((await closeChat({ ...options, path })).data.state, "closed");
}

play().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
