/* The three steps that the console shows in an account without chats. */

import assert from "node:assert/strict";
import { chatRow, journey, useBrowser } from "../support/console.mjs";

useBrowser();

journey(
  "empty account is guided to its first message",
  async ({ account, open }) => {
    await account.admin.delete(`/admin/channels/${account.channel.id}`);
    const page = await open(account.admin, {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await page.getByText("Three steps").waitFor();
    await page.getByRole("button", { name: "Add a channel" }).click();
    await page.getByRole("radio", { name: "API" }).check();
    await page.getByLabel("Name", { exact: true }).fill("iOS app");
    await page
      .getByLabel("Address of your server")
      .fill(account.channel.integrator.url);
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByText("whsec_").waitFor();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByText("Channel iOS app added").waitFor();
    await page.getByRole("button", { name: "Copy", exact: true }).click();
    assert.match(
      await page.evaluate(() => navigator.clipboard.readText()),
      /\/channel\//,
    );
    await page.getByRole("button", { name: "Send it from here" }).click();
    await chatRow(page, "Test visitor").waitFor();
  },
);

journey(
  "secret stays on the page when the first chat arrives",
  async ({ account, open }) => {
    await account.admin.delete(`/admin/channels/${account.channel.id}`);
    const page = await open(account.admin);
    await page.getByRole("button", { name: "Add a channel" }).click();
    await page.getByRole("radio", { name: "API" }).check();
    await page.getByLabel("Name", { exact: true }).fill("iOS app");
    await page
      .getByLabel("Address of your server")
      .fill(account.channel.integrator.url);
    await page.getByRole("button", { name: "Connect" }).click();
    const dialog = page.getByRole("dialog", { name: "iOS app is connected" });
    await dialog.getByRole("button", { name: "Send a test message" }).click();
    await page.locator(".row", { hasText: "Test visitor" }).waitFor();
    await page.getByText("Three steps").waitFor({ state: "detached" });
    await dialog.getByText(/^whsec_/).waitFor();
    await dialog.getByRole("button", { name: "Done" }).click();
    await dialog.waitFor({ state: "detached" });
    await chatRow(page, "Test visitor").click();
    await page
      .locator(".conversation header h2", { hasText: "Test visitor" })
      .waitFor();
  },
);

journey(
  "agent of an empty account is told what happens",
  async ({ account, open }) => {
    const page = await open(account.agents[0]);
    await page.getByText("No visitor has written yet").waitFor();
    await account.openChat("João Ferreira");
    await chatRow(page, "João Ferreira").waitFor();
  },
);

journey(
  "empty account with a widget is given its tag",
  async ({ account, open }) => {
    await account.admin.delete(`/admin/channels/${account.channel.id}`);
    await account.admin.post("/admin/channels", {
      kind: "widget",
      name: "Web shop",
    });
    const page = await open(account.admin, {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await page.getByText("Channel Web shop added").waitFor();
    await page.getByRole("button", { name: "Copy", exact: true }).click();
    assert.match(
      await page.evaluate(() => navigator.clipboard.readText()),
      /<script async src=".*\/widget\/[^"]+">/,
    );
    await page.getByText("Open a page with the tag").waitFor();
    await page.getByRole("link", { name: "Look and settings" }).click();
    await page.getByRole("heading", { name: "Web shop" }).waitFor();
  },
);
