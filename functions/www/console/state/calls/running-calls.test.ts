import assert from "node:assert/strict";
import { test } from "node:test";
import type { Call, Entry } from "../../../api/types";
import { RunningCalls } from "./running-calls";
import { memoryStorage } from "../test-support";

const NOW = 1_800_000_000;
const ME = 1;
const entry = (status: Call["status"], fields: Partial<Entry> = {}): Entry => ({
  seq: 3,
  id: "call-1",
  from: "visitor",
  type: "call",
  timestamp: NOW,
  call: { type: "callback", phone: "+31612345678", status },
  ...fields,
});
const statusOf = (calls: RunningCalls) => calls.byChat.value.get(7)?.call.status;

test("call is listed until it ends", () => {
  const calls = new RunningCalls(memoryStorage(), ME, () => NOW);
  calls.apply(7, entry("start"));
  calls.apply(7, entry("client_connected"));
  assert.equal(statusOf(calls), "client_connected");
  calls.apply(7, entry("error", { id: "an earlier call", seq: 2 }));
  assert.equal(statusOf(calls), "client_connected");
  calls.apply(7, entry("end"));
  assert.equal(calls.byChat.value.size, 0);
  calls.apply(7, entry("client_connected"));
  assert.equal(calls.byChat.value.size, 0, "an entry that was read before the end");
  calls.apply(7, entry("start", { id: "call-2", seq: 4 }));
  assert.equal(statusOf(calls), "start", "the next call");
});

test("message and old call are not calls in progress", () => {
  const calls = new RunningCalls(memoryStorage(), ME, () => NOW);
  const { call: _, ...message } = entry("start");
  calls.apply(7, message);
  calls.apply(7, entry("start", { timestamp: NOW - 6 * 3600 }));
  assert.equal(calls.byChat.value.size, 0);
});

test("calls are forgotten after a lost connection", () => {
  const calls = new RunningCalls(memoryStorage(), ME, () => NOW);
  calls.apply(7, entry("start"));
  calls.clear();
  assert.equal(calls.byChat.value.size, 0);
});

test("call of a chat that the agent no longer sees is forgotten", () => {
  const calls = new RunningCalls(memoryStorage(), ME, () => NOW);
  calls.apply(7, entry("client_connected"));
  calls.apply(8, entry("start", { id: "call-2" }));
  calls.remove([7, 9]);
  assert.deepEqual([...calls.byChat.value.keys()], [8]);
});

test("position of a call is stored until the call ends", () => {
  const storage = memoryStorage();
  const positions = () => new RunningCalls(storage, ME, () => NOW).positions;
  const calls = new RunningCalls(storage, ME, () => NOW);
  calls.apply(7, entry("client_connected"));
  calls.apply(8, entry("start", { id: "call-2", seq: 5 }));
  calls.clear();
  assert.deepEqual(positions(), [
    { chatId: 8, seq: 5, isOwn: false },
    { chatId: 7, seq: 3, isOwn: false },
  ]);
  calls.apply(7, entry("end"));
  calls.apply(8, entry("end", { id: "call-1", seq: 2 }));
  assert.deepEqual(positions(), [{ chatId: 8, seq: 5, isOwn: false }], "an earlier call of the chat has ended before");
  calls.remove([8]);
  assert.deepEqual(positions(), []);
});

test("positions begin with own calls, and with the newest", () => {
  const calls = new RunningCalls(memoryStorage(), ME, () => NOW);
  const callOf = (agentId: number, seq: number) => {
    const agent = { id: agentId, name: "" };
    const call: Call = { type: "callback", phone: "+31612345678", status: "start", agent };
    return entry("start", { id: `call-${seq}`, seq, call });
  };
  calls.apply(1, callOf(ME, 3));
  calls.apply(2, callOf(2, 3));
  calls.apply(3, callOf(ME, 3));
  calls.apply(4, callOf(2, 3));
  calls.apply(1, callOf(ME, 9));
  assert.deepEqual(
    calls.positions.map(({ chatId }) => chatId),
    [1, 3, 4, 2],
  );
});
