/* The account's rules: conditions over time, and what the rules show. The tests move the page's clock. */

import assert from "node:assert/strict";
import {
  api,
  called,
  closeWindow,
  heading,
  invite,
  label,
  openWindow,
  rule,
  shopJourney,
  useEmbeddingBrowser,
  waitForSent,
  write,
} from "../support/shop.mjs";

useEmbeddingBrowser();

const isShown = (page, text) =>
  page.getByText(text, { exact: true }).first().isVisible();

/** Opens the shop with rules and a clock that the test moves. `time` is its time at first. */
async function openWithRules(shop, rules, time = new Date()) {
  await shop.setRules(rules);
  const page = await shop.open({
    prepare: (page) => page.clock.install({ time }),
  });
  await label(page).waitFor();
  return page;
}

/** Goes to another page of the shop in the same tab. */
async function visitSecond(shop, page) {
  await page.goto(`${shop.site.url}/second`);
  await label(page).waitFor();
}

shopJourney("rules of the account invite after their time", async (shop) => {
  const page = await openWithRules(shop, [
    invite("First", ["time_on_page", "greater", 60], ["online", "", true]),
    invite("Second", ["time_after_invitation", "greater_equal", "600"]),
    { ...invite("Off", ["time_on_page", "greater", 1]), enabled: false },
    invite("Unknown", ["weather", "greater", 1]),
    invite("Elsewhere", ["page_url", "contain", "/checkout"]),
  ]);
  // "Second" holds at once, because no invitation has been shown yet.
  await page.getByText("Second", { exact: true }).waitFor();
  await page.clock.runFor(10_000);
  assert.equal(await isShown(page, "First"), false);
  await page.clock.runFor(52_000);
  await page.getByText("First", { exact: true }).waitFor();
  await page.getByText("Marta Lindholm", { exact: true }).waitFor();
  for (const text of ["Off", "Unknown", "Elsewhere"])
    assert.equal(await isShown(page, text), false, text);
  await page.getByText("First", { exact: true }).click();
  await write(page, "Yes, please");
  await waitForSent(page, "Yes, please");
  assert.equal(shop.requestsTo("message")[0].body.invite, "First");
});

shopJourney("rule waits after the window was closed", async (shop) => {
  const page = await openWithRules(shop, []);
  await api(page, "open");
  await api(page, "close");
  await api(page, "setRules", [
    invite("Back again", ["time_after_close", "greater", "90"]),
  ]);
  await page.clock.runFor(30_000);
  assert.equal(await isShown(page, "Back again"), false);
  await page.clock.runFor(65_000);
  await page.getByText("Back again", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Dismiss" }).click();
  await page.locator(".invitation").waitFor({ state: "detached" });
});

shopJourney("rule follows the visitor's first message", async (shop) => {
  const text = "We are looking for an agent.";
  const page = await openWithRules(shop, [
    rule(
      "late",
      [["time_after_first_message", "greater", 30]],
      "system_message",
      { message: text },
    ),
  ]);
  await page.clock.runFor(40_000);
  await openWindow(page);
  assert.equal(await isShown(page, text), false);
  await write(page, "Hello");
  await waitForSent(page, "Hello");
  await page.clock.runFor(32_000);
  await page.getByText(text).waitFor();
});

shopJourney(
  "rule counts the time on the site over several pages",
  async (shop) => {
    const page = await openWithRules(shop, [
      invite("Still here?", ["time_on_site", "greater", 120]),
    ]);
    // Once the window has been opened, the widget may store data, such as the start of the visit.
    await openWindow(page);
    await closeWindow(page);
    await page.clock.runFor(45_000);
    await visitSecond(shop, page);
    await page.clock.runFor(5_000);
    assert.equal(await isShown(page, "Still here?"), false);
    await page.clock.runFor(75_000);
    await page.getByText("Still here?", { exact: true }).waitFor();
  },
);

shopJourney(
  "ignored invitation counts on the next page of the tab",
  async (shop) => {
    const page = await openWithRules(shop, [
      invite(
        "Need help?",
        ["time_on_page", "greater", 5],
        ["time_after_invitation", "greater", 180],
      ),
      invite("Still here?", ["time_on_site", "greater", 120]),
    ]);
    await page.clock.runFor(10_000);
    await page.getByText("Need help?", { exact: true }).waitFor();
    await visitSecond(shop, page);
    await page.clock.runFor(20_000);
    assert.equal(await isShown(page, "Need help?"), false);
    assert.equal(await page.evaluate(() => localStorage.length), 0);
    await page.clock.runFor(100_000);
    await page.getByText("Still here?", { exact: true }).waitFor();
  },
);

shopJourney(
  "rule opens the offline form while nobody is online",
  async (shop) => {
    const page = await openWithRules(shop, [
      rule(
        "away",
        [
          ["online", "", false],
          ["page_url", "not_contain", "/checkout"],
        ],
        "open_offline",
        { title: "We sleep", message: "Write to us." },
      ),
    ]);
    await heading(page, "We sleep");
    await page.getByText("Write to us.").waitFor();
  },
  { presence: "offline" },
);

shopJourney("empty list of rules switches all rules off", async (shop) => {
  const page = await openWithRules(shop, [
    invite("Too late", ["time_on_page", "greater", 60]),
  ]);
  assert.deepEqual(await api(page, "setRules", []), { result: "ok" });
  await page.clock.runFor(80_000);
  assert.equal(await isShown(page, "Too late"), false);
});

shopJourney(
  "rule shows the call form once a day",
  async (shop) => {
    // The day must not end during the test.
    const noon = new Date();
    noon.setUTCHours(12, 0, 0, 0);
    const rules = [
      rule("call", [["time_on_page", "greater", 60]], "show_callform", {
        once_aday: true,
        title: "Shall we call you?",
      }),
    ];
    const page = await openWithRules(shop, rules, noon);
    await page.clock.runFor(15_000);
    assert.equal(await page.getByRole("dialog").isVisible(), false);
    await page.clock.runFor(50_000);
    await heading(page, "Shall we call you?");
    assert.deepEqual((await called(page)).at(-1), "onChangeState call");
    await closeWindow(page);

    await visitSecond(shop, page);
    await page.clock.runFor(65_000);
    assert.equal(await page.getByRole("dialog").isVisible(), false);
    await page.clock.fastForward("24:00:00");
    await visitSecond(shop, page);
    await page.clock.runFor(65_000);
    await heading(page, "Shall we call you?");
  },
  { telephony: true },
);

for (const [name, options] of [
  ["disabled", {}],
  ["not possible now", { telephony: true, presence: "offline" }],
])
  shopJourney(
    `rule shows no call form while callbacks are ${name}`,
    async (shop) => {
      const page = await openWithRules(shop, [
        rule("call", [["time_on_page", "greater", 1]], "show_callform", {
          title: "Shall we call you?",
        }),
        rule("late", [["time_on_page", "greater", 5]], "open_offline", {
          title: "Too late",
          message: "",
        }),
      ]);
      await page.clock.runFor(3000);
      await page.clock.runFor(3000);
      await page.getByRole("dialog").waitFor();
      assert.equal((await called(page)).includes("onChangeState call"), false);
    },
    options,
  );
