import assert from "node:assert/strict";
import { test } from "node:test";
import { ChatStore } from "./chats";
import { fakeApi, json, memoryShelf, mine, row, settled } from "./fake";
import type { ChatRow } from "../../api/types";

function store(pages: () => { chats: ChatRow[]; next: number | null }[] = () => [{ chats: [], next: null }]) {
  const { api, calls } = fakeApi(({ query }) => {
    const list = pages();
    const before = query.get("before");
    const index = before === null ? 0 : list.findIndex((page) => String(page.next) === before) + 1;
    return json(list[index]);
  });
  const shelf = memoryShelf();
  return { chats: new ChatStore(api, 1, shelf), calls, shelf, api };
}
const ids = (rows: readonly ChatRow[]) => rows.map((row) => row.chat_id);

test("who has waited longest stands first", () => {
  const { chats } = store();
  chats.upsert([
    row(1, { said: ["visitor", 300] }),
    row(2, { said: ["visitor", 100] }),
    row(3, { waiting_since: 50, said: ["visitor", 900] }),
  ]);
  assert.deepEqual(ids(chats.waiting.value), [3, 2, 1]);
});

test("another message does not restart the waiting time", () => {
  const { chats } = store();
  chats.upsert([row(1, { said: ["visitor", 100] }), row(2, { said: ["visitor", 200] })]);
  chats.upsert([row(1, { said: ["visitor", 900] })]);
  assert.deepEqual(ids(chats.waiting.value), [1, 2]);
  assert.equal(chats.since(row(1, { said: ["visitor", 900] })), 100);
});

test("own chats that await a reply stand before answered ones", () => {
  const { chats } = store();
  chats.upsert([
    row(1, { ...mine, said: ["agent", 900] }),
    row(2, { ...mine, said: ["visitor", 500] }),
    row(3, { ...mine, said: ["visitor", 400] }),
    row(4, { ...mine, said: ["agent", 950] }),
  ]);
  chats.upsert([row(5, { state: "active", agent: { id: 2, name: "Jonas" } })]);
  assert.deepEqual(ids(chats.mine.value), [3, 2, 4, 1]);
  chats.upsert([row(3, { ...mine, said: ["agent", 960] })]);
  assert.deepEqual(ids(chats.mine.value), [2, 3, 4, 1]);
});

test("each tab lists its states", () => {
  const { chats } = store();
  chats.upsert([row(1), row(2, { state: "bot" }), row(3, { state: "closed" }), row(4, mine)]);
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

test("a chat is unread until its end was read", () => {
  const { chats, shelf, api } = store();
  const first = row(1, { ...mine, said: ["visitor", 100, "Hi"] });
  chats.upsert([first]);
  assert.equal(chats.isUnread(first), true);
  chats.markRead(1, 3);
  assert.equal(chats.isUnread(first), false);
  // In the same second, and told by a list only.
  const second = row(1, { ...mine, said: ["visitor", 100, "Are you there?"] });
  assert.equal(chats.isUnread(second), true);
  assert.equal(new ChatStore(api, 1, shelf).isUnread(first), false, "also after a reload");
  assert.equal(new ChatStore(api, 1, shelf).readUpTo(1), 3);
});

test("answers and chats of others are never unread", () => {
  const { chats } = store();
  for (const other of [
    row(1, { ...mine, said: ["agent", 5] }),
    row(2, { state: "bot" }),
    row(3, { state: "active", agent: { id: 2, name: "J" } }),
    row(4, { state: "closed" }),
  ])
    assert.equal(chats.isUnread(other), false);
});

test("pushed messages are counted until they are read", () => {
  const { chats } = store();
  const own = row(1, { ...mine, said: ["visitor", 100] });
  chats.upsert([own]);
  chats.countUnread(1);
  chats.countUnread(1);
  assert.equal(chats.unreadCounts.value.get(1), 2);
  assert.equal(chats.attention.value, 1);
  chats.markRead(1, 9);
  assert.equal(chats.unreadCounts.value.get(1), 0);
  assert.equal(chats.attention.value, 0);
});

test("all pages of open chats are read, and what is gone goes", async () => {
  let pages = [
    { chats: [row(9), row(8)], next: 8 },
    { chats: [row(3)], next: null as number | null },
  ];
  const { chats, calls } = store(() => pages);
  await chats.loadOpen();
  assert.deepEqual(ids(chats.waiting.value).sort(), [3, 8, 9]);
  assert.equal(calls.length, 2);
  pages = [{ chats: [row(8)], next: null }];
  await chats.loadOpen();
  assert.deepEqual(ids(chats.all.value), [8]);
});

test("a push during a read of the list wins", async () => {
  let release: () => void = () => {};
  const held = new Promise<void>((done) => (release = done));
  const { api } = fakeApi(async () => {
    await held;
    return json({ chats: [row(1), row(2)], next: null });
  });
  const chats = new ChatStore(api, 1, memoryShelf());
  const reading = chats.loadOpen();
  await settled();
  chats.upsert([row(1, mine), row(3)]);
  release();
  await reading;
  assert.equal(chats.peek(1)?.state, "active");
  assert.deepEqual(ids(chats.all.value).sort(), [1, 2, 3]);
});

test("a list that fails keeps what was known", async () => {
  let works = true;
  const { api } = fakeApi(() => (works ? json({ chats: [row(1)], next: null }) : new Response("", { status: 500 })));
  const chats = new ChatStore(api, 1, memoryShelf());
  await chats.loadOpen();
  works = false;
  await assert.rejects(chats.loadOpen());
  assert.equal(chats.progress.value, "ready");
  assert.deepEqual(ids(chats.all.value), [1]);
});

test("an equal row does not change the store", () => {
  const { chats } = store();
  chats.upsert([row(1)]);
  const before = chats.rows.value;
  chats.upsert([row(1)]);
  assert.equal(chats.rows.value, before);
});

test("closed chats come page by page", async () => {
  const { chats, calls } = store(() => [
    { chats: [row(9, { state: "closed" })], next: 9 },
    { chats: [row(4, { state: "closed" })], next: null },
  ]);
  await chats.loadClosed();
  await chats.loadClosed();
  await chats.loadClosed();
  assert.deepEqual(ids(chats.closed.value), [9, 4]);
  assert.equal(calls.length, 2);
});
