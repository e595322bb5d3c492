/* Takes the pictures for the documentation. The console of functions/www/dist and the demo site use the local host. The
   pages for admins use the mock service, because reports need chats of many days.

     cargo build --bins
     node tests/pages/pictures.mjs [folder]     docs/pictures by default */

import { mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { launch, openPage, serve, signIn } from "./support/browser.mjs";
import { startHost } from "./support/host.mjs";
import { CRM_CARD, ok, rejection } from "./support/receiver.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const folder = resolve(process.argv[2] ?? join(HERE, "../../docs/pictures"));

/** Returns the bot's events in reply to a visitor's message: an invitation of the agents, a question, or none. */
const answer = ({ text }) =>
  /person/.test(text)
    ? [{ event: "INVITE_AGENT" }]
    : /parcel/.test(text)
      ? [
          {
            event: "BOT_MESSAGE",
            message: {
              type: "BUTTONS",
              title: "Sorry to hear that. Which order is it about?",
              text: "Sorry to hear that. Which order is it about?",
              buttons: ["AK-20931", "AK-20877", "Another one"].map((text) => ({
                text,
              })),
              timestamp: 1,
            },
          },
        ]
      : [];

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

/** Takes pictures of the pages for admins, with the sample data of the mock service. */
async function showAdminPages(browser, take) {
  const mock = await serve();
  const { page, context } = await openPage(browser, {});
  page.setDefaultTimeout(20_000);
  await signIn(page, mock.url, { hash: "#/reports" });
  await page.locator(".chart svg").nth(2).waitFor();
  await take(page, "console-reports");
  await page.goto(`${mock.url}/console/#/deliveries`);
  await page.locator("tbody button").first().click();
  await page.locator(".delivery-detail pre").waitFor();
  await take(page, "console-deliveries");
  await context.close();
  await mock.close();
}

const host = await startHost();
process.env.READY_FILE = host.environment.READY_FILE;
const { Account } = await import("./support/account.mjs");
const ui = await import("./support/console.mjs");
const { waitFor } = await import("./support/wait.mjs");
const browser = await launch();
const pages = await serve({ api: host.ready.base_url });
const consoleUrl = `${pages.url}/console/`;
try {
  const account = await Account.create({
    agents: ["Jonas Weber", "Chiara Conti"],
    channelSettings: { name: "iOS app" },
    respondToEvent: () => ok(CRM_CARD),
  });
  const { admin, channel: app } = account;
  const shop = await account.addChannel("Shop widget", { shows_buttons: true });
  await account.addBot(shop, answer);
  const [jonas, chiara] = account.agents;
  await Promise.all(
    [admin, jonas, chiara].map((agent) => agent.setPresence("online")),
  );

  const elif = await account.openAcceptedChat("Elif Wójcik-Andersen", {
    text: "How do I send the shoes back?",
  });
  await admin.send(elif.chatId, "Your return label is attached.");
  await account.openAcceptedChat("Mehmet Baştürk", {
    text: "Do you ship to Iceland?",
  });
  const thanh = await account.openAcceptedChat("Thanh Nguyễn", {
    text: "Hello, I need an invoice for order 88120",
  });
  await admin.send(thanh.chatId, "Of course. To which address shall it go?");
  await thanh.say(
    "Please send the invoice to the address on file and copy accounting",
  );
  await app
    .visitor("João Ferreira")
    .say("Paguei duas vezes pelo mesmo pedido, podem verificar?");
  await app.visitor(undefined).say("Is the blue one back in stock this week?");

  account.channel = shop;
  const amara = await account.openChat(
    "Amara Kone",
    "Hi! My parcel says delivered, but there is nothing here.",
    {
      email: "amara.kone@example.com",
      phone: "+225 27 20 00 00 00",
      url: "https://shop.example.com/parcel",
      id: "user-4101",
    },
  );
  const { chatId } = amara;
  const timeline = async () => admin.timeline(chatId);
  await waitFor("the bot", async () =>
    (await timeline()).some(({ from }) => from === "bot"),
  );
  await amara.say("AK-20931");
  await amara.say("I would rather talk to a person");
  await waitFor("the invitation", async () =>
    (await admin.chats("waiting")).some(({ chat_id }) => chat_id === chatId),
  );

  const { page, context } = await openPage(browser, {});
  page.setDefaultTimeout(20_000);
  await ui.storeSession(context, admin);
  await page.goto(consoleUrl);
  await ui.waitUntilLive(page);
  await ui.openChat(page, "Amara Kone");
  await page.keyboard.press("a");
  const say = async (text) => {
    await ui.sendMessage(page, text);
    await ui.waitForDelivered(page, text);
  };
  await say(
    "Hello Amara, I’m on it. I can see it was scanned at 08:54. Could you check with your neighbours while I ask the carrier?",
  );
  await page.getByText("Gold, since 2023").waitFor();
  await amara.say(
    "Nobody has it. This is the place where they usually leave it.",
  );
  shop.integrator.respond = () => rejection("Visitor session expired");
  await ui.sendMessage(
    page,
    "Thank you. I’ve opened case 5512 with the carrier; you’ll hear from us today.",
  );
  await page.locator(".fail").waitFor();
  shop.integrator.respond = () => ok();
  await say("If you prefer, I can send a replacement right away.");
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
  await phone.page.goto(`${consoleUrl}#/chat/${chatId}`);
  await ui.waitForChat(phone.page, "Amara Kone");
  await phone.page.locator(".fail").waitFor();
  await take(phone.page, "console-phone");
  await phone.context.close();
  account.close();

  const demo = await openPage(browser, {});
  demo.page.setDefaultTimeout(20_000);
  await talkOnDemoSite(demo.page);
  await take(demo.page, "demo");
  await demo.context.close();

  await showAdminPages(browser, take);
} finally {
  await browser.close();
  await pages.close();
  await host.stop();
}
