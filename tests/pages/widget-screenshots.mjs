/* Takes a screenshot of each state of the widget at two widths, each in light and dark colours, with the local host.
   Prints accessibility violations, errors, and violations of the page's content security policy.

     cargo build --bins
     node widget-screenshots.mjs [folder] [--only name] */

import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { axeViolations, launch, openPage } from "./support/browser.mjs";
import { startHost } from "./support/host.mjs";

const SIZES = [
  [1100, 800, "light"],
  [1100, 800, "dark"],
  [390, 844, "light"],
  [390, 844, "dark"],
];

const folder = resolve(
  process.argv[2]?.startsWith("--") === false
    ? process.argv[2]
    : "widget-screenshots",
);
const only = process.argv.includes("--only")
  ? process.argv[process.argv.indexOf("--only") + 1]
  : "";

await mkdir(folder, { recursive: true });
const host = await startHost();
process.env.READY_FILE = host.environment.READY_FILE;
const { Account } = await import("./support/account.mjs");
const { addWidget, prepareAccount, Shop } = await import("./support/shop.mjs");
const { openState, STATES } = await import("./support/widget-states.mjs");
const browser = await launch();

/** Takes a picture of a state in an account of its own. Returns the problems. */
async function take(file, state, [width, height, scheme]) {
  const account = await Account.create({ hasChannel: false, agents: [] });
  const cleanUps = [];
  const context = { account, t: { after: (run) => cleanUps.push(run) } };
  let opened;
  context.openSignedOut = async (options) => {
    opened = await openPage(browser, { ...options, scheme });
    return opened.page;
  };
  const problems = [];
  try {
    await prepareAccount(account, state);
    const widget = await addWidget(context, state.settings);
    const shop = await Shop.start({ ...context, widget });
    await openState(shop, state, { width, height, touch: width < 500 });
    problems.push(...(await axeViolations(opened.page)), ...opened.problems);
  } catch (error) {
    problems.push(error.message.split("\n").slice(0, 4).join(" "));
  }
  await opened?.page.screenshot({ path: file });
  await opened?.context.close();
  for (const cleanUp of cleanUps) await cleanUp();
  account.close();
  return problems;
}

let failedPictures = 0;
try {
  for (const [name, state] of Object.entries(STATES)) {
    if (!name.startsWith(only)) continue;
    for (const size of SIZES) {
      const file = `${name}-${size[0]}-${size[2]}.png`;
      const problems = await take(join(folder, file), state, size);
      if (problems.length === 0) continue;
      failedPictures++;
      console.log(`${file}\n  ${problems.join("\n  ")}`);
    }
  }
} finally {
  await browser.close();
  await host.stop();
}
console.log(`pictures in ${folder}, ${failedPictures} with problems`);
process.exit(failedPictures === 0 ? 0 : 1);
