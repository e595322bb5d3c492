/* How an agent gets from one page to another: the rail, the palette, the search, keys, and the pages' titles. */

import assert from "node:assert/strict";
import { usual, unusualText } from "../seed/data-sets.mjs";
import { axeViolations } from "../support/browser.mjs";
import {
  consoleUrl,
  openChat,
  pageJourney,
  pressShortcut,
  searchInPalette,
  useBrowser,
  waitForPaneClosed,
} from "../support/console.mjs";
import { waitForFocus } from "../support/wait.mjs";

useBrowser();

const asAgent = { as: ({ agents: [jonas] }) => jonas };
const withAmara = { seed: (account) => account.openAcceptedChat("Amara Kone") };

const PHONE = { width: 390, height: 844, touch: true };
for (const scheme of ["light", "dark"])
  pageJourney(
    `phone has a menu of further sections, ${scheme}`,
    { ...PHONE, scheme },
    async (page) => {
      const targets = page.locator(".rail > :is(a, button):visible");
      assert.equal(await targets.count(), 5);
      const more = page.getByRole("button", { name: "More" });
      const menu = page.getByRole("menu", { name: "More" });
      // A press of the button is lost while the page still considers the menu open.
      const menuClosed = async () => {
        await menu.waitFor({ state: "detached" });
        await page.locator('.more-button[aria-expanded="false"]').waitFor();
      };
      await more.focus();
      await page.keyboard.press("Enter");
      await menu.waitFor();
      assert.equal(await more.getAttribute("aria-expanded"), "true");
      assert.deepEqual(await axeViolations(page), []);
      for (const target of [
        ...(await targets.all()),
        ...(await menu.getByRole("menuitem").all()),
      ])
        assert.ok((await target.boundingBox()).height >= 44);
      await page.keyboard.press("Escape");
      await menuClosed();
      await waitForFocus(more);
      await page.keyboard.press("Enter");
      await menu.locator(":focus").waitFor();
      await page.keyboard.press("End");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Settings" }).waitFor();
      await menuClosed();
      assert.equal(await more.getAttribute("aria-current"), "true");
      assert.deepEqual(await axeViolations(page), []);
      await more.tap();
      const settings = menu.getByRole("menuitem", { name: "Settings" });
      assert.equal(await settings.getAttribute("aria-current"), "page");
      await more.tap();
      await menuClosed();
    },
  );

pageJourney(
  "agent on a phone needs no menu",
  { ...PHONE, ...asAgent },
  async (page) => {
    assert.equal(await page.locator(".rail > a:visible").count(), 2);
    assert.equal(await page.getByRole("button", { name: "More" }).count(), 0);
  },
);

pageJourney("rail fits into a low window", { width: 1280 }, async (page) => {
  for (const [height, count] of [
    [600, 9],
    [390, 3],
  ]) {
    await page.setViewportSize({ width: 1280, height });
    assert.equal(await page.locator(".rail > a:visible").count(), count);
    const { y, height: size } = await page.locator(".rail .me").boundingBox();
    assert.ok(y + size <= height);
  }
  const more = page.getByRole("button", { name: "More" });
  await more.click();
  const menu = await page.getByRole("menu", { name: "More" }).boundingBox();
  const { x, width } = await more.boundingBox();
  assert.ok(menu.x >= x + width, "the menu does not cover its button");
});

pageJourney("palette leads to every page for admins", {}, async (page) => {
  const pages = {
    reports: "#/reports",
    "export chats": "#/reports/export",
    telephony: "#/telephony",
    "audit log": "#/settings/audit",
    "trigger rules": "#/settings/rules",
    departments: "#/team/departments",
  };
  for (const [text, hash] of Object.entries(pages)) {
    await searchInPalette(page, text);
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/${hash}`);
  }
});

pageJourney("palette offers agents their pages only", asAgent, async (page) => {
  for (const text of ["telephony", "audit log", "export"]) {
    await searchInPalette(page, text);
    await page.getByText("Nothing found.").waitFor();
    await page.keyboard.press("Escape");
  }
});

pageJourney(
  "each page has a title of its own",
  { seed: usual },
  async (page, { admin, agents: [jonas] }) => {
    const expectTitle = (title) =>
      page.waitForFunction(
        (title) => document.title.replace(/^\(\d+\) /, "") === title,
        `${title} · Switchboard`,
      );
    await expectTitle("Inbox");
    await openChat(page, "Amara Kone");
    await expectTitle("Amara Kone");
    for (const [hash, title] of [
      ["#/visitors", "Visitors"],
      ["#/deliveries", "Deliveries"],
      ["#/deliveries/webhooks", "Webhooks"],
      ["#/team", "Agents"],
      [`#/team/${jonas.id}`, "Jonas Weber"],
      ["#/settings", "Settings"],
      ["#/settings/audit", "Audit log"],
      ["#/reports", "Reports"],
    ]) {
      await page.goto(`${consoleUrl}${hash}`);
      await expectTitle(title);
    }
    assert.match(await page.title(), /^\(\d+\) /, "the count stays");
    const { visitor } = await admin.chatOf("Amara Kone");
    await page.goto(`${consoleUrl}#/visitors/${visitor.number}`);
    await expectTitle("Amara Kone");
  },
);

pageJourney(
  "names are readable in narrow windows",
  { seed: unusualText },
  async (page) => {
    await openChat(page, "Maximiliane");
    for (const width of [720, 768, 850]) {
      await page.setViewportSize({ width, height: 900 });
      const name = page.locator(".conversation header h2");
      const { width: shown } = await name.boundingBox();
      assert.ok(shown >= 140, `${shown} of ${width}`);
    }
    await page.getByRole("button", { name: "More", exact: true }).click();
    const menu = page.getByRole("menu", { name: "More" });
    for (const name of [/^Call the visitor/, /^Transfer/])
      await menu.getByRole("menuitem", { name }).waitFor();
    await page.keyboard.press("Escape");

    await page.getByRole("link", { name: "Visitors" }).click();
    for (const width of [1440, 1024, 768, 390]) {
      await page.setViewportSize({ width, height: 900 });
      const rows = page.locator(".visitors :is(thead, tbody) tr");
      await rows.nth(1).waitFor();
      for (const row of await rows.all()) {
        const { height } = await row.boundingBox();
        assert.ok(height <= 57, `a row of ${height} px in ${width} px`);
      }
      const { scrollWidth, clientWidth } = await page
        .locator(".visitors > .scroll")
        .evaluate(({ scrollWidth, clientWidth }) => ({
          scrollWidth,
          clientWidth,
        }));
      assert.equal(scrollWidth, clientWidth);
    }
  },
);

pageJourney(
  "search is reached by its key, and left with Enter",
  withAmara,
  async (page) => {
    await page.goto(`${consoleUrl}#/visitors`);
    await page.locator("tbody tr").first().waitFor();
    await pressShortcut(page, "/");
    const visitors = page.getByLabel("Search visitors");
    await waitForFocus(visitors);
    await page.goto(`${consoleUrl}#/settings`);
    await page.getByLabel("Messages of one visitor").waitFor();
    await pressShortcut(page, "/");
    const chats = page.locator("#search-chats:focus");
    await chats.waitFor();
    await page.keyboard.type("Amara");
    await page.keyboard.press("Enter");
    await page
      .locator(".conversation header h2", { hasText: "Amara" })
      .waitFor();
    await page.keyboard.press("i");
    assert.equal(await page.locator("#search-chats").inputValue(), "Amara");
    await page.locator(".visitor.folded").waitFor({ state: "attached" });

    await page.setViewportSize({ width: 390, height: 844 });
    await page.locator(".pane-toggle").click();
    const close = page.getByRole("button", { name: "Close visitor details" });
    await close.waitFor();
    await page.goBack();
    await close.waitFor({ state: "hidden" });
    await page
      .locator(".conversation header h2", { hasText: "Amara" })
      .waitFor();
    await page.locator(".pane-toggle").click();
    await close.click();
    await close.waitFor({ state: "hidden" });
    await waitForPaneClosed(page);
    await page.goBack();
    await page.locator(".list").waitFor();
  },
);
