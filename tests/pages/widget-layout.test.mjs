/* The widget's window on small, zoomed and printed pages, on phones, and with forced colours. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CHAT_ID, SETTINGS } from "./support/mock-widget.mjs";
import { openWindow, widgetSite } from "./support/mocked-widget.mjs";
import { waitFor } from "./support/wait.mjs";

const open = widgetSite();
/** Without animations, because the tests measure places and sizes. */
const openSite = (fields, options) =>
  open(fields, { reducedMotion: "reduce", ...options });
const PHONE = { width: 390, height: 844, touch: true };
const CONTACTS_FIRST = {
  session: {
    widget: {
      ...SETTINGS,
      contacts_form: {
        when: "before_first_message",
        fields: ["name", "email", "phone"],
        required: ["name"],
        custom_fields: [],
      },
    },
  },
};
const message = (seq, at, fields) => ({
  seq,
  chat_id: CHAT_ID,
  at,
  type: "text",
  text: `text ${seq}`,
  ...fields,
});
const talk = (messages) => ({
  session: {
    visitor: { number: 42, contact_info: {}, custom_data: [] },
    chat: { chat_id: CHAT_ID, state: "active", agent: { name: "Marta" } },
    messages,
  },
});

const openUnread = (page) =>
  page.getByRole("button", { name: /^Open chat, / }).click();

/** Whether an element is completely inside the screen and not covered by another one. */
const isReachable = (locator) =>
  locator.evaluate((element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    const root = element.getRootNode();
    const isOnTop = [top + 1, bottom - 1].every((y) =>
      element.contains(root.elementFromPoint((left + right) / 2, y)),
    );
    return isOnTop && top >= 0 && bottom <= innerHeight && left >= 0;
  });

for (const [name, width, height] of [
  ["400 % zoom", 320, 256],
  ["200 % zoom", 640, 400],
  ["landscape", 844, 390],
])
  test(`all fields and buttons can be reached: ${name}`, async () => {
    const { page, context } = await openSite(CONTACTS_FIRST, { width, height });
    await openWindow(page);
    const start = page.getByRole("button", { name: "Start chat" });
    for (const control of [page.getByLabel("Name"), start]) {
      await control.evaluate((element) => element.scrollIntoView());
      assert.equal(await isReachable(control), true);
    }
    await page.getByLabel("Name").fill("Amara");
    await start.click();
    const field = page.getByRole("textbox", { name: "Write a message" });
    await field.waitFor();
    assert.equal(await isReachable(field), true);
    await page
      .getByRole("dialog")
      .getByRole("button", { name: "Close chat" })
      .click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await context.close();
  });

test("page behind the window of a phone neither scrolls nor has the focus", async () => {
  const { page, context } = await openSite({}, PHONE);
  await page.evaluate(() => {
    document.body.style.height = "3000px";
    const link = document.createElement("a");
    link.href = "#";
    link.textContent = "Cart";
    document.querySelector("main").append(link);
  });
  const isInert = () =>
    page.evaluate(
      () => document.querySelector("main").closest("[inert]") !== null,
    );
  await openWindow(page);
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox").waitFor();
  assert.equal(await dialog.getAttribute("aria-modal"), "true");
  assert.equal(await isInert(), true);
  await page.mouse.move(200, 300);
  await page.mouse.wheel(0, 900);
  await page.keyboard.press("End");
  assert.equal(await page.evaluate(() => scrollY), 0);
  await dialog.getByRole("button", { name: "Close chat" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.equal(await isInert(), false);
  await page.mouse.wheel(0, 900);
  await page.waitForFunction(() => scrollY > 0);
  await context.close();
});

test("page of a wide screen stays usable beside the window", async () => {
  const { page, context } = await openSite();
  await openWindow(page);
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  assert.equal(await dialog.getAttribute("aria-modal"), null);
  assert.equal(await page.locator("[inert]").count(), 0);
  await context.close();
});

test("page is usable again after the widget has been removed", async () => {
  const { page, context } = await openSite({}, PHONE);
  await openWindow(page);
  await page.getByRole("dialog").waitFor();
  await page.evaluate(() => widget_destroy());
  await waitFor(
    "the page",
    async () => (await page.locator("[inert]").count()) === 0,
  );
  assert.equal(
    await page.evaluate(() => document.documentElement.style.overflow),
    "",
  );
  await context.close();
});

test("text field of a phone stands above the on-screen keyboard", async () => {
  const { page, context } = await openSite(
    {},
    {
      ...PHONE,
      // Playwright's Chromium has no on-screen keyboard.
      prepare: (page) =>
        page.addInitScript(() => {
          const viewport = new EventTarget();
          Object.assign(viewport, { scale: 1, offsetTop: 0, height: 844 });
          Object.defineProperty(window, "visualViewport", { value: viewport });
        }),
    },
  );
  await openWindow(page);
  await page.getByRole("textbox").waitFor();
  await page.evaluate(() => {
    Object.assign(visualViewport, { height: 500, offsetTop: 40 });
    visualViewport.dispatchEvent(new Event("resize"));
  });
  const { y, height } = await page.getByRole("dialog").boundingBox();
  assert.deepEqual([y, height], [40, 500]);
  await page.evaluate(() => {
    Object.assign(visualViewport, { height: 844, offsetTop: 0 });
    visualViewport.dispatchEvent(new Event("resize"));
  });
  assert.equal((await page.getByRole("dialog").boundingBox()).height, 844);
  await context.close();
});

test("window, messages and buttons have edges with forced colours", async () => {
  const minute = Date.now() - 60_000;
  const { page, context } = await openSite(
    talk([message(1, minute, { from: "agent", name: "Marta" })]),
    { forcedColors: "active" },
  );
  const edges = (selector) =>
    page
      .locator(selector)
      .first()
      .evaluate((element) => {
        const { outlineStyle, outlineWidth } = getComputedStyle(element);
        return outlineStyle === "solid" && parseFloat(outlineWidth) > 0;
      });
  for (const selector of [".label", ".beside"])
    assert.equal(await edges(selector), true, selector);
  await openUnread(page);
  for (const selector of [".window", ".bubble", ".send"])
    assert.equal(await edges(selector), true, selector);
  await context.close();
});

test("printed page does not contain the widget", async () => {
  const { page, context } = await openSite();
  await openWindow(page);
  await page.getByRole("dialog").waitFor();
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.getByRole("dialog").isVisible(), false);
  assert.equal(await page.locator(".label").isVisible(), false);
  await context.close();
});

test("groups of messages show the author's picture, name and time once", async () => {
  const noon = new Date();
  noon.setHours(12, 0, 0, 0);
  const at = (minutes) => noon.getTime() - 86_400_000 + minutes * 60_000;
  const marta = { from: "agent", name: "Marta" };
  const { page, context } = await openSite(
    talk([
      message(1, at(0), { from: "visitor" }),
      message(2, at(1), marta),
      message(3, at(2), marta),
      message(4, at(30), marta),
      message(5, at(31), { from: "visitor" }),
      message(6, at(32), { from: "visitor" }),
    ]),
    { timezoneId: Intl.DateTimeFormat().resolvedOptions().timeZone },
  );
  await openUnread(page);
  await page.getByText("text 6").waitFor();
  assert.deepEqual(await page.locator(".log .by").allInnerTexts(), [
    "Marta 12:01",
    "Marta 12:30",
  ]);
  assert.equal(await page.locator(".log .avatar").count(), 2);
  assert.deepEqual(await page.locator(".mine small").allInnerTexts(), [
    "Seen · 12:00",
    "Sent · 12:32",
  ]);
  assert.deepEqual(await page.locator(".day").allInnerTexts(), ["Yesterday"]);
  await context.close();
});

test("first screen introduces the team, and later ones the conversation", async () => {
  const { page, context } = await openSite();
  await openWindow(page);
  const hero = page.locator("header.hero");
  await hero.getByRole("heading", { name: "Northlight" }).waitFor();
  assert.equal(await hero.locator(".avatar").count(), 2);
  await page.getByRole("textbox").fill("Hello");
  await page.keyboard.press("Enter");
  await hero.waitFor({ state: "detached" });
  await page.locator("header .avatar").first().waitFor();
  await context.close();
});
