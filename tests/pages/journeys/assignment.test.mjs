/* Tests of automatic assignment in the console: the settings, an offer, and the mark of a due answer. */

import assert from "node:assert/strict";
import { axeViolations } from "../support/browser.mjs";
import {
  chatRow,
  journey,
  openChat,
  sendMessage,
  useBrowser,
} from "../support/console.mjs";
import { addWidget, composer, openWindow, Shop } from "../support/shop.mjs";
import { waitFor } from "../support/wait.mjs";

useBrowser();

const save = (page) => page.getByRole("button", { name: "Save" }).click();

/** The visitor writes until the chat has a time limit: functions may use settings for ten seconds after a change. */
async function waitForTimeLimit(account, visitor) {
  let writtenAt = 0;
  await waitFor("a time limit", async () => {
    if (Date.now() - writtenAt > 1000) {
      writtenAt = Date.now();
      await visitor.say("Is anybody there?");
    }
    return (await account.admin.get(`/agent/chats/${visitor.chatId}`))
      .answer_due;
  });
}

journey("assignment and time limits are edited", async ({ account, open }) => {
  const page = await open(account.admin, { hash: "#/settings" });
  await page.getByRole("switch", { name: /^Assign chats/ }).check();
  await page
    .getByLabel("Who gets a waiting chat")
    .selectOption({ label: "In turn" });
  await page.getByLabel("Chats of an agent at a time").fill("0");
  await page.getByLabel("Seconds until the next agent").fill("20");
  await page.getByRole("switch", { name: /^Time limits for answers/ }).check();
  await page.getByLabel(/^Seconds to each next answer/).fill("");
  await save(page);
  await page.getByText("Enter a whole number from 1 to 1,000.").waitFor();
  await page.getByLabel("Chats of an agent at a time").fill("3");
  assert.deepEqual(await axeViolations(page), []);
  await save(page);
  await page.getByText("Saved.").waitFor();
  const { assignment, answer_times } =
    await account.admin.get("/admin/settings");
  assert.deepEqual(assignment, {
    mode: "round_robin",
    capacity: 3,
    offer_seconds: 20,
  });
  assert.deepEqual(answer_times, {
    first_answer_seconds: 120,
    next_answer_seconds: null,
  });
});

journey(
  "offered chat counts down, is declined and accepted after all",
  async ({ account, open }) => {
    await account.admin.put("/admin/settings", {
      assignment: { mode: "round_robin", offer_seconds: 300 },
      answer_times: { first_answer_seconds: 10 },
    });
    const page = await open();
    await account.admin.put("/agent/presence", { status: "online" });
    const amara = await account.openChat("Amara Kone");
    await waitForTimeLimit(account, amara);
    await chatRow(page, "Amara Kone")
      .getByText(/^For you: [45]:\d\d/)
      .waitFor();
    await openChat(page, "Amara Kone");
    await page.getByRole("button", { name: /^Decline/ }).click();
    // Nobody else is online, so the chat is open to everyone.
    await page
      .getByRole("button", { name: /^Decline/ })
      .waitFor({ state: "detached" });
    await chatRow(page, "Amara Kone")
      .getByText(/^For you/)
      .waitFor({ state: "detached" });
    await chatRow(page, "Amara Kone")
      .getByText(/^Answer (due in|overdue)/)
      .waitFor();
    assert.deepEqual(await axeViolations(page), []);
    await page.getByRole("button", { name: /^Accept/ }).click();
    await sendMessage(page, "Here I am");
    await chatRow(page, "Amara Kone")
      .getByText(/^Answer /)
      .waitFor({ state: "detached" });
    const { state } = await account.admin.get(`/agent/chats/${amara.chatId}`);
    assert.equal(state, "active");
  },
);

/** A chat gets its place in the queue after it has been opened. If the widget has read its session before, it reads it
    again after a minute. */
const PLACE_TIMEOUT = { timeout: 90_000 };

journey("visitor sees the place in the queue", async (context) => {
  const { admin } = context.account;
  await admin.put("/admin/settings", {
    assignment: { mode: "round_robin", capacity: 1 },
  });
  await admin.setPresence("online");
  const amara = await context.account.openChat("Amara Kone");
  const isActive = async () =>
    (await admin.get(`/agent/chats/${amara.chatId}`)).state === "active";
  await waitFor("an agent for Amara", isActive);
  await context.account.openChat("Bo Lind");
  const shop = await Shop.start({
    ...context,
    widget: await addWidget(context),
  });
  const visitor = await shop.open();
  await openWindow(visitor);
  await composer(visitor).fill("Hello");
  await composer(visitor).press("Enter");
  const place = (number) =>
    visitor.getByText(`Your place in the queue: ${number}`);
  await place(2).waitFor(PLACE_TIMEOUT);
  await admin.post(`/agent/chats/${amara.chatId}/close`);
  await place(1).waitFor(PLACE_TIMEOUT);
});
