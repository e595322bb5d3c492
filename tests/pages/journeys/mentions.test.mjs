/* Mentions of colleagues in private notes. */

import assert from "node:assert/strict";
import {
  bubble,
  chatRow,
  journey,
  openChat,
  pressShortcut,
  textarea,
  useBrowser,
} from "../support/console.mjs";

useBrowser();

journey(
  "mentioned colleague is told of the note and finds the chat",
  async ({ account, open, openWithChat }) => {
    const [jonas] = account.agents;
    const { page, visitor } = await openWithChat("Amara Kone");
    await account.openAcceptedChat("Elif Andersen");
    const other = await open(jonas);
    await pressShortcut(page, "n");
    await textarea(page).pressSequentially("Please look at this, @jo");
    await page.getByRole("option", { name: "Jonas Weber" }).waitFor();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await bubble(page, "Please look").locator(".mention").waitFor();
    await other
      .locator(".toast", { hasText: "Marta Lindholm mentions you" })
      .waitFor();
    await other.getByRole("tab", { name: /^All/ }).click();
    await chatRow(other, "Amara Kone").getByText("Mentions you").waitFor();
    await pressShortcut(other, "f");
    await other.getByRole("checkbox", { name: /^Mentions me/ }).check();
    await other.keyboard.press("Escape");
    await chatRow(other, "Elif Andersen").waitFor({ state: "detached" });
    await openChat(other, "Amara Kone");
    await bubble(other, "Please look at this, @Jonas Weber").waitFor();
    await chatRow(other, "Amara Kone")
      .getByText("Mentions you")
      .waitFor({ state: "detached" });
    const note = (await jonas.timeline(visitor.chatId)).at(-1);
    assert.deepEqual(note.mentions, [jonas.id]);
  },
);
