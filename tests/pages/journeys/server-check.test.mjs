/* An admin checks which clauses of the contract a server keeps. */

import assert from "node:assert/strict";
import { axeViolations } from "../support/browser.mjs";
import {
  journey,
  useBrowser,
  waitForHeadingFocus,
} from "../support/console.mjs";
import { fail, heldRequest } from "../support/failures.mjs";
import { ok, verifying } from "../support/receiver.mjs";

useBrowser();

const TEST_PATH = /\/test$/;
const openButton = (page) =>
  page.getByRole("button", { name: "Check the server…" });

/** Opens the check of the page's receiver by the keyboard. Returns the dialog. */
async function openCheck(page) {
  await openButton(page).focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Check the server" });
  await dialog.waitFor();
  return dialog;
}

const clause = (dialog, name) =>
  dialog.getByRole("listitem").filter({ hasText: name });

journey(
  "careless server is told what it must refuse",
  async ({ account, open }) => {
    const { id, integrator } = account.channel;
    const page = await open(account.admin, { hash: `#/channels/${id}` });
    await waitForHeadingFocus(page);
    const dialog = await openCheck(page);
    assert.deepEqual(await axeViolations(page), []);
    // The button that starts the check has the focus.
    await page.keyboard.press("Enter");
    await dialog
      .getByRole("status")
      .getByText("The server keeps 7 of 11 tested clauses.")
      .waitFor();
    assert.equal(integrator.received.length, 12);
    const broken = dialog.locator("li", {
      has: page.getByRole("img", { name: "Not kept" }),
    });
    assert.deepEqual(
      (await broken.locator("span").allTextContents()).map(
        (text) => text.split(" ")[0],
      ),
      ["Refuses", "Refuses", "Refuses", "Refuses"],
    );
    const unsigned = clause(dialog, "without a signature");
    await unsigned
      .getByText(
        "Expected a status from 400 to 499, such as 401. Got: status 200.",
      )
      .waitFor();
    await unsigned.getByText("Request and response").click();
    const request = unsigned.getByRole("region", { name: "Request" });
    await request.getByText(`POST ${integrator.url}`).waitFor();
    assert.ok(!(await request.textContent()).includes("webhook-signature"));
    assert.deepEqual(await axeViolations(page), []);

    integrator.respond = verifying(account.channel.signingSecret);
    await dialog.getByRole("button", { name: "Check again" }).click();
    await dialog.getByText("The server keeps all 11 clauses.").waitFor();
    assert.equal(await broken.count(), 0);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await openButton(page).and(page.locator(":focus")).waitFor();
  },
);

journey(
  "check is stopped, fails, and is continued",
  async ({ account, open, expectProblems }) => {
    expectProblems(/503/);
    const { id, integrator, signingSecret } = account.channel;
    integrator.respond = verifying(signingSecret);
    const page = await open(account.admin, { hash: `#/channels/${id}` });
    await waitForHeadingFocus(page);
    const dialog = await openCheck(page);
    const held = heldRequest(page, TEST_PATH);
    await dialog.getByRole("button", { name: "Start" }).click();
    await dialog.getByText("Checking clause 1 of 11…").waitFor();
    const route = await held;
    await dialog.getByRole("button", { name: "Stop" }).click();
    await dialog.getByText("Stops after the current request.").waitFor();
    await route.continue();
    const status = dialog.getByRole("status");
    await status
      .getByText("Stopped. The server keeps 1 of 1 tested clause.")
      .waitFor();

    const endFailure = await fail(page, TEST_PATH, { times: 1 });
    await dialog.getByRole("button", { name: "Continue" }).click();
    await dialog
      .getByRole("alert")
      .getByText("The service failed (status 503).")
      .waitFor();
    await endFailure();
    await dialog.getByRole("button", { name: "Continue" }).click();
    await status.getByText("The server keeps all 11 clauses.").waitFor();
    await dialog.getByRole("button", { name: "Close", exact: true }).click();
    await dialog.waitFor({ state: "detached" });
  },
);

journey("server of a webhook is checked", async ({ account, open }) => {
  const webhook = await account.addWebhook(() => ok(), {
    format: "cloudevents",
  });
  webhook.respond = verifying(webhook.signingSecret);
  const page = await open(account.admin, {
    hash: `#/deliveries/webhooks/${webhook.id}`,
  });
  await waitForHeadingFocus(page);
  await page.getByLabel("Event", { exact: true }).selectOption("chat_accepted");
  const dialog = await openCheck(page);
  await dialog.getByRole("button", { name: "Start" }).click();
  await dialog.getByText("The server keeps all 11 clauses.").waitFor();
  const events = webhook.received.map((body) => body?.data.event_name);
  assert.equal(events.filter((name) => name === "chat_accepted").length, 10);
});

journey("bot that fails without JSON is found", async ({ account, open }) => {
  const bot = await account.addBot(account.channel, () => []);
  const page = await open(account.admin, { hash: `#/bots/${bot.id}` });
  await waitForHeadingFocus(page);
  const dialog = await openCheck(page);
  await dialog.getByRole("button", { name: "Start" }).click();
  await dialog.getByText("The server keeps 6 of 11 tested clauses.").waitFor();
  await clause(dialog, "not JSON")
    .getByText("Got: the connection was closed before the response")
    .waitFor();
});
