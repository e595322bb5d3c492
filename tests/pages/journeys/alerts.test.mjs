/* How an agent is alerted to new messages while the page is hidden. */

import assert from "node:assert/strict";
import {
  bubble,
  journey,
  openChat,
  useBrowser,
  waitUntilLive,
} from "../support/console.mjs";

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
