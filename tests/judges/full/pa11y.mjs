/* Pa11y's runner with HTML CodeSniffer, on each view. It runs in our page, because Pa11y itself opens pages with a
   browser that it downloads. */

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { finding, readViews } from "./pages.mjs";

const runner = createRequire(import.meta.url)("pa11y/lib/runners/htmlcs.js");
const scripts = await Promise.all(runner.scripts.map((script) => readFile(script, "utf8")));
const options = JSON.stringify({ standard: "WCAG2AA", rules: [] });
const describe = ({ tagName, id, className }) => `${tagName.toLowerCase()}${id && `#${id}`}.${className}`;

await readViews(async (page, name) => {
  for (const script of scripts) await page.evaluate(script);
  const issues = await page.evaluate(`(${runner.run})(${options}).then((issues) => issues
    .filter(({ type }) => type === "error")
    .map(({ code, message, element }) => ({ code, message, place: (${describe})(element) })))`);
  return issues.map(({ code, message, place }) => finding(code, `${name}: ${place}`, message));
});
