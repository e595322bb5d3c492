/* Serves the console for development.

     node dev.mjs [--port 3900]                              with the mock service of dev/, dataset "normal"
     node dev.mjs --dataset busy                              another dataset of dev/mock-data.mjs
     node dev.mjs --ready ready.json [--dataset full]         with the local host of this ready file, in a new account with
                                                             a data set of tests/pages/seed/data-sets.mjs
     node dev.mjs --api http://127.0.0.1:3000                with a real local host behind it
     node dev.mjs --built                                    serves dist/ instead of building on each change */

import { readFile } from "node:fs/promises";
import http from "node:http";
import { dirname, extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { CONTENT_SECURITY_POLICY, watch } from "./build.mjs";
import { MockService } from "./dev/mock-service.mjs";
import { PICTURES } from "./dev/mock-data.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".txt": "text/plain",
};

export async function serve({ port = 0, api, dataset = "normal", folder }) {
  const mockService = api === undefined ? new MockService(dataset) : undefined;
  const server = http.createServer((request, response) => {
    handle(request, response).catch((error) => {
      console.error(error);
      response.writeHead(500).end();
    });
  });

  const handle = async (request, response) => {
    const url = new URL(request.url, `http://${request.headers.host}`);
    if (url.pathname === "/") return response.writeHead(302, { location: "/console/" }).end();
    if (url.pathname.startsWith("/console/")) return file(url.pathname.slice(9) || "index.html", request, response);
    const picture = /^\/_mock\/pictures\/(.+)$/.exec(url.pathname)?.[1];
    if (picture) {
      const source = PICTURES[picture];
      if (!source) return response.writeHead(404).end();
      return response
        .writeHead(200, { "content-type": "image/svg+xml" })
        .end(decodeURIComponent(source.slice(source.indexOf(",") + 1)));
    }
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    if (api !== undefined) return proxy(api, request, response, bytes);
    const body = bytes.length > 0 ? JSON.parse(bytes) : undefined;
    if (url.pathname === "/_mock/reset" && body) body.base = `http://${request.headers.host}`;
    const result = await mockService.handle(request.method, url, request.headers, body);
    if (result === undefined) return request.socket.destroy();
    response
      .writeHead(result.status, { "content-type": "application/json", "cache-control": "no-store", ...result.headers })
      .end(result.text ?? JSON.stringify(result.body));
  };

  const file = async (path, request, response) => {
    const name = normalize(path).replace(/^(\.\.[/\\])+/, "");
    const isPage = name === "index.html";
    const headers = {
      "content-type": TYPES[extname(name)] ?? "application/octet-stream",
      "cache-control": isPage ? "no-cache" : "public, max-age=31536000, immutable",
      "x-content-type-options": "nosniff",
      ...(isPage
        ? {
            // The console gets the socket URL from the API: that of the local host, or of this server for the mock.
            "content-security-policy": CONTENT_SECURITY_POLICY.replace(
              "{socket}",
              api === undefined ? `ws://${request.headers.host}` : new URL(api).origin.replace(/^http/, "ws"),
            ),
            "referrer-policy": "no-referrer",
          }
        : {}),
    };
    try {
      const wantsBrotli = /\bbr\b/.test(request.headers["accept-encoding"] ?? "");
      const compressed = wantsBrotli ? await readFile(join(folder, `${name}.br`)).catch(() => undefined) : undefined;
      const bytes = compressed ?? (await readFile(join(folder, name)));
      response.writeHead(200, compressed ? { ...headers, "content-encoding": "br" } : headers).end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  };

  server.on("upgrade", (request, socket, head) => {
    if (mockService === undefined) socket.destroy();
    else mockService.upgrade(request, socket, head);
  });

  await new Promise((done) => server.listen(port, "127.0.0.1", done));
  const url = `http://127.0.0.1:${server.address().port}`;
  mockService?.reset(dataset, { base: url });
  return { url, mockService, close: () => new Promise((done) => (server.closeAllConnections(), server.close(done))) };
}

function proxy(api, request, response, bytes) {
  const target = new URL(request.url, api);
  return new Promise((done) => {
    const upstream = http.request(
      target,
      { method: request.method, headers: { ...request.headers, host: target.host } },
      (upstreamResponse) => {
        response.writeHead(upstreamResponse.statusCode, upstreamResponse.headers);
        upstreamResponse.pipe(response);
        upstreamResponse.on("end", done);
      },
    );
    upstream.on("error", () => (response.writeHead(502).end(), done()));
    upstream.end(bytes);
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const option = (name) => {
    const at = process.argv.indexOf(`--${name}`);
    return at < 0 ? undefined : process.argv[at + 1];
  };
  const isBuilt = process.argv.includes("--built");
  const folder = join(HERE, isBuilt ? "dist/console" : ".watch/console");
  if (!isBuilt) await watch(folder);
  const ready = option("ready") && JSON.parse(await readFile(option("ready"), "utf8"));
  const api = ready?.base_url ?? option("api");
  const dataset = ready ? undefined : option("dataset");
  const { url } = await serve({ port: Number(option("port") ?? 3900), api, dataset, folder });
  let signIn = api ? "" : "marta@example.com (admin) or jonas@example.com with the password: secret";
  if (ready) {
    process.env.READY_FILE = option("ready");
    const { seed } = await import("../../tests/pages/seed/data-sets.mjs");
    const { admin } = await seed(option("dataset") ?? "usual");
    signIn = `${admin.email} with the password: ${admin.password}`;
  }
  console.log(`${url}/console/${signIn && `  sign in as ${signIn}`}`);
}
