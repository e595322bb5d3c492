import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import type { ChatRow, Entry } from "../../api/types";
import { ChatStore } from "./chats";
import {
  timelineEntry,
  errorResponse,
  fakeApi,
  jsonResponse,
  memoryStorage,
  ownChat,
  chatRow,
  flushPromises,
  type RecordedCall,
} from "./test-support";
import { Sync } from "./sync";
import { Timelines } from "./timeline";
import { TypingStore } from "./visitor-typing";

/** The callbacks that `Sync` has passed to the fake `requestAnimationFrame` below. */
const pendingFrames: (() => void)[] = [];
const globals = globalThis as unknown as Record<string, unknown>;
beforeEach(() => {
  pendingFrames.length = 0;
  globals["document"] = { hidden: false, visibilityState: "visible", addEventListener() {}, removeEventListener() {} };
  globals["addEventListener"] = () => {};
  globals["removeEventListener"] = () => {};
  globals["requestAnimationFrame"] = (frame: () => void) => pendingFrames.push(frame);
});
afterEach(() => {
  for (const name of ["document", "addEventListener", "removeEventListener", "requestAnimationFrame"])
    delete globals[name];
});
const nextFrame = () => pendingFrames.splice(0).forEach((frame) => frame());

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

interface FakeService {
  rows: ChatRow[];
  messages: Entry[];
  changes: ((cursor: string | null) => Response) | undefined;
  hasSockets: boolean;
  isDown: boolean;
}

function start(service: Partial<FakeService> = {}) {
  FakeSocket.all = [];
  const state: FakeService = {
    rows: [],
    messages: [],
    changes: () => jsonResponse({ cursor: "c0", chats: [], gone: [], complete: true }),
    hasSockets: true,
    isDown: false,
    ...service,
  };
  const { api, calls } = fakeApi(({ path, query }: RecordedCall) => {
    if (state.isDown) return errorResponse(503);
    if (path === "/agent/socket-ticket")
      return state.hasSockets ? jsonResponse({ ticket: "t", url: "ws://x", expires_in: 60 }, 201) : errorResponse(404);
    if (path === "/agent/changes") return state.changes?.(query.get("cursor"));
    if (path === "/agent/chats") return jsonResponse({ chats: state.rows, next: null });
    if (path.endsWith("/messages"))
      return jsonResponse({ messages: state.messages.filter(({ seq }) => seq > Number(query.get("after"))) });
    return jsonResponse({ chat_id: 7, visitor_typing: false, panel: {}, visitor: {} });
  });
  const chats = new ChatStore(api, 1, memoryStorage());
  const timelines = new Timelines(api);
  const typing = new TypingStore();
  const activeChatIds: number[] = [];
  const log: string[] = [];
  const events = {
    visitorActivity: ({ chat_id }: ChatRow) => void activeChatIds.push(chat_id),
    presence: () => void log.push("presence"),
    settings: () => void log.push("settings"),
    sessionEnded: () => void log.push("ended"),
    recovered: () => void log.push("recovered"),
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
    activeChatIds,
    log,
    paths: () => calls.map(({ path, query }) => (query.get("cursor") ? `${path}?${query.get("cursor")}` : path)),
  };
}

test("list is loaded before and after the socket opens", async () => {
  const testConsole = start({ rows: [chatRow(1)] });
  await flushPromises();
  assert.equal(testConsole.chats.waiting.value.length, 1);
  assert.notEqual(testConsole.sync.connection.value.kind, "live");
  testConsole.state.rows = [chatRow(1), chatRow(2)];
  FakeSocket.last.open();
  await flushPromises();
  assert.equal(testConsole.sync.connection.value.kind, "live");
  assert.equal(testConsole.chats.waiting.value.length, 2);
  testConsole.sync.stop();
});

test("pushes of one animation frame are one change", async () => {
  const { sync, chats, typing, activeChatIds } = start({ rows: [chatRow(7, ownChat)] });
  await flushPromises();
  FakeSocket.last.open();
  await flushPromises();
  let changes = -1;
  chats.rows.subscribe(() => changes++);
  for (let seq = 5; seq < 30; seq++)
    FakeSocket.last.push({ type: "message", chat_id: 7, seq, message: timelineEntry(seq, { timestamp: 2000 + seq }) });
  FakeSocket.last.push({ type: "typing", chat_id: 7, from: "visitor", typing: true, text: "hm" });
  assert.equal(changes, 0);
  nextFrame();
  assert.equal(changes, 1);
  assert.equal(chats.peek(7)?.last_message?.text, "text 29");
  assert.equal(chats.unreadCounts.value.get(7), 25);
  assert.deepEqual(typing.visitors.value.get(7), { text: "hm" });
  assert.deepEqual(activeChatIds, [7]);
  typing.set(7, false);
  sync.stop();
});

test("chat offered to other agents is removed", async () => {
  const { sync, chats } = start({ rows: [chatRow(7), chatRow(8)] });
  await flushPromises();
  FakeSocket.last.open();
  await flushPromises();
  FakeSocket.last.push({ type: "chat_gone", chat_id: 7 });
  FakeSocket.last.push({ type: "chat", chat_id: 8, seq: 4, chat: chatRow(8, ownChat) });
  nextFrame();
  assert.deepEqual([chats.peek(7), chats.peek(8)?.state, chats.peek(8)?.seq], [undefined, "active", 4]);
  sync.stop();
});

test("reconnected socket catches up from its cursor", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  const testConsole = start({ rows: [chatRow(7)] });
  await flushPromises();
  FakeSocket.last.open();
  await flushPromises();
  FakeSocket.last.close();
  assert.equal(testConsole.sync.connection.value.kind, "polling");
  testConsole.state.changes = (cursor) =>
    cursor === "c0"
      ? jsonResponse({ cursor: "c1", chats: [chatRow(9)], gone: [], complete: false })
      : jsonResponse({ cursor: "c2", chats: [], gone: [7], complete: true });
  t.mock.timers.tick(1001);
  await flushPromises();
  FakeSocket.last.open();
  await flushPromises();
  assert.equal(testConsole.sync.connection.value.kind, "live");
  assert.deepEqual(
    testConsole.paths().filter((path) => path.startsWith("/agent/changes?")),
    ["/agent/changes?c0", "/agent/changes?c1"],
  );
  assert.deepEqual([testConsole.chats.peek(7), testConsole.chats.peek(9)?.chat_id], [undefined, 9]);
  assert.deepEqual(testConsole.activeChatIds, [9]);
  testConsole.sync.stop();
});

test("expired cursor reloads the list", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  const { sync, state, paths } = start({ rows: [chatRow(7)] });
  await flushPromises();
  FakeSocket.last.open();
  await flushPromises();
  FakeSocket.last.close();
  await flushPromises();
  const before = paths().length;
  state.changes = (cursor) =>
    cursor === null ? jsonResponse({ cursor: "new", chats: [], gone: [], complete: true }) : errorResponse(410);
  t.mock.timers.tick(1001);
  await flushPromises();
  FakeSocket.last.open();
  await flushPromises();
  assert.deepEqual(
    paths()
      .slice(before)
      .filter((path) => path !== "/agent/socket-ticket"),
    ["/agent/changes?c0", "/agent/changes", "/agent/chats"],
  );
  sync.stop();
});

test("service without sockets is polled without a warning", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  const { sync, state, chats, activeChatIds } = start({
    hasSockets: false,
    rows: [chatRow(7, { lastMessage: ["visitor", 10] })],
  });
  await flushPromises();
  assert.deepEqual(sync.connection.value, { kind: "polling", nextAttemptAt: undefined });
  state.rows = [chatRow(7, { lastMessage: ["visitor", 20, "More"] }), chatRow(8)];
  t.mock.timers.tick(3001);
  await flushPromises();
  assert.equal(chats.waiting.value.length, 2);
  assert.deepEqual(activeChatIds.sort(), [7, 8]);
  sync.stop();
});

test("outage and recovery are reported", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  const { sync, state, log } = start({ hasSockets: false, rows: [chatRow(7)] });
  await flushPromises();
  state.isDown = true;
  t.mock.timers.tick(3001);
  await flushPromises();
  assert.equal(sync.connection.value.kind, "lost");
  state.isDown = false;
  t.mock.timers.tick(3001);
  await flushPromises();
  assert.equal(sync.connection.value.kind, "polling");
  assert.deepEqual(log, ["recovered"]);
  sync.stop();
});

test("socket is not live while the list requests fail", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  const { sync, state } = start({ rows: [chatRow(7)] });
  await flushPromises();
  state.isDown = true;
  FakeSocket.last.open();
  await flushPromises();
  assert.notEqual(sync.connection.value.kind, "live");
  state.isDown = false;
  t.mock.timers.tick(31_000);
  await flushPromises();
  assert.equal(sync.connection.value.kind, "live");
  sync.stop();
});

test("ended session is reported once", async () => {
  const { sync, log } = start();
  await flushPromises();
  FakeSocket.last.open();
  await flushPromises();
  FakeSocket.last.close(4401);
  assert.deepEqual(log, ["ended"]);
  sync.stop();
});
