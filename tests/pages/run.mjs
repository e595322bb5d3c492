/* Installs the packages of the pages and runs all their suites: type check, unit tests, bundles, the console in
   Chromium with the mock service, and the console with the real local host. Each test of Node's test runner counts as
   one test.

     node tests/pages/run.mjs             all suites
     node tests/pages/run.mjs --no-host   without the local host */

import { spawn, spawnSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = join(HERE, "../..");
const WWW = join(ROOT, "functions/www");
const HOST_START_MS = 600_000;

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

async function startHost() {
  const folder = join(ROOT, "target/pages");
  mkdirSync(folder, { recursive: true });
  const ready = join(folder, "ready.json");
  rmSync(ready, { force: true });
  const log = openSync(join(folder, "host.log"), "w");
  const host = spawn(
    "cargo",
    ["run", "--quiet", "--", "--memory", "--port", "0", "--ready-file", ready],
    { cwd: ROOT, stdio: ["ignore", log, log] },
  );
  closeSync(log);
  const deadline = Date.now() + HOST_START_MS;
  while (!existsSync(ready)) {
    if (host.exitCode !== null || Date.now() > deadline)
      throw new Error(`the local host did not start, see ${folder}/host.log`);
    await new Promise((done) => setTimeout(done, 200));
  }
  return { host, ready };
}

run(WWW, "npm", "ci", "--silent");
run(HERE, "npm", "ci", "--silent");
checkGeneratedTypes();
run(WWW, "npm", "run", "--silent", "check-format");
run(WWW, "node_modules/.bin/tsc");
run(WWW, "node", "test.mjs");
run(WWW, "node", "build.mjs", "--check");
run(HERE, "node", "--test", "--test-reporter=tap", "console.test.mjs");
if (process.argv.includes("--no-host")) {
  console.log(
    "SKIPPED: the console with the local host; node tests/pages/run.mjs runs it",
  );
} else {
  const { host, ready } = await startHost();
  try {
    const { status } = spawnSync(
      "node",
      ["--test", "--test-reporter=tap", "local-host.test.mjs"],
      {
        cwd: HERE,
        stdio: "inherit",
        env: { ...process.env, READY_FILE: ready },
      },
    );
    process.exitCode = status ?? 1;
  } finally {
    host.kill("SIGINT");
  }
}
