import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import type { ChatRow, Entry } from "../../api/types";
import { ChatStore } from "./list/chats";
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
import { RunningCalls } from "./calls/running-calls";
import { Timelines } from "./chat/timeline";
import { Typing } from "./chat/typing-store";

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

const changedRows = (chats: ChatRow[]) => () => jsonResponse({ cursor: "c1", chats, gone: [], complete: true });

interface FakeService {
  rows: ChatRow[];
  messages: Entry[];
  changes: ((cursor: string | null) => Response) | undefined;
  hasSockets: boolean;
  hasList: boolean;
  isChatForbidden: boolean;
  isDown: boolean;
}

function start(service: Partial<FakeService> = {}, storage = memoryStorage()) {
  FakeSocket.all = [];
  const state: FakeService = {
    rows: [],
    messages: [],
    changes: () => jsonResponse({ cursor: "c0", chats: [], gone: [], complete: true }),
    hasSockets: true,
    hasList: true,
    isChatForbidden: false,
    isDown: false,
    ...service,
  };
  const { api, calls } = fakeApi(({ path, query }: RecordedCall) => {
    if (state.isDown) return errorResponse(503);
    if (path === "/agent/socket-ticket")
      return state.hasSockets ? jsonResponse({ ticket: "t", url: "ws://x", expires_in: 60 }, 201) : errorResponse(503);
    if (path === "/agent/changes") return state.changes?.(query.get("cursor"));
    if (path === "/agent/chats" && !state.hasList) return errorResponse(500);
    if (path === "/agent/chats") return jsonResponse({ chats: state.rows, next: null });
    if (path.startsWith("/agent/chats/") && state.isChatForbidden) return errorResponse(403);
    if (path.endsWith("/messages"))
      return jsonResponse({ messages: state.messages.filter(({ seq }) => seq > Number(query.get("after"))) });
    return jsonResponse({ chat_id: 7, visitor_typing: false, panel: {}, visitor: {} });
  });
  const chats = new ChatStore(api, 1, storage);
  const timelines = new Timelines(api);
  const typing = new Typing();
  const activeChatIds: number[] = [];
  const log: string[] = [];
  const events = {
    visitorActivity: ({ chat_id }: ChatRow) => void activeChatIds.push(chat_id),
    chatGiven: ({ chat_id }: ChatRow, by: Entry["agent"]) => void log.push(`given ${chat_id} by ${by?.name ?? "?"}`),
    mentioned: (chatId: number, note: Entry) => void log.push(`mentioned ${chatId} ${note.seq}`),
    viewers: (chatId: number, agentIds: readonly number[]) => void log.push(`viewers ${chatId} ${agentIds.join()}`),
    messageFailed: (chatId: number, entry: Entry | undefined) => void log.push(`failed ${chatId} ${entry?.seq ?? "?"}`),
    deliveryFailed: () => {},
    chatsGone: (chatIds: readonly number[]) => chatIds.forEach((chatId) => log.push(`gone ${chatId}`)),
    presence: () => void log.push("presence"),
    settings: () => void log.push("settings"),
    sessionEnded: () => void log.push("ended"),
    recovered: () => void log.push("recovered"),
  };
  const runningCalls = new RunningCalls(storage, 1);
  const sync = new Sync(
    api,
    chats,
    timelines,
    typing,
    runningCalls,
    events,
    () => new FakeSocket() as unknown as WebSocket,
  );
  sync.start();
  return {
    sync,
    chats,
    timelines,
    typing,
    runningCalls,
    state,
    calls,
    activeChatIds,
    log,
    paths: () => calls.map(({ path, query }) => (query.get("cursor") ? `${path}?${query.get("cursor")}` : path)),
  };
}

test("list is loaded before the socket opens, changes after it", async () => {
  const testConsole = start({ rows: [chatRow(1)] });
  await flushPromises();
  assert.equal(testConsole.chats.waiting.value.length, 1);
  assert.notEqual(testConsole.sync.connection.value.kind, "live");
  testConsole.state.changes = changedRows([chatRow(2)]);
  FakeSocket.last.open();
  await flushPromises();
  assert.equal(testConsole.sync.connection.value.kind, "live");
  assert.equal(testConsole.chats.waiting.value.length, 2);
  assert.equal(testConsole.paths().filter((path) => path === "/agent/chats").length, 1);
  testConsole.sync.stop();
});

test("console with a forbidden chat goes live", async () => {
  const { sync, timelines } = start({ isChatForbidden: true });
  sync.openTimeline = () => timelines.open(7);
  await flushPromises();
  FakeSocket.last.open();
  await flushPromises();
  assert.equal(sync.connection.value.kind, "live");
  sync.stop();
});

test("open chat that failed to load is loaded again", async () => {
  const { sync, state, timelines } = start({ rows: [chatRow(7, ownChat)], messages: [timelineEntry(1)], isDown: true });
  const timeline = timelines.open(7);
  sync.openTimeline = () => timeline;
  await assert.rejects(timeline.open(1));
  assert.equal(timeline.loadState.value, "failed");
  state.isDown = false;
  sync.reconnectNow();
  await flushPromises();
  FakeSocket.last.open();
  await flushPromises();
  assert.equal(timeline.loadState.value, "ready");
  assert.equal(timeline.entries.value.length, 1);
  sync.stop();
});

test("failed list is loaded again", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  const { sync, state, chats } = start({ rows: [chatRow(7)], hasList: false });
  await flushPromises();
  assert.equal(chats.loadState.value, "failed");
  state.hasList = true;
  t.mock.timers.tick(3001);
  await flushPromises();
  assert.equal(chats.waiting.value.length, 1);
  sync.stop();
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
  assert.deepEqual(typing.visitors.notices.value.get(7), { text: "hm" });
  assert.deepEqual(activeChatIds, [7]);
  typing.visitors.stop(7);
  sync.stop();
});

test("colleague's typing is not mistaken for the visitor's", async () => {
  const { sync, typing } = start({ rows: [chatRow(7, ownChat)] });
  await flushPromises();
  FakeSocket.last.open();
  await flushPromises();
  const { visitors, colleagues } = typing;
  const push = (frame: object) => {
    FakeSocket.last.push({ chat_id: 7, ...frame });
    nextFrame();
  };
  const agent = { id: 2, name: "Ann Lee" };
  push({ type: "typing", from: "agent", typing: true, agent });
  push({ type: "typing", from: "visitor", typing: true });
  assert.deepEqual(colleagues.notices.value.get(7), { name: "Ann Lee" });
  push({ type: "typing", from: "visitor", typing: false });
  assert.deepEqual([visitors.notices.value.size, colleagues.notices.value.size], [0, 1]);
  push({ type: "message", seq: 5, message: timelineEntry(5, { from: "agent" }) });
  assert.equal(colleagues.notices.value.size, 0, "the message ends the notice");
  push({ type: "typing", from: "agent", typing: true, agent });
  push({ type: "typing", from: "agent", typing: false, agent });
  assert.equal(colleagues.notices.value.size, 0);
  sync.stop();
});

test("mention by a colleague is reported once, and viewers as they are pushed", async () => {
  const { sync, log } = start({ rows: [chatRow(7)] });
  await flushPromises();
  FakeSocket.last.open();
  await flushPromises();
  const note = (seq: number, agentId: number, mentions: number[]) => {
    const message = {
      ...timelineEntry(seq),
      from: "agent",
      type: "note",
      agent: { id: agentId, name: "Jonas" },
      mentions,
    };
    FakeSocket.last.push({ type: "message", chat_id: 7, seq, message });
  };
  note(2, 2, [1]);
  note(2, 2, [1]);
  note(3, 2, [3]);
  note(4, 1, [1]);
  FakeSocket.last.push({ type: "viewers", chat_id: 7, agent_ids: [1, 2] });
  nextFrame();
  assert.deepEqual(log, ["mentioned 7 2", "viewers 7 1,2"]);
  sync.stop();
});

test("messages are counted once, even after a newer row", async () => {
  const { sync, chats } = start({ rows: [chatRow(7, ownChat)] });
  await flushPromises();
  FakeSocket.last.open();
  await flushPromises();
  FakeSocket.last.push({ type: "chat", chat_id: 7, seq: 6, chat: chatRow(7, ownChat) });
  for (const seq of [5, 6, 6]) FakeSocket.last.push({ type: "message", chat_id: 7, seq, message: timelineEntry(seq) });
  nextFrame();
  assert.equal(chats.unreadCounts.value.get(7), 2);
  sync.stop();
});

test("call in progress follows its pushes, and is forgotten with the socket", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const { sync, runningCalls } = start({ rows: [chatRow(7, ownChat)] });
  await flushPromises();
  FakeSocket.last.open();
  await flushPromises();
  const status = () => runningCalls.byChat.value.get(7)?.call.status;
  const push = (type: "message" | "delivery", status: "start" | "client_connected" | "end", seq = 3) => {
    const call = { type: "callback" as const, phone: "+31612345678", status };
    const timestamp = Math.floor(Date.now() / 1000);
    const message = { ...timelineEntry(seq), type: "call", timestamp, call };
    FakeSocket.last.push({ v: 1, type, chat_id: 7, seq, message });
    pendingFrames.splice(0).forEach((frame) => frame());
  };
  push("message", "start");
  assert.equal(status(), "start");
  push("delivery", "client_connected");
  assert.equal(status(), "client_connected");
  push("delivery", "end");
  assert.equal(status(), undefined);
  push("message", "start", 4);
  assert.equal(status(), "start");
  FakeSocket.last.close();
  t.mock.timers.tick(2000);
  await flushPromises();
  FakeSocket.last.open();
  await flushPromises();
  assert.equal(status(), undefined, "the end may have been missed");
  sync.stop();
});

test("call that started before the console is read", async () => {
  const timestamp = Math.floor(Date.now() / 1000);
  const last_message = {
    from: "visitor" as const,
    agent_id: null,
    type: "call" as const,
    text: "+31612345678",
    timestamp,
  };
  const call = { type: "callback" as const, phone: "+31612345678", status: "start" as const };
  const { sync, runningCalls } = start({
    rows: [chatRow(7, { ...ownChat, last_message, seq: 3 })],
    messages: [{ ...timelineEntry(2), type: "call", timestamp, call }],
  });
  await flushPromises();
  FakeSocket.last.open();
  await flushPromises();
  assert.equal(runningCalls.byChat.value.get(7)?.call.status, "start");
  sync.stop();
});

test("call in progress survives a lost connection and later messages", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const call = { type: "outgoing" as const, phone: "+31612345678", status: "client_connected" as const };
  const entry = { ...timelineEntry(2), type: "call", timestamp: Math.floor(Date.now() / 1000), call };
  const { sync, runningCalls } = start({
    rows: [chatRow(7, { ...ownChat, seq: 3 })],
    messages: [entry, timelineEntry(3)],
  });
  runningCalls.apply(7, entry);
  await flushPromises();
  FakeSocket.last.open();
  await flushPromises();
  assert.equal(runningCalls.byChat.value.get(7)?.call.status, "client_connected");
  sync.stop();
});

test("call in progress survives a reload and later messages", async () => {
  const storage = memoryStorage();
  const call = { type: "outgoing" as const, phone: "+31612345678", status: "client_connected" as const };
  const entry = { ...timelineEntry(2), type: "call", timestamp: Math.floor(Date.now() / 1000), call };
  new RunningCalls(storage, 1).apply(7, entry);
  const service = { rows: [chatRow(7, { ...ownChat, seq: 3 })], messages: [entry, timelineEntry(3)] };
  const reload = async (changes: object = {}) => {
    const { sync, runningCalls } = start({ ...service, ...changes }, storage);
    await flushPromises();
    FakeSocket.last.open();
    await flushPromises();
    sync.stop();
    return { status: runningCalls.byChat.value.get(7)?.call.status, positions: runningCalls.positions };
  };
  assert.deepEqual(await reload(), {
    status: "client_connected",
    positions: [{ chatId: 7, seq: 2, isOwn: false }],
  });
  assert.deepEqual(await reload({ isChatForbidden: true }), { status: undefined, positions: [] });
});

test("call disappears when a change of settings hides its chat", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const call = { type: "outgoing" as const, phone: "+31612345678", status: "client_connected" as const };
  const entry = { ...timelineEntry(2), type: "call", timestamp: Math.floor(Date.now() / 1000), call };
  const { sync, state, runningCalls } = start({ rows: [chatRow(7, ownChat)], messages: [entry] });
  await flushPromises();
  FakeSocket.last.open();
  await flushPromises();
  FakeSocket.last.push({ type: "message", chat_id: 7, seq: 2, message: entry });
  nextFrame();
  FakeSocket.last.push({ type: "settings" });
  nextFrame();
  t.mock.timers.tick(11_001);
  await flushPromises();
  assert.equal(runningCalls.byChat.value.size, 1, "the chat is still in sight");
  Object.assign(state, { rows: [], isChatForbidden: true });
  FakeSocket.last.push({ type: "settings" });
  nextFrame();
  t.mock.timers.tick(11_001);
  await flushPromises();
  assert.equal(runningCalls.byChat.value.size, 0);
  sync.stop();
});

test("joined changes update the lists and the unread messages", async () => {
  const { sync, chats, activeChatIds } = start({ rows: [chatRow(7), chatRow(8), chatRow(9, { seq: 5 })] });
  await flushPromises();
  FakeSocket.last.open();
  await flushPromises();
  FakeSocket.last.push({
    type: "changes",
    chats: [chatRow(7, { seq: 4 }), chatRow(9, { seq: 3, state: "bot" })],
    gone: [8],
    visitor_messages: [
      { chat_id: 7, seq: 3 },
      { chat_id: 7, seq: 4 },
    ],
  });
  nextFrame();
  assert.deepEqual([chats.peek(7)?.seq, chats.unreadCounts.value.get(7)], [4, 2]);
  assert.equal(chats.peek(8), undefined);
  assert.equal(chats.peek(9)?.state, "waiting", "an earlier row does not replace a later one");
  assert.deepEqual(activeChatIds, [7]);
  sync.stop();
});

test("messages whose pushes overtake each other are counted once each", async () => {
  const { sync, chats } = start({ rows: [chatRow(7)] });
  await flushPromises();
  FakeSocket.last.open();
  await flushPromises();
  for (const seq of [4, 3, 4]) {
    const visitor_messages = [{ chat_id: 7, seq }];
    FakeSocket.last.push({ type: "changes", chats: [chatRow(7, { seq: 4 })], gone: [], visitor_messages });
    nextFrame();
  }
  assert.equal(chats.unreadCounts.value.get(7), 2);
  sync.stop();
});

test("joined changes that were too large are read", async () => {
  const { sync, chats, state, activeChatIds } = start({ rows: [chatRow(7)] });
  await flushPromises();
  FakeSocket.last.open();
  await flushPromises();
  state.changes = changedRows([chatRow(8)]);
  FakeSocket.last.push({ type: "changes" });
  nextFrame();
  await flushPromises();
  assert.equal(chats.waiting.value.length, 2);
  assert.deepEqual(activeChatIds, [8]);
  sync.stop();
});

test("what the socket did not push is read when it is shown", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const { sync, paths, timelines } = start({ rows: [chatRow(7), chatRow(8, ownChat)] });
  await flushPromises();
  FakeSocket.last.open();
  await flushPromises();
  for (const chatId of [7, 8]) await timelines.open(chatId).open(1);
  const readAfter = async (shown: { lists: ("waiting" | "bot")[]; open: number | undefined }) => {
    const before = paths().length;
    sync.show(shown);
    t.mock.timers.tick(200);
    FakeSocket.last.push({ type: "subscribed" });
    nextFrame();
    await flushPromises();
    return paths().slice(before);
  };
  assert.deepEqual(await readAfter({ lists: ["waiting"], open: undefined }), [], "the socket got everything before");
  assert.deepEqual(await readAfter({ lists: ["waiting"], open: 8 }), [], "an own chat is always pushed");
  assert.deepEqual(await readAfter({ lists: ["waiting"], open: 7 }), ["/agent/chats/7/messages", "/agent/chats/7"]);
  assert.deepEqual(await readAfter({ lists: ["waiting", "bot"], open: 7 }), ["/agent/changes?c0"]);
  sync.stop();
});

test("chat offered to other agents is removed", async () => {
  const { sync, chats, runningCalls } = start({ rows: [chatRow(7), chatRow(8)] });
  await flushPromises();
  FakeSocket.last.open();
  await flushPromises();
  const call = { type: "outgoing" as const, phone: "+31612345678", status: "client_connected" as const };
  runningCalls.apply(7, { ...timelineEntry(2), type: "call", timestamp: Math.floor(Date.now() / 1000), call });
  FakeSocket.last.push({ type: "chat_gone", chat_id: 7 });
  FakeSocket.last.push({ type: "chat", chat_id: 8, seq: 4, chat: chatRow(8, ownChat) });
  nextFrame();
  assert.deepEqual([chats.peek(7), chats.peek(8)?.state, chats.peek(8)?.seq], [undefined, "active", 4]);
  assert.equal(runningCalls.byChat.value.size, 0, "the end of the call is not pushed to this agent");
  sync.stop();
});

test("reconnected socket catches up from its cursor", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  const testConsole = start({ rows: [chatRow(7)] });
  await flushPromises();
  FakeSocket.last.open();
  await flushPromises();
  FakeSocket.last.close();
  await flushPromises();
  assert.equal(testConsole.sync.connection.value.kind, "polling");
  const before = testConsole.paths().length;
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
    testConsole
      .paths()
      .slice(before)
      .filter((path) => path.startsWith("/agent/changes")),
    ["/agent/changes?c0", "/agent/changes?c1"],
  );
  assert.deepEqual([testConsole.chats.peek(7), testConsole.chats.peek(9)?.chat_id], [undefined, 9]);
  assert.deepEqual(testConsole.activeChatIds, [9]);
  testConsole.sync.stop();
});

test("edit that was missed is shown after a reconnection", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  const { sync, state, timelines } = start({ rows: [chatRow(7)], messages: [timelineEntry(1)] });
  await flushPromises();
  FakeSocket.last.open();
  await flushPromises();
  const timeline = timelines.open(7);
  await timeline.open(1);
  FakeSocket.last.close();
  await flushPromises();
  state.messages = [{ ...timelineEntry(1), text: "edited", edited_at: 900 }];
  state.changes = changedRows([{ ...chatRow(7), messages_changed_at: 900 }]);
  t.mock.timers.tick(1001);
  await flushPromises();
  FakeSocket.last.open();
  await flushPromises();
  assert.equal(timeline.entries.value[0]?.text, "edited");
  sync.stop();
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

test("changes are polled while sockets fail", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  const { sync, state, chats, activeChatIds } = start({
    hasSockets: false,
    rows: [chatRow(7, { lastMessage: ["visitor", 10] })],
  });
  await flushPromises();
  assert.equal(sync.connection.value.kind, "polling");
  state.changes = changedRows([chatRow(7, { lastMessage: ["visitor", 20, "More"] }), chatRow(8)]);
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

test("chat that a colleague transfers is reported", async () => {
  const { sync, log } = start({
    rows: [chatRow(7, { state: "active", agent: { id: 2, name: "Ann" } }), chatRow(8, ownChat)],
  });
  await flushPromises();
  FakeSocket.last.open();
  await flushPromises();
  const transfer = timelineEntry(4, {
    from: "system",
    text: "Ann transferred the chat to Marta",
    agent: { id: 2, name: "Ann" },
  });
  FakeSocket.last.push({ type: "message", chat_id: 7, seq: 4, message: transfer });
  FakeSocket.last.push({ type: "chat", chat_id: 7, seq: 4, chat: chatRow(7, ownChat) });
  FakeSocket.last.push({ type: "chat", chat_id: 8, seq: 3, chat: chatRow(8, ownChat) });
  nextFrame();
  assert.deepEqual(log, ["given 7 by Ann"]);
  sync.stop();
});

test("own chat that is pushed before the lists are loaded is not reported as given", async () => {
  const { sync, log } = start({ hasList: false });
  await flushPromises();
  FakeSocket.last.open();
  await flushPromises();
  FakeSocket.last.push({ type: "chat", chat_id: 8, seq: 3, chat: chatRow(8, ownChat) });
  nextFrame();
  assert.deepEqual(log, []);
  sync.stop();
});

test("polling reports a transferred chat and a failed message", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  const { sync, state, log } = start({ rows: [chatRow(7), chatRow(8, ownChat)], hasSockets: false });
  await flushPromises();
  const agent = { id: 2, name: "Ann" };
  state.messages = [timelineEntry(4, { from: "system", text: "Ann transferred the chat to Marta", agent })];
  state.changes = changedRows([chatRow(7, { ...ownChat, seq: 4 }), chatRow(8, { ...ownChat, failed_messages: 1 })]);
  t.mock.timers.tick(3001);
  await flushPromises();
  assert.deepEqual(log, ["failed 8 ?", "given 7 by Ann"]);
  sync.stop();
});

test("failure of an own message is reported when it is shown", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const { sync, state, log } = start({ rows: [chatRow(7)] });
  await flushPromises();
  FakeSocket.last.open();
  await flushPromises();
  const entry = (seq: number, agentId: number, delivery: "pending" | "failed") =>
    timelineEntry(seq, {
      from: "agent",
      agent: { id: agentId, name: "Marta" },
      delivery: { state: delivery, attempts: [] },
    });
  const push = (message: Entry, more = {}) => {
    FakeSocket.last.push({ type: "delivery", chat_id: 7, seq: message.seq, message, ...more });
    nextFrame();
  };
  push(entry(4, 2, "failed"));
  push(entry(5, 1, "pending"), { result_in_ms: 2000 });
  assert.deepEqual(log, [], "a colleague's failure is the colleague's");
  state.messages = [entry(5, 1, "failed")];
  t.mock.timers.tick(2001);
  await flushPromises();
  assert.deepEqual(log, ["failed 7 5"]);
  sync.stop();
});
