/* Pages that include, remove, replace and restart the widget. */

import assert from "node:assert/strict";
import {
  addWidget,
  api,
  called,
  callbackScript,
  embedding,
  html,
  label,
  openWindow,
  serviceUrl,
  useEmbeddingBrowser,
} from "../support/embedding.mjs";
import { bundle } from "../support/bundle.mjs";
import { waitFor } from "../support/wait.mjs";

useEmbeddingBrowser();

const hosts = (page) => page.locator("switchboard-widget").count();
const count = async (page, callback) =>
  (await called(page)).filter((name) => name === callback).length;

/** Adds the script element of a widget to the page, and returns when it has run. */
const addScript = (page, { id }, attributes = {}) =>
  page.evaluate(
    ([src, attributes]) =>
      new Promise((done, fail) => {
        const script = document.createElement("script");
        script.src = src;
        for (const [name, value] of Object.entries(attributes))
          script.setAttribute(name, value);
        script.onload = done;
        script.onerror = fail;
        document.head.append(script);
      }),
    [`${serviceUrl}/widget/${id}`, attributes],
  );

/** Waits until the window opens by the API, so the widget that has the API is on the page. */
async function expectOneWorkingWidget(page) {
  await label(page).first().waitFor();
  assert.equal(await hosts(page), 1);
  assert.deepEqual(await api(page, "open"), { result: "ok" });
  await page.getByRole("dialog").waitFor();
  assert.deepEqual(await api(page, "close"), { result: "ok" });
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.equal(await hosts(page), 1);
}

embedding("three script elements make one widget", async ({ widget }) => {
  const body = `${widget.tag}<script async src="${serviceUrl}/widget.js" data-id="${widget.id}"></script>`;
  const page = await widget.openOn({ body });
  await label(page).waitFor();
  await addScript(page, widget);
  await expectOneWorkingWidget(page);
  assert.equal(await count(page, "onLoadCallback"), 1);
});

embedding(
  "two widgets with two prefixes stand beside each other",
  async (context) => {
    const { widget } = context;
    const other = await addWidget(context, { title: "Southlight" });
    const page = await widget.openOn();
    await label(page).waitFor();
    await addScript(page, other, { "data-prefix": "acme" });
    await page.waitForFunction(
      () => document.querySelectorAll("switchboard-widget").length === 2,
    );
    await label(page).nth(1).waitFor();
    const [one, two] = await page.evaluate(() =>
      [...document.querySelectorAll("switchboard-widget")].map((host) => {
        const { x, right, y } = host.shadowRoot
          .querySelector(".label")
          .getBoundingClientRect();
        return { x, right, y };
      }),
    );
    assert.ok(two.right < one.x, `${two.right} ${one.x}`);
    assert.equal(one.y, two.y);
    await page.evaluate(() => window.acme_api.open());
    await page.getByRole("dialog", { name: /Southlight/ }).waitFor();
    await page.evaluate(() => window.acme_destroy());
    await openWindow(page);
    await page.getByRole("dialog", { name: /Northlight/ }).waitFor();
  },
);

embedding(
  "script element after destroy starts the widget again",
  async (context) => {
    const { account, widget } = context;
    await account.admin.setPresence("online");
    const page = await widget.openOn();
    await label(page).waitFor();
    await page.evaluate(() => window.widget_destroy());
    assert.equal(await hosts(page), 0);
    await addScript(page, widget);
    await expectOneWorkingWidget(page);
    assert.equal(await api(page, "chatMode"), "online");
    assert.equal(await count(page, "onLoadCallback"), 2);
    assert.equal(await count(page, "onWidgetDestroy"), 1);
  },
);

embedding(
  "script element after the object was deleted replaces the widget",
  async ({ widget }) => {
    const page = await widget.openOn();
    await openWindow(page);
    await page.evaluate(() => {
      delete window.widget_api;
    });
    await addScript(page, widget);
    await waitFor(
      "the second widget",
      async () => (await count(page, "onLoadCallback")) === 2,
    );
    await expectOneWorkingWidget(page);
    assert.equal(await count(page, "onWidgetDestroy"), 1);
  },
);

embedding(
  "another widget's script element takes the place of a destroyed one",
  async (context) => {
    const { account, widget } = context;
    await account.admin.setPresence("online");
    const other = await addWidget(context, { title: "Southlight" });
    const page = await widget.openOn();
    await label(page).waitFor();
    await page.evaluate(() => window.widget_destroy());
    await addScript(page, other);
    await openWindow(page);
    await page.getByRole("dialog", { name: /Southlight/ }).waitFor();
    assert.equal(
      await page.evaluate(() => window.widget_config.widget_id),
      other.id,
    );
    // The earlier widget's function, which the page may have kept, does not bring it back.
    await page.evaluate(() => window.widget_init());
    await expectOneWorkingWidget(page);
  },
);

embedding("destroy and init during the first load", async ({ widget }) => {
  const destroyAndInit = `<script>addEventListener("load", () => { widget_destroy(); widget_init(); widget_destroy(); widget_init(); });</script>`;
  const page = await widget.openOn({
    pages: {
      "/": html({
        body: `<script>window.called = []; window.widget_onLoadCallback = () => called.push("onLoadCallback");
          window.widget_onWidgetDestroy = () => called.push("onWidgetDestroy");</script>${widget.tag}${destroyAndInit}`,
      }),
    },
  });
  await expectOneWorkingWidget(page);
  assert.deepEqual(await called(page), ["onLoadCallback"]);
});

embedding(
  "widget destroyed during its load does not appear",
  async (context) => {
    const { widget } = context;
    const site = await widget.site();
    const page = await context.openSignedOut();
    let answer;
    const asked = new Promise((done) => {
      page.route("**/session", async (route) => {
        done();
        await new Promise((go) => (answer = go));
        await route.continue();
      });
    });
    await page.goto(site.url);
    await asked;
    await page.evaluate(() => window.widget_destroy());
    const response = page.waitForResponse(/\/session$/);
    answer();
    await (await response).finished();
    // The widget would have started in the task after the response.
    await page.evaluate(() => new Promise((done) => setTimeout(done)));
    assert.equal(await hosts(page), 0);
    assert.deepEqual(await called(page), []);
  },
);

embedding(
  "calls after destroy fail and are not carried out later",
  async ({ widget }) => {
    const page = await widget.openOn();
    await label(page).waitFor();
    await page.evaluate(() => window.widget_destroy());
    const reason = "The widget is destroyed.";
    for (const [method, ...args] of [
      ["open"],
      ["startCall", "+31201234567"],
      ["setContactInfo", { name: "Amara" }],
    ])
      assert.deepEqual(
        await api(page, method, ...args),
        { result: "fail", reason },
        method,
      );
    assert.deepEqual(await api(page, "setUserToken", "ada"), {
      result: "fail",
      token: "ada",
    });
    const message = { email: "a@b.example", message: "Hello" };
    assert.deepEqual(await api(page, "sendOfflineMessage", message), {
      result: "fail",
      error: reason,
    });
    const answers = await page.evaluate(() =>
      Promise.all([
        new Promise((done) =>
          widget_api.getVisitorNumber((...args) => done(args)),
        ),
        new Promise((done) => widget_api.isCallbackEnabled(done)),
      ]),
    );
    assert.deepEqual(answers, [
      [reason, null],
      { result: "fail", reason: "Callback unavaiable" },
    ]);
    await page.evaluate(() => window.widget_init());
    await label(page).waitFor();
    assert.equal(await page.getByRole("dialog").count(), 0);
    assert.equal((await api(page, "getContactInfo")).client_name, null);
    await expectOneWorkingWidget(page);
  },
);

embedding(
  "bundle that could not be loaded once is loaded again",
  async (context) => {
    const { widget } = context;
    const site = await widget.site();
    const page = await context.openSignedOut();
    const addresses = [];
    await page.route(/\/assets\/main-/, (route) => {
      addresses.push(route.request().url());
      return addresses.length === 1 ? route.abort() : route.continue();
    });
    await page.goto(site.url);
    await expectOneWorkingWidget(page);
    assert.equal(addresses.length, 2);
  },
);

embedding("widget works in React's strict mode", async ({ widget }) => {
  // In development, React runs each effect, its clean-up, and the effect again.
  const app = await bundle(`
    import { StrictMode, useEffect } from "react";
    import { createRoot } from "react-dom/client";
    window.effects = 0;
    function Chat() {
      useEffect(() => {
        window.effects++;
        const script = document.createElement("script");
        script.src = "${serviceUrl}/widget/${widget.id}";
        document.head.append(script);
        return () => {
          script.remove();
          window.widget_destroy?.();
        };
      }, []);
      return null;
    }
    createRoot(document.querySelector("#root")).render(<StrictMode><Chat /></StrictMode>);`);
  const body = `<div id="root"></div><script src="/app.js"></script>`;
  const page = await widget.openOn({
    pages: { "/": html({ head: callbackScript(), body }), "/app.js": app },
  });
  await expectOneWorkingWidget(page);
  assert.equal(await page.evaluate(() => window.effects), 2);
  assert.equal(await count(page, "onLoadCallback"), 1);
});
