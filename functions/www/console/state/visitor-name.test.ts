import assert from "node:assert/strict";
import { test } from "node:test";
import { visitorName } from "./visitor-name";

test("visitor without a visible name is called by the number", () => {
  for (const name of ["", "Anonymous", "\u3164", " \u200b"])
    assert.equal(visitorName({ visitor: { number: 7, name } }), "Visitor 7");
  assert.equal(visitorName({ visitor: { number: 7, name: "Ada" } }), "Ada");
});
