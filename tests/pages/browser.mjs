/* Chromium from the npm package, and the console in front of the stand-in. */

import chromium from "@sparticuz/chromium";
import { mkdtemp } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium as playwright } from "playwright-core";

export const HERE = dirname(fileURLToPath(import.meta.url));
export const PAGES = join(HERE, "../../functions/www");
export const AXE = createRequire(import.meta.url).resolve(
  "axe-core/axe.min.js",
);

export async function launch() {
  // Not the arguments of the package: they are for Lambda (one process, web security off).
  return playwright.launch({
    executablePath: await chromium.executablePath(),
    args: [
      "--no-sandbox",
      "--disable-dev-shm-usage",
      "--headless=shell",
      "--font-render-hinting=none",
    ],
    ignoreDefaultArgs: ["--hide-scrollbars"],
  });
}

/** The development server of the pages, on a port of its own. With `api`, a real local host is behind it. */
export async function serve(options = {}) {
  const { serve } = await import(pathToFileURL(join(PAGES, "dev.mjs")).href);
  return serve({
    folder: resolve(PAGES, process.env.CONSOLE_FOLDER ?? "dist/console"),
    ...options,
  });
}

export const temporary = () => mkdtemp(join(tmpdir(), "pages-"));

/** A page that fails the test on an error, a console error, or something that the security policy stopped. */
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
    // Failed requests are the business of the test that causes them.
    if (
      message.type() === "error" &&
      !/Failed to load resource|WebSocket connection|net::ERR/.test(text)
    )
      problems.push(`console: ${text}`);
  });
  return { page, context, problems };
}

export async function signIn(
  page,
  url,
  { email = "marta@example.com", password = "secret", hash = "" } = {},
) {
  await page.goto(`${url}/console/${hash}`);
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.locator(".app").waitFor();
}

export async function steer(url, what, body = {}) {
  const response = await fetch(`${url}/_standin/${what}`, {
    method: "POST",
    body: JSON.stringify(body),
  });
  return response.json();
}

export async function axe(page, options = {}) {
  const { readFile } = await import("node:fs/promises");
  // Through the debugger, so that the page's policy does not matter.
  await page.evaluate(await readFile(AXE, "utf8"));
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
