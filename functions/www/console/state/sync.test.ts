import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import type { ChatRow, Entry } from "../../api/types";
import { ChatStore } from "./chats";
import { entry, failure, fakeApi, json, memoryShelf, mine, row, settled, type Call } from "./fake";
import { Sync } from "./sync";
import { Timelines } from "./timeline";
import { TypingStore } from "./typing";

/** What Sync needs of a page. */
const frames: (() => void)[] = [];
const page = globalThis as unknown as Record<string, unknown>;
beforeEach(() => {
  frames.length = 0;
  page["document"] = { hidden: false, visibilityState: "visible", addEventListener() {}, removeEventListener() {} };
  page["addEventListener"] = () => {};
  page["removeEventListener"] = () => {};
  page["requestAnimationFrame"] = (frame: () => void) => frames.push(frame);
});
afterEach(() => {
  for (const name of ["document", "addEventListener", "removeEventListener", "requestAnimationFrame"])
    delete page[name];
});
const nextFrame = () => frames.splice(0).forEach((frame) => frame());

class FakeSocket {
  static all: FakeSocket[] = [];
  readyState = 0;
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  constructor() {
    FakeSocket.all.push(this);
  }
  static get last() {
    const socket = FakeSocket.all.at(-1);
    assert.ok(socket);
    return socket;
  }
  open() {
    this.readyState = 1;
    this.onopen?.();
  }
  push(frame: object) {
    this.onmessage?.({ data: JSON.stringify({ v: 1, ...frame }) });
  }
  send() {}
  close(code = 1006) {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.onclose?.({ code });
  }
}

interface Service {
  rows: ChatRow[];
  messages: Entry[];
  changes: ((cursor: string | null) => Response) | undefined;
  hasSockets: boolean;
  isDown: boolean;
}

function start(service: Partial<Service> = {}) {
  FakeSocket.all = [];
  const state: Service = {
    rows: [],
    messages: [],
    changes: () => json({ cursor: "c0", chats: [], gone: [], complete: true }),
    hasSockets: true,
    isDown: false,
    ...service,
  };
  const { api, calls } = fakeApi(({ path, query }: Call) => {
    if (state.isDown) return failure(503);
    if (path === "/agent/socket-ticket")
      return state.hasSockets ? json({ ticket: "t", url: "ws://x", expires_in: 60 }, 201) : failure(404);
    if (path === "/agent/changes") return state.changes?.(query.get("cursor"));
    if (path === "/agent/chats") return json({ chats: state.rows, next: null });
    if (path.endsWith("/messages"))
      return json({ messages: state.messages.filter(({ seq }) => seq > Number(query.get("after"))) });
    return json({ chat_id: 7, visitor_typing: false, panel: {}, visitor: {} });
  });
  const chats = new ChatStore(api, 1, memoryShelf());
  const timelines = new Timelines(api);
  const typing = new TypingStore();
  const arrived: number[] = [];
  const log: string[] = [];
  const events = {
    arrived: ({ chat_id }: ChatRow) => void arrived.push(chat_id),
    presence: () => void log.push("presence"),
    settings: () => void log.push("settings"),
    sessionEnded: () => void log.push("ended"),
    back: () => void log.push("back"),
  };
  const sync = new Sync(api, chats, timelines, typing, events, () => new FakeSocket() as unknown as WebSocket);
  sync.start();
  return {
    sync,
    chats,
    timelines,
    typing,
    state,
    calls,
    arrived,
    log,
    paths: () => calls.map(({ path, query }) => (query.get("cursor") ? `${path}?${query.get("cursor")}` : path)),
  };
}

test("the list is there before the socket, and read again with it", async () => {
  const console_ = start({ rows: [row(1)] });
  await settled();
  assert.equal(console_.chats.waiting.value.length, 1);
  assert.notEqual(console_.sync.link.value.kind, "live");
  console_.state.rows = [row(1), row(2)];
  FakeSocket.last.open();
  await settled();
  assert.equal(console_.sync.link.value.kind, "live");
  assert.equal(console_.chats.waiting.value.length, 2);
  console_.sync.stop();
});

test("pushes of one frame are one change", async () => {
  const { sync, chats, typing, arrived } = start({ rows: [row(7, mine)] });
  await settled();
  FakeSocket.last.open();
  await settled();
  let changes = -1;
  chats.rows.subscribe(() => changes++);
  for (let seq = 5; seq < 30; seq++)
    FakeSocket.last.push({ type: "message", chat_id: 7, seq, message: entry(seq, { timestamp: 2000 + seq }) });
  FakeSocket.last.push({ type: "typing", chat_id: 7, from: "visitor", typing: true, text: "hm" });
  assert.equal(changes, 0);
  nextFrame();
  assert.equal(changes, 1);
  assert.equal(chats.peek(7)?.last_message?.text, "text 29");
  assert.equal(chats.unreadCounts.value.get(7), 25);
  assert.deepEqual(typing.visitors.value.get(7), { text: "hm" });
  assert.deepEqual(arrived, [7]);
  typing.set(7, false);
  sync.stop();
});

test("a chat that is offered to others goes", async () => {
  const { sync, chats } = start({ rows: [row(7), row(8)] });
  await settled();
  FakeSocket.last.open();
  await settled();
  FakeSocket.last.push({ type: "chat_gone", chat_id: 7 });
  FakeSocket.last.push({ type: "chat", chat_id: 8, seq: 4, chat: row(8, mine) });
  nextFrame();
  assert.deepEqual([chats.peek(7), chats.peek(8)?.state, chats.peek(8)?.seq], [undefined, "active", 4]);
  sync.stop();
});

test("a broken connection catches up by its cursor", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  const console_ = start({ rows: [row(7)] });
  await settled();
  FakeSocket.last.open();
  await settled();
  FakeSocket.last.close();
  assert.equal(console_.sync.link.value.kind, "polling");
  console_.state.changes = (cursor) =>
    cursor === "c0"
      ? json({ cursor: "c1", chats: [row(9)], gone: [], complete: false })
      : json({ cursor: "c2", chats: [], gone: [7], complete: true });
  t.mock.timers.tick(1001);
  await settled();
  FakeSocket.last.open();
  await settled();
  assert.equal(console_.sync.link.value.kind, "live");
  assert.deepEqual(
    console_.paths().filter((path) => path.startsWith("/agent/changes?")),
    ["/agent/changes?c0", "/agent/changes?c1"],
  );
  assert.deepEqual([console_.chats.peek(7), console_.chats.peek(9)?.chat_id], [undefined, 9]);
  assert.deepEqual(console_.arrived, [9]);
  console_.sync.stop();
});

test("an expired cursor reads the list again", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  const { sync, state, paths } = start({ rows: [row(7)] });
  await settled();
  FakeSocket.last.open();
  await settled();
  FakeSocket.last.close();
  await settled();
  const before = paths().length;
  state.changes = (cursor) =>
    cursor === null ? json({ cursor: "new", chats: [], gone: [], complete: true }) : failure(410);
  t.mock.timers.tick(1001);
  await settled();
  FakeSocket.last.open();
  await settled();
  assert.deepEqual(
    paths()
      .slice(before)
      .filter((path) => path !== "/agent/socket-ticket"),
    ["/agent/changes?c0", "/agent/changes", "/agent/chats"],
  );
  sync.stop();
});

test("a service without sockets is polled, and nobody is alarmed", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  const { sync, state, chats, arrived } = start({ hasSockets: false, rows: [row(7, { said: ["visitor", 10] })] });
  await settled();
  assert.deepEqual(sync.link.value, { kind: "polling", nextAttemptAt: undefined });
  state.rows = [row(7, { said: ["visitor", 20, "More"] }), row(8)];
  t.mock.timers.tick(3001);
  await settled();
  assert.equal(chats.waiting.value.length, 2);
  assert.deepEqual(arrived.sort(), [7, 8]);
  sync.stop();
});

test("a service that is down is told with its next attempt, and its return", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  const { sync, state, log } = start({ hasSockets: false, rows: [row(7)] });
  await settled();
  state.isDown = true;
  t.mock.timers.tick(3001);
  await settled();
  assert.equal(sync.link.value.kind, "lost");
  state.isDown = false;
  t.mock.timers.tick(3001);
  await settled();
  assert.equal(sync.link.value.kind, "polling");
  assert.deepEqual(log, ["back"]);
  sync.stop();
});

test("a socket that opens while lists fail is not called live", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  const { sync, state } = start({ rows: [row(7)] });
  await settled();
  state.isDown = true;
  FakeSocket.last.open();
  await settled();
  assert.notEqual(sync.link.value.kind, "live");
  state.isDown = false;
  t.mock.timers.tick(31_000);
  await settled();
  assert.equal(sync.link.value.kind, "live");
  sync.stop();
});

test("an ended session is told once", async () => {
  const { sync, log } = start();
  await settled();
  FakeSocket.last.open();
  await settled();
  FakeSocket.last.close(4401);
  assert.deepEqual(log, ["ended"]);
  sync.stop();
});
