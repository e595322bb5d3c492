/* How the widget stays connected in Chromium: lost and blocked sockets, tabs, locks and the browser's back/forward
   cache. */

import assert from "node:assert/strict";
import { stopClock } from "../support/console-page.mjs";
import { fail, heldRequest } from "../support/failures.mjs";
import {
  api,
  bubbles,
  closeWindow,
  loadEarlier,
  openWindow,
  shopJourney,
  unreadLabel,
  useEmbeddingBrowser,
  waitForSent,
  write,
} from "../support/shop.mjs";
import { html } from "../support/site.mjs";
import { waitFor } from "../support/wait.mjs";

useEmbeddingBrowser({ keepsPages: true });

const LATER = "Messages may arrive a little later.";

/** Opens a second tab of the page's browser. */
async function openTab(shop, page, path = "/") {
  const tab = await page.context().newPage();
  await tab.goto(shop.site.url + path);
  return tab;
}

shopJourney("one tab reads for all if the socket is blocked", async (shop) => {
  const network = await shop.addNetwork();
  network.cutSockets();
  const page = await shop.open(network.contextOptions);
  await openWindow(page);
  await write(page, "Hello");
  await shop.accept();
  await page.getByText(LATER).waitFor();
  const second = await openTab(shop, page, "/second");
  await second.getByText(LATER).waitFor();
  const sessionPaths = (start) =>
    shop
      .requestsTo("session")
      .slice(start)
      .map(({ body }) => new URL(body.page.url).pathname);
  let start = shop.requestsTo("session").length;
  await shop.answer("For both");
  for (const tab of [page, second]) await tab.getByText("For both").waitFor();
  await waitFor("more requests", () => sessionPaths(start).length >= 3);
  assert.ok(sessionPaths(start).every((path) => path === "/"));

  start = shop.requestsTo("session").length;
  await page.close();
  await second.bringToFront();
  await waitFor("a request of the second tab", () =>
    sessionPaths(start).includes("/second"),
  );
});

shopJourney(
  "message is sent although the browser refuses locks",
  async (shop) => {
    const page = await shop.open({
      prepare: (page) =>
        page.addInitScript(() => {
          navigator.locks.request = () =>
            Promise.reject(new DOMException("blocked", "SecurityError"));
        }),
    });
    await shop.startChat(page);
  },
);

/** Follows a link from the page to `path`. */
async function leave(page, path) {
  await page.evaluate((path) => {
    const link = document.createElement("a");
    link.href = path;
    link.textContent = "Leave the page";
    document.querySelector("main").append(link);
  }, path);
  await page.getByText("Leave the page").click();
}

/** Follows a link from the page and goes back. Returns the reasons for which the browser has not kept the page. */
async function leaveAndReturn(page) {
  await leave(page, "/second");
  await page.waitForURL("**/second");
  await page.goBack({ waitUntil: "commit" });
  await page.waitForURL((url) => url.pathname === "/");
  return page.evaluate(() =>
    performance
      .getEntriesByType("navigation")[0]
      .notRestoredReasons.reasons.map(({ reason }) => reason),
  );
}

shopJourney(
  "widget with a socket does not keep the page out of the browser's cache",
  async (shop) => {
    const page = await shop.open();
    await shop.startChat(page);
    await closeWindow(page);
    const reasons = await leaveAndReturn(page);
    // The debugger that drives the browser keeps out every page.
    shop.site.set("*", html({ body: "<main>Empty</main>" }));
    const empty = await shop.open({ isLoading: true });
    assert.deepEqual(reasons, await leaveAndReturn(empty));
  },
);

shopJourney(
  "widget connects again if a link did not leave the page",
  async (shop) => {
    const page = await shop.open();
    await shop.startChat(page);
    await closeWindow(page);
    let sockets = 0;
    page.on("websocket", () => sockets++);
    await page.route("**/nothing", (route) => route.fulfill({ status: 204 }));
    await leave(page, "/nothing");
    await shop.answer("Still here?");
    await unreadLabel(page, 1).waitFor();
    await waitFor("a socket", () => sockets === 1);
  },
);

shopJourney(
  "page from the browser's cache reads what it missed",
  async (shop) => {
    const page = await shop.open({ visitor: await shop.addChat("Hello") });
    const dispatch = (type) =>
      page.evaluate(
        (type) =>
          dispatchEvent(new PageTransitionEvent(type, { persisted: true })),
        type,
      );
    let sockets = 0;
    page.on("websocket", () => sockets++);
    await dispatch("pagehide");
    await shop.answer("Meanwhile");
    await dispatch("pageshow");
    await unreadLabel(page, 1).waitFor();
    await waitFor("a socket", () => sockets > 0);
  },
);

shopJourney(
  "message written without network is sent once, with the same id",
  async (shop) => {
    const page = await shop.open();
    await openWindow(page);
    await write(page, "First");
    await waitForSent(page, "First");
    await page.context().setOffline(true);
    await write(page, "Second");
    await page.getByText("Sending…").waitFor();
    await page.context().setOffline(false);
    await waitForSent(page, "Second");
    await page.reload();
    await page.waitForFunction(
      () => window.widget_api?.chatMode() === "online",
    );
    const ids = shop.requestsTo("message").map(({ body }) => body.message_id);
    assert.equal(new Set(ids).size, 2);
    await shop.accept();
    assert.deepEqual(await shop.admin.texts(shop.chatId), ["First", "Second"]);
  },
);

shopJourney(
  "response that was lost does not repeat the message",
  async (shop) => {
    const page = await shop.open();
    let isLost = false;
    await page.route("**/message", async (route) => {
      if (isLost) return route.fallback();
      isLost = true;
      await route.fetch();
      await route.abort();
    });
    await openWindow(page);
    await write(page, "Hello");
    await waitForSent(page, "Hello");
    const [one, other] = shop
      .requestsTo("message")
      .map(({ body }) => body.message_id);
    assert.equal(one, other);
    await shop.accept();
    assert.deepEqual(await shop.admin.texts(shop.chatId), ["Hello"]);
  },
);

shopJourney(
  "tab that starts gets what arrived after its session was read",
  async (shop) => {
    const page = await shop.open();
    await shop.startChat(page);
    const second = await page.context().newPage();
    const session = heldRequest(second, "**/session");
    await second.goto(shop.site.url);
    const route = await session;
    const response = await route.fetch();
    await shop.answer("In between");
    await page.getByText("In between").waitFor();
    await route.fulfill({ response });
    await second.getByText("In between").waitFor();
  },
);

shopJourney(
  "lost socket reconnects and reads what was missed",
  async (shop) => {
    const network = await shop.addNetwork();
    const page = await shop.open(network.contextOptions);
    await shop.startChat(page);
    // A test on a slow machine could miss the words if the socket were opened again at once.
    network.cutSockets();
    await page.getByText("Messages may arrive").waitFor();
    network.restore();
    await shop.answer("Missed");
    await page.getByText("Missed").waitFor();
    await page.getByText("Messages may arrive").waitFor({ state: "detached" });
  },
);

shopJourney("missed answer before an own message appears", async (shop) => {
  const network = await shop.addNetwork();
  const page = await shop.open(network.contextOptions);
  await shop.startChat(page);
  network.cutSockets();
  await page.getByText("Messages may arrive").waitFor();
  // The page reads no answer until the socket is open again.
  const restore = await fail(page, "**/session");
  await shop.answer("Missed");
  await write(page, "Are you there?");
  await waitForSent(page, "Are you there?");
  await restore();
  network.restore();
  await page.getByText("Missed", { exact: true }).waitFor();
  assert.deepEqual(await bubbles(page), ["Hello", "Missed", "Are you there?"]);
});

shopJourney(
  "more missed messages than a session contains can be loaded",
  async (shop) => {
    const network = await shop.addNetwork();
    const page = await shop.open(network.contextOptions);
    await shop.startChat(page);
    network.cutSockets();
    const restore = await fail(page, "**/session");
    const missed = Array.from({ length: 55 }, (_, i) => `Missed ${i + 1}`);
    for (const text of missed) await shop.answer(text);
    await write(page, "Are you there?");
    await waitForSent(page, "Are you there?");
    await restore();
    network.restore();
    await page.getByText("Missed 55", { exact: true }).waitFor();
    assert.equal(await page.getByText("Missed 1", { exact: true }).count(), 0);
    await loadEarlier(page);
    await page.getByText("Missed 1", { exact: true }).waitFor();
    assert.deepEqual(await bubbles(page), [
      "Hello",
      ...missed,
      "Are you there?",
    ]);
  },
);

shopJourney(
  "session is read rarely while the window is closed",
  async (shop) => {
    const network = await shop.addNetwork();
    network.cutSockets();
    const page = await shop.open({
      ...network.contextOptions,
      isLoading: true,
      prepare: (page) => page.clock.install(),
    });
    await openWindow(page);
    await write(page, "Hello");
    await waitForSent(page, "Hello");
    await page.getByText("Messages may arrive").waitFor();
    await stopClock(page);
    // After a message of the visitor, the session is read often again.
    await write(page, "Anybody?");
    await page.clock.runFor(1000);
    await waitForSent(page, "Anybody?");
    const requests = async (seconds, step) => {
      const before = shop.requestsTo("session").length;
      for (let second = 0; second < seconds; second += step) {
        await page.clock.runFor(1000 * step);
        // Lets the responses arrive before the clock goes on.
        await page.evaluate(() => fetch("/").then(() => true));
        await waitFor("the responses", () => shop.pending === 0);
      }
      return shop.requestsTo("session").length - before;
    };
    const opened = await requests(60, 1);
    assert.ok(opened >= 4 && opened <= 6, `${opened} requests while open`);
    await page.keyboard.press("Escape");
    await requests(35, 5);
    const closed = await requests(300, 5);
    assert.ok(closed >= 1 && closed <= 4, `${closed} requests while closed`);
  },
);

shopJourney("mode is read again when the page asks for it", async (shop) => {
  const page = await shop.open({ prepare: (page) => page.clock.install() });
  await page.clock.runFor(5000);
  await page.clock.runFor(300_000);
  const { length } = shop.requestsTo("session");
  assert.ok(length <= 1, "nobody needs the mode");
  await shop.admin.setPresence("offline");
  assert.equal(await api(page, "chatMode"), "online");
  await page.waitForFunction(() => widget_api.chatMode() === "offline");
  assert.equal(shop.requestsTo("session").length, length + 1);
  await shop.admin.setPresence("online");
  await page.clock.runFor(61_000);
  await page.waitForFunction(() => widget_api.chatMode() === "online");
  assert.equal(shop.requestsTo("session").length, length + 2);
});
