/* Runs all suites of the pages: type check, unit tests, bundles, and the console and the widget in Chromium with the
   local host. Installs the packages that they need. The local host is started from binaries that have been built
   before. Each test of Node's test runner counts as one test.

     cargo build --bins
     node tests/pages/run.mjs                             all suites
     node tests/pages/run.mjs checks                      only the suites that need neither the host nor Chromium
     node tests/pages/run.mjs journeys                    only the other suites, after the checks
     node tests/pages/run.mjs journeys/inbox.test.mjs     only these tests, without installing anything */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { startHost } from "./support/host.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const WWW = join(HERE, "../../functions/www");
/** The number of test files that run at the same time: more than processors, because a test waits half of its time. */
const CONCURRENCY = 2 * availableParallelism();

function run(folder, command, ...options) {
  console.log(`-- ${command} ${options.join(" ")}`);
  const { status } = spawnSync(command, options, {
    cwd: folder,
    stdio: "inherit",
  });
  if (status !== 0) process.exit(status ?? 1);
}

function checkGeneratedTypes() {
  const folder = mkdtempSync(join(tmpdir(), "types-"));
  const generated = join(folder, "schema.d.ts");
  const options = JSON.parse(readFileSync(join(WWW, "package.json"), "utf8"))
    .scripts.types.split(" ")
    .slice(1, -1);
  run(WWW, "node_modules/.bin/openapi-typescript", ...options, generated);
  if (
    readFileSync(generated, "utf8") !==
    readFileSync(join(WWW, "api/schema.d.ts"), "utf8")
  ) {
    console.error(
      'functions/www/api/schema.d.ts does not match docs/openapi.json; run "npm run types" in functions/www',
    );
    process.exit(1);
  }
}

/** Runs test files. Returns whether all tests have passed. */
async function runTests(files, environment) {
  const options = ["--test-reporter=tap", `--test-concurrency=${CONCURRENCY}`];
  const runner = spawn("node", ["--test", ...options, ...files], {
    cwd: HERE,
    stdio: "inherit",
    env: { ...process.env, ...environment },
  });
  const [code] = await once(runner, "exit");
  return code === 0;
}

/** Returns all test files. The first one takes longest. */
const journeys = () =>
  ["widget", "journeys", "embedding"].flatMap((folder) =>
    readdirSync(join(HERE, folder))
      .filter((name) => name.endsWith(".test.mjs"))
      .map((name) => `${folder}/${name}`),
  );

/** Installs the packages and Chromium, and runs the suites that need neither the host nor Chromium. */
async function runChecks() {
  run(WWW, "npm", "ci", "--silent", "--ignore-scripts");
  run(HERE, "npm", "ci", "--silent", "--ignore-scripts");
  checkGeneratedTypes();
  run(WWW, "npm", "run", "--silent", "check-format");
  run(WWW, "node_modules/.bin/tsc");
  run(WWW, "node", "test.mjs");
  run(WWW, "node", "build.mjs", "--check");
  await unpackBrowser();
}

async function unpackBrowser() {
  // This module needs the packages that `runChecks` installs.
  const browser = await import("./support/browser.mjs");
  await browser.unpackBrowser();
}

/** Runs test files with the host. Returns whether all tests have passed. */
async function runWithHost(files) {
  await unpackBrowser();
  const host = await startHost();
  try {
    return await runTests(files, host.environment);
  } finally {
    await host.stop();
  }
}

const [suite = "all", ...others] = process.argv.slice(2);
let isPassed = true;
if (suite === "all" || suite === "checks") await runChecks();
if (suite === "all" || suite === "journeys") {
  isPassed = await runWithHost(journeys());
} else if (suite !== "checks") {
  const files = [suite, ...others];
  isPassed = await runWithHost(
    files.map((file) => relative(HERE, join(process.cwd(), file))),
  );
}
process.exitCode = isPassed ? 0 : 1;
