import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReceiverTestResult, ServerClause } from "../../api/types";
import { ALL_CLAUSES, checkClauses, differenceText, summaryText, type ClauseResults } from "./server-clauses";

const NOTHING: ClauseResults = new Map();
const result = (kept: boolean, fields: Partial<ReceiverTestResult> = {}): ReceiverTestResult => ({
  status: 200,
  ms: 1,
  error: null,
  kept,
  expected: "a status from 400 to 499, such as 401",
  request: { method: "POST", url: "", headers: [], body: "", body_truncated: false },
  response: null,
  ...fields,
});

/** Checks the clauses until `limit` of them have a result. Returns the tested clauses and the results. */
async function check(results: ClauseResults, isKept: (clause: ServerClause) => boolean, limit = Infinity) {
  const tested: ServerClause[] = [];
  let known = results;
  await checkClauses(
    results,
    (clause) => {
      tested.push(clause);
      return Promise.resolve(result(isKept(clause)));
    },
    (after) => (known = after),
    () => known.size >= limit,
  );
  return { tested, known };
}

test("stopped check goes on with the clauses that are left", async () => {
  const first = await check(NOTHING, () => true, 3);
  const second = await check(first.known, () => true);
  assert.deepEqual([...first.tested, ...second.tested], ALL_CLAUSES);
  assert.equal(first.tested.length, 3);
  assert.equal(second.known.size, ALL_CLAUSES.length);
});

test("failed request keeps the results before it", async () => {
  let known = NOTHING;
  const send = (clause: ServerClause) =>
    clause === "refuses_unsigned" ? Promise.reject(new Error("busy")) : Promise.resolve(result(true));
  const checked = checkClauses(
    NOTHING,
    send,
    (after) => (known = after),
    () => false,
  );
  await assert.rejects(checked, /busy/);
  assert.equal(known.size, ALL_CLAUSES.indexOf("refuses_unsigned"));
});

test("summary counts kept clauses", async () => {
  const all = await check(NOTHING, () => true);
  assert.equal(summaryText(all.known), `The server keeps all ${ALL_CLAUSES.length} clauses.`);
  const unsigned = await check(NOTHING, (clause) => !clause.startsWith("refuses"), 5);
  assert.equal(summaryText(unsigned.known), "The server keeps 3 of 5 tested clauses.");
});

test("difference says what was expected and what came instead", () => {
  const expected = "Expected a status from 400 to 499, such as 401.";
  assert.equal(differenceText(result(false)), `${expected} Got: status 200.`);
  assert.equal(
    differenceText(result(false, { status: null, error: "no connection" })),
    `${expected} Got: no connection.`,
  );
  assert.equal(
    differenceText(result(false, { error: "the response is not a JSON object" })),
    `${expected} Got: status 200, the response is not a JSON object.`,
  );
});
