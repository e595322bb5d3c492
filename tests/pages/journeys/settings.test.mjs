/* Tests of the pages for the account's settings and for the trigger rules of widgets. */

import assert from "node:assert/strict";
import { axeViolations } from "../support/browser.mjs";
import { journey, useBrowser } from "../support/console.mjs";

useBrowser();

const PHONE = { width: 390, height: 844, touch: true };
const save = (page) => page.getByRole("button", { name: "Save" }).click();
const settings = (account) => account.admin.get("/admin/settings");

journey("settings are changed and explained", async ({ account, open }) => {
  const page = await open(account.admin, { hash: "#/settings" });
  await page.getByLabel("Allowed domains").fill("not a domain!");
  await save(page);
  await page.locator("#safe_urls-problem").waitFor();
  await page.getByLabel("Allowed domains").fill("https://shop.example/help");
  await page.getByLabel("Minutes without a message").fill("90");
  await page.getByText("closed after 90 minutes").waitFor();
  await page.getByLabel("Keep messages and chats").selectOption("30 days");
  await page.getByText("30 days after they were written").waitFor();
  await page.getByLabel("Messages of one visitor").fill("many");
  await save(page);
  const limit = page.getByLabel("Messages of one visitor");
  await page.getByText("Enter a whole number.").waitFor();
  assert.equal(await limit.getAttribute("aria-invalid"), "true");
  await limit.fill("5000");
  await save(page);
  await page.locator("[id='limits.visitor_messages-problem']").waitFor();
  await limit.fill("50");
  await page.getByRole("switch", { name: "Visitors can request" }).check();
  await page.getByRole("checkbox", { name: "Sat" }).check();
  await page.getByLabel("From", { exact: true }).selectOption("08:30");
  await page.getByLabel("To", { exact: true }).selectOption("24:00");
  await page.getByLabel("Offset from UTC").selectOption("UTC+01:00");
  const timeZone = page.getByLabel("Time zone of the account");
  await timeZone.selectOption("America/New York");
  await page.getByText("local times in America/New York").waitFor();
  assert.equal(await page.getByLabel("Offset from UTC").count(), 0);
  await save(page);
  await page.getByText("Saved.").waitFor();
  const stored = await settings(account);
  assert.deepEqual(stored.safe_urls, ["shop.example"]);
  assert.equal(stored.idle_close, 90);
  assert.equal(stored.retention_days, 30);
  assert.equal(stored.time_zone, "America/New_York");
  assert.equal(stored.limits.visitor_messages, 50);
  const { enabled, days, from, to, utc_offset } = stored.callback;
  assert.ok(enabled && days.includes(6));
  assert.deepEqual([from, to, utc_offset], ["08:30", "24:00", 60]);

  await page.getByRole("switch", { name: "Close idle chats" }).uncheck();
  await page.getByText("stay open until an agent closes them").waitFor();
  await page
    .getByLabel("Keep messages and chats")
    .selectOption("Without limit");
  await save(page);
  await page.getByText("Saved.").first().waitFor();
  await page.getByRole("button", { name: "Discard" }).waitFor({
    state: "detached",
  });
  const changed = await settings(account);
  assert.equal(changed.idle_close, null);
  assert.equal(changed.retention_days, null);
});

journey(
  "trigger rules are edited as a form and as JSON",
  async ({ account, open }) => {
    const page = await open(account.admin, { hash: "#/settings/rules" });
    const json = page.getByLabel("The rules as JSON");
    await page.getByText("There are no rules").waitFor();
    await page.getByRole("button", { name: "Add a rule" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Prices");
    await page
      .getByLabel("Condition 1", { exact: true })
      .selectOption("page_url");
    await page.getByLabel("Condition 1, value").fill("/prices");
    await page.getByRole("button", { name: "Add a condition" }).click();
    await page.getByLabel("Condition 2, value").fill("12.5");
    await page.getByLabel("Command 1, text").fill("Can we help?");
    const typed = JSON.parse(await json.inputValue());
    const rule = {
      name: "Prices",
      enabled: true,
      type: "all",
      conditions: [
        { condition: "page_url", comparator: "contain", value: "/prices" },
        { condition: "time_on_page", comparator: "greater", value: 12.5 },
      ],
      commands: [{ command: "proactive", params: { message: "Can we help?" } }],
    };
    assert.deepEqual(typed, [rule]);
    await save(page);
    await page.getByText("Saved.").waitFor();
    assert.deepEqual((await settings(account)).rules, [rule]);

    await json.fill("[{");
    await page.getByText("This is not JSON").waitFor();
    assert.ok(await page.getByLabel("Condition 1, value").isDisabled());
    await json.fill(
      JSON.stringify([
        {
          ...rule,
          conditions: [
            { condition: "time_on_page", comparator: "greater", value: "soon" },
          ],
        },
      ]),
    );
    await save(page);
    await page.getByText(/^Rule 1, condition 1, value must be/).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export" }).click(),
    ]);
    assert.equal(download.suggestedFilename(), "trigger-rules.json");

    const imported = [
      {
        ...rule,
        name: "Imported",
        commands: [{ command: "sing", loud: true }],
      },
    ];
    await page.locator("input[type=file]").setInputFiles({
      name: "rules.json",
      mimeType: "application/json",
      buffer: Buffer.from(JSON.stringify(imported)),
    });
    await page.getByRole("region", { name: "Imported" }).waitFor();
    await save(page);
    await page.getByRole("button", { name: "Discard" }).waitFor({
      state: "detached",
    });
    assert.deepEqual((await settings(account)).rules, imported);
  },
);

journey(
  "settings have no accessibility violations",
  async ({ account, open }) => {
    await account.admin.put("/admin/settings", {
      callback: { enabled: true },
      rules: [
        {
          name: "Help",
          enabled: true,
          type: "all",
          conditions: [{ condition: "online", value: true }],
          commands: [{ command: "proactive", params: { message: "Hello" } }],
        },
      ],
    });
    for (const scheme of ["light", "dark"])
      for (const device of [{}, PHONE]) {
        const page = await open(account.admin, {
          hash: "#/settings",
          scheme,
          ...device,
        });
        const check = async (name) =>
          assert.deepEqual(await axeViolations(page), [], `${name} ${scheme}`);
        await page.getByLabel("Messages of one visitor").fill("x");
        await save(page);
        await page.getByText("Enter a whole number.").waitFor();
        await check("settings");
        await page.getByRole("link", { name: "Trigger rules" }).click();
        await page.getByRole("dialog").waitFor();
        await check("question");
        await page.getByRole("button", { name: "Discard and leave" }).click();
        await page.getByLabel("Condition 1", { exact: true }).waitFor();
        await check("rules");
        await page.context().close();
      }
  },
);

journey("e-mails are switched on and off", async ({ account, open }) => {
  const page = await open(account.admin, { hash: "#/settings" });
  const isOn = page.getByRole("switch", { name: "Send e-mails" });
  await isOn.check();
  const transcriptTo = page.getByLabel("Send transcripts to", { exact: true });
  await transcriptTo.fill("team");
  await save(page);
  await page.locator("[id='email.sender_name-problem']").waitFor();
  await page.locator("[id='email.transcript_to-problem']").waitFor();
  await page.getByLabel("Name of the sender").fill("Shop");
  await transcriptTo.fill("team@shop.example\n");
  await page.getByLabel("Minutes a visitor must be away").fill("3");
  await save(page);
  await page.getByText("Saved.").waitFor();
  assert.deepEqual((await settings(account)).email, {
    sender_name: "Shop",
    transcript_to: ["team@shop.example"],
    transcript_to_visitor: false,
    answers_to_visitor: true,
    away_minutes: 3,
  });
  await isOn.uncheck();
  await save(page);
  await page
    .getByRole("button", { name: "Discard" })
    .waitFor({ state: "hidden" });
  assert.equal((await settings(account)).email, null);
});
