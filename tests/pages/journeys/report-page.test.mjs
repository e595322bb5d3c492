/* The charts, tables and files of the report, and exports that are stopped, continued and dropped. */

import assert from "node:assert/strict";
import { closedChats } from "../seed/data-sets.mjs";
import { fail, holdRequests } from "../support/failures.mjs";
import { savedFile } from "../support/saved-file.mjs";
import { waitFor, waitForFocus } from "../support/wait.mjs";
import { consoleUrl, pageJourney, useBrowser } from "../support/console.mjs";

useBrowser();

/** Closed chats of two channels, which the report already counts. */
async function inReports(account) {
  await account.admin.put("/admin/settings", { time_zone: "Europe/Berlin" });
  await closedChats(account);
  await waitFor("the report", async () => {
    const { total } = await account.admin.get("/admin/reports?days=1");
    return total.opened === 6 && total.settled_by.agent === 5;
  });
}
const withChats = { seed: closedChats };

/** Lets an export consist of two pages: the chats of a channel, and those of all channels. */
const exportPortalFirst = (page, { portal }) =>
  page.route("**/admin/chats/export*", async (route) => {
    const url = new URL(route.request().url());
    const isFirst = !url.searchParams.has("cursor");
    url.searchParams.delete("cursor");
    if (!isFirst) return route.fallback({ url: url.href });
    url.searchParams.set("channel_id", portal.id);
    const json = await (await route.fetch({ url: url.href })).json();
    return route.fulfill({ json: { ...json, next: "the rest" } });
  });

const openReports = async (page) => {
  await page.getByRole("link", { name: "Reports", exact: true }).click();
  await page.getByRole("slider", { name: /^Chats a day/ }).waitFor();
};
const reportPart = (page, name) =>
  page.getByRole("region", { name, exact: true });

pageJourney(
  "chart is read with the keyboard, and saved",
  { seed: inReports },
  async (page) => {
    await openReports(page);
    const chart = page.getByRole("slider", { name: /^Chats a day/ });
    const shown = () => chart.getAttribute("aria-valuetext");
    await chart.press("Home");
    assert.match(await shown(), /^\w{3} \d+ \w+, 0 chats$/);
    const first = await shown();
    await chart.press("ArrowRight");
    assert.notEqual(await shown(), first);
    assert.equal(await chart.getAttribute("aria-valuenow"), "1");
    assert.equal(
      await page.locator(".readout").first().textContent(),
      await shown(),
    );
    await chart.press("End");
    assert.equal(await chart.getAttribute("aria-valuenow"), "29");
    assert.match(await shown(), /6 chats: Agents 5, Still open 1$/);

    const chats = reportPart(page, "Chats a day");
    await chats.getByText("Table", { exact: true }).click();
    const rows = chats.locator("tbody tr");
    assert.equal(await rows.count(), 30);
    const cells = await rows.first().locator("th, td").allTextContents();
    const file = await savedFile(
      page,
      chats.getByRole("button", { name: "CSV" }),
    );
    assert.match(
      file.name,
      /^chats-a-day-\d{4}-\d\d-\d\d-to-\d{4}-\d\d-\d\d\.csv$/,
    );
    const lines = file.text.trimEnd().split("\r\n");
    assert.equal(
      lines[0],
      '\ufeff"Day","Agents","Bot","Nobody","Still open","All"',
    );
    assert.deepEqual(lines[1].replaceAll('"', "").split(","), cells);
  },
);

pageJourney(
  "each part of a report is saved as CSV",
  { seed: inReports },
  async (page) => {
    await openReports(page);
    const buttons = page.getByRole("button", { name: /as CSV$/ });
    const names = new Set();
    for (let index = 0; index < (await buttons.count()); index++) {
      const { name, text } = await savedFile(page, buttons.nth(index));
      assert.match(text, /^\ufeff".+"\r\n/);
      names.add(name);
    }
    assert.equal(names.size, await buttons.count());
    assert.ok(names.size >= 6, String(names.size));
  },
);

pageJourney(
  "report follows the period and the channel",
  { seed: inReports },
  async (page) => {
    await openReports(page);
    const chats = page.locator(".figure", { hasText: "Chats" }).locator("p");
    await page.getByRole("radio", { name: "7 days" }).check();
    await page.getByText("in the 7 days before").first().waitFor();
    assert.match(await chats.first().textContent(), /6/);
    await page.getByRole("radio", { name: "By channel" }).check();
    const legend = reportPart(page, "Chats a day").locator(".legend");
    await legend.getByText("Partner portal").waitFor();
    // If the channels' reports for a new period cannot be loaded, the page must not keep showing those of the old
    // period.
    const ofOneChannel = /\/admin\/reports\?.*channel_id/;
    await page.route(ofOneChannel, (route) => route.fulfill({ status: 503 }));
    await page.getByRole("radio", { name: "90 days" }).check();
    await page.getByText("The channels could not be loaded").waitFor();
    assert.equal(await legend.getByText("Partner portal").count(), 0);
    await page.unroute(ofOneChannel);
    await page.getByRole("button", { name: "Try again" }).click();
    await legend.getByText("Partner portal").waitFor();
    await page.getByRole("radio", { name: "7 days" }).check();
    await legend.getByText("Partner portal").waitFor();
    await page
      .getByLabel("Channel", { exact: true })
      .selectOption("Partner portal");
    await legend.getByText("Nobody").waitFor();
    assert.equal(
      await page.getByRole("radio", { name: "By channel" }).count(),
      0,
    );

    const recover = await fail(page, /\/admin\/reports/, { status: 500 });
    await page.getByRole("radio", { name: "Today" }).check();
    await page.getByText("The report could not be loaded").waitFor();
    await recover();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("yesterday").first().waitFor();
  },
);

pageJourney(
  "paper shows the report with its tables only",
  { seed: inReports },
  async (page) => {
    await openReports(page);
    const tables = page.locator(".report .data-table");
    assert.equal(await tables.first().isVisible(), false);
    await page.emulateMedia({ media: "print" });
    // The width of A4 without its margins, in CSS pixels.
    await page.setViewportSize({ width: 718, height: 1000 });
    // The page begins to listen after it has appeared.
    await page.waitForFunction(() => {
      dispatchEvent(new Event("beforeprint"));
      return document.querySelector(".report details:not([open])") === null;
    });
    const heading = page.getByRole("heading", { name: "Reports", exact: true });
    assert.equal(
      await heading.evaluate((element) => getComputedStyle(element).clipPath),
      "none",
    );
    const channels = page.getByRole("region", { name: "Channels, table" });
    await channels.getByText("90th percentile").first().waitFor();
    assert.ok((await tables.count()) >= 5);
    for (const table of await tables.all()) assert.ok(await table.isVisible());
    assert.equal(await page.locator(".rail").isVisible(), false);
    assert.equal(
      await page.getByRole("button", { name: "Refresh" }).isVisible(),
      false,
    );
    assert.ok(await page.getByText("days in Europe/Berlin").isVisible());
    // Nothing is cut off at the end of the first screen.
    const { height, shown } = await page.evaluate(() => ({
      height: document.querySelector(".report").getBoundingClientRect().height,
      shown: document.documentElement.scrollHeight,
    }));
    assert.ok(shown >= height);
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    await page.emulateMedia({ media: "screen" });
    await page.setViewportSize({ width: 1440, height: 900 });
    assert.equal(await tables.first().isVisible(), false);
  },
);

pageJourney(
  "export is stopped, continued and saved",
  { seed: inReports },
  async (page, account) => {
    await openReports(page);
    await page.getByRole("link", { name: "Export chats" }).click();
    await page.getByLabel("Closed from").fill("2026-11-22");
    await page.getByLabel("To", { exact: true }).fill("2026-11-01");
    const start = page.getByRole("button", { name: "Export", exact: true });
    await start.click();
    await page
      .getByText("The last day must not be before the first.")
      .waitFor();
    await page.getByLabel("Closed from").fill("");
    await page.getByLabel("To", { exact: true }).fill("");
    await exportPortalFirst(page, account);
    // The first part arrives only when the export has been stopped.
    const release = await holdRequests(page, /\/admin\/chats\/export/);
    await start.click();
    await page.getByText("so far.").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    release();
    await page.getByText("The export is not complete.").waitFor();
    await page.getByRole("button", { name: "Save this part" }).waitFor();
    await fail(page, /\/admin\/chats\/export/, { times: 1 });
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("The service failed (status 503).").waitFor();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText(/^Ready: \d+ chats with \d+ entries\./).waitFor();
    const save = page.getByRole("button", { name: "Save the file" });
    const { name, text } = await savedFile(page, save);
    assert.equal(name, "chats.json");
    const closed = await account.admin.chats("closed");
    const exported = JSON.parse(text);
    const ids = (chats) => chats.map(({ chat_id }) => chat_id).sort();
    assert.deepEqual(ids(exported), ids(closed));
    for (const { chat_id, messages } of exported)
      assert.equal(
        messages.length,
        (await account.admin.timeline(chat_id)).length,
      );
  },
);

pageJourney(
  "export is dropped only after a question",
  withChats,
  async (page) => {
    await page.goto(`${consoleUrl}#/reports/export`);
    await page.getByLabel("Closed from").fill("");
    await page.getByLabel("To", { exact: true }).fill("");
    await page.getByRole("button", { name: "Export", exact: true }).click();
    const save = page.getByRole("button", { name: "Save the file" });
    await save.waitFor();
    const question = page.getByRole("dialog", { name: "Discard the export?" });
    const [json, csv] = ["JSON", "CSV"].map((name) =>
      page.getByRole("radio", { name }),
    );
    await csv.click();
    await question.getByRole("button", { name: "Keep it" }).click();
    assert.ok(await json.isChecked());
    const from = page.getByLabel("Closed from");
    await from.fill("2026-11-01");
    await question.getByRole("button", { name: "Keep it" }).click();
    assert.equal(await from.inputValue(), "");
    await page.getByRole("link", { name: "Inbox" }).click();
    await question.getByRole("button", { name: "Keep it" }).click();
    await csv.click();
    await question.getByRole("button", { name: "Discard" }).click();
    await save.waitFor({ state: "detached" });
    assert.ok(await csv.isChecked());

    await page.getByRole("button", { name: "Export", exact: true }).click();
    await savedFile(page, save);
    await json.check();
    await save.waitFor({ state: "detached" });
  },
);

pageJourney(
  "empty export leaves the focus at its result",
  withChats,
  async (page) => {
    await page.goto(`${consoleUrl}#/reports/export`);
    await page.getByLabel("Closed from").fill("2100-01-01");
    await page.getByLabel("To", { exact: true }).fill("");
    await page.getByRole("button", { name: "Export", exact: true }).click();
    const empty = page.getByText("There is nothing to export in this time.");
    await empty.waitFor();
    await waitForFocus(empty);
  },
);
