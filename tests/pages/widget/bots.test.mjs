/* Bots in the widget: the visitor sees that a bot answers, and when a person does. */

import assert from "node:assert/strict";
import {
  openWindow,
  shopJourney,
  useEmbeddingBrowser,
  write,
} from "../support/shop.mjs";
import { openChat } from "../support/console.mjs";
import { waitFor } from "../support/wait.mjs";

useEmbeddingBrowser();

shopJourney(
  "every surface says which messages of a bot with a person's name are a bot's",
  async (shop) => {
    const finished = [];
    await shop.account.addWebhook((event) => {
      if (event.event_name === "chat_finished") finished.push(event);
      return { status: 200, body: { result: "ok" } };
    });
    const message = { type: "TEXT", text: "I can help", timestamp: 1 };
    const answer = () => [{ event: "BOT_MESSAGE", message }];
    await shop.account.addBot({ id: shop.widget.id }, answer, "Anna");
    const page = await shop.open();
    await openWindow(page);
    await write(page, "Hello");
    await page.getByText("I can help").waitFor();
    const authors = page.locator(".turn.team .by");
    assert.match(await authors.first().textContent(), /^Anna bot · /);
    await shop.accept("bot");
    await shop.answer("A person is here");
    await page.getByText("A person is here").waitFor();
    assert.match(await authors.last().textContent(), /^Marta Lindholm \S/);

    const console = await shop.openConsole();
    await openChat(console, "Visitor 1");
    const names = console.locator(".log [role=group]");
    await console.getByRole("group", { name: /^Anna \(bot\)/ }).waitFor();
    await console.getByRole("group", { name: /^You/ }).waitFor();
    assert.ok((await names.count()) >= 3);

    const { admin } = shop.account;
    const exported = await admin.get("/admin/chats/export?chat_id=1");
    const writers = ({ messages }) =>
      messages.filter(({ type }) => type === "text").map(({ from }) => from);
    assert.deepEqual(writers(exported.chats[0]), ["visitor", "bot", "agent"]);
    await admin.post("/agent/chats/1/close", {});
    const transcript = await waitFor("the webhook", () => finished[0]);
    assert.deepEqual(
      transcript.chat.messages.map(({ sender_type }) => sender_type),
      [undefined, "bot", "agent"],
    );
    if (process.env.SCREENSHOTS)
      await page.screenshot({ path: `${process.env.SCREENSHOTS}/bot.png` });
  },
);

shopJourney(
  "visitor sees an answer grow, stops it, and gets what there is of it",
  async (shop) => {
    const bot = await shop.account.addBot({ id: shop.widget.id }, () => []);
    const page = await shop.open();
    await openWindow(page);
    await page.getByText("You are chatting with a bot.").waitFor();
    await write(page, "Do you deliver on Sunday?");
    const { chat_id } = await waitFor("the event", () => bot.events[0]);
    const grow = async (text) =>
      (await bot.post({ event: "MESSAGE_CHUNK", chat_id, text })).body;
    await waitFor("the socket", async () => {
      await grow("Yes, from");
      return page.getByText("Yes, from").isVisible();
    });
    if (process.env.SCREENSHOTS)
      await page.screenshot({ path: `${process.env.SCREENSHOTS}/growing.png` });
    await page.getByRole("button", { name: "Stop" }).click();
    await waitFor(
      "the bot hears of the stop",
      async () => (await grow("Yes, from ten")).stopped,
    );
    const message = { type: "TEXT", text: "Yes, from ten." };
    await bot.post({ event: "BOT_MESSAGE", chat_id, message });
    await page.getByText("Yes, from ten.", { exact: true }).waitFor();
    const bubbles = page.locator(".turn.team .bubble");
    await waitFor(
      "only the message is left",
      async () => (await bubbles.allTextContents()).at(-1) === "Yes, from ten.",
    );
    assert.equal(await page.locator(".growing").count(), 0);
    await shop.accept("bot");
    await page
      .getByText("You are chatting with a bot.")
      .waitFor({ state: "detached" });
  },
);

shopJourney(
  "pressed button tells the bot its id, and the admin can switch off the line",
  async (shop) => {
    const message = {
      type: "BUTTONS",
      title: "Which size?",
      buttons: [{ text: "Small", id: 7 }],
    };
    let hasAsked = false;
    const answer = () => {
      if (hasAsked) return [];
      hasAsked = true;
      return [{ event: "BOT_MESSAGE", message }];
    };
    const settings = { disclosure: false };
    const widget = { id: shop.widget.id };
    const bot = await shop.account.addBot(widget, answer, "Anna", settings);
    const page = await shop.open();
    await openWindow(page);
    await write(page, "Hello");
    await page.getByRole("button", { name: "Small" }).click();
    const pressed = await waitFor("the pressed button", () =>
      bot.events.find(({ message }) => message?.text === "Small"),
    );
    assert.equal(pressed.messages[0].button_id, 7);
    assert.equal(await page.locator(".disclosure").count(), 0);
  },
);
