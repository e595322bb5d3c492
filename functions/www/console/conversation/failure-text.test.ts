import assert from "node:assert/strict";
import { test } from "node:test";
import { failureReason } from "./failure-text";

test("failure is said once, and only words of the receiver are quoted", () => {
  const reasonOf = (message: string) => failureReason({ error: { message } } as Parameters<typeof failureReason>[0]);
  assert.deepEqual(reasonOf("Not delivered: HTTP 503"), { text: "HTTP 503", isQuoted: false });
  assert.deepEqual(reasonOf("Visitor session expired"), { text: "Visitor session expired", isQuoted: true });
  assert.equal(failureReason({}), undefined);
});
