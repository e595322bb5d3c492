/* Takes a screenshot of each state of the console at three widths, each in light and dark colours, with the local host.
   Prints accessibility violations.

     cargo build --bins
     node screenshots.mjs [folder] [--only name] [--widths 1440,768] [--quick]     --quick: only 1440 light and 390 dark */

import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { axeViolations, launch, openPage, serve } from "./support/browser.mjs";
import { STATES, waitForRendering } from "./support/console-states.mjs";
import { startHost } from "./support/host.mjs";
import { Network } from "./support/network.mjs";

const folder = resolve(
  process.argv[2]?.startsWith("--") === false ? process.argv[2] : "screenshots",
);
const option = (name) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
};
const only = option("only");
const isQuick = process.argv.includes("--quick");
const WIDTHS = isQuick ? [1440, 390] : [1440, 1100, 390];
const SCHEMES = ["light", "dark"];
const sizes = (option("widths")?.split(",").map(Number) ?? WIDTHS).flatMap(
  (width) =>
    SCHEMES.filter(
      (scheme) => !isQuick || (scheme === "light") === width > 500,
    ).map((scheme) => ({
      width,
      height: width > 500 ? 900 : 844,
      scheme,
      touch: width < 500,
    })),
);

const host = await startHost();
process.env.READY_FILE = host.environment.READY_FILE;
const { seed } = await import("./seed/data-sets.mjs");
const { storeSession } = await import("./support/console.mjs");
const browser = await launch();
const server = await serve({ api: host.ready.base_url });
const accounts = new Map();

/** Returns a new account for a state that changes it, or the one that the states with this data set share. */
async function accountOf({ dataset = "sample", changes }) {
  if (changes) return seed(dataset);
  if (!accounts.has(dataset)) accounts.set(dataset, await seed(dataset));
  return accounts.get(dataset);
}

/** Opens the console in a state, and takes a picture of it. Returns the problems. */
async function take(file, state, size) {
  const { steps, isSignedOut, hasNetwork, prepare, as, hash = "" } = state;
  const account = await accountOf(state);
  const network = hasNetwork ? await Network.start() : undefined;
  const { page, context, problems } = await openPage(browser, {
    ...size,
    permissions: ["clipboard-write", "clipboard-read"],
    ...network?.contextOptions,
  });
  try {
    if (!isSignedOut)
      await storeSession(context, as?.(account) ?? account.admin);
    await prepare?.({ page, account });
    const path = typeof hash === "function" ? hash(account) : hash;
    await page.goto(`${server.url}/console/${path}`);
    await page
      .locator(isSignedOut ? "input" : ".app")
      .first()
      .waitFor();
    await page.waitForTimeout(400);
    for (const step of steps) await step({ page, account, context, network });
    await waitForRendering(page);
    await page.screenshot({ path: file });
    problems.push(...(await axeViolations(page)));
    const overflow = await page.evaluate(() => {
      const { scrollWidth, scrollHeight } = document.documentElement;
      return Math.max(scrollWidth - innerWidth, scrollHeight - innerHeight);
    });
    if (overflow > 0) problems.push(`the page overflows by ${overflow} px`);
  } catch (error) {
    await page.screenshot({ path: file }).catch(() => {});
    problems.push(error.message.split("\n").slice(0, 3).join(" "));
  }
  await context.close();
  network?.close();
  if (state.changes) account.close();
  return problems;
}

await mkdir(folder, { recursive: true });
let failedPictures = 0;
try {
  for (const [name, state] of Object.entries(STATES)) {
    if (only !== undefined && !name.startsWith(only)) continue;
    for (const size of sizes) {
      const file = `${name}-${size.width}-${size.scheme}.png`;
      const problems = await take(join(folder, file), state, size);
      if (problems.length === 0) continue;
      failedPictures++;
      console.log(`${file}\n  ${problems.join("\n  ")}`);
    }
  }
} finally {
  for (const account of accounts.values()) account.close();
  await browser.close();
  await server.close();
  await host.stop();
}
console.log(
  failedPictures === 0
    ? `pictures in ${folder}, no problems`
    : `pictures in ${folder}, ${failedPictures} with problems`,
);
process.exit(failedPictures === 0 ? 0 : 1);
