/* Takes the pictures for the documentation: of the console of functions/www/dist and of the demo site, with the local
   host.

     cargo build --bins
     node tests/pages/pictures.mjs [folder]     docs/pictures by default */

import { mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { showSampleReport } from "./seed/sample-report.mjs";
import { launch, openPage, serve } from "./support/browser.mjs";
import { startHost } from "./support/host.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const folder = resolve(process.argv[2] ?? join(HERE, "../../docs/pictures"));

/** Opens the demo site, and has the visitor talk to the bot and then to the agent. */
async function talkOnDemoSite(page) {
  await page.goto(host.ready.demo_url);
  const desk = page.frameLocator("iframe");
  await desk.locator(".app[data-connection=live]").waitFor();
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: /^Open chat/ }).click();
  const composer = page.getByRole("textbox", { name: "Write a message" });
  const write = async (text) => {
    await composer.fill(text);
    await page.keyboard.press("Enter");
  };
  await write("What are your hours?");
  await page.getByRole("button", { name: "I want a human" }).click();
  await desk.locator(".row", { hasText: "Ada Lind" }).first().click();
  await desk
    .getByRole("button", { name: /^Accept/ })
    .first()
    .click();
  await page.getByText("Demo Agent joined the chat").waitFor();
  await write("My parcel is late. Can you see where it is?");
  const answer = "It is with the carrier, and reaches you tomorrow.";
  await desk.locator(".composer textarea").fill(answer);
  await desk.locator(".composer textarea").press("Enter");
  await page.getByText(answer).first().waitFor();
  await page.getByRole("tab", { name: /Journal/ }).click();
  await page.locator(".journal summary", { hasText: "CRM card" }).waitFor();
  await page.locator(".journal summary").last().click();
}

/** Takes pictures of the pages for admins. */
async function showAdminPages(browser, account, take) {
  const { page, context } = await openPage(browser, {});
  page.setDefaultTimeout(20_000);
  await ui.storeSession(context, account.admin);
  await showSampleReport({ page, account });
  await page.goto(`${consoleUrl}#/reports`);
  await page.locator(".chart svg").nth(2).waitFor();
  await take(page, "console-reports");
  await page.goto(`${consoleUrl}#/deliveries`);
  await page.locator("tbody button").first().click();
  await page.locator(".delivery-detail pre").nth(1).waitFor();
  await take(page, "console-deliveries");
  await context.close();
}

const host = await startHost();
process.env.READY_FILE = host.environment.READY_FILE;
const { seed } = await import("./seed/data-sets.mjs");
const ui = await import("./support/console.mjs");
const browser = await launch();
const pages = await serve({ api: host.ready.base_url });
const consoleUrl = `${pages.url}/console/`;
try {
  const account = await seed("sample");
  const { admin, amara } = account;
  const { page, context } = await openPage(browser, {});
  page.setDefaultTimeout(20_000);
  await ui.storeSession(context, admin);
  await page.goto(consoleUrl);
  await ui.waitUntilLive(page);
  await ui.openChat(page, "Amara Kone");
  await page.getByText("Gold, since 2023").waitFor();
  await amara.post({ type: "typein" });
  await page.locator(".typing").waitFor();

  await mkdir(folder, { recursive: true });
  const take = async (page, name) => {
    await page.mouse.move(0, 0);
    await page.screenshot({ path: join(folder, `${name}.png`) });
  };
  await take(page, "console-conversation");
  await page.emulateMedia({ colorScheme: "dark" });
  await ui.pressShortcut(page, "Control+k");
  await page.getByRole("listbox", { name: "Chats and actions" }).waitFor();
  await take(page, "console-palette-dark");
  await context.close();

  const phone = await openPage(browser, {
    width: 390,
    height: 844,
    touch: true,
  });
  await ui.storeSession(phone.context, admin);
  await phone.page.goto(`${consoleUrl}#/chat/${amara.chatId}`);
  await ui.waitForChat(phone.page, "Amara Kone");
  await phone.page.locator(".fail").waitFor();
  await take(phone.page, "console-phone");
  await phone.context.close();

  const demo = await openPage(browser, {});
  demo.page.setDefaultTimeout(20_000);
  await talkOnDemoSite(demo.page);
  await take(demo.page, "demo");
  await demo.context.close();

  await showAdminPages(browser, account, take);
  account.close();
} finally {
  await browser.close();
  await pages.close();
  await host.stop();
}
