/* How an agent is notified while no tab shows the console. */

import assert from "node:assert/strict";
import { host } from "../support/account.mjs";
import { journey, useBrowser, waitUntilLive } from "../support/console.mjs";
import { PushService } from "../support/push-service.mjs";
import { waitFor } from "../support/wait.mjs";

useBrowser();

/** Allows notifications, and gives the page this subscription instead of one of the browser's vendor, whose push
    service tests cannot reach. */
const useSubscription = (subscription) => {
  Notification.requestPermission = async () => "granted";
  Object.defineProperty(Notification, "permission", { value: "granted" });
  PushManager.prototype.subscribe = async () => ({
    toJSON: () => subscription,
  });
};

/** Returns a function that gives a notification to the page's service worker, as the browser does, and returns when the
    worker has handled it. */
async function deliveryTo(page, worker) {
  const { origin } = new URL(page.url());
  const session = await page.context().newCDPSession(page);
  let registrationId;
  session.on("ServiceWorker.workerRegistrationUpdated", (event) => {
    registrationId = event.registrations.at(-1)?.registrationId;
  });
  await session.send("ServiceWorker.enable");
  await waitFor("the service worker", () => registrationId !== undefined);
  const handled = () => worker.evaluate(() => self.handled);
  return async (notification) => {
    const before = await handled();
    const data = JSON.stringify(notification);
    const message = { origin, registrationId, data };
    await session.send("ServiceWorker.deliverPushMessage", message);
    await waitFor(
      "the handled notification",
      async () => (await handled()) > before,
    );
  };
}

/** Records the notifications of a service worker, because a browser without windows shows none, and counts the pushes
    that it has handled. */
const recordNotifications = (worker) =>
  worker.evaluate(() => {
    self.shown = [];
    self.handled = 0;
    const { waitUntil } = ExtendableEvent.prototype;
    ExtendableEvent.prototype.waitUntil = function (work) {
      waitUntil.call(this, work);
      work.finally(() => self.handled++);
    };
    self.registration.showNotification = async (title, { body, tag }) => {
      self.shown.push({ title, body, tag });
    };
    const close = (tag) =>
      (self.shown = self.shown.filter((other) => other.tag !== tag));
    self.registration.getNotifications = async ({ tag }) =>
      self.shown
        .filter((notification) => notification.tag === tag)
        .map(() => ({ close: () => close(tag) }));
  });

journey(
  "agent without a console is notified until the chat is answered",
  async ({ account, open }) => {
    const pushService = await PushService.start();
    try {
      const amara = await account.openAcceptedChat("Amara Kone");
      const page = await open(account.admin, { serviceWorkers: "allow" });
      await page
        .context()
        .addInitScript(useSubscription, pushService.subscription);
      await page.reload();
      await waitUntilLive(page);
      await page.locator(".rail .me").click();
      const toggle = page.getByRole("menuitemcheckbox", {
        name: "Notify me when closed",
      });
      await toggle.click();
      await waitFor("the toggle", async () => {
        return (await toggle.getAttribute("aria-checked")) === "true";
      });
      const worker = await waitFor(
        "the service worker",
        () => page.context().serviceWorkers()[0],
      );
      await recordNotifications(worker);
      const shown = () => worker.evaluate(() => self.shown);
      const deliver = await deliveryTo(page, worker);
      await amara.say("While the console is open");
      await deliver(await pushService.waitFor("message"));
      assert.deepEqual(await shown(), []);
      // Another page of the same origin does not count as a console.
      await page.goto(`${host.base_url}/reference`);
      await amara.say("Anybody there?");
      const pushed = await waitFor("the second notification", () =>
        pushService.notifications.find(({ text }) => text === "Anybody there?"),
      );
      await deliver(pushed);
      await waitFor("the notification", async () => (await shown()).length);
      const expected = { title: "Amara Kone", body: "Anybody there?" };
      const tag = `chat-${amara.chatId}`;
      assert.deepEqual(await shown(), [{ ...expected, tag }]);
      await account.admin.send(amara.chatId, "Yes");
      await deliver(await pushService.waitFor("withdraw"));
      await waitFor("the withdrawal", async () => {
        return (await shown()).length === 0;
      });
    } finally {
      pushService.close();
    }
  },
);
