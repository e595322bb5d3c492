/* What keeps an inbox of many chats in order: tags, filters, saved views and snoozes. */

import assert from "node:assert/strict";
import {
  chatRow,
  journey,
  openChat,
  pressShortcut,
  useBrowser,
} from "../support/console.mjs";
import { waitFor } from "../support/wait.mjs";

useBrowser();

const TAGS = [
  { name: "VIP", color: "red" },
  { name: "Refund", color: "blue" },
];
const tab = (page, name) =>
  page.getByRole("tab", { name: new RegExp(`^${name}`) });
const tagsOf = async (account, { chatId }) =>
  (await account.admin.get(`/agent/chats/${chatId}`)).tag_ids;

journey(
  "agent tags a chat and finds it by the tag",
  async ({ account, open }) => {
    await account.admin.put("/admin/settings", { tags: TAGS });
    const amara = await account.openAcceptedChat("Amara Kone");
    await account.openAcceptedChat("Elif Andersen");
    const page = await open();
    await openChat(page, "Amara Kone");
    await pressShortcut(page, "l");
    const dialog = page.getByRole("dialog", { name: "Tags of Amara Kone" });
    await dialog.getByRole("checkbox", { name: "VIP" }).check();
    await page.keyboard.press("Escape");
    await chatRow(page, "Amara Kone").getByText("VIP").waitFor();
    await waitFor(
      "the stored tag",
      async () => (await tagsOf(account, amara))?.join() === "1",
    );
    await pressShortcut(page, "f");
    await page.getByLabel("Tag", { exact: true }).selectOption("VIP");
    await chatRow(page, "Elif Andersen").waitFor({ state: "detached" });
    await page.waitForFunction(() => location.hash.endsWith("?tagId=1"));
    await page.getByLabel("Save as a view for all agents").fill("My VIPs");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Show all" }).click();
    await page.keyboard.press("Escape");
    await chatRow(page, "Elif Andersen").waitFor();
    await page.getByRole("button", { name: "My VIPs" }).click();
    await chatRow(page, "Elif Andersen").waitFor({ state: "detached" });
    await page.reload();
    await chatRow(page, "Amara Kone").waitFor();
    assert.equal(await chatRow(page, "Elif Andersen").count(), 0);
  },
);

journey(
  "snoozed chat waits in its tab until the visitor writes",
  async ({ account, open }) => {
    const amara = await account.openAcceptedChat("Amara Kone");
    await account.admin.send(amara.chatId, "I will look into it");
    const page = await open();
    await tab(page, "Mine").click();
    await openChat(page, "Amara Kone");
    await pressShortcut(page, "s");
    await page.getByRole("button", { name: /^Next week/ }).click();
    await page.getByText("You have no chats").waitFor();
    await tab(page, "Snoozed").click();
    await chatRow(page, "Amara Kone")
      .getByText(/^Snoozed until/)
      .waitFor();
    await amara.say("Any news?");
    await page.getByText("No snoozed chats").waitFor();
    await tab(page, "Mine").click();
    await chatRow(page, "Amara Kone").getByText("Any news?").waitFor();
  },
);

journey(
  "admin adds and renames tags in the settings",
  async ({ account, open }) => {
    await account.admin.put("/admin/settings", { tags: TAGS });
    const page = await open(account.admin, { hash: "#/settings" });
    await page.getByRole("button", { name: "Add a tag" }).click();
    await page.getByLabel("Name of tag 3").fill("Order");
    await page.getByLabel("Colour of tag 3").selectOption("green");
    await page.getByLabel("Name of tag 1").fill("Important");
    await page.getByRole("button", { name: "Save" }).click();
    await waitFor("the stored tags", async () => {
      const { tags } = await account.admin.get("/admin/settings");
      return (
        tags.map(({ tag_id, name }) => `${tag_id} ${name}`).join() ===
        "1 Important,2 Refund,3 Order"
      );
    });
  },
);
