/* Builds the console, the widget, the API reference and the demo site into dist/. The names of the console's and the widget's assets
   contain a hash of the content. Each of these files is also stored compressed, so that the service can embed it.

     node build.mjs            builds
     node build.mjs --check    fails if dist/ differs from a new build
     node build.mjs --watch    builds into .watch/ for development, and again on each change */

import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync, gzipSync } from "node:zlib";
import * as esbuild from "esbuild";
import { buildDemo } from "./build-demo.mjs";
import { buildReference } from "./build-reference.mjs";
import { buildWidget, minifiedStyles, namedLanguages } from "./build-widget.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const PREFIX = "/console/assets/";
/** The pages by the name of their folder in dist/. Functions embed the pages unless `isForLocalHost` is set. `limits`
 * are the maximum sizes of a file, or of all files of the first load together, by content coding: `gz` (gzip) or `br`
 * (Brotli, which browsers accept only over HTTPS). */
const PAGES = {
  console: { build, limits: [["first load", "gz", 90 * 1024]] },
  widget: {
    build: buildWidget,
    limits: [
      ["first load", "br", 24 * 1024],
      ["widget.js", "br", 3 * 1024],
    ],
  },
  reference: { build: buildReference, limits: [["first load", "gz", 120 * 1024]] },
  demo: { build: async () => buildDemo(await licenceTexts()), isForLocalHost: true, limits: [] },
};
const TYPES = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  txt: "text/plain; charset=utf-8",
  webmanifest: "application/manifest+json",
};

/** The Content-Security-Policy of the console. The function that serves the page replaces {socket} with the origin of
 * the WebSocket URL, and {files} with that of uploaded files. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' https: http: data:",
  "media-src https: http:",
  "connect-src 'self' {socket} {files}",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types push-worker",
].join("; ");

/** Imports the example servers of docs/examples as strings, for the pages that show their source. */
export const exampleTexts = {
  name: "example-texts",
  setup(build) {
    build.onLoad({ filter: /[\\/]docs[\\/]examples[\\/]/ }, async ({ path }) => ({
      contents: await readFile(path, "utf8"),
      loader: "text",
    }));
  },
};

/** Puts all modules of the console's first load into one chunk: each component that is loaded later imports the app, which
 * has long been loaded then. esbuild makes a chunk for each set of entry points that share modules, which would be some
 * thirty small ones. */
const oneFirstChunk = {
  name: "one-first-chunk",
  setup(build) {
    build.onResolve({ filter: /^\./ }, ({ kind, path, resolveDir }) => {
      const target = join(resolveDir, path);
      const isOfConsole = target.startsWith(join(HERE, "console/"));
      if (kind !== "dynamic-import" || !isOfConsole) return undefined;
      // The names of the files depend on this path, so it must be the same in every folder.
      return { path: relative(HERE, target), namespace: "loaded-later" };
    });
    build.onLoad({ filter: /./, namespace: "loaded-later" }, ({ path }) => ({
      contents: `import "./console/app"; export * from ${JSON.stringify(`./${path}`)};`,
      resolveDir: HERE,
    }));
  },
};

const common = (isDevelopment) => ({
  absWorkingDir: HERE,
  bundle: true,
  minify: !isDevelopment,
  charset: "utf8",
  sourcemap: isDevelopment ? "inline" : false,
  target: ["chrome123", "firefox125", "safari17.5"],
  jsx: "automatic",
  jsxImportSource: "preact",
  loader: { ".svg": "file" },
  plugins: [minifiedStyles, namedLanguages, exampleTexts],
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
  const script = (name) =>
    esbuild.build({
      ...common(isDevelopment),
      entryPoints: { [name]: `console/${name}.ts` },
      format: "iife",
      sourcemap: false,
    });
  const [initialTheme, pushWorker] = await Promise.all([script("initial-theme"), script("push-worker")]);
  const pushWorkerUrl = PREFIX + relative(join(HERE, "out"), pushWorker.outputFiles[0].path);
  const main = await esbuild.build({
    ...common(isDevelopment),
    define: { ...common(isDevelopment).define, PUSH_WORKER_URL: JSON.stringify(pushWorkerUrl) },
    entryPoints: { main: "console/main.tsx" },
    plugins: [...common(isDevelopment).plugins, oneFirstChunk],
    format: "esm",
    splitting: true,
  });
  const files = new Map();
  const outputs = { ...main.metafile.outputs, ...initialTheme.metafile.outputs };
  const entry = Object.entries(outputs).find(([, output]) => output.entryPoint === "console/main.tsx");
  for (const file of [...main.outputFiles, ...initialTheme.outputFiles, ...pushWorker.outputFiles]) {
    // The page links the only style sheet. esbuild writes a copy for each component that is loaded later.
    if (file.path.endsWith(".css") && !file.path.endsWith(entry[1].cssBundle)) continue;
    files.set(`assets/${relative(join(HERE, "out"), file.path)}`, Buffer.from(file.contents));
  }
  const nameOf = (path) => `assets/${path.replace(/^out\//, "")}`;
  const find = (pattern) => {
    const found = [...files.keys()].find((name) => pattern.test(name));
    if (found === undefined) throw new Error(`no built file matches ${pattern}`);
    return found;
  };
  const firstLoad = new Set([find(/initial-theme-/), find(/icon-[A-Z0-9]+\.svg$/), nameOf(entry[1].cssBundle)]);
  const addStatic = (path) => {
    if (firstLoad.has(nameOf(path))) return;
    firstLoad.add(nameOf(path));
    for (const { path: imported, kind } of outputs[path].imports) if (kind === "import-statement") addStatic(imported);
  };
  addStatic(entry[0]);
  // Preload the scripts that the main script imports. The browser would otherwise request them only after loading it.
  const preloads = [...firstLoad]
    .filter((name) => name.endsWith(".js") && name !== nameOf(entry[0]) && !name.includes("initial-theme"))
    .map((name) => `<link rel="modulepreload" href="/console/${name}">`)
    .join("\n");

  const licences = Buffer.from(await licenceTexts());
  const licencesName = `assets/LICENSES-${sha256(licences).slice(0, 8).toUpperCase()}.txt`;
  files.set(licencesName, licences);
  const icon = `/console/${find(/icon-[A-Z0-9]+\.svg$/)}`;
  const manifest = Buffer.from(JSON.stringify(manifestWith(icon)));
  const manifestName = `assets/manifest-${sha256(manifest).slice(0, 8).toUpperCase()}.webmanifest`;
  files.set(manifestName, manifest);
  const page = (await readFile(join(HERE, "console/index.html"), "utf8"))
    .replace("{icon.svg}", icon)
    .replace("{manifest}", `/console/${manifestName}`)
    .replace("{licences}", `/console/${licencesName}`)
    .replace("{initial-theme.js}", `/console/${find(/initial-theme-/)}`)
    .replace("{preloads}", preloads)
    .replace("{main.css}", `/console/${nameOf(entry[1].cssBundle)}`)
    .replace("{main.js}", `/console/${nameOf(entry[0])}`)
    .replace(/\n\s*/g, "\n");
  files.set("index.html", Buffer.from(page));
  firstLoad.add("index.html");
  return { files, firstLoad, contentSecurityPolicy: CONTENT_SECURITY_POLICY };
}

/** Lets browsers install the console as an application. */
const manifestWith = (icon) => ({
  id: "/console",
  name: "Switchboard",
  start_url: "/console",
  scope: "/console",
  display: "standalone",
  icons: [{ src: icon, type: "image/svg+xml", sizes: "any" }],
});

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

/** Returns the Rust source that the function of a page includes: the file that is served under a fixed name, the assets
 * by name, and the Content-Security-Policy. */
function rustTable({ files, contentSecurityPolicy }) {
  const file = (path) =>
    `EmbeddedFile { content_type: ${JSON.stringify(contentType(path))}, identity: include_bytes!("${path}"), brotli: include_bytes!("${path}.br"), gzip: include_bytes!("${path}.gz") }`;
  const assets = [...files.keys()].filter((path) => path.startsWith("assets/")).sort();
  return [
    "// Written by functions/www/build.mjs.",
    ...(files.has("index.html")
      ? [
          `const CONTENT_SECURITY_POLICY: &str = ${JSON.stringify(contentSecurityPolicy)};`,
          `static PAGE: EmbeddedFile = ${file("index.html")};`,
        ]
      : [`static LOADER: EmbeddedFile = ${file("widget.js")};`]),
    ...(assets.length > 0
      ? [
          `static ASSETS: [(&str, EmbeddedFile); ${assets.length}] = [`,
          ...assets.map((path) => `    ("${path.slice("assets/".length)}", ${file(path)}),`),
          "];",
        ]
      : []),
    "",
  ].join("\n");
}

async function write(folder, built, isCompressed) {
  await rm(folder, { recursive: true, force: true });
  for (const [path, bytes] of built.files) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, bytes);
    if (!isCompressed) continue;
    await writeFile(`${target}.br`, brotli(bytes));
    await writeFile(`${target}.gz`, gzip(bytes));
  }
  if (isCompressed) await writeFile(join(folder, "files.rs"), rustTable(built));
}

/** Prints the sizes of a page. Fails if a limit is exceeded. */
function report(page, { files, firstLoad }) {
  const total = { raw: 0, br: 0, gz: 0 };
  const sizes = new Map();
  for (const [path, bytes] of files) {
    const size = { raw: bytes.length, br: brotli(bytes).length, gz: gzip(bytes).length };
    sizes.set(path, size);
    if (firstLoad.has(path)) for (const coding of Object.keys(total)) total[coding] += size[coding];
  }
  const line = (mark, path, { raw, br, gz }) =>
    console.log(
      `${mark} ${path.padEnd(40)} ${String(raw).padStart(8)} ${String(br).padStart(8)} ${String(gz).padStart(8)}`,
    );
  console.log(`  ${page.padEnd(40)} ${"bytes".padStart(8)} ${"brotli".padStart(8)} ${"gzip".padStart(8)}`);
  for (const [path, size] of sizes) line(firstLoad.has(path) ? "*" : " ", path, size);
  line("*", "first load", total);
  sizes.set("first load", total);
  for (const [name, coding, limit] of PAGES[page].limits) {
    const size = sizes.get(name)[coding];
    if (size <= limit) continue;
    console.error(`${page}: ${name} has ${size} bytes (${coding}); at most ${limit} are allowed.`);
    process.exitCode = 1;
  }
}

/** Compares dist/ with a new build, and fails if they differ. Compressed files are decompressed first, because their
 * bytes depend on Node's version of zlib. */
async function check(page, folder, built) {
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
    if (PAGES[page].isForLocalHost) continue;
    await expect(`${path}.br`, bytes, brotliDecompressSync);
    await expect(`${path}.gz`, bytes, gunzipSync);
  }
  if (!PAGES[page].isForLocalHost) await expect("files.rs", Buffer.from(rustTable(built)));
  for (const path of existing) problems.push(`${path} is not part of the build`);
  if (problems.length === 0) return console.log(`dist/${page} matches its sources`);
  console.error(
    `dist/${page} differs from its sources; run "npm run build" in functions/www:\n  ${problems.join("\n  ")}`,
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
  for (const source of ["api", "console", "socket", "texts", "ui", "widget"]) {
    observe(join(HERE, source), { recursive: true }, () => {
      clearTimeout(timer);
      timer = setTimeout(rebuild, 60);
    });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes("--watch")) await watch(join(HERE, ".watch/console"));
  else
    for (const [page, { build, isForLocalHost }] of Object.entries(PAGES)) {
      const folder = join(HERE, "dist", page);
      const built = await build();
      if (process.argv.includes("--check")) await check(page, folder, built);
      else await write(folder, built, !isForLocalHost);
      report(page, built);
    }
}

export { build, watch, write };
