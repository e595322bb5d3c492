/* Tests of the widget of the local host on pages of other origins. */

import { readFileSync } from "node:fs";
import { after, before } from "node:test";
import { host } from "./account.mjs";
import { journey, useBrowser } from "./console.mjs";
import { html, Site, SITE_NAMES } from "./site.mjs";
import { serveWidgetFolder } from "./widget-folder.mjs";

export { html, Site, strictPolicy } from "./site.mjs";

/** The names of the callbacks, which the widget's source lists. */
const CALLBACK_NAMES = readFileSync(
  new URL("../../../functions/www/widget/api/callbacks.ts", import.meta.url),
  "utf8",
).match(/(?<=^ *")on\w+/gm);

/** The URL of the service for pages. If WIDGET_FOLDER is set, another server serves that folder's widget in place of
    the one that the local host embeds. */
export let serviceUrl = host.base_url;

/** Starts the browser for the tests of a file. Besides "*.test", it resolves the `foreignNames` to the service: a page
    or package with a hard-coded http URL of another chat service gets the service's response. `options` are those of
    `launch`. */
export function useEmbeddingBrowser({ foreignNames = [], ...options } = {}) {
  const folder = process.env.WIDGET_FOLDER;
  let server;
  before(async () => {
    if (folder === undefined) return;
    server = await serveWidgetFolder(folder, host.base_url);
    serviceUrl = server.url;
  });
  useBrowser(() => ({
    ...options,
    hostNames: {
      ...SITE_NAMES,
      ...Object.fromEntries(
        foreignNames.map((name) => [name, new URL(serviceUrl).host]),
      ),
    },
  }));
  after(() => server?.close());
}

/** A widget of an account's channel, and sites that include it. */
export class EmbeddedWidget {
  #context;

  constructor(context, id) {
    this.#context = context;
    this.id = id;
  }

  /** The usual script element. */
  get tag() {
    return `<script async src="${serviceUrl}/widget/${this.id}"></script>`;
  }

  /** Starts a site, which ends with the test. Without `pages`, its only page includes the widget; `head` and `body`
      are added to it. `callbacks` declares all callbacks in the page, which record their names and arguments in
      `window.called`. */
  async site({
    pages,
    head = "",
    body = "<h1>Shop</h1>",
    prefix = "widget",
    callbacks = true,
    ...options
  } = {}) {
    const declared = callbacks ? callbackScript(prefix) : "";
    const site = await Site.start({
      pages: pages ?? {
        "*": html({ head: declared + head + this.tag, body }),
      },
      ...options,
    });
    this.#context.t.after(() => site.close());
    return site;
  }

  /** Opens a page of a site in a new browser context, without waiting for the widget. `path` begins with a slash. */
  async open(site, { path = "/", ...options } = {}) {
    const page = await this.#context.openSignedOut({
      width: 1100,
      height: 800,
      ...options,
    });
    await page.goto(site.url + path);
    return page;
  }

  /** Starts a site with the options of `site`, and opens its start page. */
  async openOn(siteOptions, pageOptions) {
    return this.open(await this.site(siteOptions), pageOptions);
  }
}

/** Runs a journey with an account and a widget, whose settings are `settings`. */
export function embedding(
  name,
  run,
  { settings = {}, ...accountOptions } = {},
) {
  journey(
    name,
    async (context) =>
      run({ ...context, widget: await addWidget(context, settings) }),
    accountOptions,
  );
}

/** Creates a widget in the account. `fields` are added to the channel. */
export async function addWidget(context, settings = {}, fields = {}) {
  const { widget_id } = await context.account.admin.post("/admin/channels", {
    kind: "widget",
    name: "Shop",
    widget: { title: "Northlight", ...settings },
    ...fields,
  });
  return new EmbeddedWidget(context, widget_id);
}

/** Returns a script element that declares all callbacks and records them in `window.called`. */
export const callbackScript = (prefix = "widget") =>
  `<script>window.called = []; for (const name of ${JSON.stringify(CALLBACK_NAMES)})` +
  ` window["${prefix}_" + name] = (...args) => { called.push([name, ...args].join(" ")); };</script>`;

export const label = (page) => page.locator(".label");
export const openWindow = (page) =>
  page.getByRole("button", { name: /^Open chat/ }).click();
export const composer = (page) =>
  page.getByRole("textbox", { name: "Write a message" });
export const write = async (page, text) => {
  await composer(page).fill(text);
  await page.keyboard.press("Enter");
};
export const waitForSent = (page, text) =>
  page.locator(".turn", { hasText: text }).getByText("Sent").waitFor();

/** The callbacks that the widget has called, in order. */
export const called = (page) => page.evaluate(() => window.called);

/** Calls a method of the widget's API in the page. */
export const api = (page, method, ...args) =>
  page.evaluate(
    ([method, args]) => window.widget_api[method](...args),
    [method, args],
  );

/** What the browser has stored for the page's origin, by key. */
export const stored = (page) => page.evaluate(() => ({ ...localStorage }));
