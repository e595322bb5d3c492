/* Changes of several chats at once: the selection in the list, and what happens to the selected chats. */

import assert from "node:assert/strict";
import {
  chatRow,
  journey,
  openChat,
  pressShortcut,
  textarea,
  useBrowser,
} from "../support/console.mjs";
import { waitFor } from "../support/wait.mjs";

useBrowser();

const NAMES = ["Amara Kone", "Elif Andersen", "Noor Haddad", "Paul Okafor"];
const selectedCount = (page, count) =>
  page.getByText(`${count} selected`).waitFor();

async function openAll(account) {
  const visitors = [];
  for (const name of NAMES) visitors.push(await account.openAcceptedChat(name));
  return visitors;
}

journey(
  "agent tags and closes selected chats by keyboard",
  async ({ account, open }) => {
    await account.admin.put("/admin/settings", {
      tags: [{ name: "Spam", color: "gray" }],
    });
    const visitors = await openAll(account);
    const page = await open();
    await page.getByRole("tab", { name: /^Mine/ }).click();
    await openChat(page, NAMES[0]);
    await textarea(page).fill("half a sentence");
    await pressShortcut(page, "Shift+X");
    await selectedCount(page, NAMES.length);
    await page.keyboard.press("l");
    await page.getByLabel("Find a tag").press("Enter");
    await waitFor("the tags", async () => {
      const rows = await account.admin.chats();
      return rows.every(({ tag_ids }) => tag_ids?.join() === "1");
    });
    // While chats are being changed, no other change begins.
    await selectedCount(page, NAMES.length);
    await page.keyboard.press("Escape");
    await page.keyboard.press("e");
    await page.getByRole("button", { name: "Close 4 chats" }).press("Enter");
    const failures = page.locator(".selection-bar").getByRole("alert");
    await failures.getByText("It has a draft or an unsent message").waitFor();
    await failures.getByRole("button", { name: NAMES[0] }).waitFor();
    const open_ = await account.admin.chats();
    assert.deepEqual(
      open_.map(({ chat_id }) => chat_id),
      [visitors[0].chatId],
    );
    await selectedCount(page, 1);
    await pressShortcut(page, "x");
    await page.getByText("1 selected").waitFor({ state: "detached" });
  },
);

journey(
  "agent transfers a range of chats with a note",
  async ({ account, open }) => {
    const [jonas] = account.agents;
    await jonas.setPresence("online");
    await openAll(account);
    const page = await open();
    await page.getByRole("tab", { name: /^Mine/ }).click();
    const rows = page.locator(".row");
    await rows.nth(3).waitFor();
    await page
      .getByRole("checkbox", { name: /^Select / })
      .nth(1)
      .check();
    await rows.nth(3).click({ modifiers: ["Shift"] });
    await selectedCount(page, 3);
    await page.getByRole("button", { name: "Transfer" }).click();
    await page
      .getByLabel("Private note to colleagues")
      .fill("All of them ask for the same parcel");
    await page.getByRole("option", { name: /Jonas/ }).click();
    await page.getByText("3 selected").waitFor({ state: "detached" });
    const own = await waitFor("the chats of Jonas", async () => {
      const chats = await jonas.chats("active");
      const own = chats.filter(({ agent }) => agent.id === jonas.id);
      return own.length === 3 ? own : undefined;
    });
    for (const { chat_id } of own)
      assert.ok(
        (await jonas.timeline(chat_id)).some(
          ({ type, text }) => type === "note" && text.startsWith("All of them"),
        ),
      );
    await chatRow(page, NAMES[0]).waitFor();
  },
);
