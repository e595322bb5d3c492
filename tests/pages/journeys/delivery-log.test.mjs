/* The delivery log with failed deliveries: sending them again, stopping, and what the list and the details show.  */

import assert from "node:assert/strict";
import { failingReceiver } from "../seed/data-sets.mjs";
import { fail, holdRequests } from "../support/failures.mjs";
import { savedFile } from "../support/saved-file.mjs";
import { consoleUrl, pageJourney, useBrowser } from "../support/console.mjs";

useBrowser();

const failing = { seed: failingReceiver };
/** Lets the next replay send only the first delivery again, as if there were more than a request may replay. Its response
    is held until the returned function is called. */
async function replayOneFirst(page, account) {
  let release;
  const isReleased = new Promise((done) => (release = done));
  const cursor = "the rest";
  await page.route("**/admin/deliveries/replay", async (route) => {
    const body = route.request().postDataJSON();
    if (body.cursor === cursor) {
      const { cursor: _, ...scope } = body;
      return route.continue({ postData: JSON.stringify(scope) });
    }
    const [{ chatId: chat_id }] = account.failed;
    const response = await route.fetch({
      postData: JSON.stringify({ chat_id }),
    });
    await isReleased;
    return route.fulfill({
      json: { ...(await response.json()), next: cursor },
    });
  });
  return release;
}

pageJourney(
  "replay is stopped, and continued",
  failing,
  async (page, account) => {
    await page.getByRole("link", { name: "Webhooks and deliveries" }).click();
    await page.locator("tbody tr").nth(2).waitFor();
    await page.getByRole("button", { name: "Send failed again" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("3 failed deliveries are sent again.").waitFor();
    const release = await replayOneFirst(page, account);
    await dialog.getByRole("button", { name: "Send again" }).click();
    await dialog.getByRole("button", { name: "Stop" }).click();
    release();
    await dialog.getByText("Stopped. The others have not been sent.").waitFor();
    await dialog.getByText("1 sent again.").waitFor();
    await dialog.getByRole("button", { name: "Continue" }).click();
    await dialog.getByText("3 sent again.").waitFor();
    await dialog.getByRole("button", { name: "Close", exact: true }).click();
    await page.getByText("Nothing has failed").waitFor();
  },
);

pageJourney(
  "failed replay continues where it failed",
  failing,
  async (page) => {
    await page.getByRole("link", { name: "Webhooks and deliveries" }).click();
    await page.locator("tbody tr").nth(2).waitFor();
    await page.getByRole("button", { name: "Send failed again" }).click();
    const dialog = page.getByRole("dialog");
    await fail(page, /\/replay$/, { times: 1 });
    await dialog.getByRole("button", { name: "Send again" }).click();
    await dialog.getByText("The service failed (status 503).").waitFor();
    await dialog.getByText("0 sent again.").waitFor();
    await dialog.getByRole("button", { name: "Continue" }).click();
    await dialog.getByText("3 sent again.").waitFor();
  },
);

pageJourney(
  "only what is listed as failed is sent again",
  failing,
  async (page) => {
    await page.getByRole("link", { name: "Webhooks and deliveries" }).click();
    const replay = page.getByRole("button", { name: "Send failed again" });
    const receiver = page.getByLabel("Receiver");
    await replay.waitFor();
    const recover = await fail(page, /\/admin\/deliveries(\?|$)/);
    await receiver.selectOption("Webhooks");
    assert.equal(
      await replay.count(),
      0,
      "the rows are those of all receivers",
    );
    await page.getByText("The deliveries could not be loaded").waitFor();
    assert.equal(await replay.count(), 0);
    await recover();
    await page.getByRole("button", { name: "Try again" }).click();
    await replay.waitFor();
    await holdRequests(page, /\/admin\/deliveries/);
    await receiver.selectOption("Telephony");
    assert.equal(await replay.count(), 0);
    await page.getByLabel("Chat number").fill("12a");
    assert.equal(await replay.count(), 0);
  },
);

pageJourney(
  "delivery shows its request as it was sent",
  failing,
  async (page) => {
    const link = page.getByRole("link", { name: /3 failed in 24 hours/ });
    await link.click();
    await page.getByRole("radio", { name: "Failed 3" }).waitFor();
    await page.locator("tbody button").first().click();
    const request = page.getByRole("region", { name: "Request" });
    await request.getByText(/webhook-signature: /).waitFor();
    await request.getByText('"event_name": "chat_accepted"').waitFor();
  },
);

pageJourney(
  "deliveries are kept in the address, and saved",
  failing,
  async (page) => {
    await page.goto(`${consoleUrl}#/deliveries`);
    await page.locator("tbody tr").nth(2).waitFor();
    await page.getByRole("radio", { name: "All" }).check();
    await page.getByLabel("Receiver").selectOption("Webhooks");
    await page.waitForFunction(
      () => location.hash === "#/deliveries?state=all&target=webhook",
    );
    for (const state of ["Delivered", "Failed"])
      await page.locator("tbody tr", { hasText: state }).first().waitFor();
    await page.reload();
    await page.locator("tbody tr", { hasText: "Delivered" }).first().waitFor();
    assert.ok(await page.getByRole("radio", { name: "All" }).isChecked());
    const list = page.getByRole("button", { name: "Save the list as CSV" });
    const { name, text } = await savedFile(page, list);
    assert.equal(name, "deliveries.csv");
    const rows = await page.locator("tbody tr").count();
    assert.equal(text.trim().split("\r\n").length, rows + 1);

    await page
      .context()
      .grantPermissions(["clipboard-read", "clipboard-write"]);
    const row = page.locator("tbody tr", { hasText: "Failed" }).first();
    await row.locator("td.what").click();
    await page.getByRole("button", { name: "Copy as curl" }).click();
    const command = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(command, /^curl -X POST 'https?:/);
    const what = row.locator("td.what");
    const { x, y, width, height } = await what.boundingBox();
    await page.mouse.move(x + 2, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width - 2, y + height / 2);
    await page.mouse.up();
    assert.ok((await page.evaluate(() => String(getSelection()))).length > 3);
  },
);
