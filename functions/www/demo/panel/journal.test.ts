import assert from "node:assert/strict";
import { test } from "node:test";
import { eventName, summaryOf, withNewEntries, type JournalEntry } from "./journal";

const entry = (number: number, at = number): JournalEntry => ({
  number,
  at,
  receiver: "bot",
  request: {},
  replies: [],
});
const numbers = (entries: readonly JournalEntry[]) => entries.map(({ number }) => number);

test("new entries come first, up to the limit", () => {
  assert.deepEqual(numbers(withNewEntries([], [entry(1), entry(2)])), [2, 1]);
  const known = [entry(2), entry(1)];
  assert.deepEqual(numbers(withNewEntries(known, [entry(2)])), [2, 1]);
  assert.deepEqual(numbers(withNewEntries(known, [entry(2), entry(3), entry(4)])), [4, 3, 2, 1]);
  const many = Array.from({ length: 60 }, (_, index) => entry(index + 2));
  assert.equal(withNewEntries(known, many).length, 50);
});

test("entries of a restarted host replace the earlier ones", () => {
  const known = [entry(2), entry(1)];
  assert.deepEqual(withNewEntries(known, []), []);
  assert.deepEqual(withNewEntries(known, [entry(2, 900)]), []);
  assert.deepEqual(numbers(withNewEntries([], [entry(1, 800), entry(2, 900)])), [2, 1]);
});

test("calls are summed up in one line", () => {
  const order = { event: "call", type: "callback", client: { phone: "+442079460123" } };
  const ordered: JournalEntry = { ...entry(1), receiver: "gateway", request: order };
  assert.deepEqual([eventName(ordered), summaryOf(ordered)], ["call", "callback to +442079460123"]);
  const event = {
    event_name: "call_event",
    visitor: { name: "Ada Lind" },
    agent: { name: "Demo Agent" },
    call: { type: "callback", phone: "+442079460123", status: "error", reason: "busy" },
  };
  const reported: JournalEntry = { ...entry(2), receiver: "webhook", request: event };
  assert.deepEqual(
    [eventName(reported), summaryOf(reported)],
    ["call_event", "Ada Lind, Demo Agent: callback, error, busy"],
  );
});
