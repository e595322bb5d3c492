/* Lighthouse, in its four categories, on the pages that it can open without a session. The measured times depend on the
   machine, so of the performance only a low score is a finding. */

import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import lighthouse from "lighthouse";
import { finding, print, URLS } from "./pages.mjs";

const LOW_PERFORMANCE = 0.3;
const unpacker = createRequire(process.env.BROWSER_MODULE).resolve("@sparticuz/chromium");
const { default: chromium } = await import(pathToFileURL(unpacker).href);
const options = ["--headless=shell", "--no-sandbox", "--disable-dev-shm-usage", "--remote-debugging-port=0"];
const browser = spawn(await chromium.executablePath(), options, { stdio: ["ignore", "ignore", "pipe"] });
const found = [];
try {
  let port;
  for await (const line of createInterface({ input: browser.stderr })) {
    port = /DevTools listening on ws:\/\/[^:]+:(\d+)/.exec(line)?.[1];
    if (port !== undefined) break;
  }
  browser.stderr.resume();
  for (const name of Object.keys(URLS)) {
    const { lhr } = await lighthouse(URLS[name], { port: Number(port), logLevel: "error" });
    const { performance, ...categories } = lhr.categories;
    if (lhr.runtimeError || !(performance.score >= LOW_PERFORMANCE))
      found.push(finding("performance", name, lhr.runtimeError?.message ?? `${performance.score}`));
    for (const { id: category, auditRefs } of Object.values(categories))
      for (const { id, weight } of auditRefs) {
        const { score, scoreDisplayMode, title, errorMessage } = lhr.audits[id];
        // An audit that could not be carried out has no score.
        if ((weight > 0 && score === 0) || scoreDisplayMode === "error")
          found.push(finding(id, `${name}, ${category}`, errorMessage ?? title));
      }
  }
} finally {
  browser.kill();
}
print(found);
