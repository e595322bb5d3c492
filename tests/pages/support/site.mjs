/* A site of somebody else: a server whose pages include the widget. Its origin differs from that of the service. Needs
   no local host. */

import http from "node:http";

const HTML = { "content-type": "text/html; charset=utf-8" };
const TYPES = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json",
  mjs: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

/** Names that Chromium resolves to this machine, with any port, for `launch`. Pages under different names are
    cross-site. Unlike http://localhost, they are not secure contexts. */
export const SITE_NAMES = {
  "*.test": "127.0.0.1",
};

/** Returns an HTML document. `head` and `body` are HTML. */
export const html = ({ title = "Shop", lang = "en", head = "", body = "" }) =>
  `<!doctype html><html lang="${lang}"><head><meta charset="utf-8">` +
  `<meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title>` +
  `${head}</head><body>${body}</body></html>`;

/** Returns a strict Content-Security-Policy that lets a page use the service with inline scripts of the page. */
export const strictPolicy = (serviceUrl, directives = {}) =>
  Object.entries({
    "default-src": "'none'",
    "script-src": `'self' 'unsafe-inline' ${serviceUrl}`,
    "connect-src": `'self' ${serviceUrl} ws:`,
    "style-src": "'self'",
    "img-src": "'self' https: http:",
    ...directives,
  })
    .map((entry) => entry.join(" "))
    .join("; ");

export class Site {
  /** The URL of the site's start page without a path, for example http://localhost:8080. */
  url;
  /** The requests so far: method, path with the query, headers, body. */
  requests = [];
  #server;
  #pages;
  #headers;

  /** Starts a site. `pages` contains what it serves by path: a document as a string; an object with `body` and
      optionally `type` (a file name extension), `status` and `headers`; or a function that returns one of them for a
      request. "*" serves all other paths. `headers` are sent with each document; a policy, for example. `hostName`
      is "localhost", or a name of SITE_NAMES such as "shop.test". */
  static async start({ pages, headers = {}, hostName = "localhost" }) {
    const site = new Site();
    site.#pages = pages;
    site.#headers = headers;
    site.#server = http.createServer((request, response) =>
      site.#serve(request, response).catch((error) => {
        console.error(error);
        response.destroy();
      }),
    );
    await new Promise((done) => site.#server.listen(0, "127.0.0.1", done));
    site.url = `http://${hostName}:${site.#server.address().port}`;
    return site;
  }

  /** Sets or replaces what the site serves at a path. */
  set(path, answer) {
    this.#pages[path] = answer;
  }

  /** The URL of this server under another host name. */
  urlAs(hostName) {
    return `http://${hostName}:${this.#server.address().port}`;
  }

  async close() {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  async #serve(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url, headers } = request;
    const seen = {
      method,
      path: url,
      headers,
      body: Buffer.concat(chunks).toString(),
    };
    this.requests.push(seen);
    const { pathname } = new URL(url, "http://site");
    const found = this.#pages[pathname] ?? this.#pages["*"];
    const answer = typeof found === "function" ? await found(seen) : found;
    if (answer === undefined) {
      response.writeHead(404, HTML).end();
    } else if (typeof answer === "string") {
      response.writeHead(200, { ...HTML, ...this.#headers }).end(answer);
    } else {
      const { body, type = pathname.split(".").pop(), status = 200 } = answer;
      const contentType = TYPES[type] ?? "text/html; charset=utf-8";
      response
        .writeHead(status, { "content-type": contentType, ...answer.headers })
        .end(body);
    }
  }
}
