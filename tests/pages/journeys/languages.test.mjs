/* The console in other languages than English: its texts, and the selection of the language. */

import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import {
  findKeys,
  readCatalogue,
  sourceFiles,
} from "../../../functions/www/texts/extract.mjs";
import {
  bubble,
  chatRow,
  consoleUrl,
  journey,
  openChat,
  sendMessage,
  useBrowser,
  waitForDelivered,
  waitForSignIn,
  waitUntilLive,
} from "../support/console.mjs";

useBrowser();

const WWW = fileURLToPath(new URL("../../../functions/www/", import.meta.url));
const keys = findKeys(sourceFiles(WWW));
const german = readCatalogue(WWW, "de");
const polish = readCatalogue(WWW, "pl");

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
/** Returns a pattern for a text with any values in its places. */
const patternOf = (text) =>
  new RegExp(
    `^${text
      .split(/\{\w+\}/)
      .map(escaped)
      .join(".+")}$`,
    "s",
  );

const germanTexts = new Set(
  Object.values(german).flatMap((entry) =>
    typeof entry === "string" ? [entry] : Object.values(entry),
  ),
);
/** The English texts that are not German ones, too. Those with hardly any words of their own would match anything. */
const ENGLISH = [...keys]
  .flatMap(([key, forms]) => (forms ? Object.values(forms) : [key]))
  .filter((text) => !germanTexts.has(text))
  .filter((text) => /\p{L}{3}/u.test(text.replace(/\{\w+\}/g, "")))
  .map(patternOf);

/** Returns the texts of a page, with those that only screen readers get. */
const textsOf = (page) =>
  page.evaluate(() => {
    const texts = [document.title];
    const walker = document.createTreeWalker(document.body);
    while (walker.nextNode())
      if (!walker.currentNode.parentElement.closest("code, pre, .bubble"))
        texts.push(walker.currentNode.nodeValue ?? "");
    for (const element of document.querySelectorAll("*"))
      for (const name of ["aria-label", "title", "placeholder", "alt"])
        texts.push(element.getAttribute(name) ?? "");
    return [...new Set(texts.map((text) => text.trim()).filter(Boolean))];
  });

const englishTexts = async (page) =>
  (await textsOf(page)).filter((text) => ENGLISH.some((it) => it.test(text)));

async function assertNoEnglish(page) {
  assert.deepEqual(await englishTexts(page), [], page.url());
}

const languageOf = (page) => page.evaluate(() => document.documentElement.lang);

journey(
  "German console has no English text from sign-in to answer",
  async ({ account, openSignedOut }) => {
    await account.openChat("Jürgen Groß", "Guten Tag");
    const page = await openSignedOut({ locale: "de-AT" });
    await page.goto(consoleUrl);
    await page.getByLabel(german["Password"], { exact: true }).waitFor();
    await waitForSignIn(page);
    assert.equal(await languageOf(page), "de");
    await assertNoEnglish(page);

    await page.getByLabel(german["E-mail"]).fill(account.admin.email);
    await page
      .getByLabel(german["Password"], { exact: true })
      .fill(account.admin.password);
    await page.keyboard.press("Enter");
    await waitUntilLive(page);
    await chatRow(page, "Jürgen Groß").waitFor();
    await assertNoEnglish(page);

    await openChat(page, "Jürgen Groß");
    await page
      .getByRole("button", { name: german["Accept"], exact: true })
      .click();
    await sendMessage(page, "Wie kann ich helfen?");
    await bubble(page, "Wie kann ich helfen?").waitFor();
    await waitForDelivered(page, "Wie kann ich helfen?");
    await assertNoEnglish(page);
  },
);

journey(
  "pages for admins have no English text in German",
  async ({ account, open }) => {
    const page = await open(account.admin, { locale: "de-DE" });
    const links = page.locator(".rail > a");
    const hashes = await links.evaluateAll((all) => all.map((it) => it.hash));
    assert.ok(hashes.length >= 8);
    for (const hash of hashes) {
      await page.goto(consoleUrl + hash);
      // Without a reload, the previous page would still be there.
      await page.reload();
      await waitUntilLive(page);
      await page.locator("main h1, main h2").first().waitFor();
      await page.waitForLoadState("networkidle");
      await assertNoEnglish(page);
    }
  },
);

journey(
  "selected language survives a reload and the sign-out",
  async ({ account, open }) => {
    const page = await open(account.admin);
    const openMenu = async (name) => {
      await page.locator(".rail .me").click();
      await page.getByRole("menuitem", { name }).click();
    };
    await openMenu("Password and sessions");
    await page.getByLabel("Language").selectOption({ label: "Polski" });
    assert.equal(await languageOf(page), "en");
    await page.getByRole("button", { name: "Apply", exact: true }).click();
    await page.locator("html[lang=pl]").waitFor();
    await waitUntilLive(page);
    await page.reload();
    await waitUntilLive(page);
    assert.equal(await languageOf(page), "pl");

    await openMenu(polish["Sign out"]);
    await page
      .locator("dialog")
      .getByRole("button", { name: polish["Sign out"] })
      .click();
    const language = page.getByLabel(polish["Language"]);
    assert.equal(await language.inputValue(), "pl");
    await language.selectOption("en");
    await page
      .getByRole("button", { name: polish["Apply"], exact: true })
      .click();
    await page
      .getByRole("heading", { name: "Sign in to Switchboard" })
      .waitFor();
    assert.equal(await languageOf(page), "en");
  },
);

journey(
  "console is in English if it lacks the browser's language",
  async ({ account, open }) => {
    const page = await open(account.admin, { locale: "sv-SE" });
    assert.equal(await languageOf(page), "en");
    await page.getByRole("link", { name: "Inbox" }).waitFor();
    // The check of the German pages would find these texts.
    assert.ok((await englishTexts(page)).length > 10);
  },
);

journey(
  "console is usable if its catalogue cannot be loaded",
  async ({ account, openSignedOut }) => {
    const page = await openSignedOut({ locale: "de-DE" });
    await page.route("**/assets/console-de-*", (route) => route.abort());
    await page.goto(consoleUrl);
    await page.getByLabel("E-mail").fill(account.admin.email);
    await page.getByLabel("Password", { exact: true }).fill("wrong password");
    assert.equal(await languageOf(page), "en");
  },
);
