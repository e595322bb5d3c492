/* Runs all suites of the pages: type check, unit tests, bundles, the console and the widget in Chromium with the real
   local host, and the widget with a mock of its endpoints. Installs the packages that they need. The local host is
   started from binaries that have been built before. Each test of Node's test runner counts as one test.

     cargo build --bins
     node tests/pages/run.mjs                             all suites
     node tests/pages/run.mjs checks                      only the suites that need neither the host nor Chromium
     node tests/pages/run.mjs journeys                    only the other suites, after the checks
     node tests/pages/run.mjs journeys/inbox.test.mjs     only these tests, without installing anything */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { startHost } from "./support/host.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const WWW = join(HERE, "../../functions/www");
/** This test measures times, so it does not run alongside others. */
const TIMED_TEST = "journeys/load.test.mjs";
const TESTS_WITH_MOCKS = [
  "widget-view.test.mjs",
  "widget-notices.test.mjs",
  "widget-layout.test.mjs",
  "widget-accessibility.test.mjs",
  "widget-connection.test.mjs",
];
/** If more tests than this fail, they probably have a common cause, so they do not get a second attempt. */
const MAX_SECOND_ATTEMPTS = 5;

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

/** Runs test files, two at a time, because a test waits about half of its time. Prints each line of the output after
    `indentation`. Returns the output, and whether all tests have passed. */
async function runTestFiles(files, environment, options, indentation = "") {
  const runner = spawn(
    "node",
    [
      "--test",
      "--test-reporter=tap",
      "--test-concurrency=2",
      ...options,
      ...files,
    ],
    {
      cwd: HERE,
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, ...environment },
    },
  );
  const exit = once(runner, "exit");
  const lines = [];
  for await (const line of createInterface({ input: runner.stdout })) {
    lines.push(line);
    console.log(indentation + line);
  }
  const [code] = await exit;
  return { lines, isPassed: code === 0 };
}

/** Runs test files. On a busy machine, a test may not wait long enough, so failed tests are run a second time. If they
    pass, a line tells tests/run how many failures of the first attempt not to count. Returns whether all tests have
    passed. */
async function runTests(files, environment) {
  const { lines, isPassed } = await runTestFiles(files, environment, []);
  if (isPassed) return true;
  const failed = lines.flatMap(
    (line) => /^not ok \d+ - (.*)$/.exec(line)?.[1] ?? [],
  );
  if (failed.length === 0 || failed.length > MAX_SECOND_ATTEMPTS) return false;
  console.log(`-- second attempt: ${failed.join(", ")}`);
  const pattern = failed
    .map((name) => name.replace(/[^\w ]/g, "\\$&"))
    .join("|");
  // Indent the output, so that tests/run does not count its results: the runner reports all other tests as skipped.
  const second = await runTestFiles(
    files,
    environment,
    [`--test-name-pattern=^(${pattern})$`],
    "  ",
  );
  const isRepeated = failed.every((name) =>
    second.lines.some((line) => /^ok \d+ - (.*)$/.exec(line)?.[1] === name),
  );
  if (!second.isPassed || !isRepeated) return false;
  const failures = lines
    .map((line) => Number(/^# (?:fail|cancelled) (\d+)$/.exec(line)?.[1] ?? 0))
    .reduce((sum, number) => sum + number);
  console.log(`second attempt passed: ${failures}`);
  return true;
}

function journeys() {
  const files = ["journeys", "embedding"].flatMap((folder) =>
    readdirSync(join(HERE, folder))
      .filter((name) => name.endsWith(".test.mjs"))
      .map((name) => `${folder}/${name}`)
      .filter((file) => file !== TIMED_TEST),
  );
  return [[...TESTS_WITH_MOCKS, ...files], [TIMED_TEST]];
}

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

/** Runs groups of test files with the host, one group after the other. Returns whether all tests have passed. */
async function runWithHost(groups) {
  await unpackBrowser();
  const host = await startHost();
  let isPassed = true;
  try {
    for (const files of groups)
      isPassed = (await runTests(files, host.environment)) && isPassed;
  } finally {
    await host.stop();
  }
  return isPassed;
}

const [suite = "all", ...others] = process.argv.slice(2);
let isPassed = true;
if (suite === "all" || suite === "checks") await runChecks();
if (suite === "all" || suite === "journeys") {
  isPassed = await runWithHost(journeys());
} else if (suite !== "checks") {
  const files = [suite, ...others];
  isPassed = await runWithHost([
    files.map((file) => relative(HERE, join(process.cwd(), file))),
  ]);
}
process.exitCode = isPassed ? 0 : 1;
