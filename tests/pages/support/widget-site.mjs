/* A shop's page that includes the widget. Its origin differs from that of the service, and it has a strict
   Content-Security-Policy. */

import { readFileSync } from "node:fs";
import http from "node:http";

/** The names of the callbacks, which the widget's source lists. */
const CALLBACK_NAMES = readFileSync(
  new URL("../../../functions/www/widget/api/callbacks.ts", import.meta.url),
  "utf8",
).match(/(?<=^ *")on\w+/gm);

export class WidgetSite {
  /** The script tag of the page. Undefined means the usual one. */
  script;
  /** Returns the policy of the page, which replaces the usual one. */
  changePolicy;
  /** What the browser has stored for the page. */
  stored = {};
  #server;
  #serviceUrl;
  #socketUrl;
  #widgetId;

  static async start(
    serviceUrl,
    { widgetId = "w1", socketUrl = serviceUrl.replace("http", "ws") } = {},
  ) {
    const site = new WidgetSite();
    site.#serviceUrl = serviceUrl;
    site.#socketUrl = socketUrl;
    site.#widgetId = widgetId;
    site.#server = await listen((request, response) =>
      site.#serve(request, response),
    );
    site.url = address(site.#server).replace("127.0.0.1", "localhost");
    return site;
  }

  close() {
    return close(this.#server);
  }

  #serve(request, response) {
    if (request.url.startsWith("/callbacks.js"))
      return response
        .writeHead(200, { "content-type": "text/javascript" })
        .end(
          `(${declareCallbacks})(${JSON.stringify(CALLBACK_NAMES)}); Object.assign(localStorage, ${JSON.stringify(this.stored)})`,
        );
    const policy = [
      "default-src 'none'",
      `script-src 'self' ${this.#serviceUrl}`,
      `connect-src ${this.#serviceUrl} ${this.#socketUrl}`,
      "style-src 'self'",
      "img-src 'self' https: http:",
      "media-src https: http:",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ].join("; ");
    const script =
      this.script ??
      `<script async src="${this.#serviceUrl}/widget.js" data-id="${this.#widgetId}"></script>`;
    response
      .writeHead(200, {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": this.changePolicy?.(policy) ?? policy,
      })
      .end(
        `<!doctype html><html lang="en"><meta charset="utf-8">` +
          `<meta name="viewport" content="width=device-width, initial-scale=1"><title>Shop</title>` +
          `<main><h1>Northlight shoes</h1><p>Light shoes for long days.</p></main>` +
          `<script src="/callbacks.js"></script>${script}`,
      );
  }
}

/** Runs in the page: records each callback in `window.called`. */
function declareCallbacks(names) {
  window.called = [];
  for (const prefix of ["widget", "jivo"])
    for (const name of names)
      window[`${prefix}_${name}`] = (...args) =>
        window.called.push(
          [prefix === "widget" ? name : `${prefix}_${name}`, ...args].join(" "),
        );
}

export const address = (server) => `http://127.0.0.1:${server.address().port}`;

export async function listen(handle) {
  const server = http.createServer((request, response) => {
    Promise.resolve(handle(request, response)).catch(() =>
      response.writeHead(500).end(),
    );
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return server;
}

export async function close(server) {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
}
