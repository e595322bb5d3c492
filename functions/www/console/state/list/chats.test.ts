import assert from "node:assert/strict";
import { test } from "node:test";
import { ChatStore, visitorName } from "./chats";
import { fakeApi, jsonResponse, memoryStorage, ownChat, chatRow, flushPromises } from "../test-support";
import type { ChatRow } from "../../../api/types";

function createStore(pages: () => { chats: ChatRow[]; next: number | null }[] = () => [{ chats: [], next: null }]) {
  const { api, calls } = fakeApi(({ query }) => {
    const list = pages();
    const before = query.get("before");
    const index = before === null ? 0 : list.findIndex((page) => String(page.next) === before) + 1;
    return jsonResponse(list[index]);
  });
  const storage = memoryStorage();
  return { chats: new ChatStore(api, 1, storage), calls, storage, api };
}
const ids = (rows: readonly ChatRow[]) => rows.map((row) => row.chat_id);

test("longest-waiting chat is listed first", () => {
  const { chats } = createStore();
  chats.applyRows([
    chatRow(1, { lastMessage: ["visitor", 300] }),
    chatRow(2, { lastMessage: ["visitor", 100] }),
    chatRow(3, { waiting_since: 50, lastMessage: ["visitor", 900] }),
  ]);
  assert.deepEqual(ids(chats.waiting.value), [3, 2, 1]);
});

test("chats that are offered to the agent come first, and those offered to others last", () => {
  const { chats } = createStore();
  const until = Math.floor(Date.now() / 1000) + 60;
  chats.applyRows([
    chatRow(1, { waiting_since: 10, offer: { agent_id: 2, until } }),
    chatRow(2, { waiting_since: 20 }),
    chatRow(3, { waiting_since: 30, offer: { agent_id: 1, until } }),
    chatRow(4, { waiting_since: 40, offer: { agent_id: 2, until: 50 } }),
  ]);
  assert.deepEqual(ids(chats.waiting.value), [3, 2, 4, 1]);
});

test("own chat whose answer is due first is first", () => {
  const { chats } = createStore();
  const due = (at: number) => ({ at, soon_at: at - 10, first: false });
  chats.applyRows([
    chatRow(1, { ...ownChat, lastMessage: ["visitor", 100] }),
    chatRow(2, { ...ownChat, lastMessage: ["visitor", 200], answer_due: due(900) }),
    chatRow(3, { ...ownChat, lastMessage: ["visitor", 300], answer_due: due(800) }),
  ]);
  assert.deepEqual(ids(chats.mine.value), [3, 2, 1]);
});

test("another message does not restart the waiting time", () => {
  const { chats } = createStore();
  chats.applyRows([chatRow(1, { lastMessage: ["visitor", 100] }), chatRow(2, { lastMessage: ["visitor", 200] })]);
  chats.applyRows([chatRow(1, { lastMessage: ["visitor", 900] })]);
  assert.deepEqual(ids(chats.waiting.value), [1, 2]);
  assert.equal(chats.waitingSince(chatRow(1, { lastMessage: ["visitor", 900] })), 100);
});

test("own unanswered chats precede answered ones", () => {
  const { chats } = createStore();
  chats.applyRows([
    chatRow(1, { ...ownChat, lastMessage: ["agent", 900] }),
    chatRow(2, { ...ownChat, lastMessage: ["visitor", 500] }),
    chatRow(3, { ...ownChat, lastMessage: ["visitor", 400] }),
    chatRow(4, { ...ownChat, lastMessage: ["agent", 950] }),
  ]);
  chats.applyRows([chatRow(5, { state: "active", agent: { id: 2, name: "Jonas" } })]);
  assert.deepEqual(ids(chats.mine.value), [3, 2, 4, 1]);
  chats.applyRows([chatRow(3, { ...ownChat, lastMessage: ["agent", 960] })]);
  assert.deepEqual(ids(chats.mine.value), [2, 3, 4, 1]);
});

test("each tab lists its chat states", () => {
  const { chats } = createStore();
  chats.applyRows([chatRow(1), chatRow(2, { state: "bot" }), chatRow(3, { state: "closed" }), chatRow(4, ownChat)]);
  assert.deepEqual(
    [
      ids(chats.waiting.value),
      ids(chats.bot.value),
      ids(chats.closed.value),
      ids(chats.mine.value),
      ids(chats.all.value).sort(),
    ],
    [[1], [2], [3], [4], [1, 2, 4]],
  );
});

test("chat is unread until its end is read", () => {
  const { chats, storage, api } = createStore();
  const first = chatRow(1, { ...ownChat, lastMessage: ["visitor", 100, "Hi"] });
  chats.applyRows([first]);
  assert.equal(chats.isUnread(first), true);
  chats.markRead(1, 3);
  assert.equal(chats.isUnread(first), false);
  // The next message was sent in the same second. It was not pushed, and is known only from a list.
  const second = chatRow(1, { ...ownChat, lastMessage: ["visitor", 100, "Are you there?"] });
  assert.equal(chats.isUnread(second), true);
  assert.equal(new ChatStore(api, 1, storage).isUnread(first), false, "also after a reload");
  assert.equal(new ChatStore(api, 1, storage).lastReadSeq(1), 3);
});

test("chats of others and own replies are never unread", () => {
  const { chats } = createStore();
  for (const other of [
    chatRow(1, { ...ownChat, lastMessage: ["agent", 5] }),
    chatRow(2, { state: "bot" }),
    chatRow(3, { state: "active", agent: { id: 2, name: "J" } }),
    chatRow(4, { state: "closed" }),
  ])
    assert.equal(chats.isUnread(other), false);
});

test("pushed messages are counted until they are read", () => {
  const { chats } = createStore();
  const own = chatRow(1, { ...ownChat, lastMessage: ["visitor", 100] });
  chats.applyRows([own]);
  chats.incrementUnread(1);
  chats.incrementUnread(1);
  assert.equal(chats.unreadCounts.value.get(1), 2);
  assert.equal(chats.attentionCount.value, 1);
  chats.markRead(1, 9);
  assert.equal(chats.unreadCounts.value.get(1), 0);
  assert.equal(chats.attentionCount.value, 0);
});

test("all open chats are loaded and missing ones removed", async () => {
  let pages = [
    { chats: [chatRow(9), chatRow(8)], next: 8 },
    { chats: [chatRow(3)], next: null as number | null },
  ];
  const { chats, calls } = createStore(() => pages);
  await chats.loadOpen();
  assert.deepEqual(ids(chats.waiting.value).sort(), [3, 8, 9]);
  assert.equal(calls.length, 2);
  pages = [{ chats: [chatRow(8)], next: null }];
  await chats.loadOpen();
  assert.deepEqual(ids(chats.all.value), [8]);
});

test("push during a list request wins", async () => {
  let release: () => void = () => {};
  const held = new Promise<void>((done) => (release = done));
  const { api } = fakeApi(async () => {
    await held;
    return jsonResponse({ chats: [chatRow(1), chatRow(2)], next: null });
  });
  const chats = new ChatStore(api, 1, memoryStorage());
  const reading = chats.loadOpen();
  await flushPromises();
  chats.applyRows([chatRow(1, ownChat), chatRow(3)]);
  release();
  await reading;
  assert.equal(chats.peek(1)?.state, "active");
  assert.deepEqual(ids(chats.all.value).sort(), [1, 2, 3]);
});

test("failed list request keeps the loaded chats", async () => {
  let works = true;
  const { api } = fakeApi(() =>
    works ? jsonResponse({ chats: [chatRow(1)], next: null }) : new Response("", { status: 500 }),
  );
  const chats = new ChatStore(api, 1, memoryStorage());
  await chats.loadOpen();
  works = false;
  await assert.rejects(chats.loadOpen());
  assert.equal(chats.loadState.value, "ready");
  assert.deepEqual(ids(chats.all.value), [1]);
});

test("equal row does not change the store", () => {
  const { chats } = createStore();
  chats.applyRows([chatRow(1)]);
  const before = chats.rows.value;
  chats.applyRows([chatRow(1)]);
  assert.equal(chats.rows.value, before);
});

test("closed chats are loaded page by page", async () => {
  const { chats, calls } = createStore(() => [
    { chats: [chatRow(9, { state: "closed" })], next: 9 },
    { chats: [chatRow(4, { state: "closed" })], next: null },
  ]);
  await chats.loadClosed();
  await chats.loadClosed();
  await chats.loadClosed();
  assert.deepEqual(ids(chats.closed.value), [9, 4]);
  assert.equal(calls.length, 2);
});

test("own unread chats stand above the queue, also while they are read", () => {
  const { chats } = createStore();
  chats.applyRows([
    chatRow(1, { ...ownChat, lastMessage: ["visitor", 500] }),
    chatRow(2, { ...ownChat, lastMessage: ["agent", 400] }),
    chatRow(3),
  ]);
  const lists = () => [ids(chats.mineOnTop.value), ids(chats.mineBelow.value), chats.attentionCount.value];
  assert.deepEqual(lists(), [[1], [2], 2]);
  chats.keptOnTopId.value = 1;
  chats.markRead(1, 1);
  assert.deepEqual(lists(), [[1], [2], 1]);
  chats.keptOnTopId.value = undefined;
  assert.deepEqual(lists(), [[], [1, 2], 1]);
});

test("given chat is unread until it is read, also after a reload", () => {
  const { chats, storage, api } = createStore();
  const row = chatRow(1, { ...ownChat, lastMessage: ["agent", 100] });
  chats.applyRows([row]);
  assert.equal(chats.isUnread(row), false);
  chats.setGiven(1, true);
  assert.equal(chats.isUnread(row), true);
  assert.equal(new ChatStore(api, 1, storage).isUnread(row), true);
  chats.markRead(1, 1);
  assert.equal(chats.isUnread(row), false);
  assert.equal(new ChatStore(api, 1, storage).isUnread(row), false);
});

test("first list appears when all of its pages are loaded", async () => {
  const pages = [
    { chats: [chatRow(201), chatRow(200)], next: 200 },
    { chats: [chatRow(2), chatRow(1)], next: null },
  ];
  const { chats } = createStore(() => pages);
  const seen: number[][] = [];
  chats.rows.subscribe(() => seen.push(ids(chats.waiting.value)));
  await chats.loadOpen();
  assert.deepEqual(seen, [[], [1, 2, 200, 201]]);
});

test("visitor without a visible name is called by the number", () => {
  for (const name of ["", "Anonymous", "\u3164", " \u200b"])
    assert.equal(visitorName({ visitor: { number: 7, name } }), "Visitor 7");
  assert.equal(visitorName({ visitor: { number: 7, name: "Ada" } }), "Ada");
});

test("snoozed chat leaves the agent's list until its time", () => {
  const { chats } = createStore();
  const later = Math.floor(Date.now() / 1000) + 3600;
  const snoozed = chatRow(1, { ...ownChat, snoozed_until: later });
  chats.applyRows([snoozed, chatRow(2, ownChat)]);
  assert.deepEqual([ids(chats.mine.value), ids(chats.snoozed.value)], [[2], [1]]);
  assert.deepEqual(chats.endSnoozes(later - 1), []);
  assert.deepEqual(ids(chats.endSnoozes(later)), [1]);
  assert.deepEqual([ids(chats.mine.value).sort(), ids(chats.snoozed.value)], [[1, 2], []]);
  assert.equal(chats.isUnread(snoozed) && chats.isBackFromSnooze(snoozed), true);
  chats.markRead(1, 1);
  assert.equal(
    chats.isBackFromSnooze(chatRow(1, { ...ownChat, snoozed_until: later, lastMessage: ["agent", later + 5] })),
    false,
  );
});

test("snooze of a colleague's chat does not hide it", () => {
  const { chats } = createStore();
  const agent = { id: 9, name: "Jonas" };
  chats.applyRows([chatRow(1, { state: "active", agent, snoozed_until: Math.floor(Date.now() / 1000) + 60 })]);
  assert.deepEqual([ids(chats.all.value), ids(chats.snoozed.value)], [[1], []]);
});

test("another filter loads the closed chats from the beginning", async () => {
  const closed = chatRow(7, { state: "closed" });
  const { chats, calls } = createStore(() => [
    { chats: [closed], next: 7 },
    { chats: [], next: null },
  ]);
  await chats.openClosed({});
  await chats.openClosed({});
  await chats.openClosed({ tag_id: 3 });
  await chats.loadClosed({ tag_id: 3 });
  const queries = calls.map(({ query }) => [query.get("tag_id"), query.get("before")]);
  assert.deepEqual(queries, [
    [null, null],
    ["3", null],
    ["3", "7"],
  ]);
});
