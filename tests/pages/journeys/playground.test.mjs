/* The playground: an admin writes as a visitor, and sees the bot's events beside the answers. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { host, request } from "../support/account.mjs";
import { axeViolations } from "../support/browser.mjs";
import {
  consoleUrl,
  journey,
  storeSession,
  useBrowser,
  waitForHeadingFocus,
} from "../support/console.mjs";
import { fail } from "../support/failures.mjs";
import { Receiver } from "../support/receiver.mjs";
import { waitFor } from "../support/wait.mjs";

useBrowser();

const VISITOR = "Playground (Marta Lindholm)";
const ANSWER = {
  event: "BOT_MESSAGE",
  message: {
    type: "BUTTONS",
    title: "Which day?",
    text: "Which day?",
    buttons: [{ text: "Sunday", id: 1 }],
  },
};
const HANDOVER = {
  event: "INVITE_AGENT",
  text: "I am getting a colleague.",
  reason: "complaint",
  summary: "Order **4711** arrived broken.",
  data: { order: 4711 },
};

const log = (page) => page.getByRole("log", { name: "Messages" });
const events = (page) => page.getByRole("region", { name: "Events" });
const eventNamed = (page, name) =>
  events(page).getByRole("listitem").filter({ hasText: name });

async function addWidget(account, name = "Website", widget = {}) {
  const channel = await account.admin.post("/admin/channels", {
    kind: "widget",
    name,
    widget,
  });
  return { id: channel.channel_id };
}

async function write(page, text) {
  const field = page.getByRole("textbox", { name: "Message of the visitor" });
  await field.fill(text);
  await field.press("Enter");
}

async function openPlayground(open, account, bot, options = {}) {
  const hash = `#/bots/${bot.id}/playground`;
  const page = await open(account.admin, { hash, ...options });
  await waitForHeadingFocus(page);
  return page;
}

/** Takes a picture in both themes at three widths, if SCREENSHOTS names a folder. */
async function takePictures(page, name) {
  if (process.env.SCREENSHOTS === undefined) return;
  const size = page.viewportSize();
  for (const width of [1280, 820, 390])
    for (const colorScheme of ["light", "dark"]) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });
      await page.screenshot({
        path: `${process.env.SCREENSHOTS}/${name}-${width}-${colorScheme}.png`,
        animations: "disabled",
      });
    }
  await page.setViewportSize(size);
}

journey(
  "admin sees the bot's events beside its answers",
  async ({ account, open }) => {
    const bot = await account.addBot(await addWidget(account), ({ text }) => [
      text === "Sunday" ? HANDOVER : ANSWER,
    ]);
    const page = await open(account.admin, { hash: `#/bots/${bot.id}` });
    await page.getByRole("link", { name: "Playground" }).click();
    await page.getByText("This is a real conversation").waitFor();
    await waitForHeadingFocus(page);
    await takePictures(page, "empty");
    await write(page, "When are you open?");
    await log(page).getByText("Which day?").waitFor();
    const sent = eventNamed(page, "CLIENT_MESSAGE");
    await sent.getByText("Delivered", { exact: true }).waitFor();
    await sent.getByText(/^200 · 1 attempt · \d+ ms$/).waitFor();
    await sent.getByRole("button", { name: "Request and attempts" }).click();
    const code = sent.getByRole("region", { name: "Request", exact: true });
    await code.waitFor();
    const shown = await code.innerText();
    const body = JSON.parse(shown.slice(shown.indexOf("\n{")));
    const [received] = bot.events;
    assert.equal(body.id, received.id);
    assert.equal(body.message.text, "When are you open?");
    assert.equal(received.sender.name, VISITOR);
    await eventNamed(page, "From the bot").getByText("Which day?").waitFor();
    assert.deepEqual(await axeViolations(page), []);
    await takePictures(page, "answer");

    await account.admin.setPresence("online");
    await log(page).getByRole("button", { name: "Sunday" }).click();
    await log(page).getByText("I am getting a colleague.").waitFor();
    const handover = eventNamed(page, "Hand-over to agents");
    await handover.getByText("Complaint").waitFor();
    assert.equal(await handover.locator("strong").innerText(), "4711");
    await handover.getByRole("region", { name: "Data" }).waitFor();
    await write(page, "Hello?");
    await eventNamed(page, "Not sent to the bot").waitFor();
    const row = await account.admin.chatOf(VISITOR);
    assert.equal(row.state, "waiting");
    const pressed = bot.events.find(
      ({ message }) => message?.text === "Sunday",
    );
    assert.equal(pressed.messages[0].button_id, 1);
    assert.deepEqual(await axeViolations(page), []);
    await takePictures(page, "handover");

    await page.getByRole("button", { name: "Start again" }).click();
    await log(page).getByText("Write the first message").waitFor();
    assert.equal(await events(page).getByRole("listitem").count(), 0);
    const closed = await waitFor("CHAT_CLOSED", () =>
      bot.events.find(({ event }) => event === "CHAT_CLOSED"),
    );
    assert.equal(closed.chat_id, String(row.chat_id));
    await write(page, "Good evening");
    const next = await waitFor("the new conversation", () =>
      bot.events.find(({ message }) => message?.text === "Good evening"),
    );
    assert.notEqual(next.client_id, received.client_id);
  },
);

journey(
  "conversation is kept while another page is open, and not stored",
  async ({ account, open }) => {
    const bot = await account.addBot(await addWidget(account), () => [ANSWER]);
    const page = await openPlayground(open, account, bot);
    const session = page.waitForResponse("**/widget/*/session");
    await write(page, "When are you open?");
    const { visitor } = await (await session).json();
    await log(page).getByText("Which day?").waitFor();
    await events(page)
      .getByRole("link", { name: /^Open chat #/ })
      .click();
    await page.locator(".conversation h2", { hasText: VISITOR }).waitFor();
    await page.goBack();
    await log(page).getByText("Which day?").waitFor();
    await eventNamed(page, "CLIENT_MESSAGE").waitFor();
    const stored = await page.evaluate(() =>
      JSON.stringify({ ...localStorage, ...sessionStorage }),
    );
    assert.equal(stored.includes(account.admin.token), true);
    assert.equal(stored.includes(visitor.token), false);
    await page.reload();
    await log(page).getByText("Write the first message").waitFor();
  },
);

journey(
  "events and answers arrive without a socket",
  async ({ account, openSignedOut }) => {
    const bot = await account.addBot(await addWidget(account), () => []);
    const page = await openSignedOut();
    await page.routeWebSocket(/./, (socket) => socket.close());
    await storeSession(page.context(), account.admin);
    await page.goto(`${consoleUrl}#/bots/${bot.id}/playground`);
    await waitForHeadingFocus(page);
    await write(page, "When are you open?");
    await eventNamed(page, "CLIENT_MESSAGE")
      .getByText("Delivered", { exact: true })
      .waitFor();
    const [{ chat_id }] = bot.events;
    await bot.post({ ...ANSWER, chat_id });
    await log(page).getByText("Which day?").waitFor();
    const connection = page.locator(".app").getAttribute("data-connection");
    assert.notEqual(await connection, "live");
  },
);

journey(
  "bot without a website channel explains what to do",
  async ({ account, open }) => {
    const bot = await account.addBot(account.channel, () => []);
    const page = await openPlayground(open, account, bot);
    await page.getByText("The bot has no website channel").waitFor();
    await page
      .getByRole("link", { name: "Channels", exact: true })
      .nth(1)
      .waitFor();
    assert.deepEqual(await axeViolations(page), []);
    await takePictures(page, "no-channel");

    await addWidget(account);
    await waitFor("the channel in the list", async () => {
      const { channels } = await account.admin.get("/admin/channels");
      return channels.some(({ kind }) => kind === "widget");
    });
    await page.reload();
    await page.getByText("Choose a website among the bot's channels").waitFor();
    await page.getByRole("link", { name: "The bot’s channels" }).click();
    await page.getByRole("checkbox", { name: "Website" }).check();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    await page.getByRole("link", { name: "Playground" }).click();
    await log(page).waitFor();
  },
);

journey("failing bot is shown as such", async ({ account, open }) => {
  const widget = await addWidget(account);
  const provider = await Receiver.start(() => ({
    status: 500,
    body: { error: { code: 500, message: "the model is asleep" } },
  }));
  try {
    const { body } = await request(
      "POST",
      "/operator/providers",
      { name: "Parcel bots", endpoint: provider.url },
      host.operator_key,
    );
    const bot = await account.admin.post("/admin/bots", {
      provider_id: body.provider_id,
      token: randomUUID(),
      name: "Parcel bot",
      channel_ids: [widget.id],
    });
    const page = await openPlayground(open, account, { id: bot.bot_id });
    await write(page, "When are you open?");
    const sent = eventNamed(page, "CLIENT_MESSAGE");
    await sent.getByText("Failed", { exact: true }).waitFor();
    await sent.getByText(/3 attempts/).waitFor();
    await eventNamed(page, "Handed over to agents")
      .getByText("The bot has failed, or did not answer in time.")
      .waitFor();
    assert.equal(provider.received.length, 3);
    await sent.getByRole("button", { name: "Request and attempts" }).click();
    await sent
      .getByRole("region", { name: "The receiver’s words, attempt 3" })
      .getByText("the model is asleep")
      .waitFor();
    assert.deepEqual(await axeViolations(page), []);
    await takePictures(page, "failing");
  } finally {
    provider.close();
  }
});

journey(
  "refused and unsent messages are explained, and sent again",
  async ({ account, open }) => {
    const widget = await addWidget(account, "Website", {
      allowed_sites: ["shop.example"],
    });
    const bot = await account.addBot(widget, () => [ANSWER]);
    const page = await openPlayground(open, account, bot);
    const alert = page.getByRole("alert");
    await write(page, "When are you open?");
    await alert.getByText("allow only certain sites").waitFor();
    await alert.getByRole("link", { name: "Channel settings" }).waitFor();
    await takePictures(page, "refused");

    const path = `**/widget/${widget.id}/**`;
    let stop = await fail(page, path, {
      status: 429,
      headers: { "retry-after": "7" },
    });
    const tryAgain = alert.getByRole("button", { name: "Try again" });
    await tryAgain.click();
    await alert.getByText("Try again in 7 seconds.").waitFor();
    await stop();
    await page.route(path, (route) => route.abort());
    await tryAgain.click();
    await alert.getByText("The service does not respond.").waitFor();
    await page.unroute(path);
    stop = await fail(page, path, { status: 404 });
    await tryAgain.click();
    await alert.getByText("The channel is switched off").waitFor();
    await stop();

    await account.admin.patch(`/admin/channels/${widget.id}`, {
      widget: { allowed_sites: [] },
    });
    await waitFor("the answer", async () => {
      if (await tryAgain.isVisible()) await tryAgain.click();
      return log(page).getByText("Which day?").isVisible();
    });
    assert.equal(await alert.count(), 0);
    assert.equal(bot.events.length, 1);
  },
);

journey(
  "channel is chosen, and one that is switched off is marked",
  async ({ account, open }) => {
    const bot = await account.addBot(await addWidget(account), () => [ANSWER]);
    const name = "Outlet of the northern warehouse and its partners";
    const outlet = await addWidget(account, name);
    const { channel_ids } = await account.admin.get(`/admin/bots/${bot.id}`);
    await account.admin.patch(`/admin/bots/${bot.id}`, {
      channel_ids: [...channel_ids, outlet.id],
    });
    await account.admin.patch(`/admin/channels/${outlet.id}`, {
      enabled: false,
    });
    await waitFor("the channels in the list", async () => {
      const { channels } = await account.admin.get("/admin/channels");
      return channels.length === 3 && channels.some(({ enabled }) => !enabled);
    });
    const page = await openPlayground(open, account, bot);
    const choice = page.getByRole("combobox", { name: "Channel" });
    const note = page.getByText("The channel is switched off: its visitors");
    await choice.selectOption("Website");
    await note.waitFor({ state: "detached" });
    await choice.selectOption(name);
    await note.waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    const isTooWide = () =>
      document.documentElement.scrollWidth > innerWidth ||
      [...document.querySelectorAll(".detail-header > *")].some(
        (element) => element.getBoundingClientRect().right > innerWidth,
      );
    assert.equal(await page.evaluate(isTooWide), false);
  },
);

journey("phone shows the chat or the events", async ({ account, open }) => {
  const bot = await account.addBot(await addWidget(account), () => [ANSWER]);
  const page = await openPlayground(open, account, bot, {
    width: 390,
    height: 844,
    touch: true,
  });
  const field = page.getByRole("textbox", { name: "Message of the visitor" });
  await field.fill("When are you open?");
  await page.getByRole("button", { name: "Send" }).click();
  await log(page).getByText("Which day?").waitFor();
  assert.equal(await events(page).isVisible(), false);
  assert.deepEqual(await axeViolations(page), []);
  await page.getByRole("radio", { name: "Events" }).check();
  await eventNamed(page, "CLIENT_MESSAGE").waitFor();
  assert.equal(await log(page).isVisible(), false);
  assert.deepEqual(await axeViolations(page), []);
});
