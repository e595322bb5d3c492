/* Bundles a script that imports npm packages, as the build of a site does. */

import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("..", import.meta.url));
const require = createRequire(
  new URL("../../../functions/www/package.json", import.meta.url),
);

/** Returns the bundle of an ES module, whose imports are resolved from tests/pages, as an answer of a Site. */
export async function bundle(source) {
  const { build } = require("esbuild");
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: FOLDER, loader: "tsx" },
    bundle: true,
    write: false,
    format: "iife",
    define: {
      "process.env.NODE_ENV": '"development"',
      global: "globalThis",
      __VUE_OPTIONS_API__: "true",
      __VUE_PROD_DEVTOOLS__: "false",
      __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false",
    },
    jsx: "automatic",
    logLevel: "error",
  });
  return { body: outputFiles[0].text, type: "js" };
}
