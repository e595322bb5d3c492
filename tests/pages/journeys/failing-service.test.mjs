/* What an agent reads when requests of the console fail, and how the console recovers. */

import assert from "node:assert/strict";
import {
  chatRow,
  consoleUrl,
  line,
  openChat,
  pageJourney,
  pressShortcut,
  sendMessage,
  textarea,
  useBrowser,
  waitForSignIn,
} from "../support/console.mjs";
import { fail, heldRequest } from "../support/failures.mjs";

useBrowser();

const thanh = {
  seed: async (account) => {
    await account.agents[0].setPresence("online");
    await account.openAcceptedChat("Thanh Nguyễn");
  },
};

pageJourney(
  "login limit is counted down",
  { signedOut: true },
  async (page, { admin }) => {
    await fail(page, /\/agent\/login$/, {
      status: 429,
      times: 1,
      headers: { "retry-after": "30" },
    });
    await page.goto(consoleUrl);
    await waitForSignIn(page);
    await page.clock.install();
    await page.getByLabel("E-mail").fill(admin.email);
    await page.getByLabel("Password", { exact: true }).fill(admin.password);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: /^Wait \d+ s$/ }).waitFor();
    await page.clock.fastForward(31_000);
    await page.getByText("You can try again now.").waitFor();
    await page.keyboard.press("Enter");
    await page.locator(".app").waitFor();
  },
);

pageJourney("failed list shows an error and recovers", thanh, async (page) => {
  const recover = await fail(page, /\/agent\/chats(\?|$)/, { status: 500 });
  await page.reload();
  await page.getByText("The chats cannot be loaded").waitFor();
  await recover();
  await page.locator(".row").first().waitFor();
});

pageJourney("failed chat shows an error and recovers", thanh, async (page) => {
  const recover = await fail(page, /\/messages/, {
    method: "GET",
    status: 500,
  });
  await chatRow(page, "Thanh").click();
  await page.getByText("The chat cannot be loaded").waitFor();
  await recover();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.locator(".turn").first().waitFor();
});

pageJourney(
  "rejected message can be edited and sent again",
  thanh,
  async (page, { admin }) => {
    await openChat(page, "Thanh Nguyễn");
    await fail(page, /\/messages$/, {
      method: "POST",
      status: 400,
      times: 1,
      message: "text is wrong",
    });
    await sendMessage(page, "First try");
    await page.locator(".fail", { hasText: "Text is wrong" }).waitFor();
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    assert.equal(await textarea(page).inputValue(), "First try");
    const stored = page.waitForResponse(
      (response) =>
        response.url().endsWith("/messages") && response.status() === 201,
    );
    await page.keyboard.press("Enter");
    await stored;
    await line(page, "First try").locator(".mark").waitFor();
    const { chat_id } = await admin.chatOf("Thanh Nguyễn");
    const texts = await admin.texts(chat_id);
    assert.equal(texts.filter((text) => text === "First try").length, 1);
  },
);

pageJourney(
  "transfer ends after its dialog was closed",
  thanh,
  async (page) => {
    const shortcuts = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    const transfer = async () => {
      const held = heldRequest(page, "**/transfer");
      await pressShortcut(page, "t");
      const dialog = page.getByRole("dialog", { name: /^Transfer/ });
      await dialog.getByRole("option").first().click();
      const request = await held;
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      await pressShortcut(page, "?");
      await shortcuts.waitFor();
      return request;
    };
    await openChat(page, "Thanh Nguyễn");
    await (await transfer()).fulfill({ status: 503 });
    await page.getByText("The chat was not transferred.").waitFor();
    assert.ok(await shortcuts.isVisible());
    await page.keyboard.press("Escape");
    await shortcuts.waitFor({ state: "detached" });
    await (await transfer()).continue();
    await page.getByText(/^Thanh Nguyễn is with/).waitFor();
    assert.ok(await shortcuts.isVisible());
  },
);

pageJourney(
  "call without a response may have started",
  {
    seed: async (account) => {
      await account.addTelephony();
      await account.openAcceptedChat("Thanh Nguyễn");
    },
  },
  async (page) => {
    await openChat(page, "Thanh Nguyễn");
    await pressShortcut(page, "c");
    const dialog = page.getByRole("dialog", { name: /^Call/ });
    await dialog.getByLabel("Phone number").fill("+31612345678");
    await page.route("**/call", (route) => route.abort());
    await dialog.getByRole("button", { name: "Call" }).click();
    await dialog
      .getByText("It is not known whether the call was started.")
      .waitFor();
    await page.unroute("**/call");
    await dialog.getByRole("button", { name: "Call" }).click();
    await page.locator(".call-banner", { hasText: "Thanh" }).waitFor();
  },
);

pageJourney(
  "call is shown again after a reload",
  {
    seed: async (account) => {
      await account.addTelephony();
      await account.openAcceptedChat("Amara Kone");
    },
  },
  async (page, account) => {
    const { chat_id } = await account.admin.chatOf("Amara Kone");
    const call = await account.call(chat_id, "+31612345678");
    await call.report("agent_connected");
    await call.report("client_connected");
    const banner = page.locator(".call-banner", { hasText: "Amara Kone" });
    await banner.waitFor();
    await openChat(page, "Amara Kone");
    await sendMessage(page, "I write to you as well");
    await line(page, "I write to you as well").locator(".mark").waitFor();
    await page.goto(`${consoleUrl}#/visitors`);
    await page.reload();
    await banner.waitFor();
    await call.report("end", { duration: 60 });
    await banner.waitFor({ state: "detached" });
  },
);

pageJourney(
  "a chat opens at its first unread line",
  { seed: (account) => account.openChat("João") },
  async (page) => {
    await chatRow(page, "João").click();
    await page.locator(".turn").first().waitFor();
    await page.locator(".unread-line").waitFor();
  },
);
