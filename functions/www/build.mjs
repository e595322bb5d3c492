/* Builds the pages into dist/. File names contain a hash of the content, and each file is also stored compressed, so that
   the service needs no build step for them.

     node build.mjs            builds
     node build.mjs --check    fails if dist/ differs from a new build
     node build.mjs --watch    builds into .watch/ for development, and again on each change */

import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync, gzipSync } from "node:zlib";
import * as esbuild from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
const PREFIX = "/console/assets/";
const MAX_FIRST_LOAD_BYTES = 90 * 1024;
const TYPES = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  txt: "text/plain; charset=utf-8",
};

/** The page's policy. The function that serves the page replaces {socket} with the origin of the WebSocket URL. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' https: http: data:",
  "media-src https: http:",
  "connect-src 'self' {socket}",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const common = (isDevelopment) => ({
  absWorkingDir: HERE,
  bundle: true,
  minify: !isDevelopment,
  sourcemap: isDevelopment ? "inline" : false,
  target: ["chrome123", "firefox125", "safari17.5"],
  jsx: "automatic",
  jsxImportSource: "preact",
  loader: { ".svg": "file" },
  publicPath: PREFIX,
  outdir: "out",
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  assetNames: "[name]-[hash]",
  legalComments: "none",
  metafile: true,
  write: false,
  logLevel: "warning",
  define: { "process.env.NODE_ENV": '"production"' },
});

/** Builds the console. Returns its files by path below dist/console, and the paths that the first load requests. */
async function build(isDevelopment = false) {
  const [main, initialTheme] = await Promise.all([
    esbuild.build({
      ...common(isDevelopment),
      entryPoints: { main: "console/main.tsx" },
      format: "esm",
      splitting: true,
    }),
    esbuild.build({
      ...common(isDevelopment),
      entryPoints: { "initial-theme": "console/initial-theme.ts" },
      format: "iife",
      sourcemap: false,
    }),
  ]);
  const files = new Map();
  const outputs = { ...main.metafile.outputs, ...initialTheme.metafile.outputs };
  for (const file of [...main.outputFiles, ...initialTheme.outputFiles]) {
    files.set(`assets/${relative(join(HERE, "out"), file.path)}`, Buffer.from(file.contents));
  }
  const nameOf = (path) => `assets/${path.replace(/^out\//, "")}`;
  const find = (pattern) => {
    const found = [...files.keys()].find((name) => pattern.test(name));
    if (found === undefined) throw new Error(`no built file matches ${pattern}`);
    return found;
  };
  const entry = Object.entries(outputs).find(([, output]) => output.entryPoint === "console/main.tsx");
  const firstLoad = new Set([find(/initial-theme-/), find(/icon-[A-Z0-9]+\.svg$/), nameOf(entry[1].cssBundle)]);
  const addStatic = (path) => {
    if (firstLoad.has(nameOf(path))) return;
    firstLoad.add(nameOf(path));
    for (const { path: imported, kind } of outputs[path].imports) if (kind === "import-statement") addStatic(imported);
  };
  addStatic(entry[0]);

  const licences = Buffer.from(await licenceTexts());
  const licencesName = `assets/LICENSES-${sha256(licences).slice(0, 8).toUpperCase()}.txt`;
  files.set(licencesName, licences);
  const page = (await readFile(join(HERE, "console/index.html"), "utf8"))
    .replace("{icon.svg}", `/console/${find(/icon-[A-Z0-9]+\.svg$/)}`)
    .replace("{licences}", `/console/${licencesName}`)
    .replace("{initial-theme.js}", `/console/${find(/initial-theme-/)}`)
    .replace("{main.css}", `/console/${nameOf(entry[1].cssBundle)}`)
    .replace("{main.js}", `/console/${nameOf(entry[0])}`)
    .replace(/\n\s*/g, "\n");
  files.set("index.html", Buffer.from(page));
  firstLoad.add("index.html");
  return { files, firstLoad };
}

async function licenceTexts() {
  const read = (path) => readFile(join(HERE, path), "utf8");
  const parts = [
    ["Preact", await read("node_modules/preact/LICENSE")],
    ["Preact Signals", await read("node_modules/@preact/signals/LICENSE")],
    ["Lucide icons", await read("ui/LUCIDE-LICENSE.txt")],
  ];
  return parts.map(([name, text]) => `${name}\n${"=".repeat(name.length)}\n\n${text.trim()}\n`).join("\n\n");
}

const brotli = (bytes) =>
  brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  });
const gzip = (bytes) => gzipSync(bytes, { level: 9 });
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");
const contentType = (name) => TYPES[name.split(".").pop()];

/** Returns the Rust source that functions/console/page.rs includes: the page, its assets by name, and its policy. */
function rustTable(files) {
  const file = (path) =>
    `EmbeddedFile { content_type: ${JSON.stringify(contentType(path))}, identity: include_bytes!("${path}"), brotli: include_bytes!("${path}.br"), gzip: include_bytes!("${path}.gz") }`;
  const assets = [...files.keys()].filter((path) => path.startsWith("assets/")).sort();
  return [
    "// Written by functions/www/build.mjs.",
    `const CONTENT_SECURITY_POLICY: &str = ${JSON.stringify(CONTENT_SECURITY_POLICY)};`,
    `static PAGE: EmbeddedFile = ${file("index.html")};`,
    `static ASSETS: [(&str, EmbeddedFile); ${assets.length}] = [`,
    ...assets.map((path) => `    ("${path.slice("assets/".length)}", ${file(path)}),`),
    "];",
    "",
  ].join("\n");
}

async function write(folder, { files }, isCompressed) {
  await rm(folder, { recursive: true, force: true });
  for (const [path, bytes] of files) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, bytes);
    if (!isCompressed) continue;
    await writeFile(`${target}.br`, brotli(bytes));
    await writeFile(`${target}.gz`, gzip(bytes));
  }
  if (isCompressed) await writeFile(join(folder, "files.rs"), rustTable(files));
}

function report({ files, firstLoad }) {
  let total = { raw: 0, br: 0, gz: 0 };
  const rows = [...files].map(([path, bytes]) => {
    const sizes = { raw: bytes.length, br: brotli(bytes).length, gz: gzip(bytes).length };
    if (firstLoad.has(path)) total = { raw: total.raw + sizes.raw, br: total.br + sizes.br, gz: total.gz + sizes.gz };
    return [firstLoad.has(path) ? "*" : " ", path, sizes];
  });
  const line = (mark, path, { raw, br, gz }) =>
    console.log(
      `${mark} ${path.padEnd(40)} ${String(raw).padStart(8)} ${String(br).padStart(8)} ${String(gz).padStart(8)}`,
    );
  console.log(`  ${"console".padEnd(40)} ${"bytes".padStart(8)} ${"brotli".padStart(8)} ${"gzip".padStart(8)}`);
  for (const row of rows) line(...row);
  line("*", "first load", total);
  if (total.gz > MAX_FIRST_LOAD_BYTES) {
    console.error(`The first load has ${total.gz} bytes with gzip; at most ${MAX_FIRST_LOAD_BYTES} are allowed.`);
    process.exitCode = 1;
  }
}

/** Compares dist/ with a new build. Compressed files are decompressed first, because their bytes depend on Node's version
 * of zlib. */
async function check(folder, built) {
  const problems = [];
  const existing = new Set(
    (await readdir(folder, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => relative(folder, join(entry.parentPath ?? entry.path, entry.name))),
  );
  const expect = (path, bytes, decode = (bytes) => bytes) => {
    if (!existing.delete(path)) return problems.push(`${path} is missing`);
    return readFile(join(folder, path)).then((found) => {
      if (!decode(found).equals(bytes)) problems.push(`${path} differs`);
    });
  };
  for (const [path, bytes] of built.files) {
    await expect(path, bytes);
    await expect(`${path}.br`, bytes, brotliDecompressSync);
    await expect(`${path}.gz`, bytes, gunzipSync);
  }
  await expect("files.rs", Buffer.from(rustTable(built.files)));
  for (const path of existing) problems.push(`${path} is not part of the build`);
  if (problems.length === 0) return console.log("dist/console matches its sources");
  console.error(
    `dist/console differs from its sources; run "npm run build" in functions/www:\n  ${problems.join("\n  ")}`,
  );
  process.exitCode = 1;
}

async function watch(folder, onBuilt = () => {}) {
  let timer;
  const rebuild = async () => {
    try {
      await write(folder, await build(true), false);
      onBuilt();
      console.log(`built ${new Date().toLocaleTimeString()}`);
    } catch (error) {
      console.error(error.message);
    }
  };
  await rebuild();
  const { watch: observe } = await import("node:fs");
  for (const source of ["api", "console", "socket", "ui"]) {
    observe(join(HERE, source), { recursive: true }, () => {
      clearTimeout(timer);
      timer = setTimeout(rebuild, 60);
    });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const dist = join(HERE, "dist/console");
  if (process.argv.includes("--watch")) await watch(join(HERE, ".watch/console"));
  else if (process.argv.includes("--check")) await check(dist, await build());
  else {
    const built = await build();
    await write(dist, built, true);
    report(built);
  }
}

export { build, watch, write };
