/* The pages that judges read, in the Chromium of tests/pages. */

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

export const browsers = await import(pathToFileURL(process.env.BROWSER_MODULE).href);
export const host = JSON.parse(readFileSync(process.env.READY_FILE, "utf8"));
export const URLS = {
  "sign-in": `${host.base_url}/console/`,
  reference: `${host.base_url}/reference`,
  demo: host.demo_url,
};

const openWidget = async (page) => {
  await page.getByRole("button", { name: /^Open chat/ }).click();
  await page.getByRole("textbox", { name: "Write a message" }).fill("What are your hours?");
  await page.keyboard.press("Enter");
  await page.getByText("Which day?", { exact: true }).waitFor();
};

/** How a browser reaches each view. */
export const VIEWS = {
  "sign-in": async (page) => {
    await page.goto(URLS["sign-in"]);
    await page.getByLabel("E-mail").waitFor();
  },
  reference: async (page) => {
    await page.goto(URLS.reference);
    await page.locator("h1").first().waitFor();
  },
  demo: async (page) => {
    await page.goto(URLS.demo);
    await page.locator("switchboard-widget .label").waitFor();
    await openWidget(page);
  },
  inbox: async (page) => {
    await page.goto(`${host.base_url}/demo/sign-in/agent`);
    await page.locator(".app[data-connection=live]").waitFor();
  },
  conversation: async (page) => {
    const message = {
      sender: { id: "ada", name: "Ada" },
      message: { type: "text", text: "Do you deliver on Sundays?" },
    };
    await fetch(host.demo.channel_url, { method: "POST", body: JSON.stringify(message) });
    await VIEWS.inbox(page);
    await page.locator(".row", { hasText: "Ada" }).first().click();
    await page.locator(".turn").first().waitFor();
  },
};

/** Calls `read` with each of these views and its name. Prints the findings. */
export async function readViews(read, names = Object.keys(VIEWS)) {
  await browsers.unpackBrowser();
  const browser = await browsers.launch();
  const found = [];
  try {
    for (const name of names) {
      const { page, context } = await browsers.openPage(browser);
      await VIEWS[name](page);
      found.push(...(await read(page, name)));
      await context.close();
    }
  } finally {
    await browser.close();
  }
  print(found);
}

export const print = (findings) => console.log(JSON.stringify(findings));
export const finding = (rule, place, message = "") => ({ rule, place, message });
