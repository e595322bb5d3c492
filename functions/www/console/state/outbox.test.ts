import assert from "node:assert/strict";
import { test } from "node:test";
import { failure, fakeApi, json, memoryShelf, settled, type Call } from "./fake";
import { Outbox, type Outgoing } from "./outbox";
import { Drafts } from "./drafts";
import { TypingNotice } from "./typing-notice";

const text = (words: string) => ({ kind: "message" as const, body: { type: "text" as const, text: words } });
const stored = (seq: number) => json({ seq, id: `id-${seq}` }, 201);
const words = ({ body }: Call) => (body as { text: string }).text;
const states = (outbox: Outbox) => outbox.items.value.map(({ state }) => state);

function outboxWith(answer: (call: Call, count: number) => Response | Promise<Response>, shelf = memoryShelf()) {
  let count = 0;
  const { api, calls } = fakeApi((call) => answer(call, ++count));
  const outbox = new Outbox(api, shelf);
  const sent: number[] = [];
  outbox.onSent = (_, { seq }) => sent.push(seq);
  return { outbox, calls, sent, shelf, api };
}

test("messages of a chat are sent one after the other", async () => {
  const { outbox, calls, sent } = outboxWith((_, count) => stored(count));
  for (const word of ["one", "two", "three"]) outbox.add(7, text(word));
  assert.equal(outbox.items.value.length, 3);
  await settled();
  await settled();
  assert.deepEqual([calls.map(words), sent, outbox.items.value], [["one", "two", "three"], [1, 2, 3], []]);
});

test("a lost network repeats the request with the same key", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { outbox, calls, sent } = outboxWith((_, count) => {
    if (count < 3) throw new TypeError("network");
    return stored(4);
  });
  outbox.add(7, text("hello"));
  await settled();
  assert.deepEqual(states(outbox), ["waiting"]);
  t.mock.timers.tick(1500);
  await settled();
  t.mock.timers.tick(2500);
  await settled();
  assert.deepEqual(sent, [4]);
  assert.equal(calls.length, 3);
  assert.equal(new Set(calls.map(({ key }) => key)).size, 1);
});

test("a message survives a reload and keeps its key and place", async () => {
  const { outbox, shelf, calls } = outboxWith(() => {
    throw new TypeError("network");
  });
  outbox.add(7, text("one"));
  outbox.add(7, text("two"));
  await settled();
  outbox.stop();
  const next = outboxWith((_, count) => stored(count), shelf);
  assert.deepEqual(states(next.outbox), ["waiting", "waiting"]);
  next.outbox.start();
  await settled();
  await settled();
  assert.deepEqual(next.calls.map(words), ["one", "two"]);
  assert.equal(next.calls[0]?.key, calls[0]?.key);
  assert.deepEqual(shelf.names(), []);
});

test("Retry-After is waited for", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { outbox, calls } = outboxWith((_, count) =>
    count === 1 ? failure(429, "slow down", { "retry-after": "9" }) : stored(1),
  );
  outbox.add(7, text("hello"));
  await settled();
  t.mock.timers.tick(8000);
  await settled();
  assert.equal(calls.length, 1);
  t.mock.timers.tick(3000);
  await settled();
  assert.equal(calls.length, 2);
});

test("a refused message stays with its reason and lets others pass", async () => {
  const { outbox, sent } = outboxWith((call, count) =>
    words(call) === "bad" ? failure(400, "text is wrong") : stored(count),
  );
  const refused: Outgoing[] = [];
  outbox.onRefused = (item) => refused.push(item);
  outbox.add(7, text("bad"));
  outbox.add(7, text("good"));
  await settled();
  await settled();
  assert.deepEqual(
    [outbox.items.value.map(({ problem }) => problem), sent, refused.length],
    [["text is wrong"], [2], 1],
  );
});

test("an ended session does not refuse a message", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { outbox } = outboxWith(() => failure(401));
  outbox.add(7, text("hello"));
  await settled();
  assert.deepEqual(states(outbox), ["waiting"]);
});

test("messages wait for the chat's accept", async () => {
  const { outbox, calls } = outboxWith((_, count) => stored(count));
  let isHeld = true;
  outbox.isHeld = () => isHeld;
  outbox.add(7, text("hello"));
  await settled();
  assert.equal(calls.length, 0);
  isHeld = false;
  void outbox.sendNext(7);
  await settled();
  assert.equal(calls.length, 1);
});

test("a discarded message is not sent", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { outbox, calls, shelf } = outboxWith((_, count) => (count === 1 ? failure(503) : stored(count)));
  const { key } = outbox.add(7, text("no"));
  await settled();
  outbox.discard(key);
  t.mock.timers.tick(5000);
  await settled();
  assert.deepEqual([calls.length, outbox.items.value, shelf.names()], [1, [], []]);
});

test("notes go to their own endpoint", async () => {
  const { outbox, calls } = outboxWith(() => stored(1));
  outbox.add(7, { kind: "note", body: { text: "for us" } });
  await settled();
  assert.deepEqual(
    calls.map(({ path }) => path),
    ["/agent/chats/7/notes"],
  );
});

test("drafts are kept by chat", () => {
  const shelf = memoryShelf();
  const drafts = new Drafts(shelf);
  drafts.write(7, "half a sen", false);
  drafts.write(8, "  ", false);
  drafts.write(9, "note", true);
  const later = new Drafts(shelf);
  assert.deepEqual(
    [later.read(7), later.read(8), later.read(9)],
    [
      { text: "half a sen", isNote: false },
      { text: "", isNote: false },
      { text: "note", isNote: true },
    ],
  );
  assert.deepEqual([...later.chats.value].sort(), [7, 9]);
  later.write(7, "", false);
  assert.deepEqual([...later.chats.value], [9]);
});

test("typing is told at once, repeated, and ended", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"] });
  const told: string[] = [];
  const notice = new TypingNotice((type) => told.push(type));
  for (let second = 0; second < 8; second++) {
    notice.typed(true);
    t.mock.timers.tick(1000);
  }
  assert.deepEqual(told, ["typein", "typein"]);
  t.mock.timers.tick(6000);
  assert.deepEqual(told, ["typein", "typein", "typeout"]);
  notice.typed(true);
  notice.typed(false);
  notice.stop();
  assert.deepEqual(told, ["typein", "typein", "typeout", "typein", "typeout"]);
});
