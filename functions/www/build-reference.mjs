/* Builds the reference page, one HTML file without scripts. Redoc would add a script of 328 KB (gzip), which its own
   page loads from another host, and Scalar one of 993 KB; both need inline styles, which our Content-Security-Policy
   forbids. */

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { renderReference } from "./reference/render.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));

/** Builds the page. Returns its file, the path that the first load requests, and its Content-Security-Policy. */
export async function buildReference() {
  const read = (path) => readFile(join(HERE, path), "utf8");
  const sources = (await read("ui/tokens.css")) + (await read("reference/reference.css"));
  const { code } = await esbuild.transform(sources, { loader: "css", minify: true });
  const style = code.trim();
  const page = renderReference(JSON.parse(await read("../../docs/openapi.json")), style);
  const hash = createHash("sha256").update(style).digest("base64");
  const policy = ["default-src 'none'", `style-src 'sha256-${hash}'`, "base-uri 'none'", "form-action 'none'"];
  return {
    files: new Map([["index.html", Buffer.from(page)]]),
    firstLoad: new Set(["index.html"]),
    contentSecurityPolicy: [...policy, "frame-ancestors 'none'"].join("; "),
  };
}
