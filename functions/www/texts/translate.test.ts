import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseLanguage, plural, rich, t, tIn } from "./translate";

test("own choice comes before the languages of the browser", () => {
  assert.equal(chooseLanguage(["pl", "de-AT"]), "pl");
  assert.equal(chooseLanguage([undefined, "sv-SE", "pt-BR", "en"]), "pt");
  assert.equal(chooseLanguage([undefined, "toString", "sv"]), "en");
});

test("English texts are those of the code", () => {
  assert.equal(t`Transfer to ${"Ann {1}"}`, "Transfer to Ann {1}");
  assert.equal(tIn("noun", "Reply"), "Reply");
  assert.deepEqual(rich`See ${null}.`, ["See ", null, "."]);
});

test("number selects the form, and may be formatted", () => {
  assert.equal(plural(1, "{count} chat", "{count} chats"), "1 chat");
  assert.equal(plural(1200, "{count} chat", "{count} chats", { count: "1,200" }), "1,200 chats");
  assert.equal(plural(0, "one {thing}", "{count} {thing}", { thing: "$&" }), "0 $&");
});
