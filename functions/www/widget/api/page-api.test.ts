import assert from "node:assert/strict";
import { test } from "node:test";
import { PageApi } from "./page-api";

function connectedApi() {
  const api = new PageApi({ source: "news" });
  const runs: unknown[] = [];
  const connect = () =>
    api.connect({ run: (method, args) => void runs.push([method, ...args]), read: (method) => `read ${method}` });
  return { api, runs, connect };
}

test("calls before the widget is ready are answered and run later, in order", () => {
  const { api, runs, connect } = connectedApi();
  assert.deepEqual(api.methods["setUserToken"]?.("abc"), { result: "ok", token: "abc" });
  assert.deepEqual(api.methods["setCustomData"]?.(7), { result: "fail", reason: "Custom data must be array." });
  assert.deepEqual(api.methods["open"]?.(), { result: "ok" });
  assert.deepEqual(runs, []);
  connect();
  assert.deepEqual(runs, [["setUserToken", "abc"], ["open"]]);
  api.methods["close"]?.();
  assert.deepEqual(runs.at(-1), ["close"]);
});

test("queue keeps the latest calls", () => {
  const { api, runs, connect } = connectedApi();
  for (let count = 1; count <= 150; count++) api.methods["setUserToken"]?.(`token ${count}`);
  connect();
  assert.equal(runs.length, 100);
  assert.deepEqual(runs.at(-1), ["setUserToken", "token 150"]);
});

test("values before the widget is ready", () => {
  const { api, connect } = connectedApi();
  assert.equal(api.methods["chatMode"]?.(), "offline");
  assert.equal(api.methods["getUnreadMessagesCount"]?.(), 0);
  assert.deepEqual(api.methods["getUtm"]?.(), {
    source: "news",
    campaign: null,
    content: null,
    medium: null,
    term: null,
  });
  api.methods["setContactInfo"]?.({ name: " Amara ", email: "a@b.example", toString: "x" });
  assert.deepEqual(api.methods["getContactInfo"]?.(), {
    client_name: "Amara",
    email: "a@b.example",
    phone: null,
    description: null,
  });
  connect();
  assert.equal(api.methods["chatMode"]?.(), "read chatMode");
});

test("refused calls do not count for the limit of attributes", (t) => {
  t.mock.timers.enable({ apis: ["Date"] });
  const { api } = connectedApi();
  const set = () => api.methods["setClientAttributes"]?.({ level: "gold" });
  for (let count = 0; count < 10; count++) assert.deepEqual(set(), { result: "ok" });
  t.mock.timers.tick(30 * 60_000);
  assert.deepEqual(set(), { result: "fail", reason: "Limit exceeded" });
  t.mock.timers.tick(31 * 60_000);
  for (let count = 0; count < 10; count++) assert.deepEqual(set(), { result: "ok" });
});

test("callbacks are called later, and their absence is tolerated", () => {
  const { api, runs, connect } = connectedApi();
  const heard: unknown[] = [];
  const callback = (value: unknown) => void heard.push(value);
  for (const method of ["isCallbackEnabled", "getVisitorNumber"]) {
    api.methods[method]?.(callback);
    api.methods[method]?.("not a function");
    api.methods[method]?.();
  }
  connect();
  const calls = runs as [string, (value: unknown) => void][];
  assert.deepEqual(
    calls.map(([method]) => method),
    ["isCallbackEnabled", "getVisitorNumber"],
  );
  for (const [method, answer] of calls) answer(method);
  assert.deepEqual(heard, ["isCallbackEnabled", "getVisitorNumber"]);
});

test("function of the page that throws is reported, and stops nothing", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  t.mock.method(console, "warn", () => {});
  const throwing = () => {
    throw new Error("of the page");
  };
  const isReported = () => assert.throws(() => t.mock.timers.tick(0), /of the page/);
  const { api, runs, connect } = connectedApi();
  const call = () => {
    api.methods["getVisitorNumber"]?.(throwing);
    api.methods["isCallbackEnabled"]?.(throwing);
    api.methods["sendOfflineMessage"]?.({ email: "a@b.example", message: "Hi" }, throwing);
  };
  call();
  connect();
  for (const [, ...args] of runs as [string, ...unknown[]][]) {
    (args.find((value) => typeof value === "function") as () => void)();
    isReported();
  }
  assert.equal(runs.length, 3);
  api.resume();
  api.stop();
  call();
  isReported();
  const waiting = new PageApi(null);
  waiting.methods["getVisitorNumber"]?.(throwing);
  waiting.stop("the site is not allowed");
  isReported();
});

test("call that throws does not stop those after it", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const api = new PageApi(null);
  const runs: string[] = [];
  const setRules = () => api.methods["setRules"]?.([]);
  setRules();
  api.methods["open"]?.();
  api.connect({
    read: () => undefined,
    run: (method) => {
      if (method === "setRules") throw new Error("of a call");
      runs.push(method);
    },
  });
  assert.deepEqual(runs, ["open"]);
  assert.throws(() => t.mock.timers.tick(0), /of a call/);
  assert.deepEqual(setRules(), { result: "ok" });
  assert.throws(() => t.mock.timers.tick(0), /of a call/);
});

test("call that destroys the widget lets the calls after it fail", () => {
  const api = new PageApi(null);
  const runs: string[] = [];
  api.methods["open"]?.();
  api.methods["close"]?.();
  api.connect({ read: () => undefined, run: (method) => (runs.push(method), api.stop()) });
  assert.deepEqual(runs, ["open"]);
});

test("widget that has started carries out calls, whatever was the problem before", (t) => {
  const { api, runs, connect } = connectedApi();
  t.mock.method(console, "warn", () => {});
  api.stop("it cannot be loaded");
  connect();
  assert.deepEqual(api.methods["open"]?.(), { result: "ok" });
  assert.deepEqual(runs, [["open"]]);
});

test("call that is known to be impossible fails at once", () => {
  const api = new PageApi(null);
  const runs: string[] = [];
  const problem = { result: "fail", reason: "Callback unavaiable" };
  let known: object | undefined = problem;
  api.connect({ run: (method) => void runs.push(method), read: () => known });
  const start = (phone: unknown) => api.methods["startCall"]?.(phone);
  assert.deepEqual(start("+4930123456"), problem);
  known = undefined;
  assert.deepEqual(start("call me"), { result: "fail", reason: "Phone is not valid." });
  assert.deepEqual(runs, []);
  assert.deepEqual(start("+4930123456"), { result: "ok" });
  assert.deepEqual(runs, ["startCall"]);
});

test("calls of a widget that does not start fail, and call the page back", (t) => {
  const { api } = connectedApi();
  const heard: unknown[] = [];
  const hear = (...args: unknown[]) => void heard.push(args);
  const call = () => {
    api.methods["getVisitorNumber"]?.(hear);
    api.methods["isCallbackEnabled"]?.(hear);
    return api.methods["sendOfflineMessage"]?.({ email: "a@b.example", message: "Hi" }, hear);
  };
  const problem = "The chat widget does not appear, because the site is not allowed.";
  const expected = [
    [problem, null],
    [{ result: "fail", reason: "Callback unavaiable" }],
    [{ result: "fail", error: problem }],
  ];
  assert.deepEqual(call(), { result: "ok" }, "the calls wait");
  assert.deepEqual(heard, []);
  t.mock.method(console, "warn", () => {});
  api.stop("the site is not allowed");
  assert.deepEqual(heard.splice(0), expected);
  assert.deepEqual(call(), { result: "fail", error: problem });
  assert.deepEqual(heard.splice(0), expected);
  assert.deepEqual(api.methods["open"]?.(), { result: "fail", reason: problem });
  assert.deepEqual(api.methods["setUserToken"]?.("abc"), { result: "fail", token: "abc" });
  api.resume();
  assert.deepEqual(call(), { result: "ok" });
  assert.deepEqual(heard, []);
});
