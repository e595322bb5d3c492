/* Every suite of the pages: types, rules, bundles, the console in Chromium in front of the stand-in, then in front of
   the real local host. Installs what it needs. Each test of Node's runner counts.

     node tests/pages/run.mjs             everything
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
  const made = join(folder, "schema.d.ts");
  const options = JSON.parse(readFileSync(join(WWW, "package.json"), "utf8"))
    .scripts.types.split(" ")
    .slice(1, -1);
  run(WWW, "node_modules/.bin/openapi-typescript", ...options, made);
  if (
    readFileSync(made, "utf8") !==
    readFileSync(join(WWW, "api/schema.d.ts"), "utf8")
  ) {
    console.error(
      'functions/www/api/schema.d.ts is not what docs/openapi.json says; run "npm run types" in functions/www',
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
      throw new Error(`the local host does not start, see ${folder}/host.log`);
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
    "SKIPPED: the console in front of the local host; node tests/pages/run.mjs runs that too",
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
