/* The demo site of the local host: the shop with the widget, the console of the demo agent, the journal, and the
   buttons for the widget's API. */

import assert from "node:assert/strict";
import { Agent, host, request } from "../support/account.mjs";
import { axeViolations } from "../support/browser.mjs";
import {
  journey,
  openChat,
  sendMessage,
  useBrowser,
} from "../support/console.mjs";

useBrowser();

const VIEWPORTS = [
  { width: 1440, height: 900 },
  { width: 1100, height: 800 },
  { width: 390, height: 844, touch: true },
];

const openWidget = (page) =>
  page.getByRole("button", { name: /^Open chat/ }).click();
const write = async (page, text) => {
  await page.getByRole("textbox", { name: "Write a message" }).fill(text);
  await page.keyboard.press("Enter");
};
const showTab = (page, name) => page.getByRole("tab", { name }).click();
const consoleFrame = (page) =>
  page.frameLocator("iframe[title='Console of the demo agent']");
const journalEntry = (page, event, text) =>
  page
    .locator(".journal summary", { hasText: event })
    .filter({ hasText: text })
    .first();

async function openDemo(openSignedOut, { query = "", ...viewport } = {}) {
  const page = await openSignedOut(viewport);
  await page.goto(host.demo_url + query);
  await page.locator("switchboard-widget .label").waitFor();
  return page;
}

/** Opens the console through a link on the demo site. */
async function followConsoleLink(page, name) {
  const opened = page.context().waitForEvent("page");
  await page.getByRole("link", { name }).click();
  const desk = await opened;
  await desk.locator(".app").waitFor();
  return desk;
}

journey("visitor, agent and integrator meet", async ({ openSignedOut }) => {
  const page = await openDemo(openSignedOut);
  await consoleFrame(page).locator(".app[data-connection=live]").waitFor();
  await page.getByRole("button", { name: "Sign in" }).click();
  await openWidget(page);
  await write(page, "What are your hours?");
  await page.getByText("Which day?", { exact: true }).waitFor();
  await page.getByRole("button", { name: "I want a human" }).click();

  const desk = await followConsoleLink(page, /Open as agent/);
  assert.doesNotMatch(desk.url(), /code/);
  await openChat(desk, "Ada Lind");
  await desk
    .getByRole("button", { name: /^Accept/ })
    .first()
    .click();
  await sendMessage(desk, "Hello Ada, how can I help?");
  await page.getByText("Hello Ada, how can I help?").first().waitFor();
  // The demo webhook responds with this text if the visitor has a user token.
  await desk.getByText("Trail Club, since 2023").waitFor();
  await consoleFrame(page).getByText("Hello Ada, how can I help?").waitFor();

  await showTab(page, /Journal/);
  for (const [event, text] of [
    ["CLIENT_MESSAGE", "BOT_MESSAGE: Which day"],
    ["CLIENT_MESSAGE", "INVITE_AGENT"],
    ["chat_accepted", "with a CRM card"],
  ])
    await journalEntry(page, event, text).waitFor();
  await journalEntry(page, "chat_accepted", "Ada Lind").click();
  await page.getByText('"user_token": "(hidden)"').waitFor();
});

/** The calls of the widget's API for which the demo site has buttons, with their documented results. */
const RESULTS = [
  ["open()", '{result: "ok"}'],
  ["close()", '{result: "ok"}'],
  ["chatMode()", '"online"'],
  ["getUnreadMessagesCount()", "0"],
  ['setWidgetColor("#8a3b12")', '{result: "ok"}'],
  [/^showProactiveInvitation/, '{result: "ok"}'],
  [/^setRules/, '{result: "ok"}'],
  ["clearHistory()", '{result: "ok"}'],
  ["getVisitorNumber(callback)", /^callback\(null, "?\d+"?\)$/],
  [/^setContactInfo/, '{result: "ok"}'],
  [
    "getContactInfo()",
    '{client_name: "Ada Lind", email: "ada.lind@example.com", phone: null, description: null}',
  ],
  [
    'setUserToken("demo-customer-42")',
    '{result: "ok", token: "demo-customer-42"}',
  ],
  [/^setCustomData\(\[/, '{result: "ok"}'],
  [/^setClientAttributes/, '{result: "ok"}'],
  [/^sendPageTitle/, '{result: "ok"}'],
  ["getUtm()", /^\{source: "newsletter"/],
  [/^sendOfflineMessage\(\{email/, '{result: "ok"}'],
  ["isCallbackEnabled(callback)", 'callback({result: "ok"})'],
  ['open({start: "call"})', '{result: "ok"}'],
  ['startCall("+44 20 7946 0123")', '{result: "ok"}'],
  ['startCall("no number")', '{result: "fail", reason: "Phone is not valid."}'],
  [
    'setCustomData("no list")',
    '{result: "fail", reason: "Custom data must be array."}',
  ],
  ['setUserToken(["no text"])', '{result: "fail", token: ["no text"]}'],
  [
    'sendOfflineMessage({message: "Hello"})',
    '{result: "fail", error: "Email or phone is required."}',
  ],
  ["widget_destroy()", "undefined"],
  ["widget_init()", "undefined"],
];

journey("each button shows its result", async ({ openSignedOut }) => {
  const page = await openDemo(openSignedOut, {
    query: "?utm_source=newsletter",
  });
  const buttons = page.locator(".calls button");
  await buttons.first().waitFor();
  assert.equal(await buttons.count(), RESULTS.length);
  for (const [name, expected] of RESULTS) {
    const row = page.locator(".calls li", {
      has: page.getByRole("button", { name, exact: true }),
    });
    await row.getByRole("button").click();
    await row.locator("output", { hasText: expected }).waitFor();
    const result = await row.locator("output").textContent();
    if (typeof expected === "string") assert.equal(result, expected, name);
    else assert.match(result, expected, `${name}`);
  }
  const callbacks = page.getByRole("list", { name: "Callbacks" });
  for (const callback of [
    'widget_onChangeState("chat")',
    "widget_onOpen()",
    "widget_onClose()",
    "widget_onWidgetDestroy()",
  ])
    await callbacks.getByText(callback, { exact: true }).first().waitFor();
  // Once at the start, and again after widget_init().
  await callbacks.getByText("widget_onLoadCallback()").nth(1).waitFor();
});

journey("demo gateway calls the visitor back", async ({ openSignedOut }) => {
  const page = await openDemo(openSignedOut);
  await consoleFrame(page).locator(".app[data-connection=live]").waitFor();
  await page.getByRole("button", { name: "Call me back" }).first().click();
  await page.getByLabel("Phone").fill("+44 20 7946 0124");
  await page.keyboard.press("Enter");
  const heading = (name) => page.getByRole("heading", { name }).waitFor();
  await heading("You are connected");
  const desk = await followConsoleLink(page, /Open as agent/);
  await desk.getByText("Callback", { exact: true }).first().waitFor();
  await heading("The call has ended");
  await showTab(page, /Journal/);
  await journalEntry(page, "call", "callback to +442079460124").waitFor();
  for (const status of [
    "start",
    "agent_connected",
    "client_connected",
    "callback, end",
  ])
    await journalEntry(page, "call_event", status).waitFor();
});

journey("incoming call is announced to the agent", async ({ open }) => {
  const { demo } = host;
  const agent = new Agent({
    name: "Demo Agent",
    email: demo.agent_email,
    role: "agent",
    accountId: demo.account_id,
  });
  agent.password = demo.agent_password;
  await agent.logIn();
  await agent.setPresence("online");
  const desk = await open(agent);
  const { status, body } = await request("POST", "/_local/gateway/incoming", {
    phone: "+442079460177",
  });
  assert.equal(status, 200);
  assert.equal(body.agent.name, "Demo Agent");
  const banner = desk.locator(".call-banner");
  await banner.getByText("Incoming call").waitFor();
  await banner.getByRole("button", { name: "Open chat" }).click();
  const card = desk.locator(".call-card");
  await card.getByText("You are talking").waitFor();
  await card.getByText("Ended after 0:08").waitFor();
  const recording = await desk.getByLabel("Recording").getAttribute("src");
  const { headers } = await fetch(recording);
  assert.equal(headers.get("content-type"), "audio/mpeg");
});

journey("link opens the console as admin", async ({ openSignedOut }) => {
  const page = await openDemo(openSignedOut, { width: 1100 });
  const desk = await followConsoleLink(page, /Open as admin/);
  await desk.locator(".rail .me").click();
  await desk.getByRole("menu").getByText("Demo Admin").waitFor();
});

journey("panel is a dialog on a phone", async ({ openSignedOut }) => {
  const page = await openDemo(openSignedOut, VIEWPORTS[2]);
  assert.equal(await page.locator("iframe").count(), 0);
  const openPanel = page.getByRole("button", { name: "Agent and integrator" });
  await openPanel.click();
  await page.getByRole("link", { name: /Open as agent/ }).waitFor();
  await showTab(page, /Journal/);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("button", { name: /^Open chat/ }).waitFor();
});

for (const viewport of VIEWPORTS)
  journey(
    `demo site is accessible, ${viewport.width} px`,
    async ({ openSignedOut }) => {
      for (const scheme of ["light", "dark"]) {
        const page = await openDemo(openSignedOut, { ...viewport, scheme });
        const check = async (view) => {
          const violations = await axeViolations(page, { iframes: false });
          assert.deepEqual(violations, [], `${view}, ${scheme}`);
          const overflow = await page.evaluate(
            () =>
              document.documentElement.scrollWidth -
              document.documentElement.clientWidth,
          );
          assert.equal(overflow, 0, `${view} is too wide`);
        };
        await check("shop");
        if (viewport.touch)
          await page
            .getByRole("button", { name: "Agent and integrator" })
            .click();
        await showTab(page, "Widget API");
        await page
          .getByRole("button", { name: 'setUserToken(["no text"])' })
          .click();
        await check("API");
        await showTab(page, /Journal/);
        await check("journal");
        await page.context().close();
      }
    },
  );
