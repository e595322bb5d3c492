/* The widget's window on small, zoomed and printed pages, on phones, and with forced colours. */

import assert from "node:assert/strict";
import { changeResponses } from "../support/failures.mjs";
import {
  openWindow,
  shopJourney,
  unreadLabel,
  useEmbeddingBrowser,
} from "../support/shop.mjs";
import { waitFor } from "../support/wait.mjs";

useEmbeddingBrowser();

/** Without animations, because the tests measure places and sizes. */
const STILL = { reducedMotion: "reduce" };
const PHONE = { ...STILL, width: 390, height: 844, touch: true };
const CONTACTS_FIRST = {
  contacts_form: {
    when: "before_first_message",
    fields: ["name", "email", "phone"],
    required: ["name"],
  },
};

/** Whether an element is completely inside the screen and not covered by another one. */
const isReachable = (locator) =>
  locator.evaluate((element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    const root = element.getRootNode();
    const isOnTop = [top + 1, bottom - 1].every((y) =>
      element.contains(root.elementFromPoint((left + right) / 2, y)),
    );
    const isInside =
      top >= 0 && bottom <= innerHeight && left >= 0 && right <= innerWidth;
    return isOnTop && isInside;
  });

for (const [name, width, height] of [
  ["400 % zoom", 320, 256],
  ["200 % zoom", 640, 400],
  ["landscape", 844, 390],
])
  shopJourney(
    `all fields and buttons can be reached: ${name}`,
    async (shop) => {
      const page = await shop.open({ ...STILL, width, height });
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
    },
    { settings: CONTACTS_FIRST },
  );

shopJourney(
  "page behind the window of a phone neither scrolls nor has the focus",
  async (shop) => {
    const page = await shop.open(PHONE);
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
    // The browser may still ignore the wheel, because it learns with the next frame that the page scrolls again.
    await waitFor("the page", async () => {
      await page.mouse.wheel(0, 900);
      return page.evaluate(() => scrollY > 0);
    });
  },
);

shopJourney(
  "page of a wide screen stays usable beside the window",
  async (shop) => {
    const page = await shop.open(STILL);
    await openWindow(page);
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    assert.equal(await dialog.getAttribute("aria-modal"), null);
    assert.equal(await page.locator("[inert]").count(), 0);
  },
);

shopJourney(
  "page is usable again after the widget has been removed",
  async (shop) => {
    const page = await shop.open(PHONE);
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
  },
);

shopJourney(
  "text field of a phone stands above the on-screen keyboard",
  async (shop) => {
    const page = await shop.open({
      ...PHONE,
      // Playwright's Chromium has no on-screen keyboard.
      prepare: (page) =>
        page.addInitScript(() => {
          const viewport = new EventTarget();
          Object.assign(viewport, { scale: 1, offsetTop: 0, height: 844 });
          Object.defineProperty(window, "visualViewport", { value: viewport });
        }),
    });
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
  },
);

shopJourney(
  "window, messages and buttons have edges with forced colours",
  async (shop) => {
    const page = await shop.open({
      ...STILL,
      forcedColors: "active",
      visitor: await shop.addChat("Hello", { type: "text", text: "Good day" }),
    });
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
    await openWindow(page);
    for (const selector of [".window", ".bubble", ".send"])
      assert.equal(await edges(selector), true, selector);
  },
);

shopJourney("printed page does not contain the widget", async (shop) => {
  const page = await shop.open(STILL);
  await openWindow(page);
  await page.getByRole("dialog").waitFor();
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.getByRole("dialog").isVisible(), false);
  assert.equal(await page.locator(".label").isVisible(), false);
});

shopJourney(
  "groups of messages show the author's picture, name and time once",
  async (shop) => {
    const visitor = await shop.addChat("text 1");
    for (const number of [2, 3, 4]) await shop.answer(`text ${number}`);
    for (const number of [5, 6]) await visitor.say(`text ${number}`);
    const noon = new Date();
    noon.setDate(noon.getDate() - 1);
    noon.setHours(12, 0, 0, 0);
    const minutes = [0, 1, 2, 30, 31, 32];
    const at = (index) => noon.getTime() + minutes[index] * 60_000;
    const nextDay = new Date(noon);
    nextDay.setDate(noon.getDate() + 1);
    const page = await shop.open({
      ...STILL,
      visitor,
      timezoneId: Intl.DateTimeFormat().resolvedOptions().timeZone,
      prepare: async (page) => {
        // Otherwise, the day could end during the test.
        await page.clock.setFixedTime(nextDay);
        await changeResponses(page, "**/session", ({ messages, chat }) => {
          messages.forEach((message, index) => (message.at = at(index)));
          chat.agent.joined_at = at(0);
        });
      },
    });
    await openWindow(page);
    await page.getByText("text 6").waitFor();
    assert.deepEqual(await page.locator(".log .by").allInnerTexts(), [
      "Marta Lindholm 12:01",
      "Marta Lindholm 12:30",
    ]);
    assert.equal(await page.locator(".log .avatar").count(), 2);
    assert.deepEqual(await page.locator(".mine small").allInnerTexts(), [
      "Seen · 12:00",
      "Sent · 12:32",
    ]);
    assert.deepEqual(await page.locator(".day").allInnerTexts(), ["Yesterday"]);
  },
);

shopJourney(
  "first screen introduces the team, and later ones the conversation",
  async (shop) => {
    const page = await shop.open(STILL);
    await openWindow(page);
    const hero = page.locator("header.hero");
    await hero.getByRole("heading", { name: "Northlight" }).waitFor();
    assert.equal(await hero.locator(".avatar").count(), 2);
    await page.getByRole("textbox").fill("Hello");
    await page.keyboard.press("Enter");
    await hero.waitFor({ state: "detached" });
    await page.locator("header .avatar").first().waitFor();
  },
  { agents: ["Dmitri Orlov"] },
);
