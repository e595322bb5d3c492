/* Measures how long a visitor's message takes to the push service of an agent's browser (Web Push). The push service is
   this program, and the library http_ece decrypts what it gets.

     cargo build --release --bins
     node tests/pages/notification-times.mjs [--messages 100] [--rate 2] [--browsers 10] [--debug]

   --debug: with the binaries of cargo build */

import assert from "node:assert/strict";
import { createECDH, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { decrypt } from "http_ece";
import { startHost } from "./support/host.mjs";
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

/** A browser with its keys and its push service. */
class Browser {
  keys = createECDH("prime256v1");
  auth = randomBytes(16);
  /** The texts of the decrypted notifications, with the time of each. */
  arrivals = new Map();

  async start() {
    this.keys.generateKeys();
    this.server = createServer(async (request, response) => {
      const arrivedAt = performance.now();
      const body = await buffer(request);
      response.writeHead(201).end();
      const { text } = JSON.parse(this.decrypt(body));
      if (text !== undefined) this.arrivals.set(text, arrivedAt);
    }).listen(0, "127.0.0.1");
    await once(this.server, "listening");
    return this;
  }

  decrypt(body) {
    const { keys: privateKey, auth: authSecret } = this;
    return decrypt(body, { version: "aes128gcm", privateKey, authSecret });
  }

  subscribe(agent) {
    const keys = {
      p256dh: this.keys.getPublicKey("base64url"),
      auth: this.auth.toString("base64url"),
    };
    const endpoint = `http://127.0.0.1:${this.server.address().port}/`;
    return agent.put("/agent/web-push", { endpoint, keys });
  }
}

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
    const browser = await new Browser().start();
    browsers.push(browser);
    const agent = await account.addAgent(`Agent ${n}`);
    await browser.subscribe(agent);
    const visitor = account.channel.visitor(`Visitor ${n}`);
    await visitor.say("Hello");
    const chat = await waitFor("the chat", () =>
      account.admin.chatOf(visitor.name),
    );
    await agent.accept(chat.chat_id);
    conversations.push({ visitor, browser });
  }
  const [start, requests] = [performance.now(), []];
  for (let n = 0; n < messageCount; n++) {
    await delay(start + (1000 * n) / Number(options.rate) - performance.now());
    const { visitor, browser } = conversations[n % conversations.length];
    const sentAt = performance.now();
    requests.push(
      visitor.say(`Message ${n}`).then(() => ({
        text: `Message ${n}`,
        browser,
        sentAt,
        storedAt: performance.now(),
      })),
    );
  }
  const messages = await Promise.all(requests);
  await waitFor("all notifications", () =>
    messages.every(({ browser, text }) => browser.arrivals.has(text)),
  );
  const since = (name) =>
    messages.map((sent) => sent.browser.arrivals.get(sent.text) - sent[name]);
  console.log(`since the request was sent, ms   ${quantiles(since("sentAt"))}`);
  console.log(
    `since the response, ms           ${quantiles(since("storedAt"))}`,
  );
  assert.equal(messages.length, messageCount);
  account.close();
} finally {
  for (const { server } of browsers) server.close();
  await host.stop();
}
