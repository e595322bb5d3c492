/* The npm package, and the recipes of docs/embedding.md. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { bundle } from "../support/bundle.mjs";
import {
  called,
  callbackScript,
  embedding,
  html,
  label,
  openWindow,
  serviceUrl,
  useEmbeddingBrowser,
} from "../support/embedding.mjs";

useEmbeddingBrowser();

const PACKAGE = fileURLToPath(
  new URL("../../../functions/www/widget/npm/index.js", import.meta.url),
);
const SAMPLE = PACKAGE.replace("index.js", "sample.ts");
const RECIPES = readFileSync(
  new URL("../../../docs/embedding.md", import.meta.url),
  "utf8",
);

/** Returns the code of a section of docs/embedding.md, for this service and widget. */
function recipe(heading, { id }) {
  const [, section] = RECIPES.split(`\n## ${heading}\n`);
  const [, code] = /```\w+\n(.*?)```/s.exec(section);
  return code
    .replaceAll("https://api.example.com", serviceUrl)
    .replaceAll("WIDGET_ID", id)
    .replaceAll("@switchboard/widget", PACKAGE);
}

const openApp = async (widget, source) =>
  widget.openOn({
    pages: {
      "/": html({
        head: callbackScript(),
        body: `<div id="root"></div><script src="/app.js"></script>`,
      }),
      "/app.js": await bundle(source),
    },
  });

const hosts = (page) => page.locator("switchboard-widget").count();
const count = async (page, callback) =>
  (await called(page)).filter((name) => name === callback).length;

embedding("package's sample opens the chat", async (context) => {
  const { account, widget } = context;
  await account.admin.setPresence("online");
  const page = await openApp(
    widget,
    `import { openChat } from ${JSON.stringify(SAMPLE)};
    window.result = openChat({ url: "${serviceUrl}/", id: "${widget.id}" });`,
  );
  await page.getByRole("dialog").waitFor();
  const { mode, info } = await page.evaluate(() => window.result);
  assert.equal(mode, "online");
  assert.equal(info.client_name, "Amara Kone");
  // The keyboard reaches the window only when it has got the focus, which happens after `openChat` has returned.
  await page.getByRole("dialog").press("Escape");
  await label(page).waitFor({ state: "detached" });
});

embedding("package loads one widget and reports a failure", async (context) => {
  const { widget } = context;
  const page = await openApp(
    widget,
    `import { destroy, load } from ${JSON.stringify(PACKAGE)};
    Object.assign(window, { destroy, load });`,
  );
  const options = { url: serviceUrl, id: widget.id };
  const isSame = await page.evaluate(async (options) => {
    const [one, other] = [load(options), load(options)];
    return one === other && (await one) === window.widget_api;
  }, options);
  assert.ok(isSame);
  await label(page).waitFor();
  await page.evaluate(() => destroy());
  assert.equal(await hosts(page), 0);
  await page.evaluate((options) => load(options), options);
  await label(page).waitFor();
  assert.equal(await hosts(page), 1);

  // A load that is not wanted any more, and one that is wanted again.
  await page.evaluate((options) => {
    const second = { ...options, prefix: "second" };
    load(second);
    destroy("second");
    load(second);
    load({ ...options, prefix: "third" }).then(
      () => (window.hasThirdRun = true),
    );
    destroy("third");
  }, options);
  await page.waitForFunction(() => window.hasThirdRun && window.second_api);
  await page.waitForFunction(
    () => document.querySelectorAll("switchboard-widget").length === 2,
  );
  assert.equal((await page.evaluate(() => third_api.open())).result, "fail");

  const failure = await page.evaluate(
    (id) =>
      load({ url: "http://localhost:9", id, prefix: "none" }).catch(
        ({ message }) => message,
      ),
    widget.id,
  );
  assert.match(failure, /could not be loaded/);
});

embedding("recipe for React works in strict mode", async ({ widget }) => {
  const page = await openApp(
    widget,
    `import { StrictMode } from "react";
    import { createRoot } from "react-dom/client";
    ${recipe("React", widget)}
    const root = createRoot(document.querySelector("#root"));
    window.show = (props) => root.render(<StrictMode><Chat {...props} /></StrictMode>);
    window.show({ user: { token: "ada" } });
    window.unmount = () => root.unmount();`,
  );
  await openWindow(page);
  assert.equal(await hosts(page), 1);
  assert.equal(await count(page, "onLoadCallback"), 1);

  await page.evaluate(() => {
    window.tokens = [];
    const { setUserToken } = widget_api;
    widget_api.setUserToken = (token) => {
      window.tokens.push(token);
      return setUserToken(token);
    };
  });
  for (const props of [
    { isLoading: true },
    { user: { token: "ada" } },
    { user: { token: "ada" } },
    {},
  ])
    // React renders later, and would leave out what the next call replaces before.
    await page.evaluate((props) => {
      window.show(props);
      return new Promise(requestAnimationFrame);
    }, props);
  await page.waitForFunction(() => window.tokens.length > 1);
  assert.deepEqual(await page.evaluate(() => window.tokens), ["ada", null]);

  await page.evaluate(() => window.unmount());
  await page.waitForFunction(
    () => document.querySelector("switchboard-widget") === null,
  );
});

embedding("recipe for Vue works", async ({ widget }) => {
  const page = await openApp(
    widget,
    `import { createApp } from "vue/dist/vue.esm-bundler.js";
    ${recipe("Vue", widget)}
    const app = createApp({ template: "<h1>Shop</h1>", setup: useChat });
    app.mount("#root");
    window.unmount = () => app.unmount();`,
  );
  await openWindow(page);
  assert.equal(await hosts(page), 1);
  await page.evaluate(() => window.unmount());
  assert.equal(await hosts(page), 0);
});

embedding("recipe for Google Tag Manager works", async (context) => {
  const { account, widget } = context;
  await account.admin.setPresence("online");
  const page = await widget.openOn({
    pages: { "/": html({ body: "<script>window.dataLayer = [];</script>" }) },
  });
  // A tag manager inserts the tag's HTML when the page has been loaded, and runs its scripts.
  await page.evaluate(
    (tag) => {
      const holder = document.createElement("div");
      holder.innerHTML = tag;
      const script = document.createElement("script");
      script.text = holder.querySelector("script").text;
      document.body.append(script);
    },
    recipe("Google Tag Manager", widget),
  );
  await openWindow(page);
  await page.getByRole("textbox").fill("Hello");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => window.dataLayer.length > 1);
  const events = await page.evaluate(() =>
    window.dataLayer.map(({ event, chat_event }) => `${event} ${chat_event}`),
  );
  assert.deepEqual(events.slice(0, 2), ["chat onOpen", "chat onMessageSent"]);
});

embedding("recipe for WordPress works", async ({ widget }) => {
  const [, url, version, strategy] =
    /wp_enqueue_script\( 'switchboard', '(.*?)', array\(\), (\w+), array\( 'strategy' => '(\w+)'/.exec(
      recipe("WordPress", widget),
    );
  // WordPress prints this element. Without a version, the URL has no query.
  assert.equal(version, "null");
  const tag = `<script src="${url}" id="switchboard-js" ${strategy} data-wp-strategy="${strategy}"></script>`;
  const page = await widget.openOn({ pages: { "/": html({ head: tag }) } });
  await label(page).waitFor();
});

embedding(
  "recipe for any page works under a strict policy",
  async (context) => {
    const { widget } = context;
    const nonce = "bm9uY2U";
    const tag = recipe("On any page", widget).replace(
      "<script",
      `<script nonce="${nonce}"`,
    );
    const page = await widget.openOn({
      pages: { "/": html({ body: tag }) },
      headers: {
        "content-security-policy":
          `default-src 'none'; script-src 'nonce-${nonce}' 'strict-dynamic'; connect-src ${serviceUrl} ws:; ` +
          "require-trusted-types-for 'script'; trusted-types 'none'",
      },
    });
    await openWindow(page);
  },
);
