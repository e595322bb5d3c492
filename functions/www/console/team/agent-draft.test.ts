import assert from "node:assert/strict";
import { test } from "node:test";
import { phoneProblem } from "./agent-draft";

test("impossible phone number of an agent is refused", () => {
  for (const number of ["", "+31 6 12 34 56 78", "06-12345678", "(020) 123.45/67"])
    assert.equal(phoneProblem(number), undefined, number);
  for (const number of ["123", "call me", "12345678901234567", "+"]) assert.ok(phoneProblem(number), number);
});
