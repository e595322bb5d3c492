/* Reports, the export of chats, and the audit log: an admin sees what happened, and no agent does. */

import assert from "node:assert/strict";
import { axeViolations } from "../support/browser.mjs";
import { journey, openChat, useBrowser } from "../support/console.mjs";
import { savedFile } from "../support/saved-file.mjs";
import { waitFor } from "../support/wait.mjs";

useBrowser();

const PHONE = { width: 390, height: 844, touch: true };
const figure = (page, name) =>
  page
    .locator(".figure")
    .filter({ has: page.getByRole("heading", { name, exact: true }) });
const part = (page, name) => page.getByRole("region", { name, exact: true });

/** Opens three chats: one is answered and closed by the admin, one is closed without an answer, and one stays open. */
async function threeChats(account) {
  const { admin } = account;
  const answered = await account.openAcceptedChat("Amara Kone");
  await admin.send(answered.chatId, "We look into it");
  await admin.close(answered.chatId);
  const second = await account.openAcceptedChat("Thanh");
  await admin.close(second.chatId);
  await account.openChat("Elif");
  await waitFor("three counted chats", async () => {
    const { total } = await admin.get("/admin/reports?days=1");
    return total.opened === 3 && total.settled_by.agent === 2;
  });
  return answered;
}

journey("report counts the chats of today", async ({ account, open }) => {
  const page = await open(account.admin, { hash: "#/reports" });
  await page.getByText("No chats in 30 days").waitFor();
  await page.getByText("days in UTC").waitFor();
  await threeChats(account);
  await page.getByRole("button", { name: "Refresh" }).click();
  await figure(page, "Chats").getByText("3", { exact: true }).waitFor();
  await figure(page, "First answer, median").getByText(/ s$/).first().waitFor();
  const chart = page.getByRole("slider", { name: "Chats a day, 3 chats" });
  assert.match(
    await chart.getAttribute("aria-valuetext"),
    /3 chats: Agents 2, Still open 1$/,
  );
  const marta = part(page, "Agents").locator("tbody tr", { hasText: "Marta" });
  assert.match(await marta.innerText(), /2\s+100 %/);
  await page.getByRole("radio", { name: "Today" }).check();
  await figure(page, "Chats").getByText("none yesterday").waitFor();
  const { text } = await savedFile(
    page,
    part(page, "Channels").getByRole("button", { name: "CSV" }),
  );
  assert.match(text, /\r\n"Shop",3,2,0,0,/);
});

journey("report has days in the account's zone", async ({ account, open }) => {
  await account.admin.put("/admin/settings", { time_zone: "Asia/Tokyo" });
  await account.openChat("Amara Kone");
  const page = await open(account.admin, { hash: "#/reports" });
  await page.getByRole("link", { name: "Asia/Tokyo" }).click();
  await page.getByLabel("Time zone of the account").waitFor();
});

journey("one chat and a range are exported", async ({ account, open }) => {
  const { chatId } = await threeChats(account);
  const page = await open(account.admin, { hash: `#/chat/${chatId}` });
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Export the chat" }).click();
  const dialog = page.getByRole("dialog", { name: `Export chat #${chatId}` });
  await dialog.getByRole("button", { name: "Export" }).click();
  await dialog.getByText("Ready: 1 chat with").waitFor();
  const saveOf = (place) =>
    place.getByRole("button", { name: "Save the file" });
  const one = await savedFile(page, saveOf(dialog));
  assert.equal(one.name, `chat-${chatId}.json`);
  const [chat] = JSON.parse(one.text);
  assert.ok(chat.messages.some(({ text }) => text === "We look into it"));
  await dialog.getByRole("button", { name: "Close", exact: true }).click();

  await page.goto(`${page.url().split("#")[0]}#/reports/export`);
  await page.getByRole("radio", { name: "CSV" }).check();
  await page.getByRole("button", { name: "Export", exact: true }).click();
  await page.getByText(/^Ready: \d+ entries/).waitFor();
  const range = await savedFile(page, saveOf(page));
  assert.match(range.name, /^chats-from-.*-to-.*\.csv$/);
  assert.match(range.text, /^\ufeff"chat_id","channel_id"/);
  assert.ok(range.text.includes('"We look into it"'));
  assert.ok(!range.text.includes('"Elif"'));
  await page.getByRole("radio", { name: "One chat" }).check();
  await page.getByLabel("Number of the chat").fill("999999");
  await page.getByRole("button", { name: "Export", exact: true }).click();
  await page.getByRole("alert").waitFor();
});

journey("audit log shows who changed what", async ({ account, open }) => {
  const page = await open(account.admin, { hash: "#/settings" });
  await page.getByLabel("Minutes without a message").fill("90");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  await page.getByRole("link", { name: "Audit log" }).click();
  const row = (text) => page.locator("tbody tr", { hasText: text });
  const changed = row("Settings changed").first();
  await changed
    .locator(".fields", { hasText: "closing of idle chats" })
    .waitFor();
  await changed.locator(".who", { hasText: "Marta Lindholm" }).waitFor();
  await row("Channel created").getByRole("link", { name: "Shop" }).waitFor();
  await page.getByLabel("What").selectOption("Agent");
  await row("Agent created").first().waitFor();
  await changed.waitFor({ state: "detached" });
  await page.getByLabel("Who").selectOption("Jonas Weber");
  await page.getByText("Nothing found").waitFor();
});

journey("agents see no report, export or log", async ({ account, open }) => {
  const [jonas] = account.agents;
  const amara = await account.openAcceptedChat("Amara Kone", { agent: jonas });
  for (const [hash, text] of [
    ["#/reports", "Only admins see reports"],
    ["#/reports/export", "Only admins see reports"],
    ["#/settings/audit", "Only admins change the settings"],
  ]) {
    const page = await open(jonas, { hash });
    await page.getByText(text).waitFor();
    assert.equal(await page.locator(".rail a").count(), 2);
    await page.context().close();
  }
  const page = await open(jonas);
  await openChat(page, "Amara Kone");
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Copy a link" }).waitFor();
  assert.equal(await page.getByRole("menuitem", { name: "Export" }).count(), 0);
  for (const path of [
    "/admin/reports",
    "/admin/audit",
    `/admin/chats/export?chat_id=${amara.chatId}`,
  ])
    await assert.rejects(jonas.get(path), /403/);
});

journey("reports and logs are accessible", async ({ account, open }) => {
  await threeChats(account);
  for (const scheme of ["light", "dark"])
    for (const device of [{}, PHONE]) {
      const page = await open(account.admin, {
        hash: "#/reports",
        scheme,
        ...device,
      });
      const check = async (name) => {
        const view = `${name} ${scheme}`;
        assert.deepEqual(await axeViolations(page), [], view);
        const overflow = await page.evaluate(
          () => document.documentElement.scrollWidth - innerWidth,
        );
        assert.ok(overflow <= 0, `${view} is too wide`);
      };
      await page.getByRole("slider").first().waitFor();
      await page.getByText("Table", { exact: true }).first().click();
      await check("report");
      await page.getByRole("link", { name: "Export chats" }).click();
      await page.getByLabel("Closed from").waitFor();
      await check("export");
      await page.goto(`${page.url().split("#")[0]}#/settings/audit`);
      await page.locator("tbody tr").first().waitFor();
      await check("audit log");
      await page.context().close();
    }
});
