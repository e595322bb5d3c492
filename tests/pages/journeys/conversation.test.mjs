/* The message log: reading position, scrolling, bots, and links that Safe URL blocks. */

import assert from "node:assert/strict";
import {
  bubble,
  chatRow,
  journey,
  line,
  openChat,
  scrollUp,
  sendMessage,
  useBrowser,
  waitForDelivered,
} from "../support/console.mjs";

useBrowser();

/** Raises the rate limit of visitors, so that they can write without pauses. */
const settings = { limits: { visitor_messages: 1000 } };

/** Marks the first turn that starts more than 50 px below the top of the log. Returns the position of its top. */
const markAnchor = (page) =>
  page.evaluate(() => {
    const { top } = document.querySelector(".log").getBoundingClientRect();
    document.querySelector("[data-anchor]")?.removeAttribute("data-anchor");
    const turn = [...document.querySelectorAll(".turn")].find(
      (turn) => turn.getBoundingClientRect().top > top + 50,
    );
    turn.dataset.anchor = "";
    return turn.getBoundingClientRect().top;
  });
const anchorTop = (page) =>
  page.evaluate(
    () => document.querySelector("[data-anchor]")?.getBoundingClientRect().top,
  );

/** Sends `count` messages, alternately from the visitor and the agent, so that each message is a separate turn. */
async function fillChat(account, visitor, count) {
  for (let number = 1; number <= count; number++) {
    const text = `${number}. ${"Where is it? ".repeat((number % 5) + 1)}`;
    if (number % 2) await visitor.say(text);
    else await account.admin.send(visitor.chatId, text);
  }
}

journey(
  "chat opens at its first unread message",
  async ({ account, open }) => {
    const priya = await account.openAcceptedChat("Priya Raman");
    await account.openAcceptedChat("Amara Kone");
    await fillChat(account, priya, 30);
    const page = await open();
    await openChat(page, "Priya Raman");
    await chatRow(page, "Priya Raman")
      .locator(".unread")
      .waitFor({ state: "detached" });
    await openChat(page, "Amara Kone");
    for (let number = 1; number <= 25; number++)
      await priya.say(`New line ${number}`);
    await chatRow(page, "Priya Raman")
      .locator(".unread", { hasText: "25" })
      .waitFor();
    await openChat(page, "Priya Raman");
    await page.locator(".unread-line").waitFor();
    const offset = await page.evaluate(() => {
      const top = (selector) =>
        document.querySelector(selector).getBoundingClientRect().top;
      return top(".unread-line") - top(".log");
    });
    assert.ok(offset > 0 && offset < 200, `${offset}`);
    // The chat stays unread until its last message is visible.
    await page.locator(".row.new", { hasText: "Priya" }).waitFor();
    const latest = page.getByRole("button", { name: "Latest" });
    await latest.click();
    await page
      .locator(".row.new", { hasText: "Priya" })
      .waitFor({ state: "detached" });
    await latest.waitFor({ state: "detached" });
    await scrollUp(page, 500);
    await sendMessage(page, "I look into it.");
    await latest.waitFor({ state: "detached" });
  },
  { settings },
);

journey(
  "unopened chat is unread after the agent's last message",
  async ({ account, open }) => {
    const thanh = await account.openAcceptedChat("Thanh Nguyễn");
    await account.admin.send(thanh.chatId, "Of course.");
    await thanh.say("And our VAT number?");
    await thanh.say("Perfect.");
    const page = await open();
    await openChat(page, "Thanh Nguyễn");
    await page.locator(".unread-line").waitFor();
    const order = await page
      .locator(".log .bubble, .log .unread-line")
      .allInnerTexts();
    assert.deepEqual(order, [
      "Hello",
      "Of course.",
      "New",
      "And our VAT number?",
      "Perfect.",
    ]);
  },
);

journey(
  "new messages do not scroll a reader away",
  async ({ account, open }) => {
    const priya = await account.openAcceptedChat("Priya Raman");
    await fillChat(account, priya, 40);
    const page = await open();
    await openChat(page, "Priya Raman");
    await bubble(page, /^40\. /).waitFor();
    await scrollUp(page, 900);
    const before = await markAnchor(page);
    for (let index = 0; index < 3; index++) await priya.say(`More ${index}`);
    const button = page.getByRole("button", { name: "3 new messages" });
    await button.waitFor();
    const after = await anchorTop(page);
    assert.ok(Math.abs(after - before) <= 1, `${before} -> ${after}`);
    await button.click();
    await page.waitForFunction(() => {
      const log = document.querySelector(".log");
      return log.scrollHeight - log.scrollTop - log.clientHeight < 2;
    });
  },
  { settings },
);

journey(
  "older messages load without a scroll jump",
  async ({ account, open }) => {
    const priya = await account.openAcceptedChat("Priya Raman");
    await fillChat(account, priya, 260);
    const page = await open();
    await openChat(page, "Priya Raman");
    await bubble(page, /^260\. /).waitFor();
    await scrollUp(page, 500);
    for (let step = 0; step < 14; step++) {
      await page
        .locator(".log")
        .evaluate(
          (log) => (log.scrollTop = Math.max(700, log.scrollTop - 500)),
        );
      const before = await markAnchor(page);
      // Older messages are added in one of the next frames.
      await page.evaluate(
        () =>
          new Promise((done) => {
            let frames = 10;
            const next = () =>
              frames-- > 0 ? requestAnimationFrame(next) : done();
            next();
          }),
      );
      const after = await anchorTop(page);
      assert.ok(
        after !== undefined && Math.abs(after - before) <= 2,
        `step ${step}: ${before} -> ${after}`,
      );
    }
    await page.waitForFunction(() => {
      document.querySelector(".log").scrollTop = 0;
      return [...document.querySelectorAll(".bubble")].some((element) =>
        element.textContent.startsWith("1. "),
      );
    });
    assert.equal(await bubble(page, /^1\. /).count(), 1);
  },
  { settings },
);

journey(
  "visitor message is shown, announced and counted as unread",
  async ({ account, open }) => {
    const thanh = await account.openAcceptedChat("Thanh Nguyễn");
    const elif = await account.openAcceptedChat("Elif Andersen");
    const page = await open();
    await openChat(page, "Elif Andersen");
    await openChat(page, "Thanh Nguyễn");
    await thanh.say("Are you there?");
    await bubble(page, "Are you there?").waitFor();
    await page
      .locator("[aria-live=polite]", {
        hasText: "Thanh Nguyễn: Are you there?",
      })
      .waitFor();
    await elif.say("One");
    await elif.say("Two");
    await page
      .locator(".row.new", { hasText: "Elif" })
      .locator(".unread", { hasText: "2" })
      .waitFor();
    assert.match(await page.title(), /^\(1\) Thanh Nguyễn · Switchboard$/);
    await openChat(page, "Elif Andersen");
    await chatRow(page, "Elif")
      .locator(".unread")
      .waitFor({ state: "detached" });
  },
);

journey(
  "bot's messages are shown and the bot is relieved",
  async ({ account, open }) => {
    await account.addBot(account.channel, ({ text }) => [
      {
        event: "BOT_MESSAGE",
        message: {
          type: "BUTTONS",
          title: "Which order?",
          text: "Which order?",
          buttons: [{ text: "AK-20931" }, { text: "Another one" }],
          timestamp: 1,
        },
      },
      {
        event: "BOT_MESSAGE",
        message: {
          type: "MARKDOWN",
          content: `You wrote **${text}**, see [help](https://help.example/a)`,
          text,
          timestamp: 1,
        },
      },
    ]);
    const page = await open();
    await account.openChat("Ingrid Lindqvist", "parcel");
    await page.getByRole("tab", { name: /Bot/ }).click();
    await openChat(page, "Ingrid Lindqvist");
    await page
      .locator(".by", { hasText: "Parcel bot (bot)" })
      .first()
      .waitFor();
    await page.locator(".buttons li", { hasText: "AK-20931" }).waitFor();
    await page.locator(".bubble strong", { hasText: "parcel" }).waitFor();
    await page.getByRole("link", { name: "help" }).waitFor();
    await page.getByRole("button", { name: "Take over" }).click();
    await sendMessage(page, "Here I am");
    await waitForDelivered(page, "Here I am");
    await page.locator(".event", { hasText: "You joined" }).first().waitFor();
  },
  {
    channelSettings: { shows_markdown: true, shows_buttons: true },
  },
);

journey(
  "link that Safe URL blocks is shown as blocked",
  async ({ account, open }) => {
    const thanh = await account.openAcceptedChat("Thanh Nguyễn", {
      text: "Look at https://evil.example/x and https://good.example/y",
    });
    await thanh.post({
      type: "document",
      file: "https://evil.example/claim.pdf",
      file_name: "claim.pdf",
      file_size: 3,
    });
    const page = await open();
    await openChat(page, "Thanh Nguyễn");
    await page.locator(".bubble .blocked").waitFor();
    await page.getByRole("link", { name: "https://good.example/y" }).waitFor();
    await page.getByText("Link blocked: Safe URL").waitFor();
    assert.equal(await page.locator('a[href*="evil"]').count(), 0);
  },
  { settings: { safe_urls: ["good.example"] } },
);

journey(
  "edited message is replaced and marked in an open chat",
  async ({ account, open }) => {
    const priya = await account.openAcceptedChat("Priya Raman");
    const { id } = await priya.say("Where is my ordr?");
    const page = await open();
    await openChat(page, "Priya Raman");
    await bubble(page, "Where is my ordr?").waitFor();
    await priya.post({ type: "text", edits: id, text: "Where is my order?" });
    const edited = line(page, "Where is my order?").locator(".edited");
    await edited.waitFor();
    assert.match(await edited.getAttribute("title"), /^Edited .*\d/);
    assert.equal(await bubble(page, "Where is my ordr?").count(), 0);
    await chatRow(page, "Priya Raman")
      .getByText("Where is my order?")
      .waitFor();
    assert.equal(await page.locator(".edited").count(), 1);
  },
);
