import assert from "node:assert/strict";
import { test } from "node:test";
import { ServiceError } from "../service/client";
import { DeferredStorage } from "../visitor/deferred-storage";
import { Outbox, type Outgoing } from "./outbox";

/** Browser storage: its values are own properties, like those of localStorage. */
class FakeStorage {
  [key: string]: unknown;
  getItem(key: string) {
    return (this[key] as string | undefined) ?? null;
  }
  setItem(key: string, value: string) {
    this[key] = value;
  }
  removeItem(key: string) {
    delete this[key];
  }
}

const flushPromises = async () => {
  for (let round = 0; round < 20; round++) await Promise.resolve();
};
const message = (messageId: string, ageMs = 0): Outgoing => ({
  endpoint: "message",
  messageId,
  at: Date.now() - ageMs,
  body: { message: { type: "text", text: messageId } },
});

function outboxOn(browser: FakeStorage, responses: (() => unknown)[]) {
  const storage = new DeferredStorage(browser as unknown as Storage, "w.");
  storage.persist();
  const log: string[] = [];
  const outbox = new Outbox(storage, {
    changed: () => {},
    send: async ({ messageId }) => {
      log.push(`send ${messageId}`);
      return (responses.shift() ?? (() => "ok"))();
    },
    sent: ({ messageId }) => log.push(`sent ${messageId}`),
    failed: ({ messageId }, { status }) => log.push(`failed ${messageId} ${status}`),
  });
  return { outbox, log };
}
const networkError = () => {
  throw new TypeError("failed to fetch");
};
const serviceError = (status: number, retryAfter?: number) => () => {
  throw new ServiceError(status, undefined, retryAfter);
};

test("messages are sent one after the other", async () => {
  const { outbox, log } = outboxOn(new FakeStorage(), []);
  outbox.add(message("a"));
  outbox.add(message("b"));
  await flushPromises();
  assert.deepEqual(log, ["send a", "sent a", "send b", "sent b"]);
  assert.deepEqual(outbox.messages, []);
});

test("message without network is sent again with the same id", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { outbox, log } = outboxOn(new FakeStorage(), [networkError, networkError]);
  outbox.add(message("a"));
  await flushPromises();
  t.mock.timers.tick(1000);
  await flushPromises();
  assert.deepEqual(log, ["send a", "send a"]);
  outbox.flush();
  await flushPromises();
  assert.deepEqual(log, ["send a", "send a", "send a", "sent a"]);
  t.mock.timers.tick(60_000);
  await flushPromises();
  assert.equal(log.length, 4);
});

test("unsent messages survive a reload in order", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const browser = new FakeStorage();
  const first = outboxOn(browser, [networkError]);
  first.outbox.add(message("later", 1000));
  first.outbox.add(message("earlier", 2000));
  await flushPromises();
  first.outbox.stop();
  const second = outboxOn(browser, []);
  second.outbox.flush();
  await flushPromises();
  assert.deepEqual(second.log, ["send earlier", "sent earlier", "send later", "sent later"]);
  assert.deepEqual(Object.keys(browser), []);
});

test("nothing is sent again after the end, however the last request ends", async (t) => {
  for (const end of [networkError, serviceError(503), serviceError(400), () => "ok"]) {
    t.mock.timers.reset();
    t.mock.timers.enable({ apis: ["setTimeout"] });
    let release = () => {};
    const browser = new FakeStorage();
    const { outbox, log } = outboxOn(browser, [() => new Promise<void>((done) => (release = done)).then(end)]);
    outbox.add(message("a"));
    outbox.add(message("b"));
    outbox.stop();
    release();
    await flushPromises();
    outbox.flush();
    t.mock.timers.tick(60_000);
    await flushPromises();
    assert.deepEqual(log, ["send a"]);
    assert.ok(browser.getItem("w.out.b"), "the next page sends it");
  }
});

test("rejected message fails and the next one is sent", async () => {
  const { outbox, log } = outboxOn(new FakeStorage(), [serviceError(400)]);
  outbox.add(message("a"));
  outbox.add(message("b"));
  await flushPromises();
  assert.deepEqual(log, ["send a", "failed a 400", "send b", "sent b"]);
  outbox.retry("a");
  await flushPromises();
  assert.deepEqual(log.slice(4), ["send a", "sent a"]);
});

test("old message is sent only if the visitor asks for it", async () => {
  const { outbox, log } = outboxOn(new FakeStorage(), []);
  outbox.add(message("a", 24 * 3_600_000));
  outbox.add(message("b"));
  await flushPromises();
  assert.deepEqual(log, ["failed a 408", "send b", "sent b"]);
  outbox.retry("a");
  await flushPromises();
  assert.deepEqual(log.slice(3), ["send a", "sent a"]);
});

test("too many requests wait for the time that the service names", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { outbox, log } = outboxOn(new FakeStorage(), [serviceError(429, 7)]);
  outbox.add(message("a"));
  await flushPromises();
  t.mock.timers.tick(6999);
  await flushPromises();
  assert.deepEqual(log, ["send a"]);
  t.mock.timers.tick(1);
  await flushPromises();
  assert.deepEqual(log, ["send a", "send a", "sent a"]);
});

test("nothing is written to the browser before it is allowed", () => {
  const browser = new FakeStorage();
  const storage = new DeferredStorage(browser as unknown as Storage, "w.");
  storage.write("token", "secret");
  assert.equal(storage.read("token"), "secret");
  assert.deepEqual(Object.keys(browser), []);
  storage.persist();
  assert.deepEqual(Object.entries(browser), [["w.token", '"secret"']]);
});
