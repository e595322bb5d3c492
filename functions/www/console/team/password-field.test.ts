import assert from "node:assert/strict";
import { test } from "node:test";
import { randomPassword } from "./password-field";

test("passwords are long, random and easy to read", () => {
  const passwords = new Set(Array.from({ length: 50 }, randomPassword));
  assert.equal(passwords.size, 50);
  for (const password of passwords) assert.match(password, /^[a-hj-km-z2-9Q]{20}$/);
  assert.equal(new Set([...passwords].join("")).size, 32, "every character occurs");
});
