import assert from "node:assert/strict";
import { test } from "node:test";
import { confirmsName, shownName } from "./confirm-name";

test("name is confirmed as it is shown", () => {
  assert.ok(confirmsName(" Ada Lind ", "Ada Lind"));
  assert.ok(!confirmsName("ada lind", "Ada Lind"));
  assert.ok(!confirmsName("", "Ada Lind"));
  for (const name of ["Ada  Lind", "Ada\nLind", "Ada\u00a0Lind", "Ada\u200b Lind\u200f"])
    assert.ok(confirmsName("Ada Lind", name), JSON.stringify(name));
  assert.ok(confirmsName("Zo\u00eb", "Zoe\u0308"));
});

test("invisible characters are not a name", () => {
  const name = "\u115f\u1160\u2800\u3164\uffa0\u200b\u00ad\u034f\ufe0f";
  assert.equal(shownName(name), "");
  assert.ok(confirmsName("Ada Lind", `Ada${name} Lind`));
  assert.ok(!confirmsName(name, name));
});
