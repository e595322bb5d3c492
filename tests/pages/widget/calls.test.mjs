/* Callbacks in the widget: the page's functions, the form, and the call's progress, which a gateway reports. */

import assert from "node:assert/strict";
import { fail } from "../support/failures.mjs";
import {
  api,
  called,
  composer,
  heading,
  shopJourney,
  useEmbeddingBrowser,
} from "../support/shop.mjs";

useEmbeddingBrowser();

const OK = { result: "ok" };
const DISABLED = { result: "fail", reason: "Callback disabled" };
const UNAVAILABLE = { result: "fail", reason: "Callback unavaiable" };
const PHONE = "+31 6 12 34 56 78";
const TELEPHONY = { telephony: true };

const isCallbackEnabled = (page) =>
  page.evaluate(
    () => new Promise((done) => widget_api.isCallbackEnabled(done)),
  );
/** Records the argument of widget_onCallEnd, which `called` shows only as text. */
const noteCallEnd = (page) =>
  page.evaluate(() => {
    window.widget_onCallEnd = (result) => (window.callEnd = result);
  });
const callEnd = (page) =>
  page.waitForFunction(() => window.callEnd).then((end) => end.jsonValue());
const submit = (page) => page.getByRole("button", { name: "Call me now" });

/** Asks for a call in the form. */
async function askForCall(page) {
  await api(page, "open", { start: "call" });
  await page.getByLabel("Phone").fill(PHONE);
  await page.keyboard.press("Enter");
}

shopJourney(
  "callback is enabled if the account has a gateway",
  async (shop) => {
    const page = await shop.open();
    assert.deepEqual(await isCallbackEnabled(page), OK);
    assert.deepEqual(await api(page, "startCall", PHONE), OK);
  },
  TELEPHONY,
);

shopJourney(
  "startCall fails at once where callbacks are disabled",
  async (shop) => {
    const page = await shop.open();
    assert.deepEqual(await api(page, "startCall", PHONE), DISABLED);
    assert.deepEqual(await isCallbackEnabled(page), DISABLED);
    await api(page, "open", { start: "call" });
    await composer(page).waitFor();
    assert.equal((await called(page)).at(-1), "onChangeState chat");
    assert.deepEqual(shop.requestsTo("callback"), []);
  },
);

shopJourney(
  "startCall fails at once where no call is possible now",
  async (shop) => {
    const page = await shop.open();
    assert.deepEqual(await api(page, "startCall", PHONE), UNAVAILABLE);
    assert.deepEqual(shop.requestsTo("callback"), []);
    assert.deepEqual(await isCallbackEnabled(page), UNAVAILABLE);
  },
  { ...TELEPHONY, presence: "offline" },
);

shopJourney(
  "call started by the page calls its callbacks",
  async (shop) => {
    const page = await shop.open();
    await noteCallEnd(page);
    assert.deepEqual(await api(page, "startCall", PHONE), OK);
    await page.waitForFunction(() => window.called.includes("onCallStart"));
    assert.deepEqual(
      await api(page, "startCall", PHONE),
      UNAVAILABLE,
      "one call at a time",
    );
    assert.deepEqual(await isCallbackEnabled(page), UNAVAILABLE);
    const call = await shop.account.orderedCall();
    for (const status of ["agent_connected", "client_connected", "end"])
      await call.report(status);
    assert.deepEqual(await callEnd(page), OK);
    const [{ body }, ...others] = shop.requestsTo("call");
    assert.deepEqual([body.phone, body.page.title], [PHONE, "Shop"]);
    // If the call ends before the page has connected, the page repeats the request to read the end.
    for (const other of others)
      assert.equal(other.body.message_id, body.message_id);
    assert.deepEqual(shop.account.gateway.received, [], "one order");
    const starts = (await called(page)).filter(
      (name) => name === "onCallStart",
    );
    assert.equal(starts.length, 1);
    assert.deepEqual(await isCallbackEnabled(page), OK);
  },
  TELEPHONY,
);

shopJourney(
  "page is told why a call has failed",
  async (shop) => {
    const page = await shop.open();
    await noteCallEnd(page);
    await api(page, "startCall", PHONE);
    const call = await shop.account.orderedCall();
    await api(page, "open", { start: "call" });
    const failure = { result: "fail", reason: "no answer from the client" };
    await call.report("error", { reason: failure.reason });
    assert.deepEqual(await callEnd(page), failure);
    await heading(page, "The call has failed");
  },
  TELEPHONY,
);

shopJourney(
  "call that the service refuses ends with its reason",
  async (shop) => {
    const page = await shop.open();
    await noteCallEnd(page);
    await shop.admin.setPresence("offline");
    assert.deepEqual(await api(page, "startCall", PHONE), OK);
    assert.deepEqual(await callEnd(page), UNAVAILABLE);
    assert.equal((await called(page)).includes("onCallStart"), false);
  },
  TELEPHONY,
);

shopJourney(
  "visitor asks for a call in the form",
  async (shop) => {
    const page = await shop.open();
    await api(page, "open", { start: "call" });
    await heading(page, "We call you back");
    const field = page.getByLabel("Phone");
    await submit(page).click();
    await page.getByText("Please fill in this field.").waitFor();
    await field.fill("12");
    await page.keyboard.press("Enter");
    await page.getByText("This number is not complete.").waitFor();
    assert.equal(shop.requestsTo("call").length, 0);
    await field.fill(PHONE);
    await page.keyboard.press("Enter");
    await heading(page, "We are calling an agent");
    const call = await shop.account.orderedCall();
    await call.report("agent_connected");
    await heading(page, "Your phone is ringing");
    await page.getByRole("button", { name: "Write a message" }).click();
    await page.getByText("Your phone is ringing").waitFor();
    await call.report("client_connected");
    await page.getByText("You are connected").waitFor();
    await page.getByRole("button", { name: "Call me back" }).click();
    await heading(page, "You are connected");
    await call.report("end");
    await heading(page, "The call has ended");
    const states = (await called(page)).filter((name) =>
      name.startsWith("onChangeState"),
    );
    // The call has opened a chat.
    assert.deepEqual(states, [
      "onChangeState call",
      "onChangeState chat/call",
      "onChangeState chat",
      "onChangeState chat/call",
    ]);
  },
  TELEPHONY,
);

shopJourney(
  "visitor tries again after a number was refused or nothing answered",
  async (shop) => {
    const page = await shop.open();
    const failOnce = (options) =>
      fail(page, "**/call", { times: 1, ...options });
    await failOnce({ status: 400, field: "phone" });
    await askForCall(page);
    await page.getByText("This was not accepted. Please check it.").waitFor();
    await failOnce({ status: 404 });
    await submit(page).click();
    await page.getByText("No connection. Please try again.").waitFor();
    await submit(page).click();
    await heading(page, "We are calling an agent");
    const ids = shop.requestsTo("call").map(({ body }) => body.message_id);
    assert.equal(ids[2], ids[1], "the second request may have arrived");
  },
  TELEPHONY,
);

shopJourney(
  "call goes on after a reload, and in the other tabs",
  async (shop) => {
    const network = await shop.addNetwork();
    const page = await shop.open(network.contextOptions);
    await askForCall(page);
    await heading(page, "We are calling an agent");
    const call = await shop.account.orderedCall();
    await page.reload();
    await heading(page, "We are calling an agent");
    const other = await page.context().newPage();
    await other.goto(shop.site.url);
    await other.getByText("We are calling an agent").waitFor();
    await call.report("agent_connected");
    for (const tab of [page, other])
      await tab.getByText("Your phone is ringing").first().waitFor();
    // The end arrives while the page has no connection.
    await noteCallEnd(page);
    network.cut();
    await call.report("error", { reason: "busy" });
    network.restore();
    assert.deepEqual(await callEnd(page), { result: "fail", reason: "busy" });
    const ids = shop.requestsTo("call").map(({ body }) => body.message_id);
    assert.equal(new Set(ids).size, 1, "the call was started once");
    assert.equal((await called(page)).includes("onCallStart"), false);
  },
  TELEPHONY,
);
