/* Tests of the form for business hours, which the pages of settings, departments and channels share. */

import assert from "node:assert/strict";
import { axeViolations } from "../support/browser.mjs";
import { journey, useBrowser } from "../support/console.mjs";

useBrowser();

const save = (page) => page.getByRole("button", { name: "Save" }).click();
const hoursSwitch = (page) =>
  page.getByRole("switch", { name: /^Business hours/ });
const day = (page, name) => page.getByRole("group", { name, exact: true });

journey(
  "business hours are edited and explained",
  async ({ account, open }) => {
    const page = await open(account.admin, { hash: "#/settings" });
    await hoursSwitch(page).check();
    await page.getByLabel("Time zone of the hours").selectOption("Asia/Tokyo");
    const monday = day(page, "Monday");
    await monday.getByLabel("To 1", { exact: true }).fill("12:00");
    // With the keyboard: the second interval begins an hour after the first.
    await monday.getByRole("button", { name: "Add hours" }).focus();
    await page.keyboard.press("Enter");
    await monday.getByLabel("From 2", { exact: true }).fill("11:00");
    await day(page, "Tuesday").getByRole("button", { name: "Remove" }).click();
    await day(page, "Tuesday").getByText("Closed").waitFor();
    await save(page);
    await page.getByText("Overlap on Monday.").waitFor();
    assert.equal(
      await monday
        .getByLabel("From 2", { exact: true })
        .getAttribute("aria-invalid"),
      "true",
    );
    await monday.getByLabel("From 2", { exact: true }).fill("13");
    await save(page);
    await page.getByText("Monday: enter times").waitFor();
    await monday.getByLabel("From 2", { exact: true }).fill("13:00");

    await page.getByRole("button", { name: "Add an exception" }).click();
    await save(page);
    await page.getByText("Give each exception a name.").waitFor();
    await page.getByLabel("Name", { exact: true }).fill("Dashain");
    await page.getByLabel("First day").fill("2099-10-01");
    await page.getByLabel("Last day").fill("2099-10-05");
    assert.deepEqual(await axeViolations(page), []);
    await save(page);
    await page.getByText("Saved.").waitFor();
    await page.getByText(/^(Open now, until|Closed now. Opens) /).waitFor();

    const { business_hours: stored } =
      await account.admin.get("/admin/settings");
    assert.equal(stored.time_zone, "Asia/Tokyo");
    const mondays = stored.weekly.filter(({ day }) => day === 1);
    assert.deepEqual(mondays, [
      { day: 1, from: "09:00", to: "12:00" },
      { day: 1, from: "13:00", to: "17:00" },
    ]);
    assert.ok(!stored.weekly.some(({ day }) => day === 2));
    const days = { first_day: "2099-10-01", last_day: "2099-10-05" };
    assert.deepEqual(stored.exceptions, [
      { name: "Dashain", ...days, hours: [] },
    ]);

    await hoursSwitch(page).uncheck();
    await save(page);
    await page
      .getByRole("button", { name: "Discard" })
      .waitFor({ state: "detached" });
    assert.equal(
      (await account.admin.get("/admin/settings")).business_hours,
      null,
    );
  },
);

journey(
  "departments and channels have hours of their own",
  async ({ account, open }) => {
    const department = await account.admin.post("/admin/departments", {
      name: "Sales",
    });
    const channel = await account.admin.post("/admin/channels", {
      kind: "widget",
      name: "Shop",
    });
    const records = [
      [
        `#/team/departments/${department.department_id}`,
        `/admin/departments/${department.department_id}`,
      ],
      [
        `#/channels/${channel.channel_id}`,
        `/admin/channels/${channel.channel_id}`,
      ],
    ];
    for (const [hash, path] of records) {
      const page = await open(account.admin, { hash });
      await hoursSwitch(page).check();
      await save(page);
      await page.getByText("Saved.").first().waitFor();
      const { business_hours } = await account.admin.get(path);
      assert.equal(business_hours.weekly.length, 5, path);
      await page.getByText(/^(Open now, until|Closed now. Opens) /).waitFor();
    }
  },
);
