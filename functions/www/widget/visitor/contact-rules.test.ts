import assert from "node:assert/strict";
import { test } from "node:test";
import { nonBlank } from "./contact-rules";

test("blank texts and other values of a page are left out", () => {
  assert.deepEqual(nonBlank({ name: " Amara ", email: " ", phone: null, id: 7 }), { name: "Amara" });
});
