/* Phone calls on both sides: what the visitor and the agent see of a call, whose progress a gateway reports. */

import assert from "node:assert/strict";
import { host, request } from "../support/account.mjs";
import { axeViolations } from "../support/browser.mjs";
import { journey, openChat, useBrowser } from "../support/console.mjs";
import { addWidget, prepareAccount, Shop } from "../support/shop.mjs";
import { waitFor } from "../support/wait.mjs";

useBrowser();

const RECORDING_URL = "https://gateway.example/recording.mp3";
const ENDED = { duration: 8, record_url: RECORDING_URL };

/** Opens a shop with a widget, as a visitor with this name. `answer` is that of a bot, which the widget has if it is
    set. */
async function openShop(context, name, { answer } = {}) {
  const widget = await addWidget(context);
  if (answer) await context.account.addBot(widget, answer);
  const shop = await Shop.start({ ...context, widget });
  const page = await shop.open();
  await page.evaluate((name) => {
    window.widget_api.setContactInfo({ name });
    window.widget_onCallEnd = (result) => (window.callEnd = result);
  }, name);
  return page;
}

/** Runs a journey with an account that has a gateway. */
const callJourney = (name, run) =>
  journey(
    name,
    async (context) => {
      await prepareAccount(context.account, { telephony: true });
      await run(context);
    },
    { hasChannel: false, agents: [] },
  );

const isCallbackEnabled = (page) =>
  page.evaluate(
    () => new Promise((done) => window.widget_api.isCallbackEnabled(done)),
  );
const askForCall = async (page, phone) => {
  await page.evaluate(() => window.widget_api.open({ start: "call" }));
  await page.getByLabel("Phone").fill(phone);
  await page.getByRole("button", { name: "Call me now" }).click();
};
const heading = (page, name) => page.getByRole("heading", { name }).waitFor();
const callEnd = (page) =>
  page.waitForFunction(() => window.callEnd).then((end) => end.jsonValue());
const banner = (page) => page.locator(".call-banner");
const card = (page) => page.locator(".call-card");

callJourney("visitor asks for a callback, and is called", async (context) => {
  const { account } = context;
  const desk = await context.open();
  const shop = await openShop(context, "Ida Callback");
  assert.deepEqual(await isCallbackEnabled(shop), { result: "ok" });
  await askForCall(shop, "+31 6 12 34 56 78");
  await heading(shop, "We are calling an agent");
  await banner(desk).getByText("Ida Callback").waitFor();
  const call = await account.orderedCall();
  await call.report("agent_connected");
  await heading(shop, "Your phone is ringing");
  await call.report("client_connected");
  await heading(shop, "You are connected");
  assert.deepEqual(await isCallbackEnabled(shop), {
    result: "fail",
    reason: "Callback unavaiable",
  });
  await banner(desk).getByRole("button", { name: "Open chat" }).click();
  await card(desk).getByText("You are talking").waitFor();
  for (const scheme of ["light", "dark"]) {
    await desk.emulateMedia({ colorScheme: scheme });
    assert.deepEqual(await axeViolations(desk), [], scheme);
  }
  await call.report("end", ENDED);
  await heading(shop, "The call has ended");
  assert.deepEqual(await callEnd(shop), { result: "ok" });
  const called = await shop.evaluate(() => window.called);
  assert.equal(called.filter((name) => name === "onCallStart").length, 1);

  await card(desk).getByText("Ended after 0:08").waitFor();
  await banner(desk).waitFor({ state: "detached" });
  const recording = desk.getByLabel("Recording");
  assert.equal(await recording.getAttribute("src"), RECORDING_URL);
  const visitor = desk.getByRole("region", { name: "Calls" });
  await visitor.getByText("Ended after 0:08").waitFor();
});

callJourney("busy number is explained to both sides", async (context) => {
  const desk = await context.open();
  const shop = await openShop(context, "Bo Busy", { answer: () => [] });
  await askForCall(shop, "+31 6 12 34 56 78");
  const call = await context.account.orderedCall();
  await call.report("error", { reason: "busy" });
  await heading(shop, "The call has failed");
  assert.deepEqual(await callEnd(shop), { result: "fail", reason: "busy" });
  // A call opens a chat with the bot of the widget.
  await desk.getByRole("tab", { name: "Bot" }).click();
  await openChat(desk, "Bo Busy");
  await card(desk).getByText("Busy", { exact: true }).waitFor();
  await shop.getByRole("button", { name: "Call again" }).click();
  await shop.getByLabel("Phone").waitFor();
});

callJourney("agent calls a visitor", async (context) => {
  const { account } = context;
  const shop = await openShop(context, "Vera Visitor");
  await shop.getByRole("button", { name: "Open chat" }).click();
  await shop.getByRole("textbox").fill("I want a human");
  await shop.keyboard.press("Enter");
  const { chat_id } = await waitFor("the chat", () =>
    account.admin.chatOf("Vera Visitor"),
  );
  await account.admin.accept(chat_id);
  const desk = await context.open();
  await openChat(desk, "Vera Visitor");
  await desk.getByRole("button", { name: "Call the visitor" }).click();
  const button = desk.getByRole("dialog").getByRole("button", { name: "Call" });
  await desk.getByLabel("Phone number").fill("12");
  await button.click();
  await desk.locator("#call-phone-problem").waitFor();
  await desk.getByLabel("Phone number").fill("020 795 0126");
  await button.click();
  const call = await account.orderedCall();
  await call.report("agent_connected");
  await card(desk).getByText("Calling the visitor").waitFor();
  await card(desk).getByText("+31207950126").waitFor();
  await call.report("client_connected");
  await call.report("end", ENDED);
  await card(desk).getByText("Ended after 0:08").waitFor();
  const called = await shop.evaluate(() => window.called);
  assert.equal(called.includes("onCallStart"), false);
});

journey("admin sets up a gateway and removes it", async (context) => {
  const { account, open } = context;
  const shop = await openShop(context, "Otto Off");
  assert.deepEqual(await isCallbackEnabled(shop), {
    result: "fail",
    reason: "Callback disabled",
  });

  const page = await open(account.admin, { hash: "#/telephony" });
  await page.getByText("No minutes are left.").waitFor();
  await page.getByLabel("Address of the gateway").fill(`${host.base_url}/x`);
  const save = page.getByRole("button", { name: "Save" });
  await save.click();
  await page.getByText("Enter a secret, or create one.").waitFor();
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByLabel("Your number").fill("123");
  await save.click();
  await page.locator("#number-problem").waitFor();
  await page.getByLabel("Your number").fill("+31 20 123 45 67");
  await page.getByLabel("Callers who are not known").selectOption("Shop");
  await save.click();
  await page.getByText("Saved.").waitFor();
  const created = page.getByRole("dialog", { name: "The signing secret" });
  await created.getByText(/^whsec_/).waitFor();
  await created.getByRole("button", { name: "Done" }).click();
  const { telephony, incoming_url } =
    await account.admin.get("/admin/telephony");
  assert.equal(telephony.number, "+31201234567");
  assert.ok(telephony.channel_id);
  await page.getByText(incoming_url).waitFor();
  await page.getByLabel("Countries").fill("nl, Belgium");
  await save.click();
  await page.locator("#countries-problem").waitFor();
  await page.getByLabel("Countries").fill("nl, be");
  await page.getByLabel("Callbacks in a day").fill("20");
  const stored = page.waitForResponse(
    (response) => response.request().method() === "PATCH",
  );
  await save.click();
  await stored;
  const changed = (await account.admin.get("/admin/telephony")).telephony;
  assert.deepEqual(changed.countries, ["BE", "NL"]);
  assert.equal(changed.callbacks_per_day, 20);
  for (const scheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: scheme });
    assert.deepEqual(await axeViolations(page), [], scheme);
  }
  const lock = (locked) =>
    request(
      "PATCH",
      `/operator/accounts/${account.id}/telephony`,
      { locked },
      host.operator_key,
    );
  await lock(true);
  await page.reload();
  await page.getByText("The operator of this service manages").waitFor();
  assert.ok(await page.getByLabel("Your number").isDisabled());
  assert.equal(await page.getByRole("button", { name: /Remove/ }).count(), 0);
  for (const scheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: scheme });
    assert.deepEqual(await axeViolations(page), [], scheme);
  }
  await lock(false);
  await page.reload();
  await page.getByRole("button", { name: "Remove the provider…" }).click();
  await page.getByRole("button", { name: "Remove", exact: true }).click();
  await page.getByText("The provider was removed.").waitFor();
  assert.equal(await page.getByLabel("Your number").inputValue(), "");
  const { telephony: removed } = await account.admin.get("/admin/telephony");
  assert.equal(removed, null);
});
