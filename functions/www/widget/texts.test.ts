import assert from "node:assert/strict";
import { test } from "node:test";
import english from "../texts/en/widget";
import { callTexts } from "./call/call-texts";
import { chooseLanguage, fill, isRightToLeft, languages, loadTexts, withOverrides } from "./texts";

test("language of the settings comes before that of the page and the browser", () => {
  assert.equal(chooseLanguage("auto", ["sv-SE", "pt-BR", "en"]), "pt");
  assert.equal(chooseLanguage("auto", ["sv", "toString", "arn"]), "en");
  assert.equal(chooseLanguage("auto", ["HE-il", "en"]), "he");
  assert.equal(chooseLanguage("ar", ["de"]), "ar");
  assert.equal(chooseLanguage("xx", ["de"]), "en");
});

test("readers of traditional Chinese do not get simplified Chinese", () => {
  assert.equal(chooseLanguage("auto", ["zh-TW", "zh", "ja"]), "ja");
  assert.equal(chooseLanguage("auto", ["zh-Hant-HK", "zh"]), "en");
  assert.equal(chooseLanguage("auto", ["zh-CN", "zh-TW", "en"]), "zh");
  assert.equal(chooseLanguage("zh", ["zh-TW"]), "zh");
});

test("Arabic and Hebrew are written from right to left", () => {
  assert.deepEqual(languages().filter(isRightToLeft), ["ar", "he"]);
});

test("all languages have all texts with the same placeholders", async () => {
  const places = (text: string) => text.match(/\{\w+\}/g) ?? [];
  const all = async (language: string) => ({ ...(await loadTexts(language)), ...callTexts(language, {}) });
  const expected = await all("en");
  for (const language of languages()) {
    const texts: Record<string, string> = await all(language);
    assert.deepEqual(Object.keys(texts), Object.keys(expected), language);
    for (const [key, text] of Object.entries(expected))
      assert.deepEqual(places(texts[key] ?? ""), places(text), `${language} ${key}`);
    if (language === "en") continue;
    assert.notDeepEqual(callTexts(language, {}), callTexts("en", {}), `${language}: texts about calls`);
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
