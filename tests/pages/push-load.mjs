/* Counts the frames of an account with many open consoles, and measures the time from sending the POST request with a
   visitor's message until the frame with its row arrives. The consoles are sockets that subscribe as the console does.
   Half of the chats have an agent; the others wait. Every tenth console shows all open chats, the others show the
   waiting ones; an agent with a chat has it open. Needs the packages of functions/www (npm ci).

     cargo build --release --bins
     node tests/pages/push-load.mjs [--sockets 200] [--rate 20] [--seconds 30] [--everything] [--debug]

   --everything: the sockets do not subscribe. --debug: with the binaries of cargo build */

import assert from "node:assert/strict";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { startHost } from "./support/host.mjs";
import { waitFor } from "./support/wait.mjs";
import WebSocket from "../../functions/www/node_modules/ws/wrapper.mjs";

const CHATS = 40;
const option = (name, fallback) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? fallback : Number(process.argv[at + 1]);
};
const has = (name) => process.argv.includes(name);
const socketCount = option("--sockets", 200);
const rate = option("--rate", 20);
const seconds = option("--seconds", 30);
const profile = has("--debug") ? "debug" : "release";

/** A chat with the times at which its messages were sent. The text of a message is its number. */
class Conversation {
  sentAt = [];

  constructor(visitor, chatId, owner) {
    Object.assign(this, { visitor, chatId, owner });
  }

  say() {
    this.sentAt.push(performance.now());
    return this.visitor.say(String(this.sentAt.length));
  }
}

/** A console: what it shows, and what has arrived. */
class Console {
  frames = 0;
  /** The number of the last message that each chat's row has shown, and of the last that was pushed as a message. */
  rows = new Map();
  messages = new Map();

  constructor(agent, isShowingAll, own) {
    Object.assign(this, { agent, isShowingAll, own });
  }

  async open(rowTimes, messageTimes, conversations) {
    const { url, ticket } = await this.agent.post("/agent/socket-ticket");
    this.socket = new WebSocket(`${url}?ticket=${encodeURIComponent(ticket)}`);
    await once(this.socket, "open");
    const seen = (shown, times, chatId, text) => {
      const conversation = conversations.get(chatId);
      const number = Number(text);
      const last = shown.get(chatId) ?? 0;
      if (conversation === undefined || !(number > last)) return;
      shown.set(chatId, number);
      const now = performance.now();
      for (let n = last; n < number; n++)
        times.push(now - conversation.sentAt[n]);
    };
    this.socket.on("message", (data) => {
      const frame = JSON.parse(data);
      if (frame.type === "subscribed") return void (this.isSubscribed = true);
      this.frames++;
      const rows = frame.type === "chat" ? [frame.chat] : (frame.chats ?? []);
      for (const { chat_id, last_message } of rows)
        seen(this.rows, rowTimes, chat_id, last_message?.text);
      if (frame.type === "message")
        seen(this.messages, messageTimes, frame.chat_id, frame.message.text);
    });
    if (has("--everything")) return;
    const lists = this.isShowingAll
      ? ["waiting", "bot", "active"]
      : ["waiting"];
    const open = this.own?.chatId ?? null;
    this.socket.send(JSON.stringify({ type: "subscribe", lists, open }));
    await waitFor("the subscription", () => this.isSubscribed);
  }

  shows({ owner }) {
    const isEverything = has("--everything") || this.isShowingAll;
    return isEverything || owner === undefined || owner === this.agent;
  }
}

const quantiles = (times) => {
  const sorted = times.sort((a, b) => a - b);
  const at = (share) =>
    sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  const shown = (share) => (at(share) ?? Number.NaN).toFixed(0);
  return `median ${shown(0.5)}   p99 ${shown(0.99)}   highest ${shown(1)}   (${sorted.length})`;
};

const host = await startHost({ profile });
process.env.READY_FILE = host.environment.READY_FILE;
const { Account } = await import("./support/account.mjs");
try {
  const account = await Account.create({
    agents: [],
    settings: {
      limits: { visitor_messages: 1000 },
    },
  });
  const agents = [];
  for (let n = 1; n <= socketCount; n++)
    agents.push(await account.addAgent(`Agent ${n}`));
  const conversations = new Map();
  for (let n = 0; n < CHATS; n++) {
    const visitor = account.channel.visitor(`Visitor ${n}`);
    await visitor.say("Hello");
    const row = await waitFor("the chat", () =>
      account.admin.chatOf(`Visitor ${n}`),
    );
    const owner = n % 2 === 0 ? agents[n % socketCount] : undefined;
    if (owner) await owner.accept(row.chat_id);
    conversations.set(
      row.chat_id,
      new Conversation(visitor, row.chat_id, owner),
    );
  }
  const [rowTimes, messageTimes] = [[], []];
  const all = [...conversations.values()];
  const consoles = agents.map(
    (agent, n) =>
      new Console(
        agent,
        n % 10 === 9,
        all.find(({ owner }) => owner === agent),
      ),
  );
  for (const console of consoles)
    await console.open(rowTimes, messageTimes, conversations);
  await delay(2000);
  consoles.forEach((console) => (console.frames = 0));

  const start = performance.now();
  const count = rate * seconds;
  const sent = [];
  for (let n = 0; n < count; n++) {
    await delay(Math.max(0, start + (1000 * n) / rate - performance.now()));
    sent.push(all[n % all.length].say());
  }
  await Promise.all(sent);
  const missing = () =>
    consoles.flatMap((console) =>
      all.filter(
        (chat) =>
          console.shows(chat) &&
          (console.rows.get(chat.chatId) ?? 0) < chat.sentAt.length,
      ),
    ).length;
  await waitFor("all rows", () => missing() === 0, 10_000).catch(() => {});
  const frames = consoles.reduce((sum, { frames }) => sum + frames, 0);
  const duration = (performance.now() - start) / 1000;
  const busiest = Math.max(
    ...consoles.map(({ frames, own }) => (own ? 0 : frames)),
  );
  console.log(
    `${socketCount} sockets, ${count} messages in ${seconds} s, ${profile} build`,
  );
  console.log(
    `frames            ${frames}, ${(frames / count).toFixed(1)} for a message`,
  );
  console.log(
    `frames a second   ${(busiest / duration).toFixed(2)} of the busiest console without a chat`,
  );
  console.log(`row, ms           ${quantiles(rowTimes)}`);
  console.log(`own message, ms   ${quantiles(messageTimes)}`);
  console.log(`rows missing      ${missing()}`);
  assert.equal(missing(), 0);
  consoles.forEach(({ socket }) => socket.close());
  account.close();
} finally {
  await host.stop();
}
