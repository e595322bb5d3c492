/* The states of the console of which screenshots.mjs takes pictures. */

import { showSampleReport } from "../seed/sample-report.mjs";
import * as ui from "./console-page.mjs";
import { changeResponses, delay, fail } from "./failures.mjs";
import { rejection } from "./receiver.mjs";

// Steps that lead to a state.
const openChat =
  (name) =>
  ({ page }) =>
    ui.openChat(page, name);
const press =
  (name) =>
  ({ page }) =>
    page.keyboard.press(name);
const pressShortcut =
  (key) =>
  ({ page }) =>
    ui.pressShortcut(page, key);
const type =
  (text) =>
  ({ page }) =>
    page.keyboard.type(text);
const showTab =
  (name) =>
  ({ page }) =>
    page.getByRole("tab", { name }).click();
const showVisitorPane = async ({ page }) => {
  if (page.viewportSize().width <= 1100)
    await page.locator(".pane-toggle").click();
};
const manageCannedReplies = [
  press("Control+k"),
  type("manage canned"),
  press("Enter"),
];
const clickButton =
  (name) =>
  ({ page }) =>
    page.getByRole("button", { name, exact: true }).click();
const startCall = async ({ page, account }) => {
  const { chatId } = account.amara;
  account.ongoingCall = await account.call(chatId, "+31 20 794 60 18");
  await waitForRendering(page);
};
/** Reports the next status of the visitor's call. */
const reportCall =
  (status, fields) =>
  async ({ page, account }) => {
    await account.ongoingCall.report(status, fields);
    await waitForRendering(page);
  };
/** Lets an export consist of many slow pages. */
/** Gives the account tags, and puts two of them on the first chat. */
const tagSomeChats = async ({ account: { admin, amara } }) => {
  const tags = [
    { name: "VIP", color: "red" },
    { name: "Refund", color: "blue" },
    { name: "Waiting for the warehouse", color: "orange" },
  ];
  await admin.put("/admin/settings", {
    tags,
    views: [{ name: "VIPs to answer", list: "mine", tag_id: 1 }],
  });
  await admin.patch(`/agent/chats/${amara.chatId}`, { add_tags: [1, 3] });
};
const exportInPages = ({ page }) =>
  page.route("**/admin/chats/export*", async (route) => {
    await page.waitForTimeout(700);
    const url = new URL(route.request().url());
    url.searchParams.delete("cursor");
    const json = await (await route.fetch({ url: url.href })).json();
    return route.fulfill({ json: { ...json, next: "the rest" } });
  });
/** Lets sending failed deliveries again take many slow requests. */
const replayInPages = ({ page }) =>
  page.route("**/admin/deliveries/replay", async (route) => {
    await page.waitForTimeout(700);
    await route.fulfill({ json: { replayed: 1, skipped: 0, next: "1-1" } });
  });
/** Asks for a call. A phone has the button in the chat's menu. */
const callVisitor = async ({ page }) => {
  const button = page.getByRole("button", { name: "Call the visitor" });
  if (await button.isVisible()) return button.click();
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Call the visitor" }).click();
};
/** Lets the visitor Amara write in another channel as well, where she is another visitor. Returns this visitor. */
const writeInPortal = ({ account }) =>
  account.openChat(
    "A. Kone",
    "Where is the invoice of my club?",
    { email: "amara.kone@example.com" },
    account.portal,
  );
const mergeAmara = async ({ account }) => {
  const { number } = await writeInPortal({ account });
  const path = `/agent/visitors/${account.amara.number}`;
  await account.admin.patch(path, { merge_with: number });
};
const hashOfMerge = ({ amara }) => `#/visitors/${amara.number}/merge`;
const hashOfWidget = ({ widget }) => `#/channels/${widget.channel_id}`;
const hashOfPlayground = ({ bot }) => `#/bots/${bot.id}/playground`;
/** Connects the bot with the widget, which then allows these sites. */
async function openWidgetToBot({ admin, bot, channel, widget }, allowed_sites) {
  const { channel_id } = widget;
  await admin.patch(`/admin/channels/${channel_id}`, {
    widget: { allowed_sites },
  });
  await admin.patch(`/admin/bots/${bot.id}`, {
    channel_ids: [channel.id, channel_id],
  });
}
const writeAsVisitor = async ({ page }) => {
  const field = page.getByLabel("Message of the visitor");
  await field.fill("When are you open on Sunday?");
  await page.getByRole("button", { name: "Send", exact: true }).click();
};
const firstTableRow = ({ page }) => page.locator("tbody tr").first().waitFor();
const chartIsDrawn = ({ page }) => page.locator(".chart svg").first().waitFor();
const scrollToSection =
  (name) =>
  ({ page }) =>
    page
      .getByRole("region", { name, exact: true })
      .evaluate((section) => section.scrollIntoView({ block: "start" }));
const choose =
  (name) =>
  ({ page }) =>
    page.getByRole("radio", { name, exact: true }).check();
export const waitForRendering = (page) => page.waitForTimeout(200);

/** The states of the console: the data set, the address, who opens it, and the steps that lead to the state. `prepare`
    runs before the page is opened. A state that `changes` the account, which its later steps must not find changed,
    gets an account of its own. */
export const STATES = {
  "sign-in": { isSignedOut: true, steps: [] },
  "sign-in-wrong": {
    isSignedOut: true,
    steps: [
      async ({ page }) => {
        await page.getByLabel("E-mail").fill("marta@example.com");
        await page.getByLabel("Password", { exact: true }).fill("wrong");
        await page.keyboard.press("Enter");
        await page.getByRole("alert").waitFor();
      },
    ],
  },
  "sign-in-limited": {
    isSignedOut: true,
    steps: [
      async ({ page }) => {
        await fail(page, "**/agent/login", {
          status: 429,
          message: "too many requests",
          headers: { "retry-after": "27" },
        });
        await page.getByLabel("E-mail").fill("marta@example.com");
        await page.getByLabel("Password", { exact: true }).fill("secret");
        await page.keyboard.press("Enter");
        await page.getByRole("alert").waitFor();
      },
    ],
  },
  "session-ended": {
    steps: [
      openChat("Thanh"),
      ({ page }) => ui.textarea(page).fill("A draft"),
      ({ page }) => fail(page, "**/agent/**", { status: 401, message: "" }),
      ({ page }) =>
        page.getByRole("button", { name: "Send", exact: true }).click(),
      ({ page }) => page.getByText("Your session has ended.").waitFor(),
    ],
  },
  "first-run": {
    dataset: "empty",
    steps: [
      ({ page }) =>
        page
          .getByText("Three steps")
          .waitFor()
          .catch(() => {}),
    ],
  },
  "first-run-channel": {
    dataset: "empty",
    changes: true,
    steps: [
      async ({ page }) => {
        await page.getByRole("button", { name: "Add a channel" }).click();
        await page.getByRole("radio", { name: "API" }).check();
        await page.getByLabel("Name", { exact: true }).fill("iOS app");
        await page
          .getByLabel("Address of your server")
          .fill("https://chat.fjord.example/messages");
        await page.getByRole("button", { name: "Connect" }).click();
        await page.getByRole("button", { name: "Done" }).click();
        await page.getByRole("button", { name: "Copy", exact: true }).click();
      },
    ],
  },
  inbox: { steps: [] },
  conversation: {
    steps: [
      openChat("Amara Kone"),
      async ({ page, account }) => {
        await account.amara.post({ type: "typein" });
        await page.locator(".typing").waitFor();
      },
    ],
  },
  "visitor-pane": {
    steps: [openChat("Amara Kone"), showVisitorPane],
  },
  "visitor-edit": {
    steps: [
      openChat("Amara Kone"),
      showVisitorPane,
      ({ page }) => page.getByTitle("Edit e-mail").click(),
    ],
  },
  waiting: { steps: [openChat("João Ferreira")] },
  "tags-and-filter": {
    changes: true,
    prepare: tagSomeChats,
    steps: [
      openChat("Amara Kone"),
      pressShortcut("f"),
      ({ page }) => page.getByLabel("Tag", { exact: true }).selectOption("VIP"),
    ],
  },
  "tag-dialog": {
    changes: true,
    prepare: tagSomeChats,
    steps: [openChat("Amara Kone"), pressShortcut("l")],
  },
  "snooze-dialog": {
    steps: [openChat("Amara Kone"), pressShortcut("s")],
  },
  "bot-chat": {
    steps: [showTab("Bot"), ({ page }) => page.locator(".row").first().click()],
  },
  attempts: {
    steps: [
      openChat("Amara Kone"),
      ({ page }) => page.locator(".attempts-link").click(),
    ],
  },
  note: {
    steps: [
      openChat("Amara Kone"),
      async ({ page }) => {
        await page.getByRole("radio", { name: "Private note" }).click();
        await page.keyboard.type(
          "Ask the carrier for the photo that the driver took.",
        );
      },
    ],
  },
  "note-added": {
    changes: true,
    steps: [
      openChat("Amara Kone"),
      ({ page }) => page.getByRole("radio", { name: "Private note" }).click(),
      type("The carrier has no photo of the driver."),
      ({ page }) => page.getByRole("button", { name: "Add note" }).click(),
      ({ page }) => page.locator(".turn.is-note").last().waitFor(),
    ],
  },
  canned: {
    steps: [
      openChat("Thanh"),
      ({ page }) => page.locator("textarea").focus(),
      type("/"),
    ],
  },
  emoji: {
    steps: [
      openChat("Thanh"),
      ({ page }) => page.getByRole("button", { name: "Emoji" }).click(),
    ],
  },
  "too-long": {
    steps: [
      openChat("Thanh"),
      ({ page }) => page.locator("textarea").fill("All of it. ".repeat(920)),
    ],
  },
  "unread-messages": {
    changes: true,
    dataset: "longTimeline",
    steps: [
      openChat("Priya Raman"),
      async ({ page, account }) => {
        await page.waitForTimeout(300);
        await page.locator(".log").evaluate((log) => (log.scrollTop -= 900));
        await page.waitForTimeout(100);
        for (const text of ["Are you there?", "One more thing"])
          await account.priya.say(text);
        await page.locator(".news .fresh").waitFor();
      },
    ],
  },
  closed: {
    steps: [
      showTab("Closed"),
      ({ page }) => page.locator(".row").nth(1).click(),
      ({ page }) => page.locator(".turn").first().waitFor(),
    ],
  },
  busy: {
    dataset: "full",
    steps: [
      ({ page }) => page.locator(".row").nth(12).click(),
      ({ page }) => page.locator(".turn").first().waitFor(),
    ],
  },
  "long-name": {
    dataset: "unusual",
    steps: [
      openChat("Maximiliane"),
      async ({ page }) => {
        await page.locator(".log").evaluate((log) => (log.scrollTop = 0));
      },
    ],
  },
  "long-name-end": { dataset: "unusual", steps: [openChat("Maximiliane")] },
  "long-name-visitor": {
    dataset: "unusual",
    steps: [openChat("Maximiliane"), showVisitorPane],
  },
  "right-to-left": { dataset: "unusual", steps: [openChat("محمد")] },
  failed: {
    changes: true,
    steps: [
      openChat("Thanh"),
      async ({ page, account }) => {
        account.app.integrator.respond = () => rejection("The app is gone");
        await fail(page, "**/messages", {
          method: "POST",
          status: 400,
          times: 1,
          message: "text must have at most 10000 characters",
        });
        await page
          .locator("textarea")
          .fill("This one is refused by the service.");
        await page.getByRole("button", { name: "Send", exact: true }).click();
        await page.getByText("Not sent.").waitFor();
        await page
          .locator("textarea")
          .fill("This will fail at the integrator.");
        await page.getByRole("button", { name: "Send", exact: true }).click();
        await page.getByText("Not delivered.").waitFor({ timeout: 8000 });
      },
    ],
  },
  offline: {
    hasNetwork: true,
    steps: [
      openChat("Thanh"),
      async ({ page, network }) => {
        await page.waitForLoadState("networkidle");
        network.cut();
        await page.locator("textarea").fill("I write this without a network.");
        await page.getByRole("button", { name: "Send", exact: true }).click();
        await page
          .locator(".connection-banner.bad")
          .waitFor({ timeout: 15000 });
      },
    ],
  },
  interrupted: {
    hasNetwork: true,
    steps: [
      openChat("Thanh"),
      async ({ page, network }) => {
        await fail(page, "**/agent/socket-ticket", { status: 503 });
        network.cutSockets();
        await page.locator(".connection-banner").waitFor({ timeout: 15000 });
      },
    ],
  },
  palette: { steps: [openChat("Amara Kone"), pressShortcut("Control+k")] },
  "palette-search": {
    steps: [openChat("Amara Kone"), pressShortcut("Control+k"), type("th")],
  },
  "keyboard-shortcuts": { steps: [openChat("Amara Kone"), pressShortcut("?")] },
  transfer: { steps: [openChat("Amara Kone"), pressShortcut("t")] },
  "close-question": {
    steps: [
      openChat("Amara Kone"),
      ({ page }) => page.locator("textarea").fill("A draft"),
      pressShortcut("e"),
    ],
  },
  "closed-undo": {
    changes: true,
    steps: [openChat("Elif"), pressShortcut("e")],
  },
  "file-wrong": {
    steps: [
      openChat("Amara Kone"),
      clickButton("Send a link to a file"),
      async ({ page }) => {
        const dialog = page.getByRole("dialog");
        await dialog.getByRole("button", { name: "Send" }).click();
        await dialog.getByText("Enter a size").waitFor();
      },
    ],
  },
  file: {
    changes: true,
    steps: [
      openChat("Amara Kone"),
      async ({ page, account }) => {
        await page
          .getByRole("button", { name: "Send a link to a file" })
          .click();
        await page
          .getByLabel("Address of the file")
          .fill(`${account.channel.integrator.url}/photo.svg`);
        await page.getByLabel("Type", { exact: true }).selectOption("photo");
        await page
          .locator("dialog")
          .getByRole("button", { name: "Send" })
          .click();
      },
    ],
  },
  "canned-manage": { steps: manageCannedReplies },
  "canned-edit": {
    steps: [
      ...manageCannedReplies,
      ({ page }) => page.getByRole("button", { name: "Edit /hello" }).click(),
    ],
  },
  erase: {
    steps: [
      openChat("Amara Kone"),
      ({ page }) => page.getByRole("button", { name: "More" }).click(),
      ({ page }) => page.getByRole("menuitem", { name: "Erase" }).click(),
      ({ page }) => page.getByText("What is deleted").waitFor(),
    ],
  },
  "erase-done": {
    changes: true,
    hash: ({ amara }) => `#/visitors/${amara.number}/erase`,
    steps: [
      async ({ page }) => {
        await page.getByLabel("Type Amara Kone").fill("Amara Kone");
        await page.keyboard.press("Enter");
        await page.getByText(/chats? with \d+ entries/).waitFor();
      },
    ],
  },
  "erase-merged": {
    changes: true,
    prepare: mergeAmara,
    hash: ({ amara }) => `#/visitors/${amara.number}/erase`,
    steps: [({ page }) => page.getByText("as well, who is merged").waitFor()],
  },
  "erase-missing": {
    hash: "#/visitors/9999/erase",
    steps: [({ page }) => page.getByText("There is no visitor").waitFor()],
  },
  merge: {
    changes: true,
    prepare: writeInPortal,
    hash: hashOfMerge,
    steps: [({ page }) => page.getByRole("radio").first().check()],
  },
  merged: {
    changes: true,
    prepare: mergeAmara,
    hash: hashOfMerge,
    steps: [({ page }) => page.getByText("Nobody found").waitFor()],
  },
  "merged-pane": {
    changes: true,
    prepare: mergeAmara,
    steps: [openChat("Amara Kone"), showVisitorPane],
  },
  "merge-missing": {
    hash: "#/visitors/9999/merge",
    steps: [({ page }) => page.getByText("cannot be shown").waitFor()],
  },
  menu: {
    steps: [
      openChat("Amara Kone"),
      ({ page }) => page.getByRole("button", { name: "More" }).click(),
    ],
  },
  me: { steps: [({ page }) => page.locator(".rail .me").click()] },
  "sign-out": {
    steps: [
      openChat("Amara Kone"),
      ({ page }) => page.locator("textarea").fill("A draft"),
      pressShortcut("Control+k"),
      type("sign out"),
      press("Enter"),
    ],
  },
  search: {
    steps: [({ page }) => page.keyboard.press("/"), type("an")],
  },
  "search-nothing": {
    steps: [({ page }) => page.keyboard.press("/"), type("zzzz")],
  },
  loading: {
    prepare: ({ page }) => delay(page, "**/agent/**", 5000),
    steps: [({ page }) => page.waitForTimeout(600)],
  },
  "loading-chat": {
    steps: [
      ({ page }) => delay(page, "**/agent/**", 4000),
      ({ page }) => page.locator(".row").nth(2).click(),
      ({ page }) => page.waitForTimeout(400),
    ],
  },
  "list-failed": {
    steps: [],
    prepare: ({ page }) => fail(page, /\/agent\/chats(\?|$)/, { status: 500 }),
  },
  "chat-failed": {
    steps: [
      ({ page }) => fail(page, /\/messages/, { method: "GET", status: 500 }),
      ({ page }) => page.locator(".row").nth(2).click(),
      ({ page }) => page.locator(".conversation .blank.bad").waitFor(),
    ],
  },
  "chat-forbidden": {
    hash: ({ amara }) => `#/chat/${amara.chatId}`,
    prepare: ({ page }) =>
      fail(page, /\/agent\/chats\/\d/, { status: 403, message: "forbidden" }),
    steps: [({ page }) => page.getByText("You cannot see this chat").waitFor()],
  },
  "chat-missing": { hash: "#/chat/999999", steps: [] },
  "earlier-chats": {
    steps: [
      openChat("Amara Kone"),
      showVisitorPane,
      ({ page }) =>
        page
          .getByRole("region", { name: "Other chats" })
          .scrollIntoViewIfNeeded(),
    ],
  },
  visitors: { steps: [], hash: "#/visitors" },
  channels: {
    hash: "#/channels",
    steps: [({ page }) => page.locator("tbody tr").first().waitFor()],
  },
  "channels-empty": {
    hash: "#/channels",
    dataset: "empty",
    steps: [({ page }) => page.getByText("no channels yet").waitFor()],
  },
  "channel-add": {
    hash: "#/channels",
    steps: [
      ({ page }) => page.getByRole("button", { name: "Add a channel" }).click(),
    ],
  },
  "channel-add-api": {
    hash: "#/channels",
    steps: [
      clickButton("Add a channel"),
      async ({ page }) => {
        await page.getByRole("radio", { name: "API" }).check();
        await page.getByRole("group", { name: "Agents" }).waitFor();
      },
    ],
  },
  "channel-api": {
    hash: ({ app }) => `#/channels/${app.id}`,
    steps: [({ page }) => page.getByLabel("Address of your server").waitFor()],
  },
  "channel-outage": {
    hash: ({ app }) => `#/channels/${app.id}`,
    prepare: ({ page, account: { app } }) =>
      changeResponses(page, `**/admin/channels/${app.id}`, (channel) => {
        channel.outage = "switched_off";
      }),
    steps: [({ page }) => page.getByText("Nothing is sent to it").waitFor()],
  },
  "channel-pull": {
    hash: ({ app }) => `#/channels/${app.id}`,
    steps: [
      ({ page }) => page.getByLabel("Address of your server").waitFor(),
      ({ page }) => page.getByText("Your program fetches").click(),
    ],
  },
  "channel-tested": {
    hash: ({ app }) => `#/channels/${app.id}`,
    steps: [
      clickButton("Send a message to your server"),
      ({ page }) => page.getByText("Status 200").waitFor(),
      ({ page }) =>
        page
          .getByRole("heading", { name: "Test of your server" })
          .evaluate((heading) => heading.scrollIntoView()),
    ],
  },
  "channel-check": {
    hash: ({ app }) => `#/channels/${app.id}`,
    steps: [clickButton("Check the server…")],
  },
  "channel-checked": {
    hash: ({ app }) => `#/channels/${app.id}`,
    steps: [
      clickButton("Check the server…"),
      clickButton("Start"),
      ({ page }) => page.getByText("The server keeps").waitFor(),
    ],
  },
  "channel-secret": {
    changes: true,
    hash: ({ app }) => `#/channels/${app.id}`,
    steps: [
      clickButton("Create a new secret…"),
      clickButton("Create a new secret"),
      ({ page }) => page.getByText("It is shown only now.").waitFor(),
    ],
  },
  "channel-rotate": {
    changes: true,
    hash: ({ app }) => `#/channels/${app.id}`,
    steps: [
      clickButton("Create a new address…"),
      ({ page }) =>
        page
          .getByRole("button", { name: "Create a new address", exact: true })
          .click(),
      ({ page }) => page.getByText("It is shown only now.").waitFor(),
    ],
  },
  "channel-connected": {
    changes: true,
    hash: "#/channels",
    steps: [
      clickButton("Add a channel"),
      async ({ page }) => {
        await page.getByRole("radio", { name: "API" }).check();
        await page.getByLabel("Name", { exact: true }).fill("Android app");
        await page
          .getByLabel("Address of your server")
          .fill("https://chat.fjord.example/messages");
        await page.getByRole("button", { name: "Connect" }).click();
        await page.getByText("Code that verifies the signature").click();
        await page.getByRole("radio", { name: "Node" }).check();
      },
    ],
  },
  deliveries: { hash: "#/deliveries", steps: [firstTableRow] },
  "delivery-open": {
    hash: "#/deliveries",
    steps: [
      firstTableRow,
      ({ page }) => page.locator("tbody button").first().click(),
      ({ page }) => page.locator(".delivery-detail pre").nth(1).waitFor(),
    ],
  },
  "delivery-request-failed": {
    hash: "#/deliveries",
    prepare: ({ page }) =>
      fail(page, /\/admin\/deliveries\/\d/, { status: 500 }),
    steps: [
      firstTableRow,
      ({ page }) => page.locator("tbody button").first().click(),
      ({ page }) => page.getByText("could not be loaded").waitFor(),
    ],
  },
  "deliveries-filtered": {
    hash: "#/deliveries",
    steps: [
      firstTableRow,
      async ({ page }) => {
        await page.getByLabel("Time").selectOption("range");
        await page.getByLabel("Chat number").fill("Amara");
        await page.getByText("Enter the number of a chat.").waitFor();
      },
    ],
  },
  "deliveries-delivered": {
    hash: "#/deliveries",
    steps: [
      ({ page }) => page.getByRole("radio", { name: "Delivered" }).check(),
      ({ page }) => page.getByText("CLIENT_MESSAGE").first().waitFor(),
    ],
  },
  "deliveries-outages": {
    hash: "#/deliveries",
    // An outage is reported after a day, and ends all requests after five.
    prepare: ({ page, account: { app, crmId, warehouseId } }) =>
      changeResponses(page, "**/admin/outages", (response) => {
        const last_failed_at = Math.floor(Date.now() / 1000);
        const outage = (target, receiver_id, status, days) => {
          const since = last_failed_at - days * 86_400;
          return { target, receiver_id, since, last_failed_at, status };
        };
        response.outages = [
          outage("channel", app.id, "switched_off", 6),
          outage("webhook", warehouseId, "reported", 2),
          outage("webhook", crmId, "none", 0),
        ];
      }),
    steps: [
      firstTableRow,
      ({ page }) => page.getByText("Nothing is sent to it").first().waitFor(),
    ],
  },
  "deliveries-empty": {
    hash: "#/deliveries",
    dataset: "empty",
    steps: [({ page }) => page.getByText("Nothing has failed").waitFor()],
  },
  "deliveries-failed": {
    hash: "#/deliveries",
    prepare: ({ page }) => fail(page, "**/admin/deliveries*", { status: 500 }),
    steps: [({ page }) => page.getByText("could not be loaded").waitFor()],
  },
  "deliveries-forbidden": {
    hash: "#/deliveries",
    as: ({ agents }) => agents[0],
    steps: [({ page }) => page.getByText("Only admins").waitFor()],
  },
  replay: {
    hash: "#/deliveries",
    steps: [firstTableRow, clickButton("Send failed again")],
  },
  "replay-stopped": {
    hash: "#/deliveries",
    steps: [
      firstTableRow,
      clickButton("Send failed again"),
      replayInPages,
      clickButton("Send again"),
      clickButton("Stop"),
      ({ page }) => page.getByText("Stopped.").waitFor(),
    ],
  },
  webhooks: { hash: "#/deliveries/webhooks", steps: [firstTableRow] },
  "webhooks-empty": {
    hash: "#/deliveries/webhooks",
    dataset: "empty",
    steps: [({ page }) => page.getByText("There are no webhooks").waitFor()],
  },
  "webhook-add": {
    hash: "#/deliveries/webhooks",
    steps: [
      firstTableRow,
      clickButton("Add a webhook"),
      ({ page }) => page.getByLabel("Address of your server").fill("x"),
      press("Enter"),
    ],
  },
  webhook: {
    hash: ({ crmId }) => `#/deliveries/webhooks/${crmId}`,
    steps: [
      clickButton("Send the event"),
      ({ page }) => page.getByText("Status 200").scrollIntoViewIfNeeded(),
    ],
  },
  "webhook-failing": {
    hash: ({ warehouseId }) => `#/deliveries/webhooks/${warehouseId}`,
    steps: [
      clickButton("Send the event"),
      ({ page }) => page.getByText("HTTP 503").scrollIntoViewIfNeeded(),
    ],
  },
  bots: { hash: "#/bots", steps: [firstTableRow] },
  "bots-empty": {
    hash: "#/bots",
    dataset: "empty",
    steps: [({ page }) => page.getByText("There are no bots").waitFor()],
  },
  "bot-connect": {
    hash: "#/bots",
    steps: [
      firstTableRow,
      clickButton("Connect a bot"),
      ({ page }) => page.getByLabel("Provider").waitFor(),
      ({ page }) =>
        page.getByRole("button", { name: "Connect", exact: true }).click(),
    ],
  },
  bot: {
    hash: ({ bot }) => `#/bots/${bot.id}`,
    steps: [({ page }) => page.getByLabel("Seconds until then").waitFor()],
  },
  "bot-tested": {
    hash: ({ bot }) => `#/bots/${bot.id}`,
    steps: [
      clickButton("Send the event"),
      ({ page }) => page.getByText("Status 200").waitFor(),
      ({ page }) =>
        page
          .getByRole("heading", { name: "Test" })
          .evaluate((heading) => heading.scrollIntoView()),
    ],
  },
  playground: {
    hash: hashOfPlayground,
    changes: true,
    prepare: ({ account }) => openWidgetToBot(account, []),
    steps: [
      writeAsVisitor,
      ({ page }) => page.getByText("Parcel bot (bot)").waitFor(),
      ({ page }) => page.getByText("1 attempt").waitFor({ state: "attached" }),
      async ({ page }) => {
        const events = page.getByRole("radio", { name: "Events" });
        if (await events.isVisible()) await events.check();
      },
      clickButton("Request and attempts"),
      ({ page }) => page.getByText("webhook-id").first().waitFor(),
    ],
  },
  "playground-refused": {
    hash: hashOfPlayground,
    changes: true,
    prepare: ({ account }) => openWidgetToBot(account, ["shop.example"]),
    steps: [
      writeAsVisitor,
      ({ page }) => page.getByText("allow only certain sites").waitFor(),
    ],
  },
  "playground-no-channel": {
    hash: hashOfPlayground,
    steps: [({ page }) => page.getByText("The bot has no website").waitFor()],
  },
  team: { hash: "#/team", steps: [firstTableRow] },
  "agent-add": {
    hash: "#/team",
    steps: [firstTableRow, clickButton("Add an agent")],
  },
  agent: {
    hash: ({ agents }) => `#/team/${agents[0].id}`,
    steps: [({ page }) => page.getByText("Profile").waitFor()],
  },
  "agent-password": {
    hash: ({ agents }) => `#/team/${agents[0].id}`,
    steps: [
      clickButton("Set a new password…"),
      clickButton("Set the password"),
    ],
  },
  "own-account": {
    hash: ({ admin }) => `#/team/${admin.id}`,
    steps: [
      clickButton("Set a new password…"),
      ({ page }) => page.getByText("This session").waitFor(),
    ],
  },
  departments: { hash: "#/team/departments", steps: [firstTableRow] },
  department: {
    hash: ({ returns }) => `#/team/departments/${returns.department_id}`,
    steps: [({ page }) => page.getByText("General").waitFor()],
  },
  call: {
    changes: true,
    steps: [openChat("Amara Kone"), startCall],
  },
  "call-ended": {
    changes: true,
    steps: [
      openChat("Amara Kone"),
      startCall,
      reportCall("end", {
        duration: 125,
        record_url: "https://gateway.fjord.example/recording.mp3",
      }),
    ],
  },
  "call-failed": {
    changes: true,
    steps: [
      openChat("Amara Kone"),
      startCall,
      reportCall("error", { reason: "no answer from the agent" }),
    ],
  },
  "call-elsewhere": {
    changes: true,
    steps: [startCall, reportCall("client_connected"), openChat("Thanh")],
  },
  "call-dialog": {
    steps: [
      openChat("Amara Kone"),
      callVisitor,
      async ({ page }) => {
        await page.getByLabel("Phone number").fill("nobody");
        await page.getByRole("button", { name: "Call", exact: true }).click();
        await page.locator("#call-phone-problem").waitFor();
      },
    ],
  },
  telephony: {
    hash: "#/telephony",
    steps: [({ page }) => page.getByText("600 minutes").waitFor()],
  },
  "telephony-twilio": {
    hash: "#/telephony",
    steps: [
      async ({ page }) => {
        await page.getByRole("radio", { name: "Twilio" }).check();
        await page.getByRole("button", { name: "Save" }).click();
        await page.getByText("Enter the SID").waitFor();
      },
    ],
  },
  "telephony-end": {
    hash: "#/telephony",
    steps: [
      ({ page }) =>
        page
          .getByRole("button", { name: "Remove the provider" })
          .scrollIntoViewIfNeeded(),
    ],
  },
  "telephony-remove": {
    hash: "#/telephony",
    steps: [clickButton("Remove the provider…")],
  },
  settings: {
    hash: "#/settings",
    steps: [({ page }) => page.getByText("Safe URL").first().waitFor()],
  },
  "settings-end": {
    hash: "#/settings",
    steps: [
      async ({ page }) => {
        await page.getByLabel("Messages of one visitor").fill("many");
        await page.getByRole("button", { name: "Save" }).click();
        await page.getByText("Enter a whole number.").waitFor();
      },
    ],
  },
  "settings-hours": {
    hash: "#/settings",
    steps: [
      async ({ page }) => {
        await page.getByRole("switch", { name: /^Business hours/ }).check();
        await page
          .getByRole("group", { name: "Monday", exact: true })
          .getByRole("button", { name: "Add hours" })
          .click();
        const add = page.getByRole("button", { name: "Add an exception" });
        await add.click();
        await add.scrollIntoViewIfNeeded();
      },
    ],
  },
  "settings-callback": {
    hash: "#/settings",
    steps: [
      ({ page }) => page.getByText("Manage canned").scrollIntoViewIfNeeded(),
    ],
  },
  rules: {
    hash: "#/settings/rules",
    steps: [({ page }) => page.getByLabel("Condition 2, value").waitFor()],
  },
  "rules-wrong": {
    hash: "#/settings/rules",
    steps: [
      ({ page }) => page.getByLabel("The rules as JSON").fill("[{"),
      ({ page }) => page.getByText("This is not JSON").waitFor(),
    ],
  },
  reports: {
    hash: "#/reports",
    prepare: showSampleReport,
    steps: [chartIsDrawn],
  },
  "reports-middle": {
    hash: "#/reports",
    prepare: showSampleReport,
    steps: [chartIsDrawn, scrollToSection("Channels")],
  },
  "reports-end": {
    hash: "#/reports",
    prepare: showSampleReport,
    steps: [chartIsDrawn, scrollToSection("Failed deliveries by channel")],
  },
  "reports-today": {
    hash: "#/reports",
    prepare: showSampleReport,
    steps: [
      chartIsDrawn,
      choose("Today"),
      ({ page }) =>
        page
          .getByText("none yesterday")
          .or(page.getByText("yesterday"))
          .first()
          .waitFor(),
    ],
  },
  "reports-quarter": {
    hash: "#/reports",
    prepare: showSampleReport,
    steps: [
      chartIsDrawn,
      choose("90 days"),
      ({ page }) => page.getByText("in the 90 days before").first().waitFor(),
      choose("By channel"),
      ({ page }) =>
        page.locator(".legend", { hasText: "Partner portal" }).waitFor(),
      ({ page }) => page.getByRole("slider").first().press("End"),
    ],
  },
  "reports-table": {
    hash: "#/reports",
    prepare: showSampleReport,
    steps: [
      chartIsDrawn,
      ({ page }) => page.getByText("Table", { exact: true }).first().click(),
      ({ page }) => page.getByText("Table", { exact: true }).nth(1).click(),
      scrollToSection("First answer"),
    ],
  },
  "reports-empty": {
    hash: "#/reports",
    dataset: "empty",
    steps: [({ page }) => page.getByText("No chats in 30 days").waitFor()],
  },
  "reports-failed": {
    hash: "#/reports",
    prepare: ({ page }) => fail(page, "**/admin/reports*", { status: 500 }),
    steps: [({ page }) => page.getByText("could not be loaded").waitFor()],
  },
  "reports-forbidden": {
    hash: "#/reports",
    as: ({ agents }) => agents[0],
    steps: [({ page }) => page.getByText("Only admins").waitFor()],
  },
  "export-page": {
    hash: "#/reports/export",
    steps: [({ page }) => page.getByLabel("Closed from").waitFor()],
  },
  "export-running": {
    hash: "#/reports/export",
    steps: [
      ({ page }) => page.getByLabel("Closed from").waitFor(),
      exportInPages,
      clickButton("Export"),
      ({ page }) => page.getByText(/so far/).waitFor(),
    ],
  },
  "export-done": {
    hash: "#/reports/export",
    steps: [
      clickButton("Export"),
      ({ page }) => page.getByText(/^Ready/).waitFor(),
      ({ page }) => page.getByRole("button", { name: "Save the file" }).hover(),
    ],
  },
  "export-wrong": {
    hash: "#/reports/export",
    steps: [choose("One chat"), clickButton("Export")],
  },
  "export-dialog": {
    steps: [
      openChat("Amara Kone"),
      ({ page }) => page.getByRole("button", { name: "More" }).click(),
      ({ page }) => page.getByRole("menuitem", { name: "Export" }).click(),
      ({ page }) => page.getByRole("dialog").waitFor(),
    ],
  },
  "export-dialog-done": {
    steps: [
      openChat("Amara Kone"),
      ({ page }) => page.getByRole("button", { name: "More" }).click(),
      ({ page }) => page.getByRole("menuitem", { name: "Export" }).click(),
      ({ page }) =>
        page
          .getByRole("dialog")
          .getByRole("button", { name: "Export" })
          .click(),
      ({ page }) => page.getByText(/^Ready/).waitFor(),
    ],
  },
  audit: { hash: "#/settings/audit", steps: [firstTableRow] },
  "audit-empty": {
    hash: "#/settings/audit",
    dataset: "empty",
    steps: [({ page }) => page.getByText("Nothing found").waitFor()],
  },
  "audit-failed": {
    hash: "#/settings/audit",
    prepare: ({ page }) => fail(page, "**/admin/audit*", { status: 500 }),
    steps: [({ page }) => page.getByText("could not be loaded").waitFor()],
  },
  "channel-missing": {
    hash: "#/channels/none",
    steps: [({ page }) => page.getByText("does not exist").waitFor()],
  },
  widget: { hash: hashOfWidget, steps: [ui.waitForPreview] },
  "widget-look": {
    hash: hashOfWidget,
    steps: [
      ui.waitForPreview,
      async ({ page }) => {
        await page.getByLabel("Colour", { exact: true }).fill("#c2410c");
        await page.getByRole("radio", { name: "Left" }).check();
        await page.getByLabel("Title").fill("Fjord Outdoor help");
        await ui.showPreview(page, "Chat");
      },
    ],
  },
  "widget-contacts": {
    hash: hashOfWidget,
    steps: [
      ui.waitForPreview,
      async ({ page }) => {
        await page
          .getByLabel("Ask visitors for contact data")
          .selectOption("before_first_message");
        await page.getByLabel("Require e-mail").check();
        await page.getByLabel("Language", { exact: true }).selectOption("ar");
        await page.getByLabel("Use own words").selectOption({ index: 1 });
        await page.getByRole("button", { name: "Add", exact: true }).click();
        await ui.showPreview(page, "Start");
      },
    ],
  },
  "widget-questions": {
    hash: hashOfWidget,
    steps: [
      ui.waitForPreview,
      async ({ page }) => {
        await page
          .getByLabel("Ask visitors for contact data")
          .selectOption("before_first_message");
        await page.getByLabel("Ask for phone").uncheck();
        const add = page.getByRole("button", { name: "Add a question" });
        await add.click();
        const topic = page.getByRole("group", { name: "Question 1" });
        await topic
          .getByLabel("Question", { exact: true })
          .fill("What is it about?");
        await topic.getByLabel("Answer").selectOption("select");
        await topic.getByLabel("Choices").fill("Delivery\nReturns");
        await add.click();
        const consent = page.getByRole("group", { name: "Question 2" });
        await consent.getByLabel("Answer").selectOption("consent");
        await page.getByRole("button", { name: "Save" }).click();
        await page.getByText("Write what the visitor is asked.").waitFor();
      },
    ],
  },
  "widget-place": {
    hash: hashOfWidget,
    steps: [
      ui.waitForPreview,
      async ({ page }) => {
        await page.getByRole("radio", { name: "Always dark" }).check();
        await page
          .getByLabel("How fast you usually answer")
          .selectOption("minutes");
        await page.getByLabel("Distance from the bottom").fill("120");
        await page.getByLabel("Distance from the side").fill("401");
        await page.getByRole("button", { name: "Save" }).click();
        await page.getByText("Give a whole number from 0 to 400.").waitFor();
      },
    ],
  },
  "widget-offline": {
    hash: hashOfWidget,
    steps: [
      ui.waitForPreview,
      ({ page }) => ui.showPreview(page, "Offline"),
      ({ page }) =>
        page.getByRole("radio", { name: "Dark", exact: true }).check(),
    ],
  },
  "widget-ended": {
    hash: hashOfWidget,
    steps: [ui.waitForPreview, ({ page }) => ui.showPreview(page, "Ended")],
  },
  "widget-closed": {
    hash: hashOfWidget,
    steps: [ui.waitForPreview, ({ page }) => ui.showPreview(page, "Closed")],
  },
  "widget-wrong": {
    hash: hashOfWidget,
    steps: [
      ui.waitForPreview,
      async ({ page }) => {
        await page.getByLabel("Colour", { exact: true }).fill("#12");
        await page.getByRole("button", { name: "Save" }).click();
        await page.getByText("Must be one of the colours").waitFor();
      },
    ],
  },
  "widget-delete": {
    hash: hashOfWidget,
    steps: [
      ui.waitForPreview,
      ({ page }) =>
        page.getByRole("button", { name: "Delete the channel" }).click(),
    ],
  },
};
