/* Takes a screenshot of each state of the widget at two widths, each in light and dark colours. Prints accessibility
   violations, errors, and violations of the page's content security policy.

     node widget-screenshots.mjs [folder] [--only name] */

import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { MockWidget } from "./support/mock-widget.mjs";
import { axeViolations, launch, openPage } from "./support/browser.mjs";
import { STATES } from "./support/widget-states.mjs";

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
const browser = await launch();
const mock = await MockWidget.start();
let failures = 0;
for (const [name, { steps, ...fields }] of Object.entries(STATES)) {
  if (!name.startsWith(only)) continue;
  for (const [width, height, scheme] of SIZES) {
    mock.reset(fields);
    const { page, context, problems } = await openPage(browser, {
      width,
      height,
      scheme,
      touch: width < 500,
    });
    const file = `${name}-${width}-${scheme}.png`;
    try {
      await page.goto(mock.siteUrl);
      await page.locator(".root").waitFor({ state: "attached" });
      await steps(page, mock);
      await page.waitForTimeout(250);
      problems.push(...(await axeViolations(page)));
    } catch (error) {
      problems.push(error.message.split("\n").slice(0, 4).join(" "));
    }
    await page.screenshot({ path: join(folder, file) });
    if (problems.length > 0) {
      failures++;
      console.log(`${file}\n  ${problems.join("\n  ")}`);
    }
    await context.close();
  }
}
await browser.close();
await mock.close();
console.log(`pictures in ${folder}, ${failures} with problems`);
process.exit(failures === 0 ? 0 : 1);
