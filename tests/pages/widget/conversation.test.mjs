/* The conversation in the widget's window: answers, earlier messages, ratings, offline messages and bots. */

import assert from "node:assert/strict";
import {
  changeResponses,
  fail,
  heldRequest,
  holdRequests,
} from "../support/failures.mjs";
import {
  api,
  bubbles,
  called,
  composer,
  label,
  loadEarlier,
  openWindow,
  shopJourney,
  unreadLabel,
  useEmbeddingBrowser,
  waitForSent,
  write,
} from "../support/shop.mjs";
import { waitFor } from "../support/wait.mjs";

useEmbeddingBrowser();

const identified = (shop) =>
  shop.requestsTo("session").filter(({ body }) => body.identify).length;

shopJourney(
  "earlier messages are loaded at the top of the log",
  async (shop) => {
    const visitor = await shop.addChat("First question");
    for (let number = 1; number <= 60; number++)
      await shop.answer(`Earlier ${number}`);
    await shop.closeChat();
    await visitor.say("Second question");
    const page = await shop.open({ visitor });
    await openWindow(page);
    await loadEarlier(page);
    await page.getByText("Earlier 20", { exact: true }).waitFor();
    // The button has its name again when the log loads more messages.
    const earlier = page.getByRole("button", { name: "Earlier messages" });
    await earlier.waitFor();
    const log = page.getByRole("log");
    const offset = (text) =>
      page
        .getByText(text, { exact: true })
        .evaluate((element) => element.getBoundingClientRect().top);
    await log.evaluate((log) => (log.scrollTop = 300));
    const before = await offset("Earlier 20");
    await log.evaluate((log) => (log.scrollTop = 150));
    await page.getByText("Earlier 1", { exact: true }).waitFor();
    const moved = (await offset("Earlier 20")) - before;
    assert.ok(Math.abs(moved - 150) < 2, `moved by ${moved} px`);
    assert.equal(shop.requestsTo("history").length, 2);
    await log.evaluate((log) => (log.scrollTop = 0));
    await page.getByText("First question", { exact: true }).waitFor();
    await earlier.waitFor({ state: "detached" });
    assert.equal((await bubbles(page)).length, 62);
  },
);

shopJourney(
  "earlier messages that could not be loaded are asked for again",
  async (shop) => {
    const visitor = await shop.addChat("First question");
    await shop.closeChat();
    await visitor.say("Second question");
    const page = await shop.open({ visitor });
    const restore = await fail(page, "**/history");
    await openWindow(page);
    await page.getByRole("button", { name: "Earlier messages" }).press("Enter");
    await page.getByText("These messages could not be loaded.").waitFor();
    await restore();
    await page.getByRole("button", { name: "Try again" }).press("Enter");
    await page.getByText("First question", { exact: true }).waitFor();
  },
);

shopJourney(
  "failed rating does not change that of the next chat",
  async (shop) => {
    const page = await shop.open();
    await shop.startChat(page);
    const rating = heldRequest(page, "**/rating");
    await page.getByRole("button", { name: "Good" }).click();
    const rated = page.locator("[aria-pressed=true]");
    await rated.waitFor();
    await shop.closeChat();
    await page.getByText("The chat has ended").waitFor();
    await write(page, "One more question");
    await shop.accept();
    await rated.waitFor({ state: "detached" });
    const response = page.waitForEvent("requestfinished", (request) =>
      request.url().endsWith("/rating"),
    );
    await (await rating).fulfill({ status: 503, json: { error: {} } });
    await response;
    await shop.answer("Good day");
    await page.getByText("Good day").waitFor();
    assert.equal(await rated.count(), 0);
  },
);

shopJourney(
  "visitor whom an admin has erased is a new visitor",
  async (shop) => {
    const page = await shop.open();
    await shop.startChat(page);
    const { visitor } = await shop.admin.get(`/agent/chats/${shop.chatId}`);
    await shop.admin.delete(`/admin/visitors/${visitor.number}`);
    assert.equal(identified(shop), 1);
    await write(page, "Still me");
    await waitForSent(page, "Still me");
    assert.equal(identified(shop), 2);
  },
);

shopJourney(
  "visitor whom another tab has forgotten starts again",
  async (shop) => {
    const network = await shop.addNetwork();
    const page = await shop.open({
      ...network.contextOptions,
      prepare: (page) => page.clock.install(),
    });
    await shop.startChat(page);
    await page.evaluate(() => localStorage.clear());
    network.breakSockets();
    await waitFor("an empty conversation", async () => {
      await page.clock.runFor(5_000);
      return (await page.getByText("Hello", { exact: true }).count()) === 0;
    });
    assert.equal(await page.getByText("Messages may arrive").count(), 0);
  },
);

shopJourney(
  "text of others stays text, and harmful links stay unlinked",
  async (shop) => {
    const hostile =
      "<img src=x onerror=alert(1)><script>alert(1)</script> [click](javascript:alert(1)) **[go](https://ok.example/)**";
    const messages = [
      { type: "markdown", content: hostile },
      { type: "text", text: hostile, name: "<b>Eve</b>" },
      {
        type: "document",
        file: "javascript:alert(1)",
        file_name: "<i>x</i>",
        file_size: 1,
      },
    ];
    const page = await shop.open({
      visitor: await shop.addChat("Hello"),
      // The service refuses such an address and such a name.
      prepare: (page) =>
        changeResponses(page, "**/session", (session) => {
          const { chat_id, last_seq } = session.chat;
          session.messages = messages.map((message, index) => ({
            seq: last_seq + index,
            chat_id,
            at: 1,
            from: "agent",
            ...message,
          }));
        }),
    });
    await openWindow(page);
    await page.getByText("<script>alert(1)</script>").first().waitFor();
    const found = await page.evaluate(() => {
      const { shadowRoot } = document.querySelector("switchboard-widget");
      return {
        links: [...shadowRoot.querySelectorAll("a")].map(({ href }) => href),
        elements: shadowRoot.querySelectorAll(".log img, .log script, .log i")
          .length,
      };
    });
    const ok = "https://ok.example/";
    assert.deepEqual(found, { links: [ok, ok], elements: 0 });
  },
);

shopJourney(
  "reply time is shown until the first answer",
  async (shop) => {
    const page = await shop.open();
    await openWindow(page);
    await page.getByText("Marta Lindholm and Dmitri Orlov").waitFor();
    await page.getByText("Usually answers in a few hours").waitFor();
    await write(page, "Hello");
    await shop.accept();
    await page.getByText("Usually answers").waitFor();
    await shop.answer("Hi");
    await page.getByText("Hi", { exact: true }).waitFor();
    assert.equal(await page.getByText("Usually answers").count(), 0);
  },
  { settings: { reply_time: "hours" }, agents: ["Dmitri Orlov"] },
);

shopJourney(
  "bot that answers first is introduced before the agents",
  async (shop) => {
    await shop.account.addBot(shop.widget, () => []);
    const page = await shop.open();
    await openWindow(page);
    const names = "Assistant and Marta Lindholm";
    await page.locator("header").getByText(names).waitFor();
    assert.equal(await page.locator(".by b").textContent(), "Northlight");
  },
  { settings: { greeting: "Hello! What are you looking for?" } },
);

shopJourney(
  "bot takes messages while nobody is online",
  async (shop) => {
    await shop.account.addBot(shop.widget, () => []);
    const page = await shop.open();
    await api(page, "open");
    assert.equal(await api(page, "chatMode"), "offline");
    await composer(page).waitFor();
    await page.locator("header").getByText("Assistant").waitFor();
  },
  { presence: "offline" },
);

/** Fills the offline form and sends it. */
async function sendOfflineForm(page) {
  await page.getByLabel("E-mail").fill("amara@shop.example");
  await page.getByRole("textbox", { name: "Message" }).fill("Size 45?");
  await page.getByRole("button", { name: "Send message" }).click();
}

shopJourney(
  "contact data of the offline form is known when the form is sent",
  async (shop) => {
    const page = await shop.open();
    await page.evaluate(() => {
      window.widget_onChangeState = (state) => {
        if (state === "offline/success")
          window.info = widget_api.getContactInfo();
      };
    });
    await api(page, "open");
    await sendOfflineForm(page);
    await page.waitForFunction(() => window.info);
    const { email } = await page.evaluate(() => window.info);
    assert.equal(email, "amara@shop.example");
  },
  { presence: "offline" },
);

shopJourney(
  "offline form and removal call the page's callbacks",
  async (shop) => {
    const page = await shop.open();
    assert.equal(await api(page, "chatMode"), "offline");
    await api(page, "open");
    await sendOfflineForm(page);
    await page.getByText("Thank you").waitFor();
    const [{ body }] = shop.requestsTo("offline-message");
    assert.deepEqual(
      [body.email, body.message],
      ["amara@shop.example", "Size 45?"],
    );
    await page.evaluate(() => widget_destroy());
    await label(page).waitFor({ state: "detached" });
    assert.deepEqual(await called(page), [
      "onLoadCallback",
      "onOpen",
      "onResizeCallback",
      "onChangeState chat",
      "onChangeState offline/success",
      "onWidgetDestroy",
    ]);
  },
  { presence: "offline" },
);

shopJourney(
  "late success of the offline form leaves the chat open",
  async (shop) => {
    const page = await shop.open();
    const release = await holdRequests(page, "**/offline-message");
    await api(page, "open");
    await sendOfflineForm(page);
    await waitFor(
      "the message",
      () => shop.requestsTo("offline-message").length > 0,
    );
    await api(page, "showProactiveInvitation", "Need help?");
    await composer(page).waitFor();
    const before = shop.requestsTo("session").length;
    release();
    await waitFor(
      "a new session",
      () => shop.requestsTo("session").length > before,
    );
    await page.waitForFunction(() => widget_api.getContactInfo().email);
    assert.ok(!(await called(page)).includes("onChangeState offline/success"));
    assert.ok(await composer(page).isVisible());
  },
  { presence: "offline" },
);

shopJourney(
  "answer to an offline message arrives without a reload",
  async (shop) => {
    const page = await shop.open();
    await api(page, "sendOfflineMessage", {
      name: "Amara Kone",
      email: "amara@shop.example",
      message: "Size 45?",
    });
    await shop.accept();
    await shop.answer("In stock again");
    await unreadLabel(page, 1).click();
    await page.getByRole("log").getByText("In stock again").waitFor();
    assert.deepEqual(await bubbles(page), ["Size 45?", "In stock again"]);
  },
  { presence: "offline" },
);
