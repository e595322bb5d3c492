/* Helpers for the page tests: Chromium, the development server, and accessibility checkers. */

import chromium from "@sparticuz/chromium";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium as playwright } from "playwright-core";

const HERE = dirname(fileURLToPath(import.meta.url));
const WWW = join(HERE, "../../../functions/www");
const AXE_SCRIPT = createRequire(import.meta.url).resolve(
  "axe-core/axe.min.js",
);

/** Unpacks Chromium, unless it has been unpacked before. Must have ended before several test files launch Chromium,
    because each of them would find and start a file that another one is still writing. */
export async function unpackBrowser() {
  await chromium.executablePath();
}

/** Starts Chromium. `hostNames` contains servers by host name, for example {"shop.test": "127.0.0.1:8080"}: Chromium
    connects to the server for any http URL with this host name. A server without a port serves all ports. `keepsPages`
    switches the back/forward cache on, which Playwright switches off. */
export async function launch({ hostNames = {}, keepsPages = false } = {}) {
  const rules = Object.entries(hostNames).map(
    ([name, server]) => `MAP ${name} ${server}`,
  );
  // Do not use `chromium.args`. These arguments are made for Lambda: a single process without web security.
  return playwright.launch({
    executablePath: await chromium.executablePath(),
    args: [
      "--no-sandbox",
      "--disable-dev-shm-usage",
      "--headless=shell",
      // Lets a test read the command line.
      "--enable-automation",
      "--font-render-hinting=none",
      `--host-resolver-rules=${rules.join(",")}`,
    ],
    ignoreDefaultArgs: [
      "--hide-scrollbars",
      ...(keepsPages ? ["--disable-back-forward-cache"] : []),
    ],
  });
}

/** Starts the development server of the pages on a free port. `api` is the base URL of the service behind it. */
export async function serve(options) {
  const { serve } = await import(pathToFileURL(join(WWW, "dev.mjs")).href);
  return serve({
    folder: resolve(WWW, process.env.CONSOLE_FOLDER ?? "dist/console"),
    ...options,
  });
}

/** Opens a page. Collects its errors, console errors and violations of its content security policy in `problems`. */
export async function openPage(
  browser,
  {
    width = 1440,
    height = 900,
    scheme = "light",
    touch = false,
    ...options
  } = {},
) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
    hasTouch: touch,
    isMobile: touch,
    serviceWorkers: "block",
    ...options,
  });
  const page = await context.newPage();
  const problems = [];
  page.on("pageerror", (error) =>
    problems.push(`error: ${error.stack ?? error.message}`),
  );
  page.on("console", (message) => {
    const text = message.text();
    // Ignore failed requests, because some tests cause them on purpose.
    if (
      message.type() === "error" &&
      !/Failed to load resource|WebSocket connection|net::ERR|blocked by CORS/.test(
        text,
      )
    )
      problems.push(`console: ${text}`);
  });
  return { page, context, problems };
}

/** Waits until transitions and animations have ended, because a checker would see their intermediate colours. */
async function waitForAnimations(page) {
  await page.evaluate(() => {
    const roots = [...document.querySelectorAll("*")].flatMap(
      ({ shadowRoot }) => shadowRoot ?? [],
    );
    const animations = [document, ...roots].flatMap((root) =>
      root.getAnimations(),
    );
    const isFinite = ({ effect }) =>
      effect.getComputedTiming().endTime !== Infinity;
    return Promise.allSettled(
      animations.filter(isFinite).map(({ finished }) => finished),
    );
  });
}

/** Returns the accessibility violations that axe finds. From then on, the page has no animations. */
export async function axeViolations(page, options = {}) {
  const { readFile } = await import("node:fs/promises");
  // What appears while axe reads the page must not fade in.
  await page.emulateMedia({ reducedMotion: "reduce" });
  await waitForAnimations(page);
  // Evaluate the script through the debugger, because the page's content security policy forbids injected scripts.
  await page.evaluate(await readFile(AXE_SCRIPT, "utf8"));
  return page.evaluate(async (options) => {
    const result = await window.axe.run(document, {
      runOnly: [
        "wcag2a",
        "wcag2aa",
        "wcag21a",
        "wcag21aa",
        "wcag22aa",
        "best-practice",
      ],
      resultTypes: ["violations"],
      ...options,
    });
    return result.violations.map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .slice(0, 4)
          .map(
            (node) =>
              `${node.target.join(" ")} (${(node.any[0] ?? node.all[0] ?? node.none[0])?.message?.slice(0, 140)})`,
          )
          .join(" | ")}`,
    );
  }, options);
}

/** Returns the accessibility violations in the widget that IBM's checker finds. */
export async function ibmViolations(page) {
  const { readFile } = await import("node:fs/promises");
  await waitForAnimations(page);
  const script = createRequire(import.meta.url).resolve(
    "accessibility-checker-engine/ace.js",
  );
  if (!(await page.evaluate(() => "ace" in window)))
    await page.evaluate(`${await readFile(script, "utf8")};window.ace = ace;`);
  return page.evaluate(async () => {
    const checker = new window.ace.Checker();
    const { results } = await checker.check(document, ["WCAG_2_2"]);
    return results
      .filter(
        ({ value: [level, outcome], path }) =>
          level === "VIOLATION" &&
          outcome === "FAIL" &&
          path.dom.includes("switchboard-widget"),
      )
      .map(
        ({ ruleId, message, path, snippet }) =>
          `${ruleId}: ${message} (${path.dom.split("switchboard-widget").pop()}: ${snippet.slice(0, 120)})`,
      );
  });
}
