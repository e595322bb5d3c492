import assert from "node:assert/strict";
import { test } from "node:test";
import type { Call } from "../service/types";
import { callMessage, endResult, isBefore, isFinal } from "./call-status";
import { callTexts } from "./call-texts";

const texts = callTexts("en", {});
const call = (status: Call["status"], fields: Partial<Call> = {}): Call => ({
  type: "callback",
  phone: "+31612345678",
  status,
  ...fields,
});

test("call has ended at its end and at an error", () => {
  const statuses = ["start", "agent_connected", "client_connected", "end", "error"] as const;
  assert.deepEqual(
    statuses.filter((status) => isFinal(call(status))),
    ["end", "error"],
  );
});

test("statuses of a call have an order", () => {
  assert.ok(isBefore(call("start"), call("agent_connected")));
  assert.ok(isBefore(call("client_connected"), call("end")));
  assert.ok(!isBefore(call("client_connected"), call("client_connected")));
  assert.ok(!isBefore(call("client_connected"), call("start")));
});

test("page is told the reason of a failed call", () => {
  assert.deepEqual(endResult(call("end")), { result: "ok" });
  assert.deepEqual(endResult(call("error", { reason: "busy" })), { result: "fail", reason: "busy" });
  assert.deepEqual(endResult(call("error")), { result: "fail", reason: "failed" });
});

test("visitor is told what happens on the phone", () => {
  const title = (call: Call) => callMessage(call, texts).title;
  assert.equal(title(call("start")), "We are calling an agent");
  assert.equal(title(call("agent_connected")), "Your phone is ringing");
  assert.equal(title(call("agent_connected", { type: "incoming" })), "You are connected");
  assert.equal(title(call("client_connected")), "You are connected");
  assert.equal(title(call("end")), "The call has ended");
});

test("documented reasons are explained", () => {
  const hint = (reason?: string) => callMessage(call("error", reason === undefined ? {} : { reason }), texts).hint;
  assert.equal(hint("no answer from the client"), texts.callMissed);
  assert.equal(hint("no answer from the agent"), texts.callNoAgent);
  assert.equal(hint("no agent is available"), texts.callNoAgent);
  for (const reason of ["busy", "the call could not be placed", undefined])
    assert.equal(hint(reason), texts.callFailedHint);
});

test("all languages have all texts, which settings replace", () => {
  const names = Object.keys(texts);
  for (const language of ["de", "es", "fr", "pt", "ru", "zh", "ar"]) {
    const translated: Record<string, string> = { ...callTexts(language, {}) };
    assert.deepEqual(Object.keys(translated), names, language);
    for (const [name, text] of Object.entries(texts)) assert.notEqual(translated[name], text, `${language} ${name}`);
  }
  assert.equal(callTexts("de", { callMe: "Los!" }).callMe, "Los!");
  assert.deepEqual(callTexts("xx", {}), texts);
});
