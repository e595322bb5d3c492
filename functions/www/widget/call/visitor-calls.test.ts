import assert from "node:assert/strict";
import { test } from "node:test";
import type { Call, Settings } from "../service/types";
import { createState, Store, type Screen } from "../state";
import english from "../../texts/en/widget";
import { DeferredStorage } from "../visitor/deferred-storage";
import type { CallParts } from "../parts";
import { VisitorCalls } from "./visitor-calls";

const PHONE = "+31612345678";
const UNAVAILABLE = { result: "fail", reason: "Callback unavaiable" };
const call = (status: Call["status"], fields: Partial<Call> = {}): Call => ({
  type: "callback",
  phone: PHONE,
  status,
  ...fields,
});
const started = { result: "ok", chat_id: 7, seq: 3, call: call("start") };
const ID = "7.3";

type Respond = (endpoint: string, body: Record<string, unknown>) => unknown;

/** Returns calls whose requests `respond` answers, with the requests, the events for the page and the shown screens. */
function createCalls(respond: Respond = () => started) {
  const state = createState({
    settings: { title: "Northlight", texts: {} } as Settings,
    texts: english,
    language: "en",
    mode: "online",
    hasBot: false,
    isBotDisclosed: false,
    agents: [],
    callback: true,
    isCallbackAvailable: true,
    opensAt: undefined,
  });
  const events: unknown[] = [];
  const requests: [string, Record<string, unknown>][] = [];
  const shown: (Screen | undefined)[] = [];
  const storage = new DeferredStorage(undefined, "");
  const post = async (endpoint: string, body: object) => {
    requests.push([endpoint, body as Record<string, unknown>]);
    const response = respond(endpoint, body as Record<string, unknown>);
    if (response instanceof Error) throw response;
    return response;
  };
  const parts = {
    store: new Store(state, () => {}),
    session: { token: "t", page: { url: "", title: "" }, withToken: (use: (token: string) => unknown) => use("t") },
    messenger: { catchUp: async () => {} },
    storage,
    post,
    emit: (...event: unknown[]) => void events.push(event.length > 1 ? event : event[0]),
    show: (screen?: Screen) => {
      shown.push(screen);
      state.screen = screen ?? "chat";
    },
  };
  const calls = new VisitorCalls(parts as unknown as CallParts);
  return { calls, state, events, requests, shown, storage, parts: parts as unknown as CallParts };
}

const settled = () => new Promise((done) => setTimeout(done, 5));

test("page follows a call from its start to its end", async () => {
  const { calls, state, events, requests, storage } = createCalls();
  calls.start(PHONE);
  await settled();
  assert.deepEqual(events, ["onCallStart"]);
  assert.deepEqual(state.call?.problem, UNAVAILABLE, "one call at a time");
  const statuses = ["start", "agent_connected", "client_connected"] as const;
  const lines = statuses.map((status) => {
    calls.update(call(status), ID);
    return state.call?.line;
  });
  assert.deepEqual(lines, ["We are calling an agent", "Your phone is ringing", "You are connected"]);
  calls.update(call("end"), ID);
  // Repeated pushes change nothing.
  calls.update(call("client_connected"), ID);
  calls.update(call("end"), ID);
  assert.deepEqual(events, ["onCallStart", ["onCallEnd", { result: "ok" }]]);
  assert.equal(state.call?.problem, undefined);
  assert.equal(state.notices.at(-1)?.text, "The call has ended");
  assert.equal(storage.read("call"), undefined);
  assert.equal(requests.length, 1);
});

test("session that was read earlier does not undo a push", async () => {
  const { calls, state, events } = createCalls();
  calls.start(PHONE);
  await settled();
  calls.update(call("client_connected"), ID);
  calls.update(call("start"));
  assert.equal(state.call?.line, "You are connected");
  calls.update(call("end"), ID);
  calls.update(call("start"));
  assert.deepEqual(events, ["onCallStart", ["onCallEnd", { result: "ok" }]]);
  assert.equal(state.call?.line, "");
});

test("page is told why a call has failed", async () => {
  const { calls, events } = createCalls();
  calls.start(PHONE);
  await settled();
  calls.update(call("error", { reason: "no answer from the client" }), ID);
  assert.deepEqual(events.at(-1), ["onCallEnd", { result: "fail", reason: "no answer from the client" }]);
});

test("end that follows an error is not reported to the page again", async () => {
  const { calls, state, events } = createCalls();
  calls.start(PHONE);
  await settled();
  calls.update(call("client_connected"), ID);
  const reason = "the provider did not report the end of the call";
  calls.update(call("error", { reason }), ID);
  const ended = ["onCallStart", ["onCallEnd", { result: "fail", reason }]];
  const errorScreen = state.call?.screen;
  calls.update(call("end"), ID);
  assert.deepEqual(events, ended);
  assert.notDeepEqual(state.call?.screen, errorScreen, "the visitor is not asked to call again");
  assert.equal(state.notices.length, 1);

  calls.start(PHONE);
  await settled();
  calls.update(call("start"), "7.9");
  calls.update(call("end"), ID);
  calls.update(call("end"), "7.8");
  assert.deepEqual(events, [...ended, "onCallStart"], "the next call goes on");
  assert.equal(state.call?.line, "We are calling an agent");
});

test("call that the service refuses ends at once", async () => {
  const { calls, events, state } = createCalls(() => ({ result: "fail", reason: "Callback disabled" }));
  calls.start(PHONE);
  await settled();
  assert.deepEqual(events, [["onCallEnd", { result: "fail", reason: "Callback disabled" }]]);
  assert.deepEqual(state.call?.problem, { result: "fail", reason: "Callback disabled" });
});

test("number that the service refuses is reported", async () => {
  const { calls, events } = createCalls(() => Object.assign(new Error(), { status: 400, isTemporary: false }));
  calls.start("12345");
  await settled();
  assert.deepEqual(events, [["onCallEnd", { result: "fail", reason: "Phone is not valid." }]]);
});

test("lost response does not start a second call", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let attempts = 0;
  const { calls, events, requests } = createCalls(() => (++attempts < 3 ? new Error("no network") : started));
  calls.start(PHONE);
  for (let step = 0; step < 40; step++) {
    t.mock.timers.tick(500);
    await Promise.resolve();
  }
  assert.deepEqual(events, ["onCallStart"]);
  const ids = new Set(requests.map(([, { message_id }]) => message_id));
  assert.deepEqual([requests.length, ids.size], [3, 1]);
});

test("availability has the documented results", async () => {
  for (const answer of [{ result: "ok" }, { result: "fail", reason: "Callback disabled" }, UNAVAILABLE]) {
    const { calls, state } = createCalls(() => answer);
    const result = await new Promise((done) => calls.check(done));
    assert.deepEqual(result, answer);
    assert.deepEqual(state.call?.problem, answer.result === "ok" ? undefined : answer);
    assert.equal(!!state.call?.button, answer.result === "ok");
  }
  const { calls } = createCalls(() => new Error("no network"));
  assert.deepEqual(await new Promise((done) => calls.check(done)), UNAVAILABLE);
});

test("call goes on after a reload, and its end is read", async () => {
  const first = createCalls();
  first.calls.start(PHONE);
  await settled();

  const responses = [call("client_connected"), call("end")];
  const second = createCalls(() => ({ ...started, call: responses.shift() }));
  second.storage.write("call", first.storage.read("call"));
  second.state.isOpen = true;
  second.calls.update(call("agent_connected"));
  assert.deepEqual(second.events, [], "the page before has announced the call");
  assert.deepEqual(second.shown, ["call"]);
  // A session without a call does not end the call: the repeated request returns the call's current status.
  second.calls.update(null);
  await settled();
  assert.equal(second.state.call?.line, "You are connected");
  second.calls.update(null);
  await settled();
  assert.deepEqual(second.events, [["onCallEnd", { result: "ok" }]]);
  const ids = second.requests.map(([, { message_id }]) => message_id);
  assert.deepEqual(new Set(ids), new Set([first.requests[0]?.[1]["message_id"]]));
});

test("old request is not repeated", async () => {
  const { calls, requests, storage } = createCalls();
  storage.write("call", { messageId: "m", phone: PHONE, at: Date.now() - 6 * 3_600_000 });
  calls.update(null);
  await settled();
  assert.deepEqual(requests, []);
  assert.equal(storage.read("call"), undefined);
});

test("call of an agent is not a call of the page", () => {
  const { calls, events } = createCalls();
  for (const status of ["start", "agent_connected", "end"] as const)
    calls.update(call(status, { type: "outgoing" }), ID);
  assert.deepEqual(events, []);
});

test("form is offered once a day, and only if callbacks are available", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: new Date("2026-11-22T10:00") });
  let answer: object = UNAVAILABLE;
  const { calls, state, shown } = createCalls(() => answer);
  const offer = async (params: Record<string, unknown>) => {
    calls.offer(params);
    await settled();
  };
  await offer({ once_aday: true });
  assert.deepEqual(shown, []);
  answer = { result: "ok" };
  await offer({ once_aday: true, title: "Shall we call?" });
  await offer({ once_aday: true });
  assert.deepEqual(shown, ["call"]);
  assert.equal(state.formIntro.title, "Shall we call?");
  t.mock.timers.tick(24 * 3_600_000);
  await offer({ once_aday: true });
  await offer({});
  assert.deepEqual(shown, ["call", "call", "call"]);
  state.isOpen = true;
  await offer({});
  assert.equal(shown.length, 3, "the visitor uses the window");
});

test("account without callbacks shows the chat in place of the form", async () => {
  const { calls, shown } = createCalls(() => ({ result: "fail", reason: "Callback disabled" }));
  calls.open();
  await settled();
  assert.deepEqual(shown, ["call", undefined]);
});

test("call that ended before the repeated request is reported as ended", async () => {
  const ended = { ...started, call: call("error", { reason: "no answer from the agent" }) };
  const { calls, events, state, storage } = createCalls(() => ended);
  calls.start(PHONE);
  await settled();
  assert.deepEqual(events, [["onCallEnd", { result: "fail", reason: "no answer from the agent" }]]);
  assert.equal(state.notices.length, 1);
  assert.equal(storage.read("call"), undefined);
});

test("call that pushes reported before the response ends once", async () => {
  let respond: (response: object) => void = () => {};
  const { calls, events, storage } = createCalls(() => new Promise((done) => (respond = done)));
  calls.start(PHONE);
  await settled();
  calls.update(call("start"), ID);
  calls.update(call("error"), ID);
  respond(started);
  await settled();
  const ended = ["onCallStart", ["onCallEnd", { result: "fail", reason: "failed" }]];
  assert.deepEqual(events, ended);
  assert.equal(storage.read("call"), undefined, "the next page must not ask for it");
  calls.update(null);
  await settled();
  calls.update(call("start"), "7.9");
  assert.deepEqual(events, [...ended, "onCallStart"]);
});

test("end that is pushed before the response is passed on", async () => {
  const failed = call("error", { reason: "no agent is available" });
  const ended = ["onCallEnd", { result: "fail", reason: "no agent is available" }];
  // Test a response with the end of the call, and a response with an earlier status. In the second case, the next
  // session makes the widget read the end.
  for (const [status, expected] of [
    [failed, [ended]],
    [call("start"), ["onCallStart", ended]],
  ] as const) {
    const responses: ((response: object) => void)[] = [];
    const { calls, events, parts, storage } = createCalls(() => new Promise((done) => responses.push(done)));
    parts.messenger.catchUp = async () => calls.update(null);
    calls.start(PHONE);
    await settled();
    calls.update(failed, ID);
    responses.shift()?.({ ...started, call: status });
    await settled();
    responses.shift()?.({ ...started, call: failed });
    await settled();
    assert.deepEqual(events, expected);
    assert.equal(storage.read("call"), undefined);
  }
});

test("end that cannot be read does not silence the next call", async () => {
  const { calls, events, storage } = createCalls(() => Object.assign(new Error(), { isTemporary: false }));
  storage.write("call", { messageId: "m", phone: PHONE, at: Date.now() });
  calls.update(null);
  await settled();
  storage.remove("call");
  calls.update(call("start"), "7.9");
  assert.deepEqual(events, ["onCallStart"]);
});

test("removed widget reports no call, and answers what the page has asked", async () => {
  let respond: (response: object) => void = () => {};
  const { calls, events, state, parts } = createCalls(() => new Promise((done) => (respond = done)));
  let sessionsRead = 0;
  parts.messenger.catchUp = async () => void sessionsRead++;
  calls.start(PHONE);
  await settled();
  calls.stop();
  respond(started);
  await settled();
  calls.update(call("end"), ID);
  assert.deepEqual(events, []);
  assert.equal(state.notices.length, 0);
  assert.equal(sessionsRead, 0, "nothing connects again");

  const other = createCalls(() => new Promise((done) => (respond = done)));
  const results: unknown[] = [];
  other.calls.check((result) => results.push(result));
  await settled();
  other.calls.stop();
  respond({ result: "ok" });
  await settled();
  assert.deepEqual(results, [{ result: "fail", reason: "Callback unavaiable" }]);
});
