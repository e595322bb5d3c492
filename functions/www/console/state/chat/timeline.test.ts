import assert from "node:assert/strict";
import { test } from "node:test";
import type { Chat, Entry } from "../../../api/types";
import { chatRow, errorResponse, timelineEntry, fakeApi, jsonResponse, flushPromises } from "../test-support";
import { ownedSince, Timeline, Timelines } from "./timeline";

function timelineOf(stored: () => Entry[]) {
  const { api, calls } = fakeApi(({ path, query }) => {
    if (!path.endsWith("/messages")) return jsonResponse({ chat_id: 7, panel: {}, visitor: { number: 1 } });
    const after = Number(query.get("after"));
    const limit = Number(query.get("limit"));
    return jsonResponse({
      messages: stored()
        .filter(({ seq }) => seq > after)
        .slice(0, limit),
    });
  });
  const reads = () =>
    calls.filter(({ path }) => path.endsWith("/messages")).map(({ query }) => Number(query.get("after")));
  return { timeline: new Timeline(api, 7), reads };
}
const seqs = (timeline: Timeline) => timeline.entries.value.map(({ seq }) => seq);
const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => timelineEntry(from + index));

test("long timeline is loaded page by page", async () => {
  const { timeline, reads } = timelineOf(() => range(1, 1100));
  await timeline.open(undefined);
  assert.equal(seqs(timeline).length, 1100);
  assert.deepEqual(reads(), [0, 500, 1000]);
  assert.equal(timeline.hasOlder.value, false);
});

test("end of a timeline is loaded first, older pages later", async () => {
  const { timeline, reads } = timelineOf(() => range(1, 900));
  await timeline.open(900);
  assert.deepEqual([seqs(timeline)[0], seqs(timeline).length, timeline.hasOlder.value], [701, 200, true]);
  await timeline.loadOlder();
  assert.deepEqual([seqs(timeline)[0], seqs(timeline).length], [501, 400]);
  while (timeline.hasOlder.value) await timeline.loadOlder();
  assert.deepEqual(
    seqs(timeline),
    range(1, 900).map(({ seq }) => seq),
  );
  assert.deepEqual(reads(), [700, 500, 300, 100, 0]);
});

test("details that were read before a change do not replace it", async () => {
  const responses: (() => void)[] = [];
  const visitor = { number: 1, blacklisted: false };
  const { api } = fakeApi(({ path }) => {
    if (path.endsWith("/messages")) return jsonResponse({ messages: [] });
    const response = jsonResponse({ chat_id: 7, visitor: { ...visitor } });
    return new Promise((done) => responses.push(() => done(response)));
  });
  const respond = async () => {
    responses.shift()?.();
    await flushPromises();
  };
  const timeline = new Timeline(api, 7);
  const opening = timeline.open(undefined);
  await respond();
  await opening;
  const refresh = timeline.refreshDetails();
  visitor.blacklisted = true;
  timeline.applyVisitor({ blacklisted: true } as Chat["visitor"]);
  await respond();
  assert.equal(timeline.chatDetails.value?.visitor.blacklisted, true);
  await respond();
  await refresh;
  assert.equal(timeline.chatDetails.value?.visitor.blacklisted, true);
  assert.deepEqual(responses, []);
});

test("pushed entry in sequence needs no request", async () => {
  const { timeline, reads } = timelineOf(() => range(1, 3));
  await timeline.open(undefined);
  assert.equal(timeline.applyEntry(timelineEntry(4)), true);
  assert.equal(timeline.applyEntry(timelineEntry(4)), false);
  await flushPromises();
  assert.deepEqual([seqs(timeline), reads()], [[1, 2, 3, 4], [0]]);
});

test("gap before a pushed entry is loaded", async () => {
  let stored = range(1, 3);
  const { timeline, reads } = timelineOf(() => stored);
  await timeline.open(undefined);
  stored = range(1, 6);
  timeline.applyEntry(timelineEntry(6));
  await flushPromises();
  assert.deepEqual(
    [seqs(timeline), reads()],
    [
      [1, 2, 3, 4, 5, 6],
      [0, 3],
    ],
  );
});

test("late entry is loaded by a retry", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let stored = range(1, 3);
  const { timeline } = timelineOf(() => stored);
  await timeline.open(undefined);
  timeline.applyEntry(timelineEntry(5));
  await flushPromises();
  assert.deepEqual(seqs(timeline), [1, 2, 3, 5]);
  stored = range(1, 5);
  t.mock.timers.tick(1000);
  await flushPromises();
  assert.deepEqual(seqs(timeline), [1, 2, 3, 4, 5]);
});

test("retries for a missing entry are limited", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { timeline, reads } = timelineOf(() => range(1, 3));
  await timeline.open(undefined);
  timeline.applyEntry(timelineEntry(5));
  for (let second = 0; second < 30; second++) {
    await flushPromises();
    t.mock.timers.tick(1000);
  }
  assert.ok(reads().length <= 15, String(reads().length));
  timeline.applyEntry(timelineEntry(6));
  await flushPromises();
  assert.deepEqual(seqs(timeline), [1, 2, 3, 5, 6]);
});

test("delivery update replaces the entry", async () => {
  const { timeline } = timelineOf(() => range(1, 3));
  await timeline.open(undefined);
  timeline.applyEntry(timelineEntry(2, { delivery: { state: "delivered", attempts: [] } }));
  assert.deepEqual(seqs(timeline), [1, 2, 3]);
  assert.equal(timeline.entries.value[1]?.delivery?.state, "delivered");
});

test("only pending deliveries are reloaded", async () => {
  let stored = [timelineEntry(1), timelineEntry(2, { delivery: { state: "pending", attempts: [] } }), timelineEntry(3)];
  const { timeline, reads } = timelineOf(() => stored);
  await timeline.open(undefined);
  stored = [
    timelineEntry(1),
    timelineEntry(2, { delivery: { state: "failed", attempts: [] } }),
    timelineEntry(3),
    timelineEntry(4),
  ];
  await timeline.refreshPending();
  assert.equal(timeline.entries.value[1]?.delivery?.state, "failed");
  await timeline.refreshPending();
  assert.deepEqual(reads(), [0, 1, 4]);
});

test("least recently used timelines are dropped", () => {
  const { api } = fakeApi(() => jsonResponse({}));
  const timelines = new Timelines(api, 2);
  const first = timelines.open(1);
  timelines.open(2);
  assert.equal(timelines.open(1), first);
  timelines.open(3);
  assert.deepEqual([timelines.peek(1) === first, timelines.peek(2)], [true, undefined]);
});

test("chat belongs to its owner since the last transfer", () => {
  const accepted = timelineEntry(2, { from: "system", type: "chat_accepted", timestamp: 100 });
  const transfer = timelineEntry(5, { from: "system", type: "text", timestamp: 200 });
  assert.equal(ownedSince([accepted, timelineEntry(3)]), 100);
  assert.equal(ownedSince([accepted, transfer, timelineEntry(6)]), 200);
  assert.equal(ownedSince([timelineEntry(6)]), undefined);
});

test("entries are read again after a missed edit, but only once", async () => {
  const stored = range(1, 3);
  const { timeline, reads } = timelineOf(() => stored);
  await timeline.open(3);
  stored[0] = { ...stored[0]!, text: "edited", edited_at: 900 };
  const row = { ...chatRow(7), messages_changed_at: 900 };
  timeline.applyRow(row);
  timeline.applyRow(row);
  await flushPromises();
  assert.equal(timeline.entries.value[0]?.text, "edited");
  assert.deepEqual(reads(), [0, 0]);
});

test("missed edit is read again after a failure", async () => {
  const stored = range(1, 3);
  let isDown = false;
  const { api } = fakeApi(({ path }) => {
    if (isDown) return errorResponse(503);
    return jsonResponse(path.endsWith("/messages") ? { messages: stored } : { chat_id: 7, visitor: {} });
  });
  const timeline = new Timeline(api, 7);
  await timeline.open(3);
  stored[0] = { ...stored[0]!, text: "edited", edited_at: 900 };
  const row = { ...chatRow(7), messages_changed_at: 900 };
  isDown = true;
  timeline.applyRow(row);
  await flushPromises();
  isDown = false;
  timeline.applyRow(row);
  await flushPromises();
  assert.equal(timeline.entries.value[0]?.text, "edited");
});

test("missed edit is read after a running refresh", async () => {
  const stored = range(1, 3);
  const { timeline, reads } = timelineOf(() => stored);
  await timeline.open(3);
  const running = timeline.refresh();
  stored[0] = { ...stored[0]!, text: "edited", edited_at: 900 };
  timeline.applyRow({ ...chatRow(7), messages_changed_at: 900 });
  await running;
  await flushPromises();
  assert.equal(timeline.entries.value[0]?.text, "edited");
  assert.deepEqual(reads(), [0, 3, 0]);
});

test("pushed edit causes no further read", async () => {
  const { timeline, reads } = timelineOf(() => range(1, 3));
  await timeline.open(3);
  timeline.applyEntry({ ...timelineEntry(2), text: "edited", edited_at: 900 });
  timeline.applyRow({ ...chatRow(7), messages_changed_at: 900 });
  await flushPromises();
  assert.deepEqual(reads(), [0]);
});

test("details are read again when the number of planned messages changes", async () => {
  const { api, calls } = fakeApi(({ path }) =>
    jsonResponse(path.endsWith("/messages") ? { messages: [] } : { chat_id: 7, planned: [{ planned_id: "p" }] }),
  );
  const timeline = new Timeline(api, 7);
  await timeline.open(undefined);
  const before = calls.length;
  timeline.applyRow({ ...chatRow(7), planned: 1 });
  assert.equal(calls.length, before);
  timeline.applyRow({ ...chatRow(7), planned: 2 });
  assert.equal(calls.length, before + 1);
});
