/* Builds the demo site. Its files have fixed names and are not compressed, because only the local host serves them. */

import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const FOLDER = join(dirname(fileURLToPath(import.meta.url)), "demo");

/** Leaves out the console's catalogues: the demo site uses some of its components, and is in English. */
const englishOnly = {
  name: "english-only",
  setup(build) {
    build.onLoad({ filter: /[\\/]texts[\\/]\w+[\\/]console\.json$/ }, () => ({ contents: "null", loader: "json" }));
  },
};

/** Builds the demo site. Returns its files by path below dist/demo, and the paths that the first load requests. */
export async function buildDemo(licences) {
  const { outputFiles } = await esbuild.build({
    absWorkingDir: FOLDER,
    entryPoints: { demo: "main.tsx" },
    bundle: true,
    minify: true,
    format: "esm",
    target: ["chrome123", "firefox125", "safari17.5"],
    jsx: "automatic",
    jsxImportSource: "preact",
    plugins: [englishOnly],
    outdir: "out",
    legalComments: "none",
    write: false,
    logLevel: "warning",
    define: { "process.env.NODE_ENV": '"production"' },
  });
  const read = (name) => readFile(join(FOLDER, name), "utf8");
  const products = JSON.parse(await read("products.json"))
    .map(productHtml)
    .join("\n");
  const page = (await read("index.html")).replace("{products}", products).replace(/\n\s*/g, "\n");
  const files = new Map([
    ["index.html", Buffer.from(page)],
    ["icon.svg", Buffer.from(await read("icon.svg"))],
    ["LICENSES.txt", Buffer.from(licences)],
  ]);
  for (const { path, contents } of outputFiles) files.set(path.replace(/^.*\//, ""), Buffer.from(contents));
  return { files, firstLoad: new Set(["index.html", "icon.svg", "demo.css", "demo.js"]) };
}

const productHtml = ({ picture, name, text, price }) => `<li>
  <svg aria-hidden="true"><use href="#${picture}" /></svg>
  <h3>${name} <span>€ ${price}</span></h3>
  <p>${text}</p>
  <div>
    <button type="button" class="quiet" data-add aria-label="Add ${name} to the basket">Add</button>
    <button type="button" class="quiet" data-ask="${name}" aria-label="Ask about ${name}">Ask</button>
  </div>
</li>`;
