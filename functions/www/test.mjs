/* Bundles every *.test.ts and *.test.tsx of this folder with esbuild, and runs them and texts/*.test.mjs with Node's test
   runner. */

import { spawnSync } from "node:child_process";
import { readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { exampleTexts } from "./build.mjs";
import { minifiedStyles } from "./build-widget.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const OUT = join(HERE, "node_modules/.tests");
const sources = (
  await Promise.all(
    ["api", "files", "socket", "texts", "ui", "console", "widget", "demo"].map(async (folder) =>
      (await readdir(join(HERE, folder), { recursive: true })).map((name) => join(folder, name)),
    ),
  )
).flat();
const tests = sources.filter((name) => /\.test\.tsx?$/.test(name));

await rm(OUT, { recursive: true, force: true });
await esbuild.build({
  absWorkingDir: HERE,
  entryPoints: tests,
  outdir: OUT,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  packages: "external",
  platform: "node",
  format: "esm",
  jsx: "automatic",
  jsxImportSource: "preact",
  sourcemap: "inline",
  loader: { ".svg": "dataurl", ".css": "empty" },
  plugins: [exampleTexts, minifiedStyles],
});
const bundledTests = tests.map((name) => join(OUT, name.replace(/\.tsx?$/, ".mjs")));
const { status } = spawnSync(
  process.execPath,
  [
    "--enable-source-maps",
    "--test",
    // Do not wait for timers of the tested code: visitor-calls.tsx shows a problem for a minute.
    "--test-force-exit",
    "--test-reporter=tap",
    ...bundledTests,
    join(HERE, "texts/catalogues.test.mjs"),
  ],
  {
    stdio: "inherit",
  },
);
process.exit(status ?? 1);
