/* What the visitor writes: the text field and its limit, the contacts form, and the account's questions; and the
   language and theme of the window. */

import assert from "node:assert/strict";
import { changeResponses } from "../support/failures.mjs";
import {
  api,
  called,
  composer,
  label,
  openWindow,
  shopJourney,
  useEmbeddingBrowser,
  waitForSent,
  write,
} from "../support/shop.mjs";
import {
  CONTACTS,
  CUSTOM_FIELDS,
  PHONE,
  TALK,
} from "../support/widget-states.mjs";

useEmbeddingBrowser();

shopJourney(
  "keys of an input method neither send the text nor close the window",
  async (shop) => {
    const page = await shop.open();
    await openWindow(page);
    await composer(page).fill("Hello");
    const press = (options) =>
      composer(page).evaluate((field, options) => {
        const always = { bubbles: true, cancelable: true, composed: true };
        field.dispatchEvent(
          new KeyboardEvent("keydown", { ...always, ...options }),
        );
      }, options);
    for (const key of ["Enter", "Escape"]) {
      await press({ key, isComposing: true });
      // Safari ends the composition before the key that confirms it.
      await press({ key, keyCode: 229 });
    }
    assert.equal(await composer(page).inputValue(), "Hello");
    await press({ key: "Enter", keyCode: 13 });
    await waitForSent(page, "Hello");
    await press({ key: "Escape", keyCode: 27 });
    await page.getByRole("dialog").waitFor({ state: "detached" });
  },
);

shopJourney(
  "contacts form reports errors and then opens the conversation",
  async (shop) => {
    const page = await shop.open();
    await openWindow(page);
    await page.getByLabel("E-mail").fill("amara@shop");
    await page.getByRole("button", { name: "Start chat" }).click();
    await page.getByText("Please fill in this field.").waitFor();
    await page.getByText("This address is not complete.").waitFor();
    assert.equal(shop.requestsTo("visitor").length, 0);
    await page.getByLabel("Name").fill("Amara");
    await page.getByLabel("E-mail").fill("amara@shop.example");
    await page.getByRole("button", { name: "Start chat" }).click();
    await composer(page).waitFor();
    const [{ body }] = shop.requestsTo("visitor");
    assert.deepEqual(body.contact_info, {
      name: "Amara",
      email: "amara@shop.example",
    });
    assert.equal(body.source, "visitor");
    assert.ok((await called(page)).includes("onIntroduction"));
  },
  {
    settings: { contacts_form: { ...CONTACTS, when: "before_first_message" } },
  },
);

/** Returns whether the last of the elements is within the visible part of the log. */
const isInSight = (page, selector) =>
  page.evaluate((selector) => {
    const { shadowRoot } = document.querySelector("switchboard-widget");
    const log = shadowRoot.querySelector(".log").getBoundingClientRect();
    const last = [...shadowRoot.querySelectorAll(selector)].at(-1);
    const { top, bottom } = last.getBoundingClientRect();
    return top >= log.top && bottom <= log.bottom + 1;
  }, selector);

shopJourney(
  "answers stand below the contacts form that follows the first message",
  async (shop) => {
    const page = await shop.open();
    await openWindow(page);
    await write(page, "Hello?");
    await page.locator(".card").waitFor();
    await shop.accept();
    const answer = "Good morning! Which order is it about?";
    await shop.answer(answer);
    await page.getByText(answer).waitFor();
    assert.equal(await isInSight(page, ".bubble"), true);
    const order = () =>
      page.evaluate(() => {
        const { shadowRoot } = document.querySelector("switchboard-widget");
        const found = shadowRoot.querySelectorAll(".bubble, .card");
        return [...found].map((element) =>
          element.matches(".card") ? "form" : element.textContent,
        );
      });
    assert.deepEqual(await order(), ["Hello?", "form", answer]);
    // The form does not scroll by itself.
    const heights = await page
      .locator(".card")
      .evaluate(({ clientHeight, scrollHeight }) => [
        clientHeight,
        scrollHeight,
      ]);
    assert.equal(heights[0], heights[1]);
    await page.getByLabel("Name").fill("Amara");
    await shop.answer("Are you there?");
    await page.getByText("Are you there?").waitFor();
    assert.equal(await page.getByLabel("Name").inputValue(), "Amara");
    await write(page, "Yes");
    await page.getByText("Yes", { exact: true }).waitFor();
    assert.deepEqual(await order(), [
      "Hello?",
      answer,
      "Are you there?",
      "Yes",
      "form",
    ]);
  },
  { settings: { contacts_form: { ...CONTACTS, when: "after_first_message" } } },
);

shopJourney(
  "questions of the offline form are labelled, checked and sent",
  async (shop) => {
    const page = await shop.open();
    await openWindow(page);
    await page.getByLabel("E-mail").fill("amara@shop.example");
    await page.getByRole("textbox", { name: "Message" }).fill("Size 45?");
    const submit = page.getByRole("button", { name: "Send message" });
    await submit.click();
    const topic = page.getByRole("combobox", { name: "What is it about?" });
    const consent = page.getByRole("checkbox", { name: /^I agree/ });
    await page.getByText("Please tick this box to continue.").waitFor();
    for (const [control, text] of [
      [topic, "Please fill in this field."],
      [consent, "Please tick this box to continue."],
    ]) {
      assert.equal(await control.getAttribute("aria-invalid"), "true");
      const id = await control.getAttribute("aria-describedby");
      assert.equal(await page.locator(`[id="${id}"]`).textContent(), text);
    }
    assert.equal(shop.requestsTo("offline-message").length, 0);
    assert.equal(await consent.isChecked(), false);
    const link = page.getByRole("link", { name: "Read more" });
    assert.equal(
      await link.getAttribute("href"),
      "https://shop.example/privacy",
    );
    await topic.selectOption("Returns");
    await consent.check();
    await submit.click();
    await page.getByText("Thank you").waitFor();
    const [{ body }] = shop.requestsTo("offline-message");
    assert.deepEqual(body.answers, { topic: "Returns", consent: true });
  },
  {
    presence: "offline",
    settings: { contacts_form: { ...CUSTOM_FIELDS, when: "never" } },
  },
);

shopJourney(
  "visitor who has completed the form is asked again after a new question",
  async (shop) => {
    const page = await shop.open();
    await openWindow(page);
    await page.getByLabel("What is it about?").selectOption("Delivery");
    await page.getByRole("checkbox").check();
    await page.getByRole("button", { name: "Start chat" }).click();
    await composer(page).waitFor();
    const [{ body }] = shop.requestsTo("visitor");
    assert.deepEqual(body.answers, { topic: "Delivery", consent: true });
    const reopen = async () => {
      await page.reload();
      await label(page).waitFor();
      await api(page, "open");
    };
    await reopen();
    await composer(page).waitFor();
    // An admin has added a question. The functions of the service would not know it for a while.
    await changeResponses(page, "**/session", ({ widget }) => {
      const { custom_fields } = widget.contacts_form;
      custom_fields.push({ ...custom_fields[0], key: "size", label: "Size" });
    });
    await reopen();
    await page.getByLabel("Size").waitFor();
  },
  {
    settings: {
      contacts_form: { ...CUSTOM_FIELDS, when: "before_first_message" },
    },
  },
);

const LONG_TEXT = "x".repeat(1000);
const CLIPBOARD = { permissions: ["clipboard-read", "clipboard-write"] };
const counter = (page) => page.locator(".limit").first();
const paste = async (page, text) => {
  await page.evaluate((text) => navigator.clipboard.writeText(text), text);
  await page.keyboard.press("Control+v");
};

shopJourney(
  "counter appears near the limit, and a longer paste is refused with words",
  async (shop) => {
    const page = await shop.open(CLIPBOARD);
    await api(page, "open");
    const field = composer(page);
    await field.fill("x".repeat(899));
    assert.equal(await counter(page).textContent(), "");
    await field.press("End");
    await field.pressSequentially("y");
    assert.equal(await counter(page).textContent(), "900/1000");
    await paste(page, LONG_TEXT);
    await page.getByRole("alert").getByText("it would have 1900").waitFor();
    assert.equal((await field.inputValue()).length, 900, "nothing was cut");
    await paste(page, "z".repeat(100));
    assert.equal(await counter(page).textContent(), "1000/1000");
    assert.equal(await page.getByText("it would have").count(), 0);
    // The pasted text replaces the selected one.
    await field.press("Control+a");
    await paste(page, LONG_TEXT);
    assert.equal(await field.inputValue(), LONG_TEXT);
  },
);

shopJourney(
  "offline message has the same limit",
  async (shop) => {
    const page = await shop.open(CLIPBOARD);
    await api(page, "open");
    const field = page.getByRole("textbox", { name: "Message" });
    await field.focus();
    await paste(page, `${LONG_TEXT}y`);
    await page.getByRole("alert").getByText("it would have 1001").waitFor();
    assert.equal(await field.inputValue(), "");
    await paste(page, LONG_TEXT);
    assert.equal(await counter(page).textContent(), "1000/1000");
  },
  { presence: "offline" },
);

for (const device of [{}, { width: 390, height: 664, touch: true }])
  shopJourney(
    `growing composer keeps the newest message in sight: ${device.width ?? "desktop"}`,
    async (shop) => {
      const visitor = await shop.addChat(...TALK);
      const page = await shop.open({ ...device, visitor });
      await api(page, "open");
      await page.getByText("Nobody has it.").waitFor();
      assert.equal(await isInSight(page, ".bubble"), true);
      const { height } = await composer(page).boundingBox();
      await composer(page).fill("A long question\n".repeat(8));
      assert.ok((await composer(page).boundingBox()).height > height + 60);
      assert.equal(await isInSight(page, ".bubble"), true);
    },
  );

shopJourney(
  "phone window keeps the focus and fits the screen",
  async (shop) => {
    const visitor = await shop.addChat(...TALK);
    const page = await shop.open({
      ...PHONE,
      visitor,
      reducedMotion: "reduce",
    });
    await openWindow(page);
    await composer(page).waitFor();
    const box = await page.getByRole("dialog").boundingBox();
    assert.deepEqual(box, { x: 0, y: 0, width: 390, height: 844 });
    for (let presses = 0; presses < 12; presses++) {
      await page.keyboard.press("Tab");
      const host = await page.evaluate(() => document.activeElement.localName);
      assert.equal(host, "switchboard-widget");
    }
  },
);

shopJourney(
  "admin's language, texts and position are used",
  async (shop) => {
    const page = await shop.open({ reducedMotion: "reduce" });
    await page.getByRole("button", { name: "Chat öffnen" }).click();
    await page.getByText("Frag uns!").waitFor();
    const { x } = await page.getByRole("dialog").boundingBox();
    assert.equal(x, 20);
  },
  {
    settings: {
      language: "de",
      position: "left",
      texts: { online: "Frag uns!" },
    },
  },
);

shopJourney(
  "Arabic is written from right to left",
  async (shop) => {
    const page = await shop.open({ visitor: await shop.addChat(...TALK) });
    await label(page).click();
    await page.locator(".bubble").first().waitFor();
    const box = (selector) => page.locator(selector).first().boundingBox();
    const [send, field] = [await box(".send"), await box(".composer textarea")];
    assert.ok(send.x < field.x, "the button is on the left");
    const other = page.locator(".turn:not(.mine) .bubble").first();
    const [own, theirs] = [
      await box(".mine .bubble"),
      await other.boundingBox(),
    ];
    assert.ok(own.x < theirs.x, "own messages are on the left");
  },
  { settings: { language: "ar" } },
);

shopJourney(
  "theme of the settings applies whatever the device prefers",
  async (shop) => {
    for (const scheme of ["light", "dark"]) {
      const page = await shop.open({ scheme });
      await api(page, "open");
      const colors = await page.locator(".window").evaluate((element) => {
        const { backgroundColor, colorScheme } = getComputedStyle(element);
        return [backgroundColor, colorScheme];
      });
      assert.deepEqual(colors, ["rgb(24, 27, 32)", "dark"], scheme);
    }
  },
  { settings: { theme: "dark" } },
);
