/* Measures the time from sending the POST request with a visitor's message until the `message` push with the same text
   arrives at a console's socket. The local host is otherwise idle, and one visitor writes at a time. Needs the packages
   of functions/www (npm ci).

     cargo build --release --bins
     node tests/pages/latency.mjs [--messages 1000] [--debug]     --debug: with the binaries of cargo build */

import { once } from "node:events";
import { startHost } from "./support/host.mjs";
import WebSocket from "../../functions/www/node_modules/ws/wrapper.mjs";

const VISITORS = 20;
const WARM_UP_MESSAGES = 100;
const PUSH_TIMEOUT_MS = 30_000;
const option = (name) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
};
const messageCount = Number(option("--messages") ?? 1000);
const profile = process.argv.includes("--debug") ? "debug" : "release";

const host = await startHost({ profile });
process.env.READY_FILE = host.environment.READY_FILE;
const { Account } = await import("./support/account.mjs");
try {
  const account = await Account.create({
    settings: { limits: { visitor_messages: 1000 } },
  });
  const visitors = [];
  for (let number = 1; number <= VISITORS; number++)
    visitors.push(await account.openAcceptedChat(`Visitor no ${number}.`));

  const { url, ticket } = await account.admin.post("/agent/socket-ticket");
  const socket = new WebSocket(`${url}?ticket=${encodeURIComponent(ticket)}`);
  await once(socket, "open");
  /** Maps the text of each message that has not been pushed yet to the function to call with the time of its push. */
  const expected = new Map();
  socket.on("message", (data) => {
    const receivedAt = performance.now();
    const { type, message } = JSON.parse(data);
    if (type === "message") expected.get(message.text)?.(receivedAt);
  });
  const waitForPush = async (text) => {
    let timer;
    try {
      return await new Promise((done, fail) => {
        expected.set(text, done);
        const error = new Error(`"${text}" was not pushed`);
        timer = setTimeout(() => fail(error), PUSH_TIMEOUT_MS);
      });
    } finally {
      clearTimeout(timer);
      expected.delete(text);
    }
  };

  /** Sends a message. Returns the milliseconds until its push and until the response. */
  const measure = async (number) => {
    const text = `Message ${number}`;
    const pushed = waitForPush(text);
    const sentAt = performance.now();
    await visitors[number % VISITORS].say(text);
    const respondedAt = performance.now();
    const pushedAt = await pushed;
    return { push: pushedAt - sentAt, response: respondedAt - sentAt };
  };
  const results = [];
  for (let number = 0; number < WARM_UP_MESSAGES + messageCount; number++) {
    const result = await measure(number);
    if (number >= WARM_UP_MESSAGES) results.push(result);
  }
  socket.close();
  account.close();

  const quantile = (name, share) => {
    const sorted = results.map((result) => result[name]).sort((a, b) => a - b);
    const index = Math.ceil(share * sorted.length) - 1;
    return sorted[Math.max(0, index)].toFixed(1);
  };
  console.log(`${messageCount} messages, ${profile} build, milliseconds`);
  for (const [name, label] of [
    ["push", "POST to frame"],
    ["response", "POST to response"],
  ])
    console.log(
      `${label.padEnd(18)} median ${quantile(name, 0.5)}   p99 ${quantile(name, 0.99)}   highest ${quantile(name, 1)}`,
    );
} finally {
  await host.stop();
}
