/* Published packages and code samples for another product, unchanged. Only the host of their script's URL leads to the
   service. */

import assert from "node:assert/strict";
import { bundle } from "../support/bundle.mjs";
import {
  addWidget,
  callbackScript,
  embedding,
  html,
  label,
  useEmbeddingBrowser,
} from "../support/embedding.mjs";

const HOST = "code.jivosite.com";

useEmbeddingBrowser({ foreignNames: [HOST] });

/** Runs a test with a widget whose channel has moved from the other product. */
const moved = (name, run) =>
  embedding(name, async (context) => {
    await context.account.admin.setPresence("online");
    const widget = await addWidget(context, {
      moved_from: "jivo",
      color: "#112233",
    });
    await run({ ...context, widget });
  });

const openPage = (widget, { head = "", body = "", ...files }) =>
  widget.openOn({
    pages: {
      "/": html({ head: callbackScript("jivo") + head, body }),
      ...files,
    },
    hostName: "www.shop.test",
  });

async function expectWorkingWidget(page, { id }) {
  await label(page).waitFor();
  const [mode, config] = await page.evaluate(() => [
    window.jivo_api.chatMode(),
    window.jivo_config.widget_id,
  ]);
  assert.deepEqual([mode, config], ["online", id]);
  await page.evaluate(() => window.jivo_api.open());
  await page.getByRole("dialog").waitFor();
  assert.equal(await page.locator("jdiv").count(), 1);
}

moved("react-jivosite shows the widget", async ({ widget }) => {
  const app = await bundle(`
    import { createRoot } from "react-dom/client";
    import { Widget } from "react-jivosite";
    createRoot(document.querySelector("#root")).render(<Widget id="${widget.id}" />);`);
  const body = `<div id="root"></div><script src="/app.js"></script>`;
  await expectWorkingWidget(
    await openPage(widget, { body, "/app.js": app }),
    widget,
  );
});

moved("@bchteam/vue-jivosite shows the widget", async ({ widget }) => {
  const app = await bundle(`
    import { createApp } from "vue/dist/vue.esm-bundler.js";
    import VueJivosite from "@bchteam/vue-jivosite";
    createApp({ template: "<h1>Shop</h1>" })
      .use(VueJivosite, { widgetId: "${widget.id}", onInit: () => (window.isInitialized = true) })
      .mount("#root");`);
  const body = `<div id="root"></div><script src="/app.js"></script>`;
  const page = await openPage(widget, { body, "/app.js": app });
  await expectWorkingWidget(page, widget);
  assert.equal(await page.evaluate(() => window.isInitialized), true);
});

/** The script elements of plug-ins and of the other product's instructions, as they are found in pages. */
const TAGS = {
  "a WordPress plug-in": (id) =>
    `<script type="text/javascript">(function(){ var widget_id = '${id}';var d=document;var w=window;function l(){
      var s = document.createElement('script'); s.type = 'text/javascript'; s.async = true;
      s.src = '//${HOST}/script/widget/'+widget_id;
      var ss = document.getElementsByTagName('script')[0]; ss.parentNode.insertBefore(s, ss);}
      if(d.readyState=='complete'){l();}else{if(w.attachEvent){w.attachEvent('onload',l);}
      else{w.addEventListener('load',l,false);}}})();</script>`,
  "a WordPress plug-in that enqueues the script": (id) =>
    `<script src="//${HOST}/widget/${id}?ver=6.4.2" id="jivo_chat-js" async data-wp-strategy="async"></script>`,
  "the instructions": (id) =>
    `<script src="//${HOST}/widget/${id}" async></script>`,
  "the instructions with data-jv-id": (id) =>
    `<script src="//${HOST}/widget.js" data-jv-id="${id}" data-prefix="jivo" async></script>`,
  "a single-page application": (id) =>
    `<script>const script = document.createElement("script"); script.src = "//${HOST}/widget/${id}"; script.async = true;
      document.documentElement.appendChild(script);</script>`,
};
for (const [name, tag] of Object.entries(TAGS))
  moved(`script element shows the widget: ${name}`, async ({ widget }) => {
    await expectWorkingWidget(
      await openPage(widget, { body: tag(widget.id) }),
      widget,
    );
  });

moved(
  "listener of a tag manager reports the widget's events",
  async ({ widget }) => {
    // A tag manager inserts custom HTML after the page has loaded, and runs its scripts.
    const listener = `(function () {
      var names = ["onLoadCallback", "onOpen", "onClose", "onMessageSent", "onClientStartChat", "onIntroduction", "onAccept"];
      names.forEach(function (name) {
        var before = window["jivo_" + name];
        window["jivo_" + name] = function () {
          window.dataLayer.push({ event: "jivo", action: name, mode: window.jivo_api.chatMode() });
          if (before) before.apply(window, arguments);
        };
      });
      var script = document.createElement("script");
      script.src = "//${HOST}/widget/${widget.id}";
      document.body.appendChild(script);
    })();`;
    const body = `<script>window.dataLayer = []; addEventListener("load", () => {
      const holder = document.createElement("div");
      document.body.append(holder);
      const script = document.createElement("script");
      script.text = ${JSON.stringify(listener)};
      holder.append(script);
    });</script>`;
    const page = await openPage(widget, { body });
    await expectWorkingWidget(page, widget);
    await page.getByRole("textbox").fill("Hello");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() =>
      window.dataLayer.some(({ action }) => action === "onMessageSent"),
    );
    const events = await page.evaluate(() =>
      window.dataLayer.map(({ action, mode }) => `${action} ${mode}`),
    );
    assert.deepEqual(events.slice(0, 2), [
      "onLoadCallback online",
      "onOpen online",
    ]);
  },
);

moved("label of the page's own opens the chat", async ({ widget }) => {
  // The sample of the other product's documentation.
  const head = `<script>
    function jivo_onLoadCallback() {
      window.jivo_cstm_widget = document.createElement('div');
      jivo_cstm_widget.setAttribute('id', 'jivo_custom_widget');
      document.body.appendChild(jivo_cstm_widget);
      jivo_cstm_widget.onclick = function () { jivo_api.open(); };
      if (jivo_api.chatMode() == "online") {
        jivo_cstm_widget.setAttribute("class", "jivo_online");
      } else {
        jivo_cstm_widget.setAttribute("class", "jivo_offline");
      }
      jivo_cstm_widget.style.backgroundColor = jivo_config.widget_color;
      window.jivo_cstm_widget.style.display = 'block';
    }
    function jivo_onOpen() { if (jivo_cstm_widget) jivo_cstm_widget.style.display = 'none'; }
    function jivo_onClose() { if (jivo_cstm_widget) jivo_cstm_widget.style.display = 'block'; }
  </script><style>#jivo_custom_widget { width: 80px; height: 30px; position: fixed; left: 0; bottom: 0 }</style>`;
  const body = `<script src="//${HOST}/widget/${widget.id}" async></script>`;
  const page = await openPage(widget, { head, body });
  const own = page.locator("#jivo_custom_widget.jivo_online");
  await own.waitFor();
  assert.equal(
    await own.evaluate(({ style }) => style.backgroundColor),
    "rgb(17, 34, 51)",
  );
  await own.click();
  await page.getByRole("dialog").waitFor();
  await own.waitFor({ state: "hidden" });
  await page.keyboard.press("Escape");
  await own.waitFor();
});

moved(
  "scripts that destroy the widget by hand and load it again",
  async ({ widget }) => {
    const page = await openPage(widget, {
      body: TAGS["the instructions"](widget.id),
    });
    await expectWorkingWidget(page, widget);
    for (const shape of ["deletes the object", "removes the element", "both"]) {
      await page.evaluate((shape) => {
        window.called = [];
        document.querySelector(`script[src*="${"jivosite.com"}"]`)?.remove();
        if (shape !== "deletes the object")
          document.querySelector("jdiv").remove();
        if (shape !== "removes the element") delete window.jivo_api;
      }, shape);
      // An application shows the component again some time later.
      await page.evaluate((src) => {
        const script = document.createElement("script");
        script.src = src;
        document.body.append(script);
      }, `//${HOST}/widget/${widget.id}`);
      await page.waitForFunction(() =>
        window.called.includes("onLoadCallback"),
      );
      await expectWorkingWidget(page, widget);
    }
  },
);
