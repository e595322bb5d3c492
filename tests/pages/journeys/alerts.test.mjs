/* How an agent is alerted while the page is hidden, or while the agent looks at something else. */

import assert from "node:assert/strict";
import {
  bubble,
  chatRow,
  journey,
  openChat,
  openSection,
  pressShortcut,
  sendMessage,
  useBrowser,
  waitForChat,
  waitForDelivered,
  waitUntilLive,
} from "../support/console.mjs";
import { ok, rejection } from "../support/receiver.mjs";

useBrowser();

/** Replaces the browser's notifications with a class that records them, and counts the tones that the page plays. */
const recordNotifications = () => {
  window.recorded = { permissionRequests: 0, notifications: [], tones: 0 };
  window.Notification = class {
    static permission = "default";
    static requestPermission = async () => (
      window.recorded.permissionRequests++,
      (window.Notification.permission = "granted")
    );
    constructor(title, { body, tag }) {
      window.recorded.notifications.push({ title, body, tag });
    }
    close() {}
  };
  const create = AudioContext.prototype.createOscillator;
  AudioContext.prototype.createOscillator = function () {
    window.recorded.tones++;
    return create.call(this);
  };
};

journey(
  "agent with a hidden tab is notified as permitted",
  async ({ account, open }) => {
    const amara = await account.openAcceptedChat("Amara Kone");
    const page = await open();
    await page.context().addInitScript(recordNotifications);
    await page.reload();
    await waitUntilLive(page);
    await openChat(page, "Amara Kone");
    await amara.say("Seen");
    await bubble(page, "Seen").waitFor();
    await page.evaluate(() => {
      const values = { hidden: true, visibilityState: "hidden" };
      for (const [name, value] of Object.entries(values))
        Object.defineProperty(document, name, { configurable: true, value });
      document.dispatchEvent(new Event("visibilitychange"));
    });
    const recorded = () => page.evaluate(() => window.recorded);
    await amara.say("First");
    await page.waitForFunction(() => window.recorded.tones > 0);
    assert.equal((await recorded()).permissionRequests, 0);
    assert.deepEqual((await recorded()).notifications, []);
    assert.match(
      await page.locator("link[rel=icon]").getAttribute("href"),
      /icon-dot/,
    );
    await page.locator(".rail .me").click();
    await page
      .getByRole("menuitemcheckbox", { name: "Desktop notifications" })
      .click();
    await page.getByRole("menuitemcheckbox", { name: "Sound" }).click();
    await page.keyboard.press("Escape");
    const { tones } = await recorded();
    await amara.say("Second");
    await page.waitForFunction(() => window.recorded.notifications.length > 0);
    assert.deepEqual(await recorded(), {
      permissionRequests: 1,
      notifications: [
        { title: "Amara Kone", body: "Second", tag: `chat-${amara.chatId}` },
      ],
      tones,
    });
  },
);

/** Returns the name of the rail's link to the inbox, which says what needs attention there. */
const inboxLabel = (page) =>
  page.getByRole("link", { name: /^Inbox/ }).getAttribute("aria-label");

journey(
  "agent who is given a chat is told on any page",
  async ({ account, open }) => {
    const [jonas] = account.agents;
    await jonas.setPresence("online");
    const amara = await account.openAcceptedChat("Amara Kone");
    await account.admin.send(amara.chatId, "I ask my colleague.");
    const page = await open(jonas);
    await page.context().addInitScript(recordNotifications);
    await page.reload();
    await waitUntilLive(page);
    await openSection(page, "Visitors");
    await account.admin.transfer(amara.chatId, { agent_id: jonas.id });
    const toast = page.locator(".toast", {
      hasText: "Marta Lindholm gave you the chat with Amara Kone.",
    });
    await toast.waitFor();
    await page.waitForFunction(() => window.recorded.tones > 0);
    assert.match(await page.title(), /^\(1\)/);
    assert.equal(await inboxLabel(page), "Inbox, 1 of yours unread");
    await toast.getByRole("button", { name: "Open" }).click();
    await waitForChat(page, "Amara Kone");
    // The agent who wrote the last words is not the agent who has the chat now.
    await chatRow(page, "Amara Kone")
      .getByText("Marta: I ask my colleague.")
      .waitFor();
    await page.waitForFunction(() => !document.title.startsWith("("));
    // Chats that the agent accepts do not ring.
    await account.openChat("Priya Raman");
    await openChat(page, "Priya Raman");
    await pressShortcut(page, "a");
    await page.locator(".composer textarea:focus").waitFor();
    await sendMessage(page, "Hello Priya");
    await waitForDelivered(page, "Hello Priya");
    assert.equal(await page.locator(".toast").count(), 0);
  },
);

journey(
  "failed answer alerts its author and is marked in the list until it is delivered",
  async ({ account, open }) => {
    const [jonas] = account.agents;
    const amara = await account.openAcceptedChat("Amara Kone", {
      agent: jonas,
    });
    const { integrator } = account.channel;
    integrator.respond = () => rejection("the number is blocked");
    const page = await open(jonas);
    await openChat(page, "Amara Kone");
    await sendMessage(page, "Your parcel is on its way.");
    await openSection(page, "Visitors");
    const toast = page.locator(".toast", {
      hasText: "Your message to Amara Kone was not delivered.",
    });
    await toast.waitFor();
    await page.reload();
    await waitUntilLive(page);
    await openSection(page, "Inbox");
    const mark = chatRow(page, "Amara Kone").getByText("1 not delivered");
    await mark.waitFor();
    integrator.respond = () => ok();
    const failed = (await jonas.timeline(amara.chatId)).find(
      ({ delivery }) => delivery?.state === "failed",
    );
    await jonas.post(
      `/agent/chats/${amara.chatId}/messages/${failed.seq}/retry`,
    );
    await mark.waitFor({ state: "detached" });
  },
);
