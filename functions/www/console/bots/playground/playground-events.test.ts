import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry } from "../../../api/types";
import { eventsOf } from "./playground-events";

const DELIVERED = { state: "delivered" as const, attempts: [] };
const HANDOVER = { at: 10, is_fallback: false, reason: null, priority: null, summary: null, data: null };
const entry = (seq: number, fields: Partial<Entry>) =>
  ({ seq, id: String(seq), from: "visitor", timestamp: seq, type: "text", ...fields }) as Entry;
const kinds = (...[entries, handover]: [entries: Entry[], handover?: typeof HANDOVER]) =>
  eventsOf(7, entries, handover ?? null).map(({ kind }) => kind);

test("what the bot was sent and what came back are in order", () => {
  const entries = [
    entry(1, { bot_delivery: DELIVERED }),
    entry(2, { from: "bot" }),
    entry(3, { from: "system", text: "Ann transferred the chat to Ben" }),
    entry(4, {}),
    entry(5, { from: "agent" }),
    entry(6, { from: "system", type: "chat_closed", bot_delivery: DELIVERED }),
  ];
  assert.deepEqual(kinds(entries), ["sent", "answer", "transfer", "kept", "agent", "sent"]);
});

test("notes and notifications of webhooks are left out", () => {
  const entries = [
    entry(1, { from: "agent", type: "note" }),
    entry(2, { from: "system", type: "chat_accepted", webhook_delivery: DELIVERED }),
  ];
  assert.deepEqual(kinds(entries), []);
});

test("handover is shown once, with or without the bot's words to the agents", () => {
  const entries = [entry(9, { bot_delivery: DELIVERED }), entry(11, {})];
  assert.deepEqual(kinds(entries, HANDOVER), ["sent", "bare-handover", "kept"]);
  assert.deepEqual(kinds(entries.slice(0, 1), HANDOVER), ["sent", "bare-handover"]);
  const told = entry(10, { from: "bot", type: "handover" });
  assert.deepEqual(kinds([...entries.slice(0, 1), told, ...entries.slice(1)], HANDOVER), ["sent", "handover", "kept"]);
});

test("words of an earlier handover do not hide a fallback", () => {
  const entries = [entry(3, { from: "bot", type: "handover" }), entry(9, { bot_delivery: DELIVERED })];
  const events = eventsOf(7, entries, { ...HANDOVER, is_fallback: true });
  assert.deepEqual(events.at(-1), {
    kind: "bare-handover",
    key: "7-handover-10",
    chatId: 7,
    at: 10,
    isFallback: true,
  });
});
