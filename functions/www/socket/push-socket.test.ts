import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiClient } from "../api/client";
import type { Push } from "../api/pushes";
import { agentProtocol } from "./agent-protocol";
import { backoffDelayMs } from "./backoff";
import { parsePush } from "./push-parser";
import { PushSocket, type SocketEvents } from "./push-socket";

test("backoff doubles from 1 s to 30 s, with jitter", () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 20].map((failures) => backoffDelayMs(failures, () => 0)),
    [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000],
  );
  assert.equal(
    backoffDelayMs(3, () => 1),
    3000,
  );
});

test("unknown and invalid frames are ignored", () => {
  const frame = (value: unknown) => parsePush(JSON.stringify(value));
  assert.equal(frame({ v: 1, type: "pong" }), "pong");
  assert.equal(frame({ v: 1, type: "chat_gone", chat_id: 7 })?.valueOf() !== undefined, true);
  for (const wrong of [
    { v: 2, type: "settings" },
    { v: 1, type: "new_kind", chat_id: 7 },
    { v: 1, type: "chat_gone" },
    { v: 1, type: "message", chat_id: 7, message: {} },
    7,
    null,
  ])
    assert.equal(frame(wrong), undefined);
  assert.deepEqual(frame({ v: 1, type: "message", chat_id: 7, seq: 3 }), { type: "incomplete", chat_id: 7 });
  assert.equal(parsePush("{"), undefined);
  assert.equal(parsePush(new ArrayBuffer(2)), undefined);
});

class FakeSocket {
  static all: FakeSocket[] = [];
  readyState = 0;
  sent: string[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  onerror: (() => void) | null = null;
  constructor(readonly url: string) {
    FakeSocket.all.push(this);
  }
  send(text: string) {
    this.sent.push(text);
  }
  open() {
    this.readyState = 1;
    this.onopen?.();
  }
  close(code = 1006) {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.onclose?.({ code });
  }
}

function socketWith(responses: (() => Response)[]) {
  FakeSocket.all = [];
  const log: string[] = [];
  const api = new ApiClient(
    () => "token",
    "",
    async () => (responses.shift() ?? ticket)(),
  );
  const events: SocketEvents<Push> = {
    connected: () => log.push("open"),
    disconnected: () => log.push("down"),
    push: (push) => log.push(push.type),
    sessionEnded: () => log.push("ended"),
  };
  const socket = new PushSocket(agentProtocol(api), events, (url) => new FakeSocket(url) as unknown as WebSocket);
  return { socket, log };
}
const ticket = () => Response.json({ ticket: "a/b", url: "wss://push.example", expires_in: 60 }, { status: 201 });
const flushPromises = async () => {
  for (let round = 0; round < 20; round++) await Promise.resolve();
  await new Promise((done) => setImmediate(done));
};

test("socket connects with its ticket and receives pushes", async () => {
  const { socket, log } = socketWith([]);
  socket.start();
  await flushPromises();
  const [first] = FakeSocket.all;
  assert.equal(first?.url, "wss://push.example?ticket=a%2Fb");
  first?.open();
  first?.onmessage?.({ data: '{"v":1,"type":"settings"}' });
  first?.onmessage?.({ data: '{"v":1,"type":"unheard_of"}' });
  assert.deepEqual(log, ["open", "settings"]);
  assert.equal(socket.send({ type: "typing" }), true);
  socket.stop();
});

test("lost socket reconnects with a new ticket", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  const { socket, log } = socketWith([]);
  socket.start();
  await flushPromises();
  FakeSocket.all[0]?.open();
  FakeSocket.all[0]?.close();
  await flushPromises();
  assert.deepEqual(log, ["open", "down"]);
  t.mock.timers.tick(1001);
  await flushPromises();
  FakeSocket.all[1]?.open();
  assert.deepEqual(log, ["open", "down", "open"]);
  socket.stop();
});

test("missing pong closes the connection", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  const { socket, log } = socketWith([]);
  socket.start();
  await flushPromises();
  const [first] = FakeSocket.all;
  first?.open();
  t.mock.timers.tick(5 * 60_000);
  assert.deepEqual(first?.sent, ['{"type":"ping"}']);
  first?.onmessage?.({ data: '{"v":1,"type":"pong"}' });
  t.mock.timers.tick(16_000);
  assert.deepEqual(log, ["open"]);
  t.mock.timers.tick(5 * 60_000);
  t.mock.timers.tick(16_000);
  assert.deepEqual(log, ["open", "down"]);
  socket.stop();
});

test("refused ticket is a failure, and an ended session is reported", async () => {
  const broken = socketWith([() => Response.json({}, { status: 503 })]);
  broken.socket.start();
  await flushPromises();
  assert.deepEqual(broken.log, ["down"]);
  broken.socket.stop();
  const ended = socketWith([() => Response.json({}, { status: 401 })]);
  ended.socket.start();
  await flushPromises();
  assert.deepEqual(ended.log, ["ended"]);
  ended.socket.stop();
});

test("socket does not reconnect after the session ended", async () => {
  const { socket, log } = socketWith([]);
  socket.start();
  await flushPromises();
  FakeSocket.all[0]?.open();
  FakeSocket.all[0]?.close(4401);
  assert.deepEqual(log, ["open", "ended"]);
  socket.stop();
});

test("socket that fails without a close event is tried again", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  const { socket, log } = socketWith([]);
  socket.start();
  await flushPromises();
  const [blocked] = FakeSocket.all;
  if (blocked) blocked.readyState = 3;
  blocked?.onerror?.();
  await flushPromises();
  assert.deepEqual(log, ["down"]);
  t.mock.timers.tick(1001);
  await flushPromises();
  FakeSocket.all[1]?.open();
  assert.deepEqual(log, ["down", "open"]);
  socket.stop();
});

test("socket that does not answer is abandoned", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  const { socket, log } = socketWith([]);
  socket.start();
  await flushPromises();
  const [silent] = FakeSocket.all;
  if (silent) silent.close = () => {};
  t.mock.timers.tick(10_000);
  await flushPromises();
  assert.deepEqual(log, ["down"]);
  silent?.open();
  t.mock.timers.tick(1001);
  await flushPromises();
  FakeSocket.all[1]?.open();
  assert.deepEqual(log, ["down", "open"], "only the second socket counts");
  socket.stop();
});

test("connection that was stopped while it opened can start again", async () => {
  const { socket, log } = socketWith([]);
  socket.start();
  await flushPromises();
  socket.stop();
  await flushPromises();
  socket.start();
  await flushPromises();
  FakeSocket.all[1]?.open();
  assert.deepEqual(log, ["open"]);
  socket.stop();
});
