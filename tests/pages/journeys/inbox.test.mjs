/* The chat list, its search, the command palette and the keyboard shortcuts. */

import assert from "node:assert/strict";
import {
  blur,
  chatRow,
  journey,
  openChat,
  pressShortcut,
  searchField,
  stopClock,
  textarea,
  useBrowser,
  waitForChat,
  waitForDelivered,
} from "../support/console.mjs";
import { waitFor } from "../support/wait.mjs";

useBrowser();

/** How long an agent can undo a close (UNDO_CLOSE_MS in functions/www/console/state/chat/closing.ts). */
const UNDO_MS = 5000;
const stateOf = async (account, { chatId }) =>
  (await account.admin.get(`/agent/chats/${chatId}`)).state;
const waitForClosed = (account, visitor) =>
  waitFor(
    "the end of the chat",
    async () => (await stateOf(account, visitor)) === "closed",
  );

const tab = (page, name) =>
  page.getByRole("tab", { name: new RegExp(`^${name}`) });

journey("tabs list and count chats by state", async ({ account, open }) => {
  const [jonas] = account.agents;
  await account.openChat("João Ferreira");
  await account.openChat("Mehmet Baştürk");
  await account.openAcceptedChat("Amara Kone");
  await account.openAcceptedChat("Elif Andersen", { agent: jonas });
  const closed = await account.openAcceptedChat("Priya Raman");
  await account.admin.close(closed.chatId);
  const page = await open();
  const tabs = await page.getByRole("tab").allInnerTexts();
  assert.deepEqual(
    tabs.map((text) => text.replace(/\s+/g, " ").trim()),
    ["Waiting 2", "Mine 1 with unread messages", "Bot", "All open 4", "Closed"],
  );
  // Read textContent, because a row outside the viewport has not been rendered, so its innerText is empty.
  const names = () => page.locator(".row .who").allTextContents();
  assert.deepEqual(await names(), [
    "Amara Kone",
    "João Ferreira",
    "Mehmet Baştürk",
  ]);
  await tab(page, "All").click();
  await chatRow(page, "Elif Andersen").getByText("Jonas Weber").waitFor();
  assert.equal((await names()).length, 4);
  await tab(page, "Closed").click();
  await chatRow(page, "Priya Raman").waitFor();
  assert.deepEqual(await names(), ["Priya Raman"]);
});

journey(
  "own chats with new messages stand above the queue until they are left",
  async ({ account, open }) => {
    const amara = await account.openAcceptedChat("Amara Kone");
    await account.admin.send(amara.chatId, "Anything else?");
    await account.openChat("João Ferreira");
    await account.openChat("Mehmet Baştürk");
    const page = await open();
    const expectNames = (...expected) =>
      page.waitForFunction(
        (expected) =>
          [...document.querySelectorAll(".row .who")]
            .map((name) => name.textContent.trim())
            .join() === expected,
        expected.join(),
      );
    await openChat(page, "Amara Kone");
    await openChat(page, "João Ferreira");
    await expectNames("João Ferreira", "Mehmet Baştürk", "Amara Kone");
    await amara.say("Yes, one more thing");
    await expectNames("Amara Kone", "João Ferreira", "Mehmet Baştürk");
    await page
      .getByRole("link", { name: "Inbox, 2 waiting, 1 of yours unread" })
      .waitFor();
    // The chat does not move away while it is read, nor does a chat that has just been accepted.
    await openChat(page, "Amara Kone");
    await page.getByRole("tab", { name: "Mine 1", exact: true }).waitFor();
    await expectNames("Amara Kone", "João Ferreira", "Mehmet Baştürk");
    await openChat(page, "Mehmet Baştürk");
    await pressShortcut(page, "a");
    await expectNames("Mehmet Baştürk", "João Ferreira", "Amara Kone");
  },
);

journey(
  "number sign and a number open the chat with this number",
  async ({ account, open }) => {
    const visitor = await account.openChat("João Ferreira");
    await account.openChat("Priya Raman", `Order #${visitor.chatId}, please`);
    const page = await open();
    await chatRow(page, "Priya Raman").waitFor();
    await searchField(page).fill(`#${visitor.chatId}`);
    await searchField(page).press("Enter");
    await waitForChat(page, "João Ferreira");
    await openChat(page, "Priya Raman");
    await page.keyboard.press("Control+k");
    await page.keyboard.type(`#${visitor.chatId}`);
    await page.getByRole("option", { name: "João Ferreira" }).waitFor();
    await page.keyboard.press("Enter");
    await waitForChat(page, "João Ferreira");
  },
);

journey(
  "chats are found by number, contact and words",
  async ({ account, open }) => {
    const visitor = await account.openChat(
      "João Ferreira",
      "Paguei duas vezes pelo mesmo pedido",
      { email: "joao.ferreira@example.com", phone: "+351 912 000 111" },
    );
    const closed = await account.openAcceptedChat("Priya Raman", {
      text: "Please send the invoice",
    });
    await account.admin.close(closed.chatId);
    const page = await open();
    for (const [words, name] of [
      [`${visitor.chatId}`, "João Ferreira"],
      ["joao.ferreira@", "João Ferreira"],
      ["+351 912", "João Ferreira"],
      ["ferreira", "João Ferreira"],
      ["duas vezes", "João Ferreira"],
      // Priya's chat is closed, so it is in no list that the console has loaded.
      ["raman", "Priya Raman"],
      ["invoice", "Priya Raman"],
    ]) {
      await searchField(page).fill(words);
      await chatRow(page, name).waitFor();
    }
    await searchField(page).fill("nothing like this");
    await page.getByText("Nothing found").waitFor();
    await searchField(page).press("Escape");
    await tab(page, "Waiting").waitFor();
  },
);

journey("closed chats load while scrolling", async ({ account, open }) => {
  // The closed chats fill three pages of the list.
  const pageSize = 50;
  const count = 120;
  for (let number = 1; number <= count; number++) {
    const visitor = await account.openChat(`Visitor no ${number}.`);
    await account.admin.close(visitor.chatId);
  }
  const page = await open();
  // If a page cannot be loaded, the list says so, and a button loads the page again.
  const isLaterPage = (url) =>
    url.pathname.endsWith("/agent/chats") && url.searchParams.has("before");
  await page.route(isLaterPage, (route) => route.abort());
  await tab(page, "Closed").click();
  await page.locator(".row").first().waitFor();
  await page.evaluate(() => {
    document.querySelector("#chat-list").scrollTop = 1e6;
  });
  const again = page
    .locator("#chat-list")
    .getByRole("button", { name: "Try again" });
  await again.waitFor();
  // Recently closed chats may be in the list before their page is loaded.
  const loaded = await page.locator(".row").count();
  assert.ok(loaded >= pageSize, `${loaded}`);
  await page.unroute(isLaterPage);
  let laterPages = 0;
  page.on("response", (response) => {
    if (isLaterPage(new URL(response.url()))) laterPages += 1;
  });
  await again.click();
  await page.waitForFunction((count) => {
    document.querySelector("#chat-list").scrollTop = 1e6;
    return document.querySelectorAll(".row").length >= count;
  }, count);
  assert.equal(await page.locator(".row").count(), count);
  await waitFor("the last page", () => laterPages === 2);
});

journey(
  "whole chat is handled with the keyboard alone",
  async ({ account, open }) => {
    const [jonas] = account.agents;
    await jonas.setPresence("online");
    for (const name of ["João Ferreira", "Mehmet Baştürk", "Thanh Nguyễn"])
      await account.openChat(name);
    const page = await open();
    await chatRow(page, "Thanh Nguyễn").waitFor();
    const { keyboard } = page;
    const current = (name) =>
      page.locator(".row[aria-current=true]", { hasText: name }).waitFor();
    for (const [key, name] of [
      ["j", "João Ferreira"],
      ["j", "Mehmet Baştürk"],
      ["j", "Thanh Nguyễn"],
      ["k", "Mehmet Baştürk"],
    ]) {
      await keyboard.press(key);
      await current(name);
      await waitForChat(page, name);
    }
    await keyboard.press("a");
    await page.locator(".composer textarea:focus").waitFor();
    await keyboard.type("Hello Mehmet");
    await keyboard.press("Enter");
    await waitForDelivered(page, "Hello Mehmet");
    await keyboard.press("Escape");
    await keyboard.press("n");
    await keyboard.type("Knows the manager");
    await keyboard.press("Enter");
    await page.locator(".turn.is-note").waitFor();
    await keyboard.press("Escape");
    await keyboard.press("t");
    await keyboard.type("jonas");
    await keyboard.press("Enter");
    await page.getByText("Mehmet Baştürk is with Jonas Weber now.").waitFor();
    await keyboard.press("Control+k");
    await keyboard.type("thanh");
    await keyboard.press("Enter");
    await waitForChat(page, "Thanh Nguyễn");
    await keyboard.press("a");
    await page.locator(".composer textarea:focus").waitFor();
    await keyboard.press("Escape");
    await keyboard.press("e");
    await page.getByText("Chat with Thanh Nguyễn closed.").waitFor();
    await keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await keyboard.press("Escape");
    await keyboard.press("/");
    await page.locator("#search-chats:focus").waitFor();
    await keyboard.type("mehmet");
    await keyboard.press("Enter");
    await waitForChat(page, "Mehmet Baştürk");
  },
);

journey(
  "each control is reached with Tab and shows its focus",
  async ({ openWithChat }) => {
    const { page } = await openWithChat("Amara Kone");
    await blur(page);
    const reached = new Set();
    for (let step = 0; step < 60; step++) {
      await page.keyboard.press("Tab");
      const { name, isMarked } = await page.evaluate(() => {
        const element = document.activeElement;
        // The focus of a text field is shown by the box around it, and that of a tab by a frame beside its text.
        const isOutlined = (element) => {
          if (element === null) return false;
          const { outlineStyle, boxShadow } = getComputedStyle(element);
          return outlineStyle !== "none" || boxShadow !== "none";
        };
        return {
          name:
            element.getAttribute("aria-label") ?? element.textContent.trim(),
          isMarked:
            element === document.body ||
            isOutlined(element) ||
            getComputedStyle(element, "::before").borderStyle === "solid" ||
            isOutlined(element.closest(".box, .search")),
        };
      });
      assert.ok(isMarked, `the focus on "${name}" is not visible`);
      reached.add(name.split("\n")[0]);
    }
    for (const name of [
      "Inbox",
      "Visitors",
      "More",
      "Emoji",
      "Message to Amara Kone",
    ])
      assert.ok(reached.has(name), `${name} in ${[...reached].join(" | ")}`);
  },
);

journey(
  "single-key shortcuts can be switched off",
  async ({ account, open }) => {
    await account.openChat("João Ferreira");
    const page = await open();
    await chatRow(page, "João Ferreira").waitFor();
    await page.keyboard.press("?");
    await page.getByRole("switch").click();
    await page.keyboard.press("Escape");
    await page.keyboard.press("j");
    await page.keyboard.press("Control+k");
    await page
      .getByRole("dialog", { name: "Find a chat or an action" })
      .waitFor();
    assert.equal(await page.locator(".row[aria-current=true]").count(), 0);
  },
);

journey("close can be undone for five seconds", async (context) => {
  const { account, openWithChat } = context;
  const { page, visitor } = await openWithChat("Elif Andersen");
  await page.clock.install();
  const undo = page.getByRole("button", { name: "Undo" });

  await stopClock(page);
  await pressShortcut(page, "e");
  await page.clock.runFor(UNDO_MS - 100);
  await page.getByText("Chat with Elif Andersen closed.").waitFor();
  assert.equal(await page.locator(".row", { hasText: "Elif" }).count(), 0);
  await undo.click();
  await page.clock.runFor(UNDO_MS);
  await page.clock.resume();
  await openChat(page, "Elif Andersen");
  assert.equal(await stateOf(account, visitor), "active");

  await stopClock(page);
  await pressShortcut(page, "e");
  await page.clock.runFor(UNDO_MS - 100);
  await undo.waitFor();
  assert.equal(await stateOf(account, visitor), "active");
  await page.clock.runFor(200);
  await waitForClosed(account, visitor);
});

journey(
  "pending close is sent when the page is left",
  async ({ account, openWithChat }) => {
    const { page, visitor } = await openWithChat("Elif Andersen");
    // Stop the clock, so that the time for undoing the close never ends.
    await page.clock.install();
    await stopClock(page);
    await pressShortcut(page, "e");
    await page.clock.runFor(100);
    await page.getByRole("button", { name: "Undo" }).waitFor();
    await page.goto("about:blank");
    await waitForClosed(account, visitor);
  },
);

journey(
  "close asks only if a draft would be lost",
  async ({ openWithChat }) => {
    const { page } = await openWithChat("Elif Andersen");
    await textarea(page).fill("Half a");
    await pressShortcut(page, "e");
    await page.getByText("You would lose the draft.").waitFor();
    await page.getByRole("button", { name: "Keep it open" }).click();
    await chatRow(page, "Elif Andersen").waitFor();
  },
);
