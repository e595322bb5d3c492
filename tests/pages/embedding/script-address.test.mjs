/* The addresses under which the loader is served, and what its configuration tells the page. */

import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import http from "node:http";
import { once } from "node:events";
import { host } from "../support/account.mjs";
import {
  addWidget,
  embedding,
  html,
  label,
  serviceUrl,
  Site,
  useEmbeddingBrowser,
} from "../support/embedding.mjs";
import { waitFor } from "../support/wait.mjs";

useEmbeddingBrowser();

/** The loader and a configuration. The build limits the loader to 3 KB with Brotli, which gzip exceeds by a tenth. */
const MAX_GZIP_BYTES = 3500;

/** Requests a path from the local host, and returns the response's status, headers and bytes as they were sent. */
async function get(path, headers = {}) {
  const request = http.get(host.base_url + path, { headers });
  const [response] = await once(request, "response");
  const chunks = [];
  for await (const chunk of response) chunks.push(chunk);
  return {
    status: response.statusCode,
    headers: response.headers,
    body: Buffer.concat(chunks),
  };
}

/** Opens a page with a script element, and returns the page and the warnings in its console. */
async function openWith({ widget, openSignedOut }, tag, options = {}) {
  const site = await widget.site({
    pages: { "/": html({ head: tag }) },
    ...options,
  });
  const page = await openSignedOut();
  const warnings = [];
  page.on("console", (message) => {
    if (message.text().startsWith("The chat widget"))
      warnings.push(message.text());
  });
  await page.goto(site.url);
  return { page, warnings };
}

const TAGS = {
  path: (url, id) => `<script async src="${url}/widget/${id}"></script>`,
  "path of another product": (url, id) =>
    `<script async src="${url}/script/widget/${id}"></script>`,
  "path with a brace and a query": (url, id) =>
    `<script src="${url}/script/widget/${id}}?v=1#top"></script>`,
  "data-id": (url, id) =>
    `<script async src="${url}/widget.js" data-id="${id}"></script>`,
  "data-jv-id": (url, id) =>
    `<script async src="${url}/widget.js" data-jv-id="${id}"></script>`,
  "jv-id": (url, id) =>
    `<script async src="${url}/widget.js" jv-id="${id}"></script>`,
  query: (url, id) => `<script async src="${url}/widget.js?id=${id}"></script>`,
  "query of another product": (url, id) =>
    `<script async src="${url}/widget.js?v=2&widget_id=${id}"></script>`,
  module: (url, id) =>
    `<script type="module" src="${url}/widget/${id}"></script>`,
  "document.write": (url, id) =>
    `<script>document.write('<script src="${url}/widget/${id}"><' + '/script>')</script>`,
};
for (const [name, tag] of Object.entries(TAGS))
  embedding(`widget is found by its id: ${name}`, async (context) => {
    const { widget } = context;
    const { page, warnings } = await openWith(
      context,
      tag(serviceUrl, widget.id),
    );
    await label(page).waitFor();
    assert.equal(
      await page.evaluate(() => window.widget_config.widget_id),
      widget.id,
    );
    assert.deepEqual(warnings, []);
  });

const PREFIXES = {
  "data-prefix": (url, id) =>
    `<script src="${url}/widget/${id}" data-prefix="acme"></script>`,
  query: (url, id) => `<script src="${url}/widget/${id}?prefix=acme"></script>`,
  "query of the common script": (url, id) =>
    `<script src="${url}/widget.js?id=${id}&prefix=acme"></script>`,
};
for (const [name, tag] of Object.entries(PREFIXES))
  embedding(`prefix is chosen: ${name}`, async (context) => {
    const { page } = await openWith(
      context,
      tag(serviceUrl, context.widget.id),
    );
    await label(page).waitFor();
    const names = await page.evaluate(() => [
      typeof window.acme_api,
      typeof window.widget_api,
      window.acme_config.widget_id,
    ]);
    assert.deepEqual(names, ["object", "undefined", context.widget.id]);
  });

embedding(
  "channel that has moved from another product uses its names",
  async (context) => {
    const { account } = context;
    await account.admin.setPresence("online");
    const moved = await addWidget(context, {
      moved_from: "jivo",
      color: "#112233",
    });
    const page = await moved.openOn({ prefix: "jivo" });
    await label(page).waitFor();
    const found = await page.evaluate(() => {
      const host = document.querySelector("jdiv");
      return {
        label:
          host.querySelector("*").shadowRoot.querySelector(".label") !== null,
        parent: host.parentElement.tagName,
        hosts: document.querySelectorAll("jdiv").length,
        config: { ...window.jivo_config },
        other: typeof window.widget_api,
      };
    });
    assert.deepEqual(found, {
      label: true,
      parent: "HTML",
      hosts: 1,
      config: {
        widget_id: moved.id,
        chat_mode: "online",
        widget_color: "#112233",
      },
      other: "undefined",
    });
    // Pages hide the element, or remove it for good.
    await page.evaluate(
      () => (document.querySelector("jdiv").style.display = "none"),
    );
    await label(page).waitFor({ state: "hidden" });
    await page.evaluate(
      () => (document.querySelector("jdiv").style.display = "block"),
    );
    await label(page).waitFor();
    const isClickable = () =>
      page.evaluate(() => {
        const jdiv = document.querySelector("jdiv");
        const { left, top } = jdiv.firstChild.shadowRoot
          .querySelector(".label")
          .getBoundingClientRect();
        return jdiv.contains(document.elementFromPoint(left + 28, top + 28));
      });
    assert.ok(await isClickable());
    await page.evaluate(() => {
      const { style } = document.querySelector("jdiv");
      Object.assign(style, { opacity: "0", pointerEvents: "none" });
    });
    assert.ok(!(await isClickable()));
    await page.evaluate(() =>
      document.querySelector("jdiv").removeAttribute("style"),
    );
    await page.evaluate(() => (document.body.innerHTML = ""));
    assert.equal(await page.locator("jdiv").count(), 1);
    await page.evaluate(() => document.querySelector("jdiv").remove());
    await page.waitForFunction(() => window.called.includes("onWidgetDestroy"));
    assert.equal(await page.locator("jdiv").count(), 0);
  },
);

embedding(
  "mode and colour are right when the script has run",
  async (context) => {
    const { account, t, openSignedOut } = context;
    const widget = await addWidget(context, { color: "#112233" });
    const site = await Site.start({
      pages: {
        "/": html({
          // A script that is not async runs in its place, so the next one runs long before the widget is ready.
          body: `<script src="${serviceUrl}/widget/${widget.id}"></script>
          <script>window.first = [widget_api.chatMode(), { ...widget_config }];</script>`,
        }),
      },
    });
    t.after(() => site.close());
    const first = async () => {
      const page = await openSignedOut();
      await page.goto(site.url);
      return page.evaluate(() => window.first);
    };
    const expected = (chat_mode) => [
      chat_mode,
      { widget_id: widget.id, chat_mode, widget_color: "#112233" },
    ];
    assert.deepEqual(await first(), expected("offline"));
    await account.admin.setPresence("online");
    // Each process of the service remembers for ten seconds who was online.
    const found = await waitFor("the mode", async () => {
      const shown = await first();
      return shown[0] === "online" && shown;
    });
    assert.deepEqual(found, expected("online"));
  },
);

embedding(
  "page's own variable with the name of the configuration stays",
  async (context) => {
    const tag = `<script>window.widget_config = { columns: 3 };</script>${context.widget.tag}`;
    const { page } = await openWith(context, tag);
    await label(page).waitFor();
    assert.deepEqual(await page.evaluate(() => window.widget_config), {
      columns: 3,
    });
  },
);

embedding(
  "script is compressed, small, and cached for a minute",
  async ({ widget }) => {
    const plain = await get(`/widget/${widget.id}`);
    const compressed = await get(`/widget/${widget.id}`, {
      "accept-encoding": "gzip, br",
    });
    assert.equal(compressed.headers["content-encoding"], "gzip");
    assert.ok(
      compressed.body.length <= MAX_GZIP_BYTES,
      `${compressed.body.length} bytes`,
    );
    assert.equal(gunzipSync(compressed.body).toString(), plain.body.toString());
    assert.ok(plain.body.toString().startsWith("self.switchboardWidget={"));
    const { etag } = compressed.headers;
    for (const { headers } of [plain, compressed]) {
      assert.equal(headers["cache-control"], "public, max-age=60");
      assert.equal(headers["content-type"], "text/javascript; charset=utf-8");
      assert.equal(headers["access-control-allow-origin"], "*");
      assert.equal(headers["vary"], "accept-encoding");
    }
    const again = await get(`/widget/${widget.id}`, {
      "accept-encoding": "gzip",
      "if-none-match": etag,
    });
    assert.deepEqual([again.status, again.body.length], [304, 0]);
    assert.ok(!plain.body.includes("allowed_sites"));
  },
);

embedding("browser's console explains a missing id", async (context) => {
  const { page, warnings } = await openWith(
    context,
    `<script src="${serviceUrl}/widget.js"></script>`,
  );
  await waitFor("a warning", () => warnings.length > 0);
  assert.match(warnings.join(), /no data-id/);
  assert.equal(
    await page.evaluate(() => window.widget_api.chatMode()),
    "offline",
  );
  // The right script element still works.
  await page.evaluate((src) => {
    const script = document.createElement("script");
    script.src = src;
    document.head.append(script);
  }, `${serviceUrl}/widget/${context.widget.id}`);
  await label(page).waitFor();
});

embedding("browser's console explains an unknown id", async (context) => {
  for (const tag of [`widget/none"`, `widget.js" data-id="none"`]) {
    const { page, warnings } = await openWith(
      context,
      `<script src="${serviceUrl}/${tag}></script>`,
    );
    await waitFor("a warning", () => warnings.length > 0);
    assert.match(warnings.join(), /there is no widget "none"/);
    const opened = await page.evaluate(() => window.widget_api.open());
    assert.equal(opened.result, "fail");
    assert.match(opened.reason, /there is no widget "none"/);
  }
});

embedding(
  "browser's console explains that the site is not allowed",
  async (context) => {
    const widget = await addWidget(context, {
      allowed_sites: ["shop.example"],
    });
    const requests = [];
    const site = await Site.start({
      pages: { "/": html({ head: widget.tag }) },
    });
    context.t.after(() => site.close());
    const page = await context.openSignedOut();
    const warnings = [];
    page.on(
      "console",
      (message) =>
        message.type() === "warning" && warnings.push(message.text()),
    );
    page.on(
      "request",
      (request) => request.url().endsWith("/session") && requests.push(request),
    );
    await page.goto(site.url);
    await waitFor("a warning", () => warnings.length > 0);
    assert.match(
      warnings.join(),
      /http:\/\/localhost:\d+ is not among the allowed sites/,
    );
    assert.equal(requests.length, 1);
  },
);
