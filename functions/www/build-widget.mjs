/* Builds the widget: the loader, the bundle that it imports, those of the window and of calls, and a file for each
   language. */

import { basename, dirname, join, relative } from "node:path";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { brotliCompressSync } from "node:zlib";
import * as esbuild from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));

/** Loads each of the widget's style sheets as a minified string, which the widget adopts. */
export const minifiedStyles = {
  name: "minified-styles",
  setup(build) {
    build.onLoad({ filter: /[\\/]widget[\\/].*\.css$/ }, async ({ path }) => {
      const { code } = await esbuild.transform(await readFile(path, "utf8"), {
        loader: "css",
        minify: true,
        target: TARGET,
      });
      return { contents: code.trim(), loader: "text", watchFiles: [path] };
    });
  },
};

/** Names the chunk of each language after it: the widget's texts in German are de-….js, the console's console-de-….js. */
export const namedLanguages = {
  name: "named-languages",
  setup(build) {
    build.onResolve({ filter: /\/(widget|console\.json)$/ }, ({ kind, path, resolveDir }) => {
      const folder = dirname(join(resolveDir, path));
      if (kind !== "dynamic-import" || dirname(folder) !== join(HERE, "texts")) return undefined;
      const language = basename(folder);
      return { path: path.endsWith(".json") ? `console-${language}` : language, namespace: "language" };
    });
    build.onLoad({ filter: /./, namespace: "language" }, async ({ path }) => {
      const language = path.replace("console-", "");
      const folder = join(HERE, "texts", language);
      const [file, loader] = path === language ? ["widget.ts", "ts"] : ["console.json", "json"];
      return { contents: await readFile(join(folder, file), "utf8"), loader, resolveDir: folder };
    });
  },
};

const TARGET = ["chrome105", "firefox121", "safari16.4"];
const common = (isDevelopment) => ({
  absWorkingDir: HERE,
  bundle: true,
  minify: !isDevelopment,
  charset: "utf8",
  target: TARGET,
  // Leave out the declarations of fields without a value: they cost bytes and have no effect in the widget.
  tsconfigRaw: { compilerOptions: { useDefineForClassFields: false } },
  jsx: "automatic",
  plugins: [minifiedStyles, namedLanguages],
  outdir: "out",
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  legalComments: "none",
  metafile: true,
  write: false,
  logLevel: "warning",
});

/** Builds the widget. Returns its files by path below dist/widget, and the paths that the first load requests: the
 * loader, the bundle, and the largest language file. */
export async function buildWidget(isDevelopment = false) {
  const files = new Map();
  const addFiles = ({ outputFiles }) => {
    for (const file of outputFiles)
      files.set(`assets/${relative(join(HERE, "out"), file.path)}`, Buffer.from(file.contents));
  };
  // These bundles are built separately: a module that two bundles share would add another file to the first load.
  const buildSeparately = async (entryPoints) => {
    const built = await esbuild.build({ ...common(isDevelopment), entryPoints, format: "esm" });
    addFiles(built);
    return basename(built.outputFiles[0].path);
  };
  const callFile = await buildSeparately({ call: "widget/call/main.ts" });
  const windowFile = await buildSeparately({ window: "widget/view/window-main.tsx" });
  const main = await esbuild.build({
    ...common(isDevelopment),
    entryPoints: { main: "widget/main.ts" },
    format: "esm",
    splitting: true,
    define: { CALL_FILE: JSON.stringify(callFile), WINDOW_FILE: JSON.stringify(windowFile) },
  });
  addFiles(main);
  const outputs = main.metafile.outputs;
  const [mainPath] = Object.entries(outputs).find(([, output]) => output.entryPoint === "widget/main.ts");
  const firstLoad = new Set(["widget.js"]);
  const addStatic = (path) => {
    firstLoad.add(path.replace(/^out\//, "assets/"));
    for (const { path: imported, kind } of outputs[path].imports) if (kind === "import-statement") addStatic(imported);
  };
  addStatic(mainPath);
  const compressedSize = (path) => brotliCompressSync(files.get(path)).length;
  const languages = [...files.keys()].filter(
    (path) => !firstLoad.has(path) && path !== `assets/${callFile}` && path !== `assets/${windowFile}`,
  );
  firstLoad.add(languages.reduce((one, other) => (compressedSize(one) >= compressedSize(other) ? one : other)));

  const loader = await esbuild.build({
    ...common(isDevelopment),
    entryPoints: { widget: "widget/loader.ts" },
    entryNames: "[name]",
    format: "iife",
    define: { MAIN_FILE: JSON.stringify(mainPath.replace(/^out\//, "")) },
  });
  files.set("widget.js", Buffer.from(loader.outputFiles[0].contents));
  return { files, firstLoad };
}
