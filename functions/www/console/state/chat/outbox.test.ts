import assert from "node:assert/strict";
import { test } from "node:test";
import { errorResponse, fakeApi, jsonResponse, memoryStorage, flushPromises, type RecordedCall } from "../test-support";
import { Outbox, type OutgoingItem } from "./outbox";
import { Drafts } from "./drafts";
import { TypingNotice } from "./typing-notice";

const text = (textOf: string) => ({ kind: "message" as const, body: { type: "text" as const, text: textOf } });
const stored = (seq: number) => jsonResponse({ seq, id: `id-${seq}` }, 201);
const textOf = ({ body }: RecordedCall) => (body as { text: string }).text;
const states = (outbox: Outbox) => outbox.items.value.map(({ state }) => state);

function createOutbox(
  respond: (call: RecordedCall, count: number) => Response | Promise<Response>,
  storage = memoryStorage(),
) {
  let count = 0;
  const { api, calls } = fakeApi((call) => respond(call, ++count));
  const outbox = new Outbox(api, storage);
  const sentSeqs: number[] = [];
  outbox.onSent = (_, { seq }) => sentSeqs.push(seq);
  return { outbox, calls, sentSeqs, storage, api };
}

test("messages of a chat are sent one at a time", async () => {
  const { outbox, calls, sentSeqs } = createOutbox((_, count) => stored(count));
  for (const word of ["one", "two", "three"]) outbox.add(7, text(word));
  assert.equal(outbox.items.value.length, 3);
  await flushPromises();
  await flushPromises();
  assert.deepEqual([calls.map(textOf), sentSeqs, outbox.items.value], [["one", "two", "three"], [1, 2, 3], []]);
});

test("retry after a network error has the same key", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { outbox, calls, sentSeqs } = createOutbox((_, count) => {
    if (count < 3) throw new TypeError("network");
    return stored(4);
  });
  outbox.add(7, text("hello"));
  await flushPromises();
  assert.deepEqual(states(outbox), ["waiting"]);
  t.mock.timers.tick(1500);
  await flushPromises();
  t.mock.timers.tick(2500);
  await flushPromises();
  assert.deepEqual(sentSeqs, [4]);
  assert.equal(calls.length, 3);
  assert.equal(new Set(calls.map(({ key }) => key)).size, 1);
});

test("message keeps its key and order across a reload", async () => {
  const { outbox, storage, calls } = createOutbox(() => {
    throw new TypeError("network");
  });
  outbox.add(7, text("one"));
  outbox.add(7, text("two"));
  await flushPromises();
  outbox.stop();
  const next = createOutbox((_, count) => stored(count), storage);
  assert.deepEqual(states(next.outbox), ["waiting", "waiting"]);
  next.outbox.start();
  await flushPromises();
  await flushPromises();
  assert.deepEqual(next.calls.map(textOf), ["one", "two"]);
  assert.equal(next.calls[0]?.key, calls[0]?.key);
  assert.deepEqual(storage.names(), []);
});

test("retry waits for Retry-After", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { outbox, calls } = createOutbox((_, count) =>
    count === 1 ? errorResponse(429, "slow down", { "retry-after": "9" }) : stored(1),
  );
  outbox.add(7, text("hello"));
  await flushPromises();
  t.mock.timers.tick(8000);
  await flushPromises();
  assert.equal(calls.length, 1);
  t.mock.timers.tick(3000);
  await flushPromises();
  assert.equal(calls.length, 2);
});

test("rejected message is kept and does not block others", async () => {
  const { outbox, sentSeqs } = createOutbox((call, count) =>
    textOf(call) === "bad" ? errorResponse(400, "text is wrong") : stored(count),
  );
  const rejected: OutgoingItem[] = [];
  outbox.onRejected = (item) => rejected.push(item);
  outbox.add(7, text("bad"));
  outbox.add(7, text("good"));
  await flushPromises();
  await flushPromises();
  assert.deepEqual(
    [outbox.items.value.map(({ problem }) => problem), sentSeqs, rejected.length],
    [["text is wrong"], [2], 1],
  );
});

test("expired session does not reject a message", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { outbox } = createOutbox(() => errorResponse(401));
  outbox.add(7, text("hello"));
  await flushPromises();
  assert.deepEqual(states(outbox), ["waiting"]);
});

test("messages wait until the chat is accepted", async () => {
  const { outbox, calls } = createOutbox((_, count) => stored(count));
  let isHeld = true;
  outbox.isPaused = () => isHeld;
  outbox.add(7, text("hello"));
  await flushPromises();
  assert.equal(calls.length, 0);
  isHeld = false;
  void outbox.sendNext(7);
  await flushPromises();
  assert.equal(calls.length, 1);
});

test("discarded message is not sent", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { outbox, calls, storage } = createOutbox((_, count) => (count === 1 ? errorResponse(503) : stored(count)));
  const { key } = outbox.add(7, text("no"));
  await flushPromises();
  outbox.discard(key);
  t.mock.timers.tick(5000);
  await flushPromises();
  assert.deepEqual([calls.length, outbox.items.value, storage.names()], [1, [], []]);
});

test("notes are sent to their own endpoint", async () => {
  const { outbox, calls } = createOutbox(() => stored(1));
  outbox.add(7, { kind: "note", body: { text: "for us" } });
  await flushPromises();
  assert.deepEqual(
    calls.map(({ path }) => path),
    ["/agent/chats/7/notes"],
  );
});

test("drafts are stored per chat", () => {
  const storage = memoryStorage();
  const drafts = new Drafts(storage);
  drafts.write(7, "half a sen", false);
  drafts.write(8, "  ", false);
  drafts.write(9, "note", true);
  const later = new Drafts(storage);
  assert.deepEqual(
    [later.read(7), later.read(8), later.read(9)],
    [
      { text: "half a sen", isNote: false },
      { text: "", isNote: false },
      { text: "note", isNote: true },
    ],
  );
  assert.deepEqual([...later.chatIds.value].sort(), [7, 9]);
  later.write(7, "", false);
  assert.deepEqual([...later.chatIds.value], [9]);
});

test("typing notice is sent, repeated and ended", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"] });
  const sentNotices: string[] = [];
  const notice = new TypingNotice((type) => sentNotices.push(type));
  for (let second = 0; second < 8; second++) {
    notice.onInput(true);
    t.mock.timers.tick(1000);
  }
  assert.deepEqual(sentNotices, ["typein", "typein"]);
  t.mock.timers.tick(6000);
  assert.deepEqual(sentNotices, ["typein", "typein", "typeout"]);
  notice.onInput(true);
  notice.onInput(false);
  notice.stop();
  assert.deepEqual(sentNotices, ["typein", "typein", "typeout", "typein", "typeout"]);
});
