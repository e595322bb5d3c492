/* Starts the local host from binaries that have been built before (cargo build --bins). */

import { spawn } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { waitFor } from "./wait.mjs";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../../..");
const TARGET = process.env.CARGO_TARGET_DIR ?? join(ROOT, "target");
/** Only ends a host that hangs: beside two compilers, its programs take a minute to start. */
const START_TIMEOUT_MS = 300_000;

/** Starts a host that stores its data in memory. Returns the contents of its ready file, a function that stops it, and
    the environment variables that tests need: READY_FILE, and HOST_LOG, the file with the host's output. */
export async function startHost({ profile = "debug" } = {}) {
  const program = join(TARGET, profile, "switchboard");
  if (!existsSync(program))
    throw new Error(`${program} does not exist; build it with cargo build`);
  const folder = join(ROOT, "target/pages");
  mkdirSync(folder, { recursive: true });
  const readyFile = join(folder, `ready-${process.pid}.json`);
  const logFile = join(folder, `host-${process.pid}.log`);
  rmSync(readyFile, { force: true });
  const log = openSync(logFile, "w");
  const template = join(ROOT, "template.yaml");
  const options = ["--no-build", "--memory", "--port", "0"].concat(
    ["--template", template],
    ["--ready-file", readyFile],
  );
  const host = spawn(program, options, { stdio: ["ignore", log, log] });
  const stopped = new Promise((done) => host.on("exit", done));
  const stop = () => (host.kill("SIGINT"), stopped);
  closeSync(log);
  const isReady = waitFor(
    "the local host",
    () => {
      if (host.exitCode !== null)
        throw new Error(
          `the local host has ended:\n${readFileSync(logFile, "utf8")}`,
        );
      return existsSync(readyFile);
    },
    START_TIMEOUT_MS,
  );
  await isReady.catch(async (error) => {
    await stop();
    throw error;
  });
  return {
    environment: { READY_FILE: readyFile, HOST_LOG: logFile },
    ready: JSON.parse(readFileSync(readyFile, "utf8")),
    stop,
  };
}
