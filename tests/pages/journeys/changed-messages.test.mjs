/* Messages that an agent edits or deletes after they were sent to a visitor of the widget. */

import assert from "node:assert/strict";
import {
  journey,
  openChat,
  textarea,
  useBrowser,
} from "../support/console.mjs";
import { addWidget, Shop, write } from "../support/shop.mjs";

useBrowser();

/** Opens a shop whose visitor has a chat with the admin, and the admin's console. */
async function openConversation(context) {
  const widget = await addWidget(context, {});
  const shop = await Shop.start({ ...context, widget });
  await context.account.admin.setPresence("online");
  const visitorPage = await shop.open();
  await shop.startChat(visitorPage, "Hello");
  const page = await context.open();
  await page.locator(".row").first().click();
  await textarea(page).waitFor();
  return { shop, visitorPage, page };
}

const ownLine = (page, text) =>
  page.locator(".turn.ours .line", { hasText: text });

async function openMenu(page, text) {
  await ownLine(page, text).hover();
  await ownLine(page, text)
    .getByRole("button", { name: "Change the message" })
    .click();
}

journey("visitor sees the text that the agent has edited", async (context) => {
  const { visitorPage, page } = await openConversation(context);
  await textarea(page).fill("We open at nin");
  await page.keyboard.press("Enter");
  await visitorPage.getByText("We open at nin").waitFor();
  await openMenu(page, "We open at nin");
  await page.getByRole("menuitem", { name: "Edit" }).click();
  const editor = page.getByRole("textbox", { name: "Edit the message" });
  assert.equal(await editor.inputValue(), "We open at nin");
  await editor.fill("We open at nine");
  await page.keyboard.press("Enter");
  await visitorPage.getByText("We open at nine").waitFor();
  await visitorPage.getByText("edited", { exact: true }).waitFor();
  await ownLine(page, "We open at nine").locator(".edited").waitFor();
  assert.equal(
    await visitorPage.locator(".turn.team .bubble:not(.dots)").count(),
    1,
  );
  // The window is open again on the next page.
  await visitorPage.reload();
  await visitorPage.getByText("We open at nine").waitFor();
});

journey(
  "arrow up edits the last own message, Esc keeps it",
  async (context) => {
    const { page } = await openConversation(context);
    await textarea(page).fill("First answer");
    await page.keyboard.press("Enter");
    // It can be edited when it is stored.
    await ownLine(page, "First answer")
      .getByRole("button", { name: "Change the message" })
      .waitFor({ state: "attached" });
    await page.keyboard.press("ArrowUp");
    const editor = page.getByRole("textbox", { name: "Edit the message" });
    await editor.fill("Something else");
    await page.keyboard.press("Escape");
    await editor.waitFor({ state: "detached" });
    await ownLine(page, "First answer").waitFor();
    await page.waitForFunction(() =>
      document.activeElement?.matches(".composer textarea"),
    );
    await textarea(page).fill("a draft");
    await page.keyboard.press("ArrowUp");
    assert.equal(await editor.count(), 0, "the composer is not empty");
  },
);

journey("deleted message is gone for the visitor", async (context) => {
  const { visitorPage, page } = await openConversation(context);
  await textarea(page).fill("Meant for somebody else");
  await page.keyboard.press("Enter");
  await visitorPage.getByText("Meant for somebody else").waitFor();
  await openMenu(page, "Meant for somebody else");
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete the message?" });
  await dialog.getByRole("button", { name: "Delete", exact: true }).click();
  await visitorPage.getByText("This message was deleted.").waitFor();
  assert.equal(
    await visitorPage.getByText("Meant for somebody else").count(),
    0,
  );
  await page.locator(".bubble.deleted").waitFor();
  // The window is open again on the next page.
  await visitorPage.reload();
  await visitorPage.getByText("This message was deleted.").waitFor();
  await write(visitorPage, "What was that?");
});

journey("message of an API channel has no menu", async ({ openWithChat }) => {
  const { page } = await openWithChat("Thanh Nguyễn");
  await textarea(page).fill("Good morning");
  await page.keyboard.press("Enter");
  await ownLine(page, "Good morning").locator(".mark.ok").waitFor();
  assert.equal(
    await page.getByRole("button", { name: "Change the message" }).count(),
    0,
  );
  await openChat(page, "Thanh Nguyễn");
});
