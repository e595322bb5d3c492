/* Scripts of the page that replace its content, and styles that move it. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import {
  api,
  called,
  embedding,
  html,
  label,
  openWindow,
  useEmbeddingBrowser,
  waitForSent,
  write,
} from "../support/embedding.mjs";

useEmbeddingBrowser();

const require = createRequire(import.meta.url);
const packageFile = (path) => ({
  body: readFileSync(require.resolve(path)),
  type: "js",
});

const LINKS = `<nav><a href="/">One</a> <a href="/two">Two</a></nav>`;

/** Returns two pages with links to each other, which include the widget and the script of a library. */
const linkedPages = (widget, libraryPath, { attributes = "" } = {}) => {
  const head = `<script src="/library.js" ${attributes}></script>`;
  const page = (name) =>
    html({
      title: name,
      head: head + widget.tag,
      body: `<h1>Page ${name}</h1>${LINKS}`,
    });
  return {
    "/": page("one"),
    "/two": page("two"),
    "/library.js": packageFile(libraryPath),
  };
};

/** The number of host elements on the page, and whether the window is open. */
const shown = (page) =>
  page.evaluate(() => {
    const hosts = [...document.querySelectorAll("switchboard-widget")];
    return hosts.map(
      ({ shadowRoot }) => shadowRoot.querySelector(".window") !== null,
    );
  });

async function expectWorkingWidget(page) {
  await label(page).waitFor();
  assert.deepEqual(await shown(page), [false]);
  assert.deepEqual(await api(page, "open"), { result: "ok" });
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
}

for (const [library, path, options] of [
  ["Turbo", "@hotwired/turbo/dist/turbo.es2017-umd.js"],
  ["Turbolinks", "turbolinks/dist/turbolinks.js"],
])
  embedding(`widget outlives the pages of ${library}`, async (context) => {
    const { account, widget } = context;
    await account.admin.setPresence("online");
    const pages = linkedPages(widget, path, options);
    const page = await widget.openOn({ pages });
    await label(page).waitFor();
    await page.evaluate(() => (window.isSamePage = true));
    await page.getByRole("link", { name: "Two" }).click();
    await page.getByRole("heading", { name: "Page two" }).waitFor();
    assert.ok(await page.evaluate(() => window.isSamePage));
    await expectWorkingWidget(page);
    await openWindow(page);
    await write(page, "From the second page");
    await waitForSent(page, "From the second page");
    await page.goBack();
    await page.getByRole("heading", { name: "Page one" }).waitFor();
    assert.ok(await page.evaluate(() => window.isSamePage));
    await page.getByText("From the second page").waitFor();
    assert.deepEqual(await shown(page), [true]);
  });

embedding("widget outlives a body that htmx swaps", async ({ widget }) => {
  const head = `<script src="/htmx.js"></script>${widget.tag}`;
  const link = `<a href="/two" hx-get="/two" hx-target="body" hx-swap="outerHTML">Two</a>`;
  const page = await widget.openOn({
    pages: {
      "/": html({ head, body: link }),
      "/two": html({ body: "<h1>Page two</h1>" }),
      "/htmx.js": packageFile("htmx.org/dist/htmx.js"),
    },
  });
  await label(page).waitFor();
  await page.evaluate(() => (window.isSamePage = true));
  await page.getByRole("link", { name: "Two" }).click();
  await page.getByRole("heading", { name: "Page two" }).waitFor();
  assert.ok(await page.evaluate(() => window.isSamePage));
  await expectWorkingWidget(page);
});

/** Scripts that replace the content of a page. */
const REPLACEMENTS = {
  "body's content": () => {
    document.body.innerHTML = "<h1>New</h1>";
  },
  "all elements of the body, one by one": () => {
    while (document.body.firstChild) document.body.firstChild.remove();
  },
  body: () => {
    const body = document.createElement("body");
    body.innerHTML = "<h1>New</h1>";
    document.body = body;
  },
  "document's content": () => {
    document.documentElement.innerHTML =
      "<head><title>New</title></head><body><h1>New</h1></body>";
  },
  "document element": () => {
    document.documentElement.replaceWith(
      document.documentElement.cloneNode(false),
    );
    document.documentElement.append(document.createElement("body"));
  },
  "widget's own element": () => {
    document.querySelector("switchboard-widget").remove();
  },
};
for (const [name, replace] of Object.entries(REPLACEMENTS))
  embedding(`widget stays when a script replaces: ${name}`, async (context) => {
    const { widget } = context;
    const page = await widget.openOn();
    await label(page).waitFor();
    await page.evaluate(replace);
    await page.waitForFunction(
      () => document.querySelector("switchboard-widget") !== null,
    );
    await expectWorkingWidget(page);
  });

embedding(
  "page that removes the element again and again is not blocked",
  async ({ widget }) => {
    const page = await widget.openOn();
    await label(page).waitFor();
    const removals = await page.evaluate(async () => {
      let count = 0;
      const remove = () => {
        const host = document.querySelector("switchboard-widget");
        if (host) {
          count++;
          host.remove();
        }
      };
      new MutationObserver(remove).observe(document.documentElement, {
        childList: true,
      });
      remove();
      await new Promise((done) => setTimeout(done));
      return count;
    });
    assert.ok(removals > 1 && removals < 1000, `${removals} removals`);
    assert.deepEqual(await shown(page), []);
  },
);

embedding("destroyed widget does not come back", async ({ widget }) => {
  const page = await widget.openOn();
  await label(page).waitFor();
  await page.evaluate(async () => {
    window.widget_destroy();
    document.body.innerHTML = "";
    await new Promise((done) => setTimeout(done));
  });
  assert.deepEqual(await shown(page), []);
  assert.ok((await called(page)).includes("onWidgetDestroy"));
});

/** The distance of an element's right and bottom edge from those of the viewport. */
const distance = (page, selector) =>
  page.evaluate((selector) => {
    const { shadowRoot } = document.querySelector("switchboard-widget");
    const { right, bottom } = shadowRoot
      .querySelector(selector)
      .getBoundingClientRect();
    const { clientWidth, clientHeight } = document.documentElement;
    return [clientWidth - right, clientHeight - bottom].map(Math.round);
  }, selector);

for (const style of [
  "transform: translate(30px, -40px)",
  "perspective: 500px",
  "will-change: transform",
  "filter: grayscale(1)",
  "contain: paint; height: 300px",
  "zoom: 1.5",
  "position: relative; left: 200px; overflow: hidden; opacity: 0.99",
])
  embedding(
    `body's style does not move the widget: ${style}`,
    async (context) => {
      const { widget } = context;
      const tall = `<div style="height: 3000px">Shop</div>`;
      const plain = await widget.openOn({ body: tall });
      await label(plain).waitFor();
      const expected = await distance(plain, ".label");
      const head = `<style>body { ${style} }</style>`;
      const page = await widget.openOn({ head, body: tall });
      await label(page).waitFor();
      await page.evaluate(() => scrollTo(0, 500));
      assert.deepEqual(await distance(page, ".label"), expected);
    },
  );

embedding("widget adds no space to the page", async ({ widget }) => {
  const head = `<style>html { display: grid; gap: 50px } html > * { padding: 9px; border: 9px solid } </style>`;
  const page = await widget.openOn({ head });
  const height = () =>
    page.evaluate(() => document.documentElement.scrollHeight);
  await label(page).waitFor();
  const before = await height();
  await page.evaluate(() => window.widget_destroy());
  assert.equal(await height(), before);
});
