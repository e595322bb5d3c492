/* A bot hands a chat over with its context, and an agent gives it to another bot. */

import assert from "node:assert/strict";
import { axeViolations } from "../support/browser.mjs";
import {
  bubble,
  chatRow,
  journey,
  openChat,
  pressShortcut,
  sendMessage,
  useBrowser,
} from "../support/console.mjs";
import { waitFor, waitForFocus } from "../support/wait.mjs";

useBrowser();

const HANDOVER = {
  event: "INVITE_AGENT",
  text: "I am getting a colleague.",
  reason: "complaint",
  priority: "urgent",
  summary:
    "Order **4711** arrived *broken*. Wants a refund, see [the photo](https://shop.example/p).",
  data: { order: 4711, plan: "Gold" },
};

journey(
  "agent reads the bot's summary before accepting",
  async ({ account, open }) => {
    await account.admin.setPresence("online");
    await account.addBot(account.channel, () => [HANDOVER]);
    await account.channel.visitor("Amara Kone").say("My parcel is broken.");
    const page = await open();
    await page.getByRole("tab", { name: /^Waiting/ }).click();
    const row = chatRow(page, "Amara Kone");
    await row
      .getByText("Order 4711 arrived broken. Wants a refund, see the photo.")
      .waitFor();
    for (const chip of ["Urgent", "Complaint"])
      await row.getByText(chip, { exact: true }).waitFor();
    await openChat(page, "Amara Kone");

    const card = page.getByRole("region", { name: "From the bot" });
    await card.getByText("Urgent · Complaint").waitFor();
    assert.equal(await card.locator("strong").innerText(), "4711");
    assert.equal(await card.locator("em").innerText(), "broken");
    await card.getByRole("link", { name: "the photo" }).waitFor();
    await card.getByText("plan: Gold").waitFor();
    const turn = page.getByRole("group", { name: /^Parcel bot/ }).last();
    await turn.getByText("Parcel bot, for agents only").waitFor();
    await turn.getByText("Urgent · Complaint").waitFor();
    await bubble(page, "I am getting a colleague.").waitFor();
    assert.deepEqual(await axeViolations(page), []);
    if (process.env.SCREENSHOTS !== undefined) {
      for (const scheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme: scheme });
        await page.screenshot({
          path: `${process.env.SCREENSHOTS}/handover-${scheme}.png`,
        });
      }
    }

    await pressShortcut(page, "a");
    await page.getByText("with you").first().waitFor();
    await chatRow(page, "Amara Kone")
      .getByText("Urgent", { exact: true })
      .waitFor({ state: "detached" });
    await card.waitFor();
  },
);

journey(
  "agent gives a chat to another bot",
  async ({ account, openWithChat }) => {
    const sales = await account.addBot(undefined, () => [], "Sales bot");
    const { page, visitor } = await openWithChat("Elif Andersen");
    await sendMessage(page, "One moment, please");
    await visitor.say("How much is it?");
    await bubble(page, "How much is it?").waitFor();
    await pressShortcut(page, "t");
    await page.keyboard.type("Sales");
    await page.getByRole("option", { name: "Sales bot" }).waitFor();
    assert.deepEqual(await axeViolations(page), []);
    if (process.env.SCREENSHOTS !== undefined)
      await page.screenshot({
        path: `${process.env.SCREENSHOTS}/transfer-to-bot.png`,
      });
    await page.keyboard.press("Enter");
    await page.getByText("Elif Andersen is with Sales bot now.").waitFor();
    await page.getByText("Given to a bot by you").waitFor();
    await page.getByText("A bot is answering.").waitFor();
    const returned = await waitFor("the event of the bot", () =>
      sales.events.find(({ event }) => event === "CHAT_RETURNED"),
    );
    assert.equal(returned.messages.at(-1).text, "How much is it?");
    assert.equal(returned.agent.name, "Marta Lindholm");
    await sales.post({
      event: "BOT_MESSAGE",
      chat_id: returned.chat_id,
      message: { type: "TEXT", text: "Ten euros" },
    });
    await bubble(page, "Ten euros").waitFor();
  },
);

journey(
  "agent takes the answer that a bot on standby suggests",
  async ({ account, openWithChat }) => {
    const settings = { standby: true };
    const bot = await account.addBot(
      account.channel,
      () => [],
      "Parcel bot",
      settings,
    );
    const { page, visitor } = await openWithChat("Noor Haddad");
    await visitor.say("When do you deliver?");
    const copied = await waitFor("the copy for the bot", () =>
      bot.events.find(({ event }) => event === "STANDBY_MESSAGE"),
    );
    const { chat_id } = copied;
    await bot.post({ event: "DRAFT", chat_id, text: "Tomorrow before noon." });
    const card = page.getByRole("region", { name: /^Suggested by Parcel bot/ });
    await card.getByText("Tomorrow before noon.").waitFor();
    assert.deepEqual(await axeViolations(page), []);
    if (process.env.SCREENSHOTS !== undefined)
      for (const scheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme: scheme });
        await page.screenshot({
          path: `${process.env.SCREENSHOTS}/suggested-${scheme}.png`,
        });
      }
    await visitor.say("And on Sunday?");
    await card.getByText("the visitor has written since").waitFor();
    await card.getByRole("button", { name: "Use" }).click();
    await card.waitFor({ state: "detached" });
    const composer = page.getByRole("textbox", { name: /^Message to/ });
    assert.equal(await composer.inputValue(), "Tomorrow before noon.");
    await waitForFocus(composer);
    await page.keyboard.press("Enter");
    await bubble(page, "Tomorrow before noon.").waitFor();
    const used = async () =>
      (await account.admin.get("/admin/reports")).total.drafts;
    await waitFor("the report", async () => (await used()).taken === 1);

    await bot.post({ event: "DRAFT", chat_id, text: "Not on Sundays." });
    await card.getByRole("button", { name: "Dismiss the suggestion" }).click();
    await card.waitFor({ state: "detached" });
    await waitFor("the report", async () => (await used()).suggested === 2);
    assert.deepEqual(await used(), {
      suggested: 2,
      taken: 1,
      edited: 0,
      ignored: 1,
    });
  },
);
