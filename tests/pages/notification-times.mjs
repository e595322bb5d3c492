/* Measures how long a visitor's message takes to the push service of an agent's browser (Web Push). The push service is
   this program.

     cargo build --release --bins
     node tests/pages/notification-times.mjs [--messages 100] [--rate 2] [--browsers 10] [--debug]

   --debug: with the binaries of cargo build */

import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startHost } from "./support/host.mjs";
import { PushService } from "./support/push-service.mjs";
import { waitFor } from "./support/wait.mjs";

const { values: options } = parseArgs({
  options: {
    messages: { type: "string", default: "100" },
    rate: { type: "string", default: "2" },
    browsers: { type: "string", default: "10" },
    debug: { type: "boolean", default: false },
  },
});
const messageCount = Number(options.messages);

function quantiles(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.ceil(share * sorted.length) - 1].toFixed(0);
  return `median ${at(0.5)}   p95 ${at(0.95)}   highest ${at(1)}   (${sorted.length})`;
}

const host = await startHost({ profile: options.debug ? "debug" : "release" });
process.env.READY_FILE = host.environment.READY_FILE;
const { Account } = await import("./support/account.mjs");
const browsers = [];
try {
  const account = await Account.create({
    agents: [],
    settings: { limits: { visitor_messages: 1000 } },
  });
  const conversations = [];
  for (let n = 0; n < Number(options.browsers); n++) {
    const browser = await PushService.start();
    browsers.push(browser);
    const arrivals = new Map();
    browser.onNotification = ({ text }) =>
      arrivals.set(text, performance.now());
    const agent = await account.addAgent(`Agent ${n}`);
    await agent.put("/agent/web-push", browser.subscription);
    const visitor = account.channel.visitor(`Visitor ${n}`);
    await visitor.say("Hello");
    const chat = await waitFor("the chat", () =>
      account.admin.chatOf(visitor.name),
    );
    await agent.accept(chat.chat_id);
    conversations.push({ visitor, arrivals });
  }
  const [start, requests] = [performance.now(), []];
  for (let n = 0; n < messageCount; n++) {
    await delay(start + (1000 * n) / Number(options.rate) - performance.now());
    const { visitor, arrivals } = conversations[n % conversations.length];
    const sentAt = performance.now();
    requests.push(
      visitor.say(`Message ${n}`).then(() => ({
        text: `Message ${n}`,
        arrivals,
        sentAt,
        storedAt: performance.now(),
      })),
    );
  }
  const messages = await Promise.all(requests);
  await waitFor("all notifications", () =>
    messages.every(({ arrivals, text }) => arrivals.has(text)),
  );
  const since = (name) =>
    messages.map((sent) => sent.arrivals.get(sent.text) - sent[name]);
  console.log(`since the request was sent, ms   ${quantiles(since("sentAt"))}`);
  console.log(
    `since the response, ms           ${quantiles(since("storedAt"))}`,
  );
  assert.equal(messages.length, messageCount);
  account.close();
} finally {
  for (const browser of browsers) browser.close();
  await host.stop();
}
