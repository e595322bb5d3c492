/* How the widget stays connected in Chromium, with a mock of its endpoints: tabs, locks and the browser's back/forward
   cache. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { openWindow, startChat, widgetSite } from "./support/mocked-widget.mjs";
import { waitFor } from "./support/wait.mjs";

const openSite = widgetSite({ keepsPages: true });

const LATER = "Messages may arrive a little later.";
const write = async (page, text) => {
  await page.getByRole("textbox").fill(text);
  await page.keyboard.press("Enter");
};

test("one tab reads for all if the socket is blocked", async () => {
  const { page, context, mock } = await openSite({ refusesSockets: true });
  await openWindow(page);
  await write(page, "Hello");
  await page.getByText(LATER).waitFor();
  const second = await context.newPage();
  await second.goto(`${mock.siteUrl}/second`);
  await second.getByText(LATER).waitFor();
  const sessionUrls = (start) =>
    mock.requests
      .slice(start)
      .filter(({ endpoint }) => endpoint === "session")
      .map(({ body }) => new URL(body.page.url).pathname);
  let start = mock.requests.length;
  mock.pushMessage({ from: "agent", type: "text", text: "For both" });
  for (const tab of [page, second]) await tab.getByText("For both").waitFor();
  await waitFor("more requests", () => sessionUrls(start).length >= 3);
  assert.ok(sessionUrls(start).every((path) => path === "/"));

  start = mock.requests.length;
  await page.close();
  await second.bringToFront();
  await waitFor("a request of the second tab", () =>
    sessionUrls(start).includes("/second"),
  );
  await context.close();
});

test("message is sent although the browser refuses locks", async () => {
  const { page, context, mock } = await openSite(
    {},
    {
      prepare: (page) =>
        page.addInitScript(() => {
          navigator.locks.request = () =>
            Promise.reject(new DOMException("blocked", "SecurityError"));
        }),
    },
  );
  await startChat(page, mock);
  await context.close();
});

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

test("widget with a socket does not keep the page out of the browser's cache", async () => {
  const { page, context, mock } = await openSite();
  await startChat(page, mock);
  const reasons = await leaveAndReturn(page);
  // The debugger that drives the browser keeps out every page.
  const empty = await openSite({ page: () => " " }, { isEmpty: true });
  assert.deepEqual(reasons, await leaveAndReturn(empty.page));
  await context.close();
  await empty.context.close();
});

test("widget connects again if a link did not leave the page", async () => {
  const { page, context, mock } = await openSite();
  await startChat(page, mock);
  await page.route("**/nothing", (route) => route.fulfill({ status: 204 }));
  await leave(page, "/nothing");
  await waitFor("the socket's end", () => mock.socketCount === 0);
  mock.pushMessage({ from: "agent", type: "text", text: "Still here?" });
  await page.getByRole("button", { name: "Open chat, 1 unread" }).waitFor();
  await waitFor("a socket", () => mock.socketCount === 1);
  await context.close();
});
