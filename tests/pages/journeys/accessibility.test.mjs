/* Accessibility: the views in both themes on a computer and on a phone, and reduced motion. */

import assert from "node:assert/strict";
import { axeViolations } from "../support/browser.mjs";
import {
  bubble,
  chatRow,
  journey,
  openChat,
  pressShortcut,
  searchField,
  textarea,
  useBrowser,
  waitForChat,
  waitForDelivered,
  waitForPaneClosed,
} from "../support/console.mjs";
import { CRM_CARD, ok, rejection } from "../support/receiver.mjs";

useBrowser();

const PHONE = { width: 390, height: 844, touch: true };
const DEVICES = [
  { scheme: "light" },
  { scheme: "dark" },
  { scheme: "light", ...PHONE },
  { scheme: "dark", ...PHONE },
];
const isPhone = (page) => page.viewportSize().width === PHONE.width;

/** Asserts that axe finds nothing, and that the view is not wider than the page. */
async function check(page, view) {
  assert.deepEqual(await axeViolations(page), [], view);
  const overflow = await page.evaluate(
    () =>
      document.documentElement.scrollWidth -
      document.documentElement.clientWidth,
  );
  assert.equal(overflow, 0, `${view} is too wide`);
}

/** Opens a dialog, checks it, and closes it. */
async function checkDialog(page, name, open) {
  await open();
  await page.getByRole("dialog", { name }).waitFor();
  await check(page, name);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name }).waitFor({ state: "detached" });
}

/** Shows the chat list and the tabs, which a phone hides behind an open chat. */
async function showInbox(page) {
  if (isPhone(page))
    await page.getByRole("button", { name: "Back to the inbox" }).click();
  await page.locator(".list").waitFor();
}

/** Opens the menu of the open chat, and chooses a command. */
async function chooseCommand(page, name) {
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name }).click();
}

/** Sends a message with the button, because Enter inserts a line break on a phone. */
async function send(page, text) {
  await textarea(page).fill(text);
  await page.getByRole("button", { name: "Send", exact: true }).click();
}

async function checkConversation(page, account, visitor) {
  await openChat(page, visitor.name);
  await send(page, "Delivered");
  await waitForDelivered(page, "Delivered");
  account.channel.integrator.respond = () => rejection("The visitor has left");
  await send(page, "Rejected");
  await page.locator(".fail").waitFor();
  await visitor.post({ type: "typein" });
  await page.locator(".typing").waitFor();
  await check(page, "conversation");
  await page.locator(".attempts-link").click();
  await page.locator(".attempts tbody tr").waitFor();
  await check(page, "attempts");
  await page.keyboard.press("Escape");
}

async function checkComposer(page) {
  await textarea(page).fill("/");
  await page.locator(".suggestions").waitFor();
  await check(page, "canned replies");
  await textarea(page).fill("");
  await page.getByRole("button", { name: "Emoji" }).click();
  await page.getByLabel("Search emoji").waitFor();
  await check(page, "emoji");
  await page.keyboard.press("Escape");
  await page.getByRole("radio", { name: "Private note" }).click();
  await textarea(page).fill("Only for us");
  await check(page, "composer of a note");
  await page.getByRole("button", { name: "Add note" }).click();
  await page.locator(".turn.is-note", { hasText: "Only for us" }).waitFor();
  await check(page, "note");
}

async function checkVisitorPane(page) {
  if (isPhone(page))
    await page.getByRole("button", { name: "Visitor details" }).click();
  await page.getByText("Gold, since 2023").waitFor();
  await page.getByRole("region", { name: "Other chats" }).waitFor();
  await page.getByTitle("Edit e-mail").click();
  await check(page, "visitor");
  await page.keyboard.press("Escape");
  if (isPhone(page))
    await page.getByRole("button", { name: "Close visitor details" }).click();
}

async function checkDialogs(page, visitor) {
  for (const [key, name] of [
    ["Control+k", "Find a chat or an action"],
    ["?", "Keyboard shortcuts"],
    ["t", `Transfer ${visitor.name}`],
  ])
    await checkDialog(page, name, () => pressShortcut(page, key));
  await checkDialog(page, /^Export chat/, () => chooseCommand(page, "Export"));
  await chooseCommand(page, "Erase");
  await page.getByText("What is deleted").waitFor();
  await check(page, "erasure");
  await page.goBack();
  await waitForChat(page, visitor.name);
}

async function checkSelection(page) {
  await pressShortcut(page, "Shift+X");
  await page.getByText("2 selected").waitFor();
  await check(page, "selected chats");
  await checkDialog(page, "Close 2 chats?", () => pressShortcut(page, "e"));
  await pressShortcut(page, "Escape");
}

async function checkCannedReplies(page) {
  await pressShortcut(page, "Control+k");
  await page.keyboard.type("manage canned");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Edit /hello" }).click();
  await checkDialog(page, "Edit /hello", () => {});
  await page.getByRole("dialog", { name: "Canned replies" }).waitFor();
  await check(page, "list of canned replies");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
}

async function checkLists(page, visitor) {
  await showInbox(page);
  await page.locator(".rail .me").click();
  await page.getByRole("menu", { name: "You" }).waitFor();
  await check(page, "own menu");
  await page.keyboard.press("Escape");
  await page.getByRole("tab", { name: "Closed" }).click();
  await chatRow(page, visitor.name).waitFor();
  await check(page, "closed chats");
  await searchField(page).fill(visitor.name);
  await chatRow(page, visitor.name).waitFor();
  await check(page, "search");
  await searchField(page).fill("nothing like this");
  await page.getByText("Nothing found").waitFor();
  await check(page, "search without results");
  await searchField(page).press("Escape");
  await page.locator(".rail a").nth(1).click();
  await page.locator("table").waitFor();
  await check(page, "visitors");
}

for (const device of DEVICES) {
  const name = `${device.scheme}${device.touch ? " phone" : ""}`;
  journey(
    `views have no accessibility violations, ${name}`,
    async ({ account, open }) => {
      const { admin } = account;
      const page = await open(admin, device);
      await page.getByText("Three steps").waitFor();
      await check(page, "first run");
      await admin.post("/agent/canned-replies", {
        shortcut: "hello",
        text: "Hello {visitor}",
        actions: { close: true },
      });
      await account.openChat("João Ferreira");
      const amara = await account.openAcceptedChat("Amara Kone", {
        sender: { email: "amara@example.com" },
      });
      await admin.close(amara.chatId);
      await amara.say("One more question");
      const { chat_id } = await admin.chatOf("Amara Kone");
      await admin.accept(chat_id);
      await chatRow(page, "One more question").waitFor();
      await check(page, "inbox");
      await checkSelection(page);
      await checkConversation(page, account, amara);
      await checkComposer(page);
      await checkVisitorPane(page);
      await checkDialogs(page, amara);
      await checkCannedReplies(page);
      await checkLists(page, amara);
    },
    { respondToEvent: () => ok(CRM_CARD) },
  );
}

journey("forbidden and missing chats are accessible", async (context) => {
  const { account, open } = context;
  const [jonas] = account.agents;
  const { department_id } = await account.admin.post("/admin/departments", {
    name: "Billing",
    agent_ids: [account.admin.id],
  });
  await account.admin.setPresence("online");
  const amara = await account.openAcceptedChat("Amara Kone");
  await account.admin.transfer(amara.chatId, { department_id });
  for (const device of DEVICES) {
    const forbidden = { ...device, hash: `#/chat/${amara.chatId}` };
    const page = await open(jonas, forbidden);
    await page.getByText("You cannot see this chat").waitFor();
    await check(page, "forbidden chat");
    await page.goto(`${page.url().split("#")[0]}#/chat/999999`);
    await page.getByText("This chat does not exist").waitFor();
    await check(page, "missing chat");
  }
});

journey("reduced motion disables animations", async ({ openWithChat }) => {
  const { page } = await openWithChat("Amara Kone", {
    reducedMotion: "reduce",
  });
  const moving = await page.evaluate(
    () =>
      document
        .getAnimations()
        .filter((animation) => animation.effect.getTiming().duration > 20)
        .length,
  );
  assert.equal(moving, 0);
});

/** Returns the visible controls with a width or height below 32 px, which are too small for a finger. */
const tooSmallControls = (page) =>
  page.evaluate(() => {
    // The touch area of a delivery mark is larger than its box.
    const controls = "button:not(.mark), a.row, textarea, input";
    return [...document.querySelectorAll(controls)]
      .filter((element) => element.checkVisibility())
      .map((element) => [element, element.getBoundingClientRect()])
      .filter(
        ([, box]) => box.width > 0 && Math.min(box.width, box.height) < 32,
      )
      .map(([element]) => element.outerHTML.slice(0, 90));
  });

journey(
  "phone shows one pane at a time with a way back",
  async ({ account, open }) => {
    const amara = await account.openAcceptedChat("Amara Kone");
    const page = await open(account.admin, PHONE);
    await chatRow(page, "Amara Kone").tap();
    await waitForChat(page, "Amara Kone");
    assert.equal(await page.locator(".list").isVisible(), false);
    await send(page, "From a phone");
    await waitForDelivered(page, "From a phone");
    await amara.say("Seen on a phone");
    await bubble(page, "Seen on a phone").waitFor();
    await check(page, "conversation");
    assert.deepEqual(await tooSmallControls(page), []);
    await page.getByRole("button", { name: "Visitor details" }).tap();
    await page.getByRole("region", { name: "Contact" }).waitFor();
    await page.getByRole("button", { name: "Close visitor details" }).tap();
    await waitForPaneClosed(page);
    await page.getByRole("button", { name: "Back to the inbox" }).tap();
    await page.locator(".list").waitFor();
    await page.goBack();
    await waitForChat(page, "Amara Kone");
  },
);
