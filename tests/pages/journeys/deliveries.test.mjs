/* Webhooks and deliveries: an admin finds what failed, fixes it, and sends it again. */

import assert from "node:assert/strict";
import { axeViolations } from "../support/browser.mjs";
import { journey, useBrowser } from "../support/console.mjs";
import { ok, rejection } from "../support/receiver.mjs";
import { waitFor } from "../support/wait.mjs";

useBrowser();

const PHONE = { width: 390, height: 844, touch: true };
const failure = (message) => ({ status: 200, body: { result: message } });

const failedCount = async ({ admin }) =>
  (await admin.get("/admin/deliveries")).deliveries.length;
const waitForFailed = (account, count) =>
  waitFor(
    `${count} failed deliveries`,
    async () => (await failedCount(account)) === count,
  );
const row = (page, text) => page.locator("tbody tr", { hasText: text }).first();
const openRow = (page, text) => row(page, text).getByRole("button").click();
const details = (page) => page.locator(".delivery-detail");

/** Opens chats, each with a failed message and a failed webhook delivery. The account's integrator rejects messages
    from now on, and its webhook must already fail. Returns the visitors. */
async function failInChats(account, names) {
  account.channel.integrator.respond = () => rejection("Session expired");
  const visitors = [];
  for (const name of names) {
    const visitor = await account.openAcceptedChat(name);
    await account.admin.send(visitor.chatId, "Are you there?");
    visitors.push(visitor);
  }
  await waitForFailed(account, 2 * names.length);
  return visitors;
}
const FAILING = { respondToEvent: () => failure("The CRM is down") };

journey(
  "failing webhook is found, fixed and sent again",
  async ({ account, open }) => {
    const page = await open();
    await account.openAcceptedChat("Amara Kone");
    await waitForFailed(account, 1);
    // An admin who does not look for failures is told of them.
    await page.getByRole("link", { name: "1 failed in 24 hours" }).click();
    await page.getByRole("link", { name: "Webhooks", exact: true }).click();
    await row(page, "127.0.0.1").getByText("1 failed").waitFor();
    await page.getByRole("link", { name: "Deliveries", exact: true }).click();
    await openRow(page, "chat_accepted");
    await details(page).getByText("The CRM is down").first().waitFor();
    await details(page).locator(".attempt-list li").first().waitFor();
    await details(page)
      .getByRole("region", { name: "The receiver’s words, attempt 1" })
      .getByText('{"result":"The CRM is down"}')
      .waitFor();
    const request = details(page).getByRole("region", { name: "Request" });
    await request.getByText(`POST ${account.webhook.url}`).waitFor();
    await request.getByText('"event_name": "chat_accepted"').waitFor();
    await page.getByRole("radio", { name: "Failed 1" }).waitFor();
    await page.getByRole("link", { name: "1 failed in 24 hours" }).waitFor();

    account.webhook.respond = () => ok();
    await details(page).getByRole("button", { name: "Send again" }).click();
    await row(page, "chat_accepted").getByText("Delivered").waitFor();
    const accepted = account.webhook.received.filter(
      ({ event_name }) => event_name === "chat_accepted",
    );
    assert.equal(accepted.length, 2);
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByText("Nothing has failed").waitFor();
    await page.getByRole("radio", { name: "Delivered" }).check();
    await row(page, "chat_accepted").waitFor();
  },
  FAILING,
);

journey(
  "deliveries are filtered by receiver, chat and time",
  async ({ account, open }) => {
    const [amara, thanh] = await failInChats(account, ["Amara", "Thanh"]);
    const page = await open(account.admin, { hash: "#/deliveries" });
    const rows = page.locator("tbody tr");
    const expectRows = (count) =>
      waitFor(`${count} rows`, async () => (await rows.count()) === count);
    await expectRows(4);
    await page.getByLabel("Receiver").selectOption({ label: "Webhooks" });
    await expectRows(2);
    await row(page, `#${thanh.chatId}`).waitFor();
    await page.getByLabel("Chat number").fill(String(amara.chatId));
    await expectRows(1);
    await row(page, `#${amara.chatId}`).waitFor();
    await page.getByLabel("Receiver").selectOption({ label: "Bots" });
    await page.getByText("No deliveries found").waitFor();

    const chat = page.getByLabel("Chat number");
    await chat.fill("Amara");
    await page.getByText("Enter the number of a chat.").waitFor();
    assert.equal(await chat.getAttribute("aria-invalid"), "true");
    await chat.fill("");
    await page.getByLabel("Receiver").selectOption({ label: "Channels" });
    await expectRows(2);
    await page.getByLabel("Time").selectOption({ label: "From … to …" });
    await page.getByLabel("To", { exact: true }).fill("2020-01-01T00:00");
    await page.getByText("No deliveries found").waitFor();
    await page.getByLabel("Time").selectOption({ label: "Last hour" });
    await expectRows(2);
    await openRow(page, `#${amara.chatId}`);
    await details(page).getByText("Session expired").first().waitFor();
    await details(page)
      .getByRole("link", { name: `Open chat #${amara.chatId}` })
      .click();
    await page
      .locator(".conversation header h2", { hasText: "Amara" })
      .waitFor();
  },
  FAILING,
);

journey(
  "failed deliveries of a chat and of all are sent again",
  async ({ account, open }) => {
    const [amara] = await failInChats(account, ["Amara", "Thanh", "Elif"]);
    const page = await open(account.admin, { hash: "#/deliveries" });
    account.webhook.respond = () => ok();
    account.channel.integrator.respond = () => ok();
    const sendAgain = async (expected) => {
      await page.getByRole("button", { name: "Send failed again" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByRole("button", { name: "Send again" }).click();
      await dialog.getByText(expected).waitFor();
      await dialog.getByText("They are on the way.").waitFor();
      await dialog.getByRole("button", { name: "Close", exact: true }).click();
    };
    await page.getByLabel("Chat number").fill(String(amara.chatId));
    await sendAgain("2 sent again.");
    await waitForFailed(account, 4);
    await page.getByLabel("Chat number").fill("");
    await sendAgain("4 sent again.");
    await page.getByText("Nothing has failed").waitFor();
    await waitForFailed(account, 0);
  },
  FAILING,
);

journey(
  "webhook is added, tested, changed and deleted",
  async ({ account, open }) => {
    await account.addWebhook(() => ok());
    const { webhooks } = await account.admin.get("/admin/settings");
    await account.admin.delete(
      `/admin/settings/webhooks/${webhooks[0].webhook_id}`,
    );
    const page = await open(account.admin, { hash: "#/deliveries" });
    await page.getByRole("link", { name: "Webhooks", exact: true }).click();
    await page.getByText("There are no webhooks yet").waitFor();
    await page.getByRole("button", { name: "Add a webhook" }).click();
    const address = page.getByLabel("Address of your server");
    await address.fill("shop.example");
    await address.press("Enter");
    await page.getByText("Enter an address that starts").waitFor();
    await address.fill("https://user:password@shop.example/");
    await address.press("Enter");
    await page.locator("#url-problem").waitFor();
    assert.equal(await address.getAttribute("aria-invalid"), "true");
    await address.fill(account.webhook.url);
    await page.getByLabel("call_event").uncheck();
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText(/^whsec_/).waitFor();
    // The dialog stays open until it is confirmed, because the secret is shown only once.
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.mouse.click(5, 5);
    await page.getByText(/^whsec_/).waitFor();
    await page.goBack();
    await page.getByRole("button", { name: "Stay here" }).click();
    await page.getByText(/^whsec_/).waitFor();
    await page.getByRole("button", { name: "Done" }).click();

    const stored = async () =>
      (await account.admin.get("/admin/settings")).webhooks[0];
    assert.equal((await stored()).events.length, 5);
    await page
      .getByLabel("Event", { exact: true })
      .selectOption("chat_finished");
    await page.getByRole("button", { name: "Send the event" }).click();
    await page.getByText("Status 200").waitFor();
    await page
      .getByRole("region", { name: "Request" })
      .getByText("webhook-signature")
      .waitFor();
    await page.getByRole("region", { name: "Body of the response" }).waitFor();
    await account.webhook.waitFor(
      "the sample event",
      ({ event_name }) => event_name === "chat_finished",
    );
    account.webhook.respond = () => ({ status: 500, body: {} });
    await page.getByRole("button", { name: "Send the event" }).click();
    await page.locator(".facts.bad", { hasText: "500" }).waitFor();

    await page.getByLabel("chat_updated").uncheck();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    assert.ok(!(await stored()).events.includes("chat_updated"));

    await page.getByRole("button", { name: "Create a new secret" }).click();
    await page.getByLabel("How long the old secret").selectOption("One hour");
    await page
      .getByRole("button", { name: "Create a new secret", exact: true })
      .click();
    await page.getByText(/^whsec_/).waitFor();
    await page.getByRole("button", { name: "Done" }).click();

    await page.getByRole("button", { name: "Delete the webhook" }).click();
    await page.getByLabel("to confirm").fill(new URL(account.webhook.url).host);
    await page.getByRole("button", { name: "Delete permanently" }).click();
    await page.getByText("There are no webhooks yet").waitFor();
    assert.equal(await stored(), undefined);
  },
);

journey(
  "pages for admins are closed to agents, also by address",
  async ({ account, open }) => {
    for (const [hash, text] of [
      ["#/bots", "Only admins manage bots"],
      ["#/deliveries", "Only admins see webhooks"],
      ["#/team", "Only admins manage the team"],
      ["#/settings", "Only admins change the settings"],
      ["#/visitors/1/erase", "Only admins erase visitors"],
    ]) {
      const page = await open(account.agents[0], { hash });
      await page.getByText(text).waitFor();
      const links = page.locator(".rail a");
      assert.equal(await links.count(), 2);
      await page.context().close();
    }
  },
);

journey(
  "deliveries and webhooks have no accessibility violations",
  async ({ account, open }) => {
    await failInChats(account, ["Amara"]);
    for (const scheme of ["light", "dark"])
      for (const device of [{}, PHONE]) {
        const page = await open(account.admin, {
          hash: "#/deliveries",
          scheme,
          ...device,
        });
        await openRow(page, "chat_accepted");
        await details(page).getByText("The CRM is down").first().waitFor();
        assert.deepEqual(await axeViolations(page), [], `log ${scheme}`);
        await page.getByRole("button", { name: "Send failed again" }).click();
        await page.getByRole("dialog").waitFor();
        assert.deepEqual(await axeViolations(page), [], `replay ${scheme}`);
        await page.getByRole("button", { name: "Cancel" }).click();
        await page.getByRole("link", { name: "Webhooks", exact: true }).click();
        await page.locator("tbody a").first().click();
        await page.getByRole("button", { name: "Send the event" }).waitFor();
        assert.deepEqual(await axeViolations(page), [], `webhook ${scheme}`);
        await page.context().close();
      }
  },
  FAILING,
);
