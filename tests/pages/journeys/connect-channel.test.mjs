/* An admin connects an API channel, from its creation to the first delivered message. */

import assert from "node:assert/strict";
import {
  chatRow,
  journey,
  sendMessage,
  useBrowser,
  waitForChat,
  waitForDelivered,
} from "../support/console.mjs";
import { waitFor } from "../support/wait.mjs";

useBrowser();

const channelStatus = async (endpoint) =>
  (await fetch(`${endpoint}/status`)).status;

journey(
  "channel is connected, tested, and its first reply arrives",
  async ({ account, open }) => {
    const page = await open(account.admin, {
      hash: "#/channels",
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await page.getByRole("button", { name: "Add a channel" }).click();
    await page.getByRole("radio", { name: "API" }).check();
    await page.getByLabel("Name", { exact: true }).fill("iOS app");
    await page
      .getByLabel("Address of your server")
      .fill(account.channel.integrator.url);
    await page.getByText("It may start with https:// or http://.").waitFor();
    await page.getByRole("switch", { name: "Chunked requests" }).check();
    await page
      .getByRole("group", { name: "Agents" })
      .getByLabel(account.admin.name)
      .check();
    await page.getByRole("button", { name: "Connect" }).click();
    const dialog = page.getByRole("dialog", { name: "iOS app is connected" });
    await dialog.getByRole("button", { name: "Copy the command" }).click();
    const command = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(command, /^curl -d '\{.*\}' http:.*\/channel\//);

    const sender = dialog.getByText("Code that sends messages");
    await sender.click();
    const code = dialog.getByRole("region", { name: "Code" });
    for (const language of ["Python", "Node", "PHP"]) {
      await dialog.getByRole("radio", { name: language }).check();
      await code.getByText("Idempotency-Key").first().waitFor();
    }
    await sender.click();
    await code.waitFor({ state: "detached" });

    await dialog.getByText("Code that verifies the signature").click();
    for (const [language, words] of [
      ["Python", "from standardwebhooks import Webhook"],
      ["Node", 'from "standardwebhooks"'],
      ["PHP", "hash_hmac"],
    ]) {
      await dialog.getByRole("radio", { name: language }).check();
      await code.getByText(words).waitFor();
    }
    await dialog.getByRole("button", { name: "Send a test message" }).click();
    await dialog.getByText(/^Status 200 after/).waitFor();
    await dialog.getByRole("region", { name: "Request" }).waitFor();
    await dialog.getByRole("button", { name: "Done" }).click();

    await page.getByRole("link", { name: /^Inbox/ }).click();
    await chatRow(page, "Test visitor").click();
    await waitForChat(page, "Test visitor");
    await page.getByRole("button", { name: "Accept" }).first().click();
    await sendMessage(page, "Welcome!");
    await waitForDelivered(page, "Welcome!");
    await account.channel.integrator.waitFor(
      "the reply",
      ({ message }) => message?.text === "Welcome!",
    );
    const { channels } = await account.admin.get("/admin/channels");
    const { chunked, agent_ids } = channels.find(
      ({ name }) => name === "iOS app",
    );
    assert.deepEqual([chunked, agent_ids.length], [true, 1]);
  },
);

journey("integrator is tested, and gets a new secret", async (context) => {
  const { account, open } = context;
  const { id, integrator } = account.channel;
  const page = await open(account.admin, { hash: `#/channels/${id}` });
  const send = page.getByRole("button", {
    name: "Send a message to your server",
  });
  await send.click();
  await page.getByText("Status 200").waitFor();
  const request = page.getByRole("region", { name: "Request" });
  await request.getByText(`POST ${integrator.url}`).waitFor();
  assert.equal(integrator.received.length, 1);
  integrator.respond = () => ({ status: 500, body: { reason: "broken" } });
  await send.click();
  await page.locator(".facts.bad", { hasText: "500" }).waitFor();
  await page.getByText('"reason": "broken"').waitFor();

  await page.getByRole("button", { name: "Create a new secret…" }).click();
  await page.getByLabel("How long the old secret").selectOption("One hour");
  await page
    .getByRole("button", { name: "Create a new secret", exact: true })
    .click();
  await page.getByText(/^whsec_/).waitFor();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("button", { name: "Create a new address…" }).click();
  await page
    .getByRole("button", { name: "Create a new address", exact: true })
    .click();
  await page.getByRole("button", { name: "Done" }).click();
  const until = page.locator(".old-addresses li");
  await until.waitFor();
  await page.reload();
  await until.waitFor();
});

journey("address of a channel is replaced", async ({ account, open }) => {
  const { id, endpoint: old } = account.channel;
  const page = await open(account.admin, { hash: `#/channels/${id}` });
  await page.getByRole("button", { name: "Create a new address" }).click();
  await page.getByLabel("How long the old address").selectOption("End now");
  await page
    .getByRole("button", { name: "Create a new address", exact: true })
    .click();
  const dialog = page.getByRole("dialog");
  await dialog
    .getByText("It works now. All earlier addresses end within ten seconds.")
    .waitFor();
  const address = await dialog.locator("code").first().textContent();
  await dialog.getByRole("button", { name: "Send a test message" }).click();
  await dialog.getByText(/^Status 200 after/).waitFor();
  await dialog.getByRole("button", { name: "Done" }).click();
  assert.equal(await channelStatus(address), 200);
  await waitFor(
    "the end of the old address",
    async () => (await channelStatus(old)) === 404,
  );
});

journey(
  "channel is switched off, and lenient, with hidden error codes",
  async ({ account, open }) => {
    const { id } = account.channel;
    const page = await open(account.admin, { hash: `#/channels/${id}` });
    await page
      .getByRole("switch", { name: "Accepts messages of visitors" })
      .uncheck();
    await page.getByRole("radio", { name: "Lenient" }).check();
    await page.getByText("any 2xx counts as delivered").waitFor();
    const codes = page.getByLabel("Hidden error codes");
    await codes.fill("410, gone");
    await codes.press("Enter");
    await page.getByText("Enter whole numbers").waitFor();
    await codes.fill("410 423");
    await codes.press("Enter");
    await page.getByText("Saved.").waitFor();
    const stored = await account.admin.get(`/admin/channels/${id}`);
    assert.equal(stored.enabled, false);
    assert.equal(stored.validation, "lenient");
    assert.deepEqual(stored.hidden_error_codes, [410, 423]);
  },
);

journey(
  "rejected messages are counted by reason",
  async ({ account, open }) => {
    const visitor = account.channel.visitor("Amara Kone");
    const { status } = await visitor.tryPost({ type: "photo", file: "no URL" });
    assert.equal(status, 400);
    const { id } = account.channel;
    await waitFor(
      "the count of rejected messages",
      async () =>
        (await account.admin.get(`/admin/channels/${id}`)).refused.length > 0,
    );
    const page = await open(account.admin, { hash: `#/channels/${id}` });
    await page.getByRole("heading", { name: "Rejected messages" }).waitFor();
    await page.getByText("message.file", { exact: false }).first().waitFor();
  },
);
