/* Serves the console for development, with a local host behind it.

     node dev.mjs [--port 3900]                              starts a local host (cargo build --bins), and prints how to
                                                             sign in to a new account with sample data
     node dev.mjs --dataset full                             another data set of tests/pages/seed/data-sets.mjs
     node dev.mjs --ready ready.json                         the local host of this ready file instead of a new one
     node dev.mjs --api http://127.0.0.1:3000                a service with accounts of its own
     node dev.mjs --built                                    serves dist/ instead of building on each change */

import { readFile } from "node:fs/promises";
import http from "node:http";
import { dirname, extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { startHost } from "../../tests/pages/support/host.mjs";
import { CONTENT_SECURITY_POLICY, watch } from "./build.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".txt": "text/plain",
};

export async function serve({ port = 0, api, folder }) {
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
    return proxy(api, request, response);
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
            // The console gets the socket URL from the API: that of the service.
            "content-security-policy": CONTENT_SECURITY_POLICY.replace(
              "{socket}",
              new URL(api).origin.replace(/^http/, "ws"),
              // The local host selects the port of the files.
            ).replace("{files}", "http://127.0.0.1:*"),
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

  await new Promise((done) => server.listen(port, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => new Promise((done) => (server.closeAllConnections(), server.close(done))),
  };
}

function proxy(api, request, response) {
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
    request.pipe(upstream);
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
  const host = option("api") || option("ready") ? undefined : await startHost();
  process.on("SIGINT", () => void Promise.resolve(host?.stop()).then(() => process.exit()));
  const readyFile = host?.environment.READY_FILE ?? option("ready");
  const api = option("api") ?? JSON.parse(await readFile(readyFile, "utf8")).base_url;
  const { url } = await serve({ port: Number(option("port") ?? 3900), api, folder });
  console.log(`${url}/console/`);
  if (readyFile !== undefined) {
    process.env.READY_FILE = readyFile;
    const { seed } = await import("../../tests/pages/seed/data-sets.mjs");
    const { admin } = await seed(option("dataset") ?? "sample");
    console.log(`sign in as ${admin.email} with the password: ${admin.password}`);
  }
}
