import assert from "node:assert/strict";
import { test } from "node:test";
import { formatLiteral } from "./literal";

test("values are formatted as JavaScript literals", () => {
  assert.equal(formatLiteral({ result: "fail", reason: 'a "b"' }), '{result: "fail", reason: "a \\"b\\""}');
  assert.equal(formatLiteral([null, 42, undefined, () => {}]), "[null, 42, undefined, callback]");
});
