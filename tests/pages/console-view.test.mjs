/* Tests the agent console with the mock service (functions/www/dev), in states that the local host cannot produce:
   errors of the service, a login limit that ends after seconds, and data of visitors who use the widget. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import {
  axeViolations,
  controlMock,
  launch,
  openPage,
  serve,
  signIn,
} from "./support/browser.mjs";
import {
  chatRow,
  line,
  openChat,
  pressShortcut,
  sendMessage,
  textarea,
} from "./support/console-page.mjs";

let browser;
let server;
let url;
before(async () => {
  browser = await launch();
  server = await serve();
  url = server.url;
});
after(async () => {
  await browser.close();
  await server.close();
});

/** Runs a test with a new page, which is signed in unless `signedOut` is set. The other options are those of openPage.
    The test fails if the page has errors. */
function journey(name, { signedOut = false, ...options }, run) {
  test(name, { timeout: 300_000 }, async () => {
    await controlMock(url, "reset", { dataset: "normal" });
    const { page, context, problems } = await openPage(browser, options);
    page.setDefaultTimeout(40_000);
    try {
      if (signedOut) await page.goto(`${url}/console/`);
      else await signIn(page, url);
      await run(page);
      assert.deepEqual(problems, []);
    } finally {
      await context.close();
    }
  });
}

const storedChat = async (visitorName) =>
  (await controlMock(url, "chats")).findLast(
    (chat) => chat.visitor.name === visitorName,
  );

journey("login limit is counted down", { signedOut: true }, async (page) => {
  await controlMock(url, "fail", {
    path: "login",
    status: 429,
    times: 1,
    headers: { "retry-after": "30" },
  });
  await page.clock.install();
  await page.getByLabel("E-mail").fill("marta@example.com");
  await page.getByLabel("Password", { exact: true }).fill("secret");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: /^Wait \d+ s$/ }).waitFor();
  await page.clock.fastForward(31_000);
  await page.getByText("You can try again now.").waitFor();
  await page.keyboard.press("Enter");
  await page.locator(".app").waitFor();
});

journey("failed list shows an error and recovers", {}, async (page) => {
  await controlMock(url, "fail", {
    path: "/agent/chats$",
    status: 500,
    message: "internal error",
  });
  await page.reload();
  await page.getByText("The chats cannot be loaded").waitFor();
  await controlMock(url, "recover");
  await page.locator(".row").first().waitFor();
});

journey("failed chat shows an error and recovers", {}, async (page) => {
  await controlMock(url, "fail", {
    path: "/messages",
    method: "GET",
    status: 500,
    message: "internal error",
  });
  await chatRow(page, "Amara").click();
  await page.getByText("The chat cannot be loaded").waitFor();
  await controlMock(url, "recover");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.locator(".turn").first().waitFor();
});

journey("rejected message can be edited and sent again", {}, async (page) => {
  await openChat(page, "Thanh Nguyễn");
  await controlMock(url, "fail", {
    path: "messages$",
    method: "POST",
    status: 400,
    times: 1,
    message: "text is wrong",
  });
  await sendMessage(page, "First try");
  await page.locator(".fail", { hasText: "Text is wrong" }).waitFor();
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  assert.equal(await textarea(page).inputValue(), "First try");
  await page.keyboard.press("Enter");
  await line(page, "First try").locator(".mark").waitFor();
  const { entries } = await storedChat("Thanh Nguyễn");
  const stored = entries.filter(({ text }) => text === "First try");
  assert.equal(stored.length, 1);
});

const PHONE = { width: 390, height: 844, touch: true };
for (const scheme of ["light", "dark"])
  journey(
    `phone has a menu of further sections, ${scheme}`,
    { ...PHONE, scheme },
    async (page) => {
      const targets = page.locator(".rail > :is(a, button):visible");
      assert.equal(await targets.count(), 5);
      const more = page.getByRole("button", { name: "More" });
      const menu = page.getByRole("menu", { name: "More" });
      // A press of the button is lost while the page still considers the menu open.
      const menuClosed = async () => {
        await menu.waitFor({ state: "detached" });
        await page.locator('.more-button[aria-expanded="false"]').waitFor();
      };
      await more.focus();
      await page.keyboard.press("Enter");
      await menu.waitFor();
      assert.equal(await more.getAttribute("aria-expanded"), "true");
      assert.deepEqual(await axeViolations(page), []);
      for (const target of [
        ...(await targets.all()),
        ...(await menu.getByRole("menuitem").all()),
      ])
        assert.ok((await target.boundingBox()).height >= 44);
      await page.keyboard.press("Escape");
      await menuClosed();
      assert.ok(await more.evaluate((it) => it === document.activeElement));
      await page.keyboard.press("Enter");
      await menu.locator(":focus").waitFor();
      await page.keyboard.press("End");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Settings" }).waitFor();
      await menuClosed();
      assert.equal(await more.getAttribute("aria-current"), "true");
      assert.deepEqual(await axeViolations(page), []);
      await more.tap();
      const settings = menu.getByRole("menuitem", { name: "Settings" });
      assert.equal(await settings.getAttribute("aria-current"), "page");
      await more.tap();
      await menuClosed();
    },
  );

journey(
  "agent on a phone needs no menu",
  { ...PHONE, signedOut: true },
  async (page) => {
    await signIn(page, url, { email: "jonas@example.com" });
    assert.equal(await page.locator(".rail > a:visible").count(), 2);
    assert.equal(await page.getByRole("button", { name: "More" }).count(), 0);
  },
);

journey("rail fits into a low window", { width: 1280 }, async (page) => {
  for (const [height, count] of [
    [600, 9],
    [390, 3],
  ]) {
    await page.setViewportSize({ width: 1280, height });
    assert.equal(await page.locator(".rail > a:visible").count(), count);
    const { y, height: size } = await page.locator(".rail .me").boundingBox();
    assert.ok(y + size <= height);
  }
  const more = page.getByRole("button", { name: "More" });
  await more.click();
  const menu = await page.getByRole("menu", { name: "More" }).boundingBox();
  const { x, width } = await more.boundingBox();
  assert.ok(menu.x >= x + width, "the menu does not cover its button");
});

journey("words and session of a widget visitor are shown", {}, async (page) => {
  await openChat(page, "Amara Kone");
  const { chat_id } = await storedChat("Amara Kone");
  await controlMock(url, "typing", {
    chat_id,
    typing: true,
    text: "yes please, but to my off",
  });
  await page.locator(".typing q", { hasText: "but to my off" }).waitFor();
  const session = page.getByRole("region", { name: "Session" });
  for (const text of ["Where is my parcel?", "newsletter", "Firefox"])
    await session.getByText(text).first().waitFor();
});

journey("replay is stopped, and continued", {}, async (page) => {
  await page.getByRole("link", { name: "Webhooks and deliveries" }).click();
  await page.locator("tbody tr").nth(2).waitFor();
  await page.getByRole("button", { name: "Send failed again" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("3 failed deliveries are sent again.").waitFor();
  await controlMock(url, "latency", { ms: 1000 });
  await dialog.getByRole("button", { name: "Send again" }).click();
  await dialog.getByRole("button", { name: "Stop" }).click();
  await dialog.getByText("Stopped. The others have not been sent.").waitFor();
  await dialog.getByText("2 sent again.").waitFor();
  await controlMock(url, "latency", { ms: 0 });
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.getByText("3 sent again.").waitFor();
  await dialog.getByRole("button", { name: "Close", exact: true }).click();
  await page.getByText("Nothing has failed").waitFor();
});

journey("failed replay continues where it failed", {}, async (page) => {
  await page.getByRole("link", { name: "Webhooks and deliveries" }).click();
  await page.locator("tbody tr").nth(2).waitFor();
  await page.getByRole("button", { name: "Send failed again" }).click();
  const dialog = page.getByRole("dialog");
  await controlMock(url, "fail", { path: "replay", status: 503, times: 1 });
  await dialog.getByRole("button", { name: "Send again" }).click();
  await dialog.getByText("The service failed (status 503).").waitFor();
  await dialog.getByText("0 sent again.").waitFor();
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.getByText("3 sent again.").waitFor();
});

journey("only what is listed as failed is sent again", {}, async (page) => {
  await page.getByRole("link", { name: "Webhooks and deliveries" }).click();
  const replay = page.getByRole("button", { name: "Send failed again" });
  const receiver = page.getByLabel("Receiver");
  await replay.waitFor();
  await controlMock(url, "fail", { path: "/admin/deliveries$", status: 503 });
  await receiver.selectOption("Webhooks");
  assert.equal(await replay.count(), 0, "the rows are those of all receivers");
  await page.getByText("The deliveries could not be loaded").waitFor();
  assert.equal(await replay.count(), 0);
  await controlMock(url, "recover");
  await page.getByRole("button", { name: "Try again" }).click();
  await replay.waitFor();
  await controlMock(url, "latency", { ms: 700 });
  await receiver.selectOption("Telephony");
  assert.equal(await replay.count(), 0);
  await page.getByLabel("Chat number").fill("12a");
  assert.equal(await replay.count(), 0);
});

/** Holds the next request to a path. Returns a promise of its route, which the test must continue or fulfil. */
const heldRequest = (page, path) =>
  new Promise((hold) => page.route(path, hold, { times: 1 }));

journey("transfer ends after its dialog was closed", {}, async (page) => {
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
});

journey("call without a response may have started", {}, async (page) => {
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
});

/** Saves a file with a button, and returns its name and its text. */
async function savedFile(page, button) {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    button.click(),
  ]);
  const text = await readFile(await download.path(), "utf8");
  return { name: download.suggestedFilename(), text };
}

const openReports = async (page) => {
  await page.getByRole("link", { name: "Reports", exact: true }).click();
  await page.getByRole("slider", { name: /^Chats a day/ }).waitFor();
};
const reportPart = (page, name) =>
  page.getByRole("region", { name, exact: true });

journey("chart is read with the keyboard, and saved", {}, async (page) => {
  await openReports(page);
  const chart = page.getByRole("slider", { name: /^Chats a day/ });
  const shown = () => chart.getAttribute("aria-valuetext");
  await chart.press("Home");
  assert.match(await shown(), /^\w{3} \d+ \w+, \d+ chats: Agents \d+, Bot/);
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
});

journey("each part of a report is saved as CSV", {}, async (page) => {
  await openReports(page);
  const buttons = page.getByRole("button", { name: /as CSV$/ });
  const names = new Set();
  for (let index = 0; index < (await buttons.count()); index++) {
    const { name, text } = await savedFile(page, buttons.nth(index));
    assert.match(text, /^\ufeff".+"\r\n/);
    names.add(name);
  }
  assert.equal(names.size, await buttons.count());
  assert.ok(names.size >= 9);
});

journey("report follows the period and the channel", {}, async (page) => {
  await openReports(page);
  const chats = page.locator(".figure", { hasText: "Chats" }).locator("p");
  const inMonth = await chats.first().textContent();
  await page.getByRole("radio", { name: "7 days" }).check();
  await page.getByText("in the 7 days before").first().waitFor();
  assert.notEqual(await chats.first().textContent(), inMonth);
  await page.getByRole("radio", { name: "By channel" }).check();
  const legend = reportPart(page, "Chats a day").locator(".legend");
  await legend.getByText("Partner portal").waitFor();
  // If the channels' reports for a new period cannot be loaded, the page must not keep showing those of the old period.
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
  await page.getByLabel("Channel", { exact: true }).selectOption("iOS app");
  await legend.getByText("Nobody").waitFor();
  assert.equal(
    await page.getByRole("radio", { name: "By channel" }).count(),
    0,
  );

  await controlMock(url, "fail", { path: "/admin/reports", status: 500 });
  await page.getByRole("radio", { name: "Today" }).check();
  await page.getByText("The report could not be loaded").waitFor();
  await controlMock(url, "recover");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("yesterday").first().waitFor();
});

journey("paper shows the report with its tables only", {}, async (page) => {
  await openReports(page);
  const tables = page.locator(".report .data-table");
  assert.equal(await tables.first().isVisible(), false);
  await page.emulateMedia({ media: "print" });
  // The width of A4 without its margins, in CSS pixels.
  await page.setViewportSize({ width: 718, height: 1000 });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  const heading = page.getByRole("heading", { name: "Reports", exact: true });
  assert.equal(
    await heading.evaluate((element) => getComputedStyle(element).clipPath),
    "none",
  );
  const channels = page.getByRole("region", { name: "Channels, table" });
  await channels.getByText("90th percentile").first().waitFor();
  assert.ok((await tables.count()) >= 7);
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
});

journey("export is stopped, continued and saved", {}, async (page) => {
  await openReports(page);
  await page.getByRole("link", { name: "Export chats" }).click();
  await page.getByLabel("Closed from").fill("2026-11-22");
  await page.getByLabel("To", { exact: true }).fill("2026-11-01");
  const start = page.getByRole("button", { name: "Export", exact: true });
  await start.click();
  await page.getByText("The last day must not be before the first.").waitFor();
  await page.getByLabel("Closed from").fill("");
  await page.getByLabel("To", { exact: true }).fill("");
  await controlMock(url, "latency", { ms: 700 });
  await start.click();
  await page.getByText("so far.").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("The export is not complete.").waitFor();
  await page.getByRole("button", { name: "Save this part" }).waitFor();
  await controlMock(url, "latency", { ms: 0 });
  await controlMock(url, "fail", { path: "export", status: 503, times: 1 });
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("The service failed (status 503).").waitFor();
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText(/^Ready: \d+ chats with \d+ entries\./).waitFor();
  const save = page.getByRole("button", { name: "Save the file" });
  const { name, text } = await savedFile(page, save);
  assert.equal(name, "chats.json");
  const closed = (await controlMock(url, "chats")).filter(
    ({ state, entries }) => state === "closed" && entries.length > 0,
  );
  const exported = JSON.parse(text);
  assert.deepEqual(
    exported.map(({ chat_id, messages }) => [chat_id, messages.length]),
    closed.map(({ chat_id, entries }) => [chat_id, entries.length]),
  );
});

journey("export is dropped only after a question", {}, async (page) => {
  await page.goto(`${url}/console/#/reports/export`);
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
});

journey("empty export leaves the focus at its result", {}, async (page) => {
  await page.goto(`${url}/console/#/reports/export`);
  await page.getByLabel("Closed from").fill("2100-01-01");
  await page.getByLabel("To", { exact: true }).fill("");
  await page.getByRole("button", { name: "Export", exact: true }).click();
  const empty = page.getByText("There is nothing to export in this time.");
  await empty.waitFor();
  assert.ok(await empty.evaluate((it) => it === document.activeElement));
});

journey("audit log is filtered, and shows more", {}, async (page) => {
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("link", { name: "Audit log" }).click();
  const rows = page.locator("tbody tr");
  await rows.nth(7).waitFor();
  await controlMock(url, "fail", { path: "audit", status: 503, times: 1 });
  await page.getByRole("button", { name: "Show more" }).click();
  await page.getByText("The next rows could not be loaded.").waitFor();
  assert.equal(await rows.count(), 8, "the rows before stay");
  await page.getByRole("button", { name: "Try again" }).click();
  await rows.nth(15).waitFor();
  await page.getByLabel("What").selectOption("Webhook");
  await rows.filter({ hasText: "Webhook secret replaced" }).waitFor();
  await rows.nth(1).waitFor({ state: "detached" });
  await page.getByLabel("Who").selectOption("Jonas Weber");
  await page.getByText("Nothing found").waitFor();
  await page.getByLabel("What").selectOption("Everything");
  await page.getByText("Canned reply created").waitFor();
  assert.equal(await rows.count(), 1);
});

journey("call is shown again after a reload", {}, async (page) => {
  const { chat_id } = await storedChat("Amara Kone");
  await controlMock(url, "call", { chat_id, status: "client_connected" });
  const banner = page.locator(".call-banner", { hasText: "Amara Kone" });
  await banner.waitFor();
  await openChat(page, "Amara Kone");
  await sendMessage(page, "I write to you as well");
  await line(page, "I write to you as well").locator(".mark").waitFor();
  await page.goto(`${url}/console/#/visitors`);
  await page.reload();
  await banner.waitFor();
  await controlMock(url, "call", { chat_id, status: "end", duration: 60 });
  await banner.waitFor({ state: "detached" });
});

/** Opens the command palette and searches for a text. */
async function searchInPalette(page, text) {
  await pressShortcut(page, "Control+k");
  await page
    .getByRole("combobox", { name: "Find a chat or an action" })
    .fill(text);
}

journey("palette leads to every page for admins", {}, async (page) => {
  const pages = {
    reports: "#/reports",
    "export chats": "#/reports/export",
    telephony: "#/telephony",
    "audit log": "#/settings/audit",
    "trigger rules": "#/settings/rules",
    departments: "#/team/departments",
  };
  for (const [text, hash] of Object.entries(pages)) {
    await searchInPalette(page, text);
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/${hash}`);
  }
});

journey(
  "palette offers agents their pages only",
  { signedOut: true },
  async (page) => {
    await signIn(page, url, { email: "jonas@example.com" });
    for (const text of ["telephony", "audit log", "export"]) {
      await searchInPalette(page, text);
      await page.getByText("Nothing found.").waitFor();
      await page.keyboard.press("Escape");
    }
  },
);

journey("delivery shows its request as it was sent", {}, async (page) => {
  const link = page.getByRole("link", { name: /3 failed in 24 hours/ });
  await link.click();
  await page.getByRole("radio", { name: "Failed 3" }).waitFor();
  await page.getByRole("radio", { name: "Pending 1" }).waitFor();
  await page.locator("tbody button").first().click();
  const request = page.getByRole("region", { name: "Request" });
  await request.getByText("webhook-signature: v1,qW0t…").waitFor();
  await request.getByText('"event_name": "chat_accepted"').waitFor();
  await page.getByRole("radio", { name: "Superseded" }).check();
  await page
    .locator("tbody tr", { hasText: "Superseded" })
    .getByRole("button")
    .click();
  await page.getByText("An agent has accepted the chat.").waitFor();
});

journey("bot and integrator are tested", {}, async (page) => {
  await page.goto(`${url}/console/#/bots/bot1`);
  await page.getByText("Chats handed over because it failed").waitFor();
  await page.getByLabel("Event").selectOption("CHAT_CLOSED");
  await page.getByRole("button", { name: "Send the event" }).click();
  await page.getByRole("region", { name: "Request" }).waitFor();
  await page.getByText('"event_name": "CHAT_CLOSED"').waitFor();
  await page.getByRole("button", { name: "Create a new secret…" }).click();
  await page
    .getByRole("button", { name: "Create a new secret", exact: true })
    .click();
  await page.getByText(/^whsec_/).waitFor();
  await page.getByRole("button", { name: "Done" }).click();

  await page.goto(`${url}/console/#/channels/ch_2`);
  await page.getByText("Old addresses that are still valid").waitFor();
  await page
    .getByRole("button", { name: "Send a message to your server" })
    .click();
  await page.getByText("Status 200").waitFor();
  await page.getByRole("region", { name: "Body of the response" }).waitFor();
});

journey("changes are left only after a question", {}, async (page) => {
  await page.goto(`${url}/console/#/settings`);
  const domains = page.getByLabel("Allowed domains");
  await domains.fill("northlight.example");
  await page.getByRole("link", { name: "Trigger rules" }).click();
  const question = page.getByRole("dialog", { name: "Discard the changes?" });
  await question.getByRole("button", { name: "Keep editing" }).click();
  assert.equal(await domains.inputValue(), "northlight.example");
  await page.goBack();
  await question.waitFor();
  await page.keyboard.press("Escape");
  assert.equal(new URL(page.url()).hash, "#/settings");
  assert.equal(await domains.inputValue(), "northlight.example");
  await page.getByRole("link", { name: "Trigger rules" }).click();
  await question.getByRole("button", { name: "Discard and leave" }).click();
  await page.getByLabel("The rules as JSON").waitFor();
});

journey("sign-out asks about changes", {}, async (page) => {
  await page.goto(`${url}/console/#/settings`);
  const domains = page.getByLabel("Allowed domains");
  await domains.fill("northlight.example");
  const signOut = async (answer) => {
    await searchInPalette(page, "sign out");
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Sign out?" });
    await dialog.locator(".btn.primary").click();
    await page
      .getByRole("dialog", { name: "Discard the changes?" })
      .getByRole("button", { name: answer })
      .click();
    return dialog;
  };
  const dialog = await signOut("Keep editing");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  assert.equal(await domains.inputValue(), "northlight.example");
  await signOut("Discard and leave");
  await page.getByRole("button", { name: "Sign in" }).waitFor();
});

journey("dialog creating a secret asks before it is left", {}, async (page) => {
  await page.goto(`${url}/console/#/deliveries/webhooks`);
  await page.getByRole("button", { name: "Add a webhook" }).click();
  const path = "**/admin/settings/webhooks";
  const held = heldRequest(page, path);
  await page.getByLabel("Address of your server").fill("https://crm.example/");
  await page.keyboard.press("Enter");
  const request = await held;
  await page.goBack();
  await page
    .getByRole("dialog", { name: "Leave before the response?" })
    .getByRole("button", { name: "Stay here" })
    .click();
  await request.continue();
  await page.getByText(/^whsec_/).waitFor();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("heading", { name: "crm.example" }).waitFor();
  // A new widget has no secret to show, so its page opens at once.
  await page.goto(`${url}/console/#/channels`);
  await page.getByRole("button", { name: "Add a channel" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Second shop");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Second shop" }).waitFor();
});

journey(
  "thing without a visible name is deleted by its id",
  {},
  async (page) => {
    await page.goto(`${url}/console/#/team/departments`);
    await page.getByRole("button", { name: "Add a department" }).click();
    await page.getByLabel("Name", { exact: true }).fill("\u3164");
    await page.keyboard.press("Enter");
    await page.waitForURL(/departments\/\d+$/);
    const id = page.url().split("/").at(-1);
    await page.getByRole("button", { name: "Delete the department" }).click();
    await page.getByLabel(`Type ${id} to confirm`).fill(id);
    await page.getByRole("button", { name: "Delete permanently" }).click();
    await page.waitForURL(/departments$/);
  },
);

journey("password dialog focuses its field", {}, async (page) => {
  await page.goto(`${url}/console/#/team/2`);
  await page.getByRole("button", { name: "Set a new password" }).click();
  const field = page.getByLabel("Password", { exact: true });
  await field.waitFor();
  assert.ok(await field.evaluate((it) => it === document.activeElement));
});

journey("what is typed during a save is kept", {}, async (page) => {
  await page.goto(`${url}/console/#/settings`);
  const limit = page.getByLabel("Messages of one visitor");
  await limit.fill("31");
  await controlMock(url, "latency", { ms: 700 });
  await page.getByRole("button", { name: "Save" }).click();
  const domains = page.getByLabel("Allowed domains");
  await domains.fill("typed.example");
  await page.getByText("Saved.").waitFor();
  await controlMock(url, "latency", { ms: 0 });
  assert.equal(await domains.inputValue(), "typed.example");
  assert.equal(await limit.inputValue(), "31");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Discard" }).waitFor({
    state: "detached",
  });
});

journey("discarded retention is shown as it is stored", {}, async (page) => {
  await page.goto(`${url}/console/#/settings`);
  const choice = page.getByLabel("Keep messages and chats");
  const stored = await choice.inputValue();
  await choice.selectOption("Another time");
  await page.getByLabel("Days", { exact: true }).fill("45");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  assert.equal(await choice.inputValue(), "other");
  await choice.selectOption("30 days");
  await page.getByRole("button", { name: "Discard" }).click();
  assert.equal(await choice.inputValue(), "other");
  assert.notEqual(stored, "other");
});

journey("refusal of rules disappears once they change", {}, async (page) => {
  await page.goto(`${url}/console/#/settings/rules`);
  const json = page.getByLabel("The rules as JSON");
  await json.fill("[]");
  await controlMock(url, "fail", {
    path: "/admin/settings$",
    method: "PUT",
    status: 400,
    times: 1,
    message: "rules are refused",
  });
  await page.getByRole("button", { name: "Save" }).click();
  const refusal = page.getByRole("alert");
  await refusal.waitFor();
  await json.fill("[ ]");
  await refusal.waitFor({ state: "detached" });
});

journey("broken rules are reported and not saved", {}, async (page) => {
  await page.goto(`${url}/console/#/settings/rules`);
  const json = page.getByLabel("The rules as JSON");
  await json.fill("[{");
  const save = page.getByRole("button", { name: "Save" });
  await save.click();
  assert.ok(await json.evaluate((field) => field === document.activeElement));
  await page.getByText("This is not JSON").waitFor();
  await page.getByRole("button", { name: "Discard" }).click();
  const before = await json.inputValue();
  await page.getByLabel("File with rules").setInputFiles({
    name: "rules.json",
    mimeType: "application/json",
    buffer: Buffer.from("{}"),
  });
  await page.getByText("rules.json was not imported.").waitFor();
  assert.equal(await json.inputValue(), before);
});

journey("each page has a title of its own", {}, async (page) => {
  const expectTitle = (title) =>
    page.waitForFunction(
      (title) => document.title.replace(/^\(\d+\) /, "") === title,
      `${title} · Switchboard`,
    );
  await expectTitle("Inbox");
  await openChat(page, "Amara Kone");
  await expectTitle("Amara Kone");
  for (const [hash, title] of [
    ["#/visitors", "Visitors"],
    ["#/deliveries", "Deliveries"],
    ["#/deliveries/webhooks", "Webhooks"],
    ["#/team", "Agents"],
    ["#/team/2", "Jonas Weber"],
    ["#/settings", "Settings"],
    ["#/settings/audit", "Audit log"],
    ["#/reports", "Reports"],
  ]) {
    await page.goto(`${url}/console/${hash}`);
    await expectTitle(title);
  }
  assert.match(await page.title(), /^\(\d+\) /, "the count stays");
  const { visitor } = await storedChat("Amara Kone");
  await page.goto(`${url}/console/#/visitors/${visitor.number}`);
  await expectTitle("Amara Kone");
});

journey(
  "what a visitor can forge is marked or not loaded",
  {},
  async (page) => {
    const pictures = [];
    page.on("request", (request) => {
      if (request.url().includes("pictures/door.svg"))
        pictures.push(request.frame().url());
    });
    await openChat(page, "Amara Kone");
    const pane = page.locator(".visitor");
    const fromPage = pane.getByRole("region", { name: "From the page" });
    await fromPage.getByText("Visitors can change it").waitFor();
    await fromPage.getByRole("link", { name: "2 jackets" }).waitFor();
    await fromPage.locator("b", { hasText: "Customer:" }).waitFor();
    const fromCrm = pane.getByRole("region", { name: "From your CRM" });
    assert.equal(await fromCrm.locator(".custom > div").count(), 3);
    const title = await fromCrm
      .locator("h4", { hasText: "Plan" })
      .boundingBox();
    const content = await fromCrm.getByText("Gold, since 2023").boundingBox();
    assert.ok(title.y + title.height <= content.y + 1, "the title is above");

    assert.equal(await page.locator(".face img").count(), 0);
    await pane.getByRole("button", { name: "Show the picture" }).click();
    await pane.locator(".face img").waitFor();
    await page.locator(".conversation header .face img").waitFor();

    await pane.getByTitle("Edit phone").click();
    await pane.getByLabel("Phone", { exact: true }).fill("");
    await page.keyboard.press("Enter");
    await pane.getByTitle("Edit phone").getByText("Add").waitFor();
    assert.ok(!(await storedChat("Amara Kone")).visitor.phone);
  },
);

journey(
  "names are readable in narrow windows",
  { signedOut: true },
  async (page) => {
    await controlMock(url, "reset", { dataset: "unusualText" });
    await signIn(page, url);
    await openChat(page, "Maximiliane");
    for (const width of [720, 768, 850]) {
      await page.setViewportSize({ width, height: 900 });
      const name = page.locator(".conversation header h2");
      const { width: shown } = await name.boundingBox();
      assert.ok(shown >= 140, `${shown} of ${width}`);
    }
    await page.getByRole("button", { name: "More", exact: true }).click();
    const menu = page.getByRole("menu", { name: "More" });
    for (const name of [/^Call the visitor/, /^Transfer/])
      await menu.getByRole("menuitem", { name }).waitFor();
    await page.keyboard.press("Escape");

    await page.getByRole("link", { name: "Visitors" }).click();
    for (const width of [1440, 1024, 768, 390]) {
      await page.setViewportSize({ width, height: 900 });
      const rows = page.locator(".visitors :is(thead, tbody) tr");
      await rows.nth(1).waitFor();
      for (const row of await rows.all()) {
        const { height } = await row.boundingBox();
        assert.ok(height <= 57, `a row of ${height} px in ${width} px`);
      }
      const { scrollWidth, clientWidth } = await page
        .locator(".visitors > .scroll")
        .evaluate(({ scrollWidth, clientWidth }) => ({
          scrollWidth,
          clientWidth,
        }));
      assert.equal(scrollWidth, clientWidth);
    }
  },
);

journey(
  "search is reached by its key, and left with Enter",
  {},
  async (page) => {
    await page.goto(`${url}/console/#/visitors`);
    await page.locator("tbody tr").first().waitFor();
    await pressShortcut(page, "/");
    const visitors = page.getByLabel("Search visitors");
    assert.ok(await visitors.evaluate((it) => it === document.activeElement));
    await page.goto(`${url}/console/#/settings`);
    await page.getByLabel("Messages of one visitor").waitFor();
    await pressShortcut(page, "/");
    const chats = page.locator("#search-chats:focus");
    await chats.waitFor();
    await page.keyboard.type("Amara");
    await page.keyboard.press("Enter");
    await page
      .locator(".conversation header h2", { hasText: "Amara" })
      .waitFor();
    await page.keyboard.press("i");
    assert.equal(await page.locator("#search-chats").inputValue(), "Amara");
    await page.locator(".visitor.folded").waitFor({ state: "attached" });

    await page.setViewportSize({ width: 390, height: 844 });
    await page.locator(".pane-toggle").click();
    const close = page.getByRole("button", { name: "Close visitor details" });
    await close.waitFor();
    await page.goBack();
    await close.waitFor({ state: "hidden" });
    await page
      .locator(".conversation header h2", { hasText: "Amara" })
      .waitFor();
    await page.locator(".pane-toggle").click();
    await close.click();
    await close.waitFor({ state: "hidden" });
    await page.goBack();
    await page.locator(".list").waitFor();
  },
);

journey("deliveries are kept in the address, and saved", {}, async (page) => {
  await page.goto(`${url}/console/#/deliveries`);
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

  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
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
});

journey("a corrected field is no longer marked", {}, async (page) => {
  await page.goto(`${url}/console/#/team/2`);
  const phone = page.getByLabel("Phone (optional)");
  await phone.fill("123");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Enter a phone number").waitFor();
  assert.equal(await phone.getAttribute("aria-invalid"), "true");
  await phone.fill("+31 20 123 4567");
  await page.getByText("Enter a phone number").waitFor({ state: "detached" });
  assert.equal(await phone.getAttribute("aria-invalid"), "false");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();

  await page.goto(`${url}/console/#/settings/rules`);
  await page.getByRole("button", { name: "Add a rule" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Enter the text of command 1.").waitFor();
});

for (const scheme of ["light", "dark"])
  journey(
    `switch that is off stands out, ${scheme}`,
    { scheme },
    async (page) => {
      await page.goto(`${url}/console/#/settings`);
      const off = page.getByRole("switch").first();
      await off.uncheck();
      const contrast = await off.evaluate((element) => {
        const context = document.createElement("canvas").getContext("2d");
        const luminance = (colour) => {
          context.fillStyle = colour;
          context.fillRect(0, 0, 1, 1);
          const [red, green, blue] = [
            ...context.getImageData(0, 0, 1, 1).data,
          ].map((value) => {
            const part = value / 255;
            return part <= 0.04045
              ? part / 12.92
              : ((part + 0.055) / 1.055) ** 2.4;
          });
          return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
        };
        const page = element.closest(".page");
        const [a, b] = [element, page]
          .map((it) => luminance(getComputedStyle(it).backgroundColor))
          .sort((a, b) => b - a);
        return (a + 0.05) / (b + 0.05);
      });
      assert.ok(contrast >= 3, String(contrast));
    },
  );

journey("a chat opens at its first unread line", {}, async (page) => {
  await chatRow(page, "João").click();
  await page.locator(".turn").first().waitFor();
  await page.locator(".unread-line").waitFor();
});

journey(
  "names are shown in place of ids, in natural order",
  {},
  async (page) => {
    await page.goto(`${url}/console/#/bots`);
    const bot = page.locator("tbody tr").first();
    await bot.getByText("Parcel bots").waitFor();
    await bot.locator("a").click();
    await page.locator(".facts").getByText("Parcel bots").waitFor();
    await page.goto(`${url}/console/#/settings/audit`);
    await page
      .locator("tr", { hasText: "Webhook secret replaced" })
      .getByRole("link", { name: "crm.fjord.example/hooks" })
      .waitFor();

    await page.goto(`${url}/console/#/team`);
    await page.locator("tbody tr").first().waitFor();
    const { token } = await page.evaluate(() =>
      JSON.parse(sessionStorage.getItem("switchboard.session")),
    );
    for (const number of [10, 9, 2, 1, 8, 3, 7]) {
      const agent = {
        name: `Agent ${number}`,
        email: `agent${number}@example.com`,
        password: "a long enough password",
        role: "agent",
      };
      const { ok } = await fetch(`${url}/admin/agents`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify(agent),
      });
      assert.ok(ok);
    }
    await page.reload();
    const names = page.locator("tbody a .clip");
    await names.nth(11).waitFor();
    assert.deepEqual(
      (await names.allInnerTexts()).slice(0, 7),
      [1, 2, 3, 7, 8, 9, 10].map((number) => `Agent ${number}`),
    );
    await page.getByRole("link", { name: "Departments" }).click();
    await page.locator("tbody a").first().click();
    const search = page.getByLabel("Search agents");
    await search.fill("agent 1");
    const choices = page.locator(".choices label:has([type=checkbox])");
    assert.deepEqual(await choices.allInnerTexts(), ["Agent 1", "Agent 10"]);
    await choices.first().click();
    await search.fill("");
    assert.ok(await page.getByLabel("Agent 1", { exact: true }).isChecked());
  },
);
