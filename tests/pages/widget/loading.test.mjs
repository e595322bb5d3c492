/* How the page loads the widget and its parts, and what happens if some of them cannot be loaded. */

import assert from "node:assert/strict";
import { axeViolations } from "../support/browser.mjs";
import { fail, holdRequests } from "../support/failures.mjs";
import { measureTasks } from "../support/frames.mjs";
import {
  api,
  composer,
  idle,
  label,
  openWindow,
  shopJourney,
  useEmbeddingBrowser,
} from "../support/shop.mjs";
import { waitFor } from "../support/wait.mjs";

useEmbeddingBrowser();

const WINDOW_CODE = "**/window-*.js*";
/** Chromium calls tasks long that take more time. */
const MAX_TASK_MS = 50;

/** Returns the paths of the files that the page has loaded for the widget, without their hashes. */
const loadedFiles = (page, id) =>
  page.evaluate(
    (id) =>
      performance
        .getEntriesByType("resource")
        .map(({ name }) =>
          new URL(name).pathname
            .replace(/-\w+\.js/, ".js")
            .replace(id, "{widget_id}"),
        )
        .sort(),
    id,
  );

/** Lets requests to a path fail until the returned function is called. */
async function breakPath(page, path) {
  const handle = (route) => route.abort();
  await page.route(path, handle);
  return () => page.unroute(path, handle);
}

shopJourney(
  "code of the window is loaded when it is about to be opened",
  async (shop) => {
    const page = await shop.open();
    const hasLoadedWindow = async () =>
      (await loadedFiles(page, shop.widget.id)).includes(
        "/widget/assets/window.js",
      );
    assert.equal(await hasLoadedWindow(), false);
    await label(page).hover();
    await waitFor("the window's code", hasLoadedWindow);
  },
);

shopJourney(
  "window shows its frame while its code is loading",
  async (shop) => {
    let release;
    const page = await shop.open({
      prepare: async (page) => {
        release = await holdRequests(page, WINDOW_CODE);
      },
    });
    await openWindow(page);
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Loading…").waitFor();
    const size = () =>
      dialog.evaluate(({ offsetWidth, offsetHeight }) => [
        offsetWidth,
        offsetHeight,
      ]);
    const frame = await size();
    release();
    await composer(page).waitFor();
    assert.deepEqual(await size(), frame);
    await page.keyboard.type("Hello");
    assert.equal(await composer(page).inputValue(), "Hello");
  },
);

shopJourney(
  "window whose code could not be loaded can be opened again",
  async (shop) => {
    let restore;
    const page = await shop.open({
      prepare: async (page) => {
        restore = await breakPath(page, WINDOW_CODE);
      },
    });
    await openWindow(page);
    await page.getByText("The chat could not be loaded.").waitFor();
    assert.deepEqual(await axeViolations(page), []);
    await restore();
    await page.getByRole("button", { name: "Try again" }).click();
    await composer(page).waitFor();
  },
);

shopJourney(
  "code of the window is requested again only when there is a reason",
  async (shop) => {
    let count = 0;
    let restore;
    const page = await shop.open({
      visitor: await shop.addChat("Hello"),
      isLoading: true,
      prepare: async (page) => {
        restore = await breakPath(page, WINDOW_CODE);
        page.on("request", (request) => {
          if (/\/window-/.test(request.url())) count++;
        });
      },
    });
    const expectRequests = async (expected) => {
      await waitFor(`request ${expected}`, () => count >= expected);
      await idle(page);
      assert.equal(count, expected);
    };
    await expectRequests(1);
    await page.evaluate(() => widget_api.open());
    await expectRequests(2);
    await page.getByRole("button", { name: "Try again" }).click();
    await expectRequests(3);
    await page.evaluate(() => dispatchEvent(new Event("online")));
    await expectRequests(4);
    await restore();
    await page.getByRole("button", { name: "Try again" }).click();
    await composer(page).waitFor();
    assert.equal(count, 5);
  },
);

shopJourney(
  "widget is in English if the texts of its language cannot be loaded",
  async (shop) => {
    const page = await shop.open({
      prepare: (page) => breakPath(page, "**/assets/de-*.js*"),
    });
    await page.getByRole("button", { name: "Open chat" }).waitFor();
    assert.equal(await page.locator(".root").getAttribute("lang"), "en");
  },
  { settings: { language: "de" } },
);

shopJourney(
  "page hears that the widget cannot load its texts",
  async (shop) => {
    const page = await shop.open({
      isLoading: true,
      prepare: (page) => breakPath(page, "**/assets/en-*.js*"),
    });
    await page.waitForFunction(() => window.widget_api);
    const problem =
      "The chat widget does not appear, because its texts cannot be loaded.";
    await page.evaluate(() =>
      widget_api.getVisitorNumber((...args) => (window.answer = args)),
    );
    const answer = await page.waitForFunction(() => window.answer);
    assert.deepEqual(await answer.jsonValue(), [problem, null]);
    assert.deepEqual(await api(page, "open"), {
      result: "fail",
      reason: problem,
    });
  },
);

shopJourney(
  "late refusal of a destroyed widget does not stop the next one",
  async (shop) => {
    let release;
    const page = await shop.open({
      isLoading: true,
      prepare: async (page) => {
        // The second session is not refused, and not held either.
        await fail(page, "**/session", {
          status: 403,
          times: 1,
          code: "site_not_allowed",
        });
        let isFirst = true;
        const isReleased = new Promise((done) => (release = done));
        await page.route("**/session", async (route) => {
          if (isFirst) {
            isFirst = false;
            await isReleased;
          } else return route.continue();
          await route.fallback();
        });
      },
    });
    const isRefused = page.waitForResponse(
      (response) => response.status() === 403,
    );
    await waitFor(
      "the first session",
      () => shop.requestsTo("session").length > 0,
    );
    await page.evaluate(() => {
      widget_destroy();
      widget_init();
    });
    await page.locator(".root").waitFor({ state: "attached" });
    release();
    await (await isRefused).finished();
    await idle(page);
    assert.deepEqual(await api(page, "open"), { result: "ok" });
    await composer(page).waitFor();
  },
);

shopJourney(
  "page is not blocked for 50 ms while the widget loads",
  async (shop) => {
    const page = await shop.open();
    const tasks = await measureTasks(page, async () => {
      await page.reload();
      await label(page).waitFor();
    });
    const longest = Math.max(...tasks.map(({ workMs }) => workMs));
    assert.ok(tasks.length > 0, "no tasks were measured");
    assert.ok(longest < MAX_TASK_MS, `${longest} ms`);
  },
);

shopJourney(
  "page loads nothing else, stores nothing and does not shift",
  async (shop) => {
    const page = await shop.open({
      prepare: (page) =>
        page.addInitScript(() => {
          window.shifts = [];
          new PerformanceObserver((list) =>
            window.shifts.push(...list.getEntries().map(({ value }) => value)),
          ).observe({ type: "layout-shift", buffered: true });
        }),
    });
    await idle(page);
    const loaded = await loadedFiles(page, shop.widget.id);
    await page.evaluate(() => widget_api.open());
    await page.locator(".composer").waitFor();
    await idle(page);
    assert.deepEqual(await page.evaluate(() => window.shifts), []);
    assert.deepEqual(loaded, [
      "/widget/assets/en.js",
      "/widget/assets/main.js",
      "/widget/{widget_id}",
      "/widget/{widget_id}/session",
    ]);
    const [{ method, contentType, body }] = shop.requests;
    assert.deepEqual([method, contentType], ["POST", "text/plain"]);
    assert.deepEqual(
      [body.identify, body.token, body.page.title],
      [undefined, undefined, "Shop"],
    );
    const stored = await page.evaluate(() => [
      localStorage.length,
      sessionStorage.length,
      document.cookie,
    ]);
    assert.deepEqual(stored, [0, 0, ""]);
  },
);
