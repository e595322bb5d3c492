/* Serves the widget from a folder, and forwards all other requests to the local host. A change of the widget can then
   be tried without a new build of the host, which embeds the widget:

     (cd functions/www && npm run build)
     WIDGET_FOLDER=dist/widget node tests/pages/run.mjs embedding/browser.test.mjs */

import { readFile } from "node:fs/promises";
import http from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const WWW = fileURLToPath(new URL("../../../functions/www/", import.meta.url));

const HEADERS = {
  "content-type": "text/javascript; charset=utf-8",
  "access-control-allow-origin": "*",
};

/** Starts the server. `folder` is relative to functions/www. Returns its URL and a function that closes it. */
export async function serveWidgetFolder(folder, hostUrl) {
  const file = (name) => readFile(join(WWW, folder, name), "utf8");

  async function script(pathname) {
    if (pathname === "/widget.js") return file("widget.js");
    const [, id, rest] = /^\/(?:script\/)?widget\/([^/]+)(\/.+)?$/.exec(
      pathname,
    ) ?? [undefined, undefined, ""];
    if (id === "assets") return file(pathname.slice("/widget/".length));
    if (id === undefined || rest) return undefined;
    const response = await fetch(`${hostUrl}${pathname}`);
    const [configuration] = /^self\.switchboardWidget=\{.*?\};/.exec(
      await response.text(),
    ) ?? [""];
    return configuration + (await file("widget.js"));
  }

  const server = http.createServer(async (request, response) => {
    const { pathname } = new URL(request.url, hostUrl);
    const text =
      request.method === "GET"
        ? await script(pathname).catch(() => undefined)
        : undefined;
    if (text !== undefined) return response.writeHead(200, HEADERS).end(text);
    const { method, headers } = request;
    const upstream = http.request(
      hostUrl + request.url,
      { method, headers },
      (answer) => {
        response.writeHead(answer.statusCode, answer.headers);
        answer.pipe(response);
      },
    );
    upstream.on("error", () => response.destroy());
    request.pipe(upstream);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, close };
}
