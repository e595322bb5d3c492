import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry } from "../../api/types";
import type { OutgoingItem } from "../state/chat/outbox";
import { firstUnread, groupTimeline, type TimelineItem } from "./timeline-grouping";

const me = { id: 1, name: "Marta" };
const START = 1_760_000_000;
let lastSeq = 0;

function entry(overrides: Partial<Entry> & { seconds?: number }): Entry {
  const { seconds = 0, ...rest } = overrides;
  lastSeq++;
  return {
    seq: lastSeq,
    id: `id-${lastSeq}`,
    from: "visitor",
    type: "text",
    text: "x",
    timestamp: START + seconds,
    ...rest,
  };
}
const item = (overrides: Partial<OutgoingItem>): OutgoingItem =>
  ({
    kind: "message",
    body: { type: "text", text: "Hi" },
    key: "key-1",
    chatId: 7,
    createdAt: START * 1000,
    state: "sending",
    ...overrides,
  }) as OutgoingItem;
const itemKinds = (items: TimelineItem[]) =>
  items.map((item) =>
    item.kind === "turn"
      ? `${item.author.kind}:${item.entries.length}${item.outgoing.length > 0 ? `+${item.outgoing.length}` : ""}`
      : item.kind,
  );
const groupedKinds = (entries: Entry[], outgoing: OutgoingItem[] = [], readUpTo?: number, keys?: Map<string, string>) =>
  itemKinds(groupTimeline({ entries, outgoing, me, readUpTo, ...(keys ? { keys } : {}) }));

test("messages of one author within five minutes form a turn", () => {
  assert.deepEqual(groupedKinds([entry({}), entry({ seconds: 60 }), entry({ seconds: 60 + 301 })]), [
    "day",
    "visitor:2",
    "visitor:1",
  ]);
});

test("another author starts a new turn", () => {
  const agent = (id: number, seconds: number) => entry({ from: "agent", agent: { id, name: `A${id}` }, seconds });
  assert.deepEqual(
    groupedKinds([
      entry({}),
      agent(1, 1),
      agent(1, 2),
      agent(2, 3),
      entry({ from: "bot", bot: { name: "B" }, seconds: 4 }),
    ]),
    ["day", "visitor:1", "agent:2", "agent:1", "bot:1"],
  );
});

test("private note and reply are separate turns", () => {
  const agent = { from: "agent" as const, agent: me };
  assert.deepEqual(groupedKinds([entry(agent), entry({ ...agent, type: "note", seconds: 1 })]), [
    "day",
    "agent:1",
    "agent:1",
  ]);
});

test("new day adds a date line", () => {
  assert.deepEqual(groupedKinds([entry({}), entry({ seconds: 86_400 })]), ["day", "visitor:1", "day", "visitor:1"]);
});

test("event of several webhooks is one line", () => {
  const event = (type: string, seconds: number) => entry({ from: "system", type, seconds });
  assert.deepEqual(
    groupedKinds([
      event("chat_accepted", 0),
      event("chat_accepted", 1),
      event("chat_closed", 60),
      event("chat_finished", 61),
    ]),
    ["day", "event", "event"],
  );
});

test("unread line precedes the first new visitor message", () => {
  const entries = [entry({}), entry({ from: "agent", agent: me, seconds: 1 }), entry({ seconds: 2 })];
  const read = entries[0]?.seq;
  assert.deepEqual(groupedKinds(entries, [], read), ["day", "visitor:1", "agent:1", "unread", "visitor:1"]);
  assert.equal(firstUnread(entries, entries[2]?.seq), undefined);
  assert.equal(firstUnread(entries, undefined), undefined);
});

test("outgoing message joins the agent's last turn", () => {
  assert.deepEqual(groupedKinds([entry({ from: "agent", agent: me, text: "before" })], [item({})]), [
    "day",
    "agent:1+1",
  ]);
});

test("push before the response is not shown twice", () => {
  const pushed = entry({ from: "agent", agent: me, text: "Hi", seconds: 1 });
  assert.deepEqual(groupedKinds([pushed], [item({})]), ["day", "agent:1"]);
});

test("equal messages are both shown", () => {
  const pushed = entry({ from: "agent", agent: me, text: "Hi", seconds: 1 });
  assert.deepEqual(groupedKinds([pushed], [item({}), item({ key: "key-2", createdAt: START * 1000 + 5 })]), [
    "day",
    "agent:1+1",
  ]);
});

test("confirmed entry does not hide a new equal message", () => {
  const storedEntry = entry({ from: "agent", agent: me, text: "Hi", seconds: 1 });
  assert.deepEqual(
    groupedKinds([storedEntry], [item({ key: "key-2" })], undefined, new Map([[storedEntry.id, "key-1"]])),
    ["day", "agent:1+1"],
  );
});

test("rejected message stays visible beside an equal entry", () => {
  const pushed = entry({ from: "agent", agent: me, text: "Hi", seconds: 1 });
  assert.deepEqual(groupedKinds([pushed], [item({ state: "rejected" })]), ["day", "agent:1+1"]);
});

test("confirmed entry keeps the key of its outgoing message", () => {
  const sent = entry({ from: "agent", agent: me, text: "Hi" });
  const items = groupTimeline({
    entries: [sent],
    outgoing: [],
    me,
    readUpTo: undefined,
    keys: new Map([[sent.id, "key-1"]]),
  });
  assert.equal(items.at(-1)?.key, "key-1");
});

test("call shows its status by itself, unless a webhook was not notified", () => {
  const call = { type: "callback" as const, phone: "+31612345678", status: "end" as const };
  const delivery = (state: "delivered" | "failed") => ({ webhook_delivery: { state, attempts: [] } });
  const event = { from: "system" as const, type: "call_event" };
  const entries = [
    entry({ type: "call", call }),
    entry({ ...event, ...delivery("delivered") }),
    entry({ ...event, ...delivery("failed") }),
  ];
  assert.deepEqual(groupedKinds(entries), ["day", "visitor:1", "event"]);
});
