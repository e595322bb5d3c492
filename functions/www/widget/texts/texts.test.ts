import assert from "node:assert/strict";
import { test } from "node:test";
import english from "./en";
import { chooseLanguage, fill, loadTexts, withOverrides } from "./texts";

test("language of the settings comes before that of the browser", () => {
  assert.equal(chooseLanguage("auto", ["nl-NL", "pt-BR", "en"]), "pt");
  assert.equal(chooseLanguage("auto", ["nl", "toString"]), "en");
  assert.equal(chooseLanguage("ar", ["de"]), "ar");
  assert.equal(chooseLanguage("xx", ["de"]), "en");
});

test("all languages have all texts with the same placeholders", async () => {
  const places = (text: string) => text.match(/\{\w+\}/g) ?? [];
  for (const language of ["de", "es", "fr", "pt", "ru", "zh", "ar"]) {
    const texts: Record<string, string> = await loadTexts(language);
    for (const [key, text] of Object.entries(english))
      assert.deepEqual(places(texts[key] ?? "missing {x}"), places(text), `${language} ${key}`);
  }
});

test("settings replace known texts", () => {
  const texts = withOverrides(english, { online: "Ask us!", unknown: "x", away: "" });
  assert.equal(texts.online, "Ask us!");
  assert.equal(texts.away, english.away);
  assert.equal("unknown" in texts, false);
});

test("value is inserted as it is", () => {
  assert.equal(fill("{name} is typing", "$& {name}"), "$& {name} is typing");
});
