import assert from "node:assert/strict";
import { test } from "node:test";
import { errorResponse, fakeApi, jsonResponse } from "../state/test-support";
import { visitorByNumber } from "./visitor-by-number";

test("visitor who is unknown or hidden is undefined, and a failure is not taken for one", async () => {
  const respond = (status: number) =>
    fakeApi(() => (status === 200 ? jsonResponse({ number: 12 }) : errorResponse(status))).api;
  assert.equal((await visitorByNumber(respond(200), 12))?.number, 12);
  for (const status of [403, 404]) assert.equal(await visitorByNumber(respond(status), 12), undefined);
  await assert.rejects(visitorByNumber(respond(503), 12));
});
