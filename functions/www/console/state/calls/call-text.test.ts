import assert from "node:assert/strict";
import { test } from "node:test";
import type { Call } from "../../../api/types";
import { callStatus, callTitle, formatTalkTime, isInProgress, ringingText } from "./call-text";

const MARTA = { id: 1, name: "Marta" };
const call = (fields: Partial<Call>): Call => ({
  type: "callback",
  phone: "+31612345678",
  status: "start",
  agent: MARTA,
  ...fields,
});

test("status says who is called", () => {
  const table: [Partial<Call>, string, string][] = [
    [{}, "Calling you", "Calling Marta"],
    [{ status: "agent_connected" }, "Calling the visitor", "Calling the visitor"],
    [{ status: "agent_connected", type: "incoming" }, "You are talking", "Talking with Marta"],
    [{ status: "client_connected" }, "You are talking", "Talking with Marta"],
    [{ status: "end", duration: 125 }, "Ended after 2:05", "Ended after 2:05"],
    [{ status: "end" }, "Ended", "Ended"],
    [
      { status: "error", reason: "no answer from the client" },
      "No answer from the client",
      "No answer from the client",
    ],
  ];
  for (const [fields, mine, theirs] of table) {
    assert.equal(callStatus(call(fields), 1), mine);
    assert.equal(callStatus(call(fields), 2), theirs);
  }
  const { agent: _, ...withoutAgent } = call({});
  assert.equal(callStatus(withoutAgent, 1), "Calling an agent");
});

test("call is in progress until its end or an error", () => {
  const statuses = ["start", "agent_connected", "client_connected", "end", "error"] as const;
  const running = statuses.filter((status) => isInProgress(call({ status })));
  assert.deepEqual(running, ["start", "agent_connected", "client_connected"]);
});

test("talk time is shown in hours, minutes and seconds", () => {
  assert.deepEqual([0, 8, 65, 3725].map(formatTalkTime), ["0:00", "0:08", "1:05", "1:02:05"]);
});

test("agent whose phone rings learns who it is", () => {
  assert.equal(ringingText(call({}), "Ada Lind"), "Callback for Ada Lind");
  assert.equal(ringingText(call({ type: "incoming" }), "Ada Lind"), "Ada Lind is calling you");
  assert.equal(callTitle(call({ type: "outgoing" })), "Outgoing call");
});
