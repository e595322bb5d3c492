/* The composer: drafts, long texts, emoji. */

import assert from "node:assert/strict";
import {
  chatRow,
  journey,
  line,
  openChat,
  textarea,
  useBrowser,
} from "../support/console.mjs";

useBrowser();

journey(
  "drafts are kept per chat and survive a reload",
  async ({ account, openWithChat }) => {
    await account.openAcceptedChat("Amara Kone");
    const { page } = await openWithChat("Thanh Nguyễn");
    await textarea(page).fill("For Thanh");
    await openChat(page, "Amara Kone");
    assert.equal(await textarea(page).inputValue(), "");
    await page.locator(".row", { hasText: "Draft: For Thanh" }).waitFor();
    await page.reload();
    await openChat(page, "Thanh Nguyễn");
    assert.equal(await textarea(page).inputValue(), "For Thanh");
    await chatRow(page, "Amara Kone").waitFor();
  },
);

journey(
  "composer grows to eight lines and counts characters",
  async ({ openWithChat }) => {
    const { page } = await openWithChat("Thanh Nguyễn");
    const area = textarea(page);
    const height = async () => (await area.boundingBox()).height;
    await area.focus();
    const oneLine = await height();
    await page.keyboard.type("a");
    for (let line = 0; line < 3; line++)
      await page.keyboard.press("Shift+Enter");
    assert.ok((await height()) > oneLine + 50);
    for (let line = 0; line < 12; line++)
      await page.keyboard.press("Shift+Enter");
    const maxHeight = await height();
    assert.ok(maxHeight < 8 * 20.3 + 24, `${maxHeight}`);
    await area.fill("x".repeat(9500));
    await page.getByText("9,500 of 10,000").waitFor();
    await area.fill("x".repeat(10_007));
    await page.getByText("7 too many").waitFor();
    await page.keyboard.press("Enter");
    assert.equal((await area.inputValue()).length, 10_007);
    await area.fill("x".repeat(10_000));
    await page.keyboard.press("Enter");
    await page.locator(".line .mark.ok").waitFor();
  },
);

journey(
  "canned replies open again after Esc, and a shortcut is not sent by accident",
  async ({ account, openWithChat }) => {
    await account.admin.post("/agent/canned-replies", {
      shortcut: "hi",
      text: "Hello {visitor}",
    });
    const { page, visitor } = await openWithChat("Thanh Nguyễn");
    const { keyboard } = page;
    const reply = page.getByRole("option", { name: /\/hi/ });
    await textarea(page).focus();
    await keyboard.type("/h");
    await reply.waitFor();
    await keyboard.press("Escape");
    await reply.waitFor({ state: "detached" });
    await keyboard.type("i");
    await keyboard.press("Enter");
    await reply.waitFor();
    assert.equal(await textarea(page).inputValue(), "/hi");
    await keyboard.press("Escape");
    for (let character = 0; character < 3; character++)
      await keyboard.press("Backspace");
    await keyboard.type("/hi");
    await reply.waitFor();
    await keyboard.press("Enter");
    assert.equal(await textarea(page).inputValue(), "Hello Thanh Nguyễn");
    // In the next frame, the caret is placed, which would end the selection that `fill` replaces.
    await page.evaluate(() => new Promise(requestAnimationFrame));
    // The agent can still send such a text on purpose.
    await textarea(page).fill("/hi");
    await keyboard.press("Escape");
    await keyboard.press("Enter");
    await reply.waitFor();
    await keyboard.press("Escape");
    await keyboard.press("Enter");
    await page.locator(".line .mark.ok").waitFor();
    assert.deepEqual(await account.admin.texts(visitor.chatId), [
      "Hello",
      "/hi",
    ]);
  },
);

journey(
  "a word with a slash is sent at the second try while replies are loading",
  async ({ account, open }) => {
    const visitor = await account.openAcceptedChat("Thanh Nguyễn");
    const page = await open(account.admin);
    await page.route("**/agent/canned-replies", () => undefined);
    await page.reload();
    await openChat(page, "Thanh Nguyễn");
    await textarea(page).fill("/path");
    await page.getByText("Loading…").waitFor();
    await page.keyboard.press("Enter");
    await page.getByText("Send again to send it.").first().waitFor();
    assert.equal(await textarea(page).inputValue(), "/path");
    await page.keyboard.press("Enter");
    await page.locator(".line .mark.ok").waitFor();
    const texts = await account.admin.texts(visitor.chatId);
    assert.deepEqual(texts, ["Hello", "/path"]);
  },
);

journey("emoji is inserted at the caret", async ({ openWithChat }) => {
  const { page } = await openWithChat("Thanh Nguyễn");
  await textarea(page).fill("Thanks ");
  await page.getByRole("button", { name: "Emoji" }).click();
  await page.getByLabel("Search emoji").fill("parcel");
  await page.getByRole("button", { name: "package parcel box" }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForFunction(
    () => document.querySelector("textarea").value === "Thanks 📦",
  );
});

journey(
  "typing is repeated to the visitor and ended",
  async ({ account, openWithChat }) => {
    const { page } = await openWithChat("Thanh Nguyễn");
    const { integrator } = account.channel;
    const isNotice = (type) => (body) => body.message.type === type;
    await textarea(page).pressSequentially("One mo");
    await integrator.waitFor("the start of typing", isNotice("typein"));
    await textarea(page).blur();
    await integrator.waitFor("the end of typing", isNotice("typeout"));
  },
);
