/* A shop's account on an ordinary day, with something on each page of the console: for screenshots, the pictures of the
   documentation, and development. */

import { CRM_CARD, ok, rejection } from "../support/receiver.mjs";
import { waitFor } from "../support/wait.mjs";

const BOT_QUESTIONS = [
  "Opening hours on Sunday?",
  "Track AK-20877",
  "Which tent for four people?",
  "Gift card balance",
  "Store in Bergen",
];
const CLOSED_CHATS = [
  ["Sofia Haddad", "Is the blue one back in stock this week?"],
  ["Luca Bianchi", "Where can I change the delivery address?"],
  ["Freya Nilsen", "Do you ship to Iceland?"],
  ["Omar Raman", "Can I return it in the shop?"],
  ["Yuki Tanaka", "The parcel arrived, but one box is missing."],
];
const SETTINGS = {
  safe_urls: ["fjord.example", "carrier.example", "127.0.0.1"],
  rules: [
    {
      name: "Help on the price list",
      enabled: true,
      type: "all",
      conditions: [
        { condition: "page_url", comparator: "contain", value: "/prices" },
        { condition: "time_on_page", comparator: "greater", value: 30 },
        { condition: "online", value: true },
      ],
      commands: [
        {
          command: "proactive",
          params: { message: "Can we help you to choose?" },
        },
      ],
    },
  ],
  callback: {
    enabled: true,
    days: [1, 2, 3, 4, 5],
    from: "09:00",
    to: "17:30",
    utc_offset: 60,
  },
  limits: { visitor_messages: 1000 },
  idle_close: 1440,
  retention_days: 365,
  time_zone: "Europe/Berlin",
};

const message = (fields) => [
  { event: "BOT_MESSAGE", message: { ...fields, timestamp: 1 } },
];

/** Returns the bot's events in reply to a visitor's message: an invitation of the agents, a question, or an answer. */
function answer({ text }) {
  if (/person/.test(text)) return [{ event: "INVITE_AGENT" }];
  if (/^AK-/.test(text)) return [];
  const title = "Sorry to hear that. Which order is it about?";
  if (/parcel/.test(text))
    return message({
      type: "BUTTONS",
      title,
      text: title,
      buttons: ["AK-20931", "AK-20877", "Another one"].map((text) => ({
        text,
      })),
    });
  return message({
    type: "MARKDOWN",
    content:
      "Have a look at [our help page](https://fjord.example/help), it has **everything** about this.",
    text: "Have a look at our help page, it has everything about this.",
  });
}

/** Departments, canned replies, settings, a phone gateway and the webhooks of a warehouse and a CRM. Sets
    `account.returns` and `account.warehouse`. */
async function organise(account) {
  const { admin, agents } = account;
  await admin.put("/admin/settings", SETTINGS);
  await account.addTelephony();
  account.warehouse = await account.addWebhook(() => ok(), {
    events: ["chat_accepted", "offline_message"],
  });
  await account.addWebhook(() => ok(CRM_CARD));
  const [jonas] = agents;
  agents.push(await account.addAgent("Chiara Conti"));
  for (const agent of [admin, ...agents]) await agent.setPresence("online");
  const addDepartment = (name, agent_ids) =>
    admin.post("/admin/departments", { name, agent_ids });
  await addDepartment("Billing", [admin.id, jonas.id]);
  account.returns = await addDepartment("Returns", [jonas.id]);
  for (const [shortcut, text] of [
    ["hello", "Hello {visitor}, this is {agent}. How can I help you?"],
    ["refund", "{visitor}, the refund is on its way."],
    ["label", "I have sent you a return label by e-mail."],
  ])
    await admin.post("/agent/canned-replies", { shortcut, text });
}

/** A widget, an app and a partner portal besides the shop, and the shop's bot. Sets `account.widget`, `account.app` and
    `account.portal`. */
async function addChannels(account) {
  const { admin, channel: shop } = account;
  account.widget = await admin.post("/admin/channels", {
    kind: "widget",
    name: "Shop widget",
    widget: {
      title: "Fjord Outdoor",
      greeting: "Hi! How can we help you?",
      texts: { write: "Ask us anything" },
      allowed_sites: ["shop.fjord.example"],
    },
  });
  account.app = await account.addChannel("iOS app");
  account.portal = await account.addChannel("Partner portal");
  await admin.post(`/admin/channels/${account.app.id}/rotate`);
  await account.app.tryPost({ sender: { id: "1" }, message: { type: "?" } });
  await admin.patch(`/admin/channels/${shop.id}`, {
    shows_buttons: true,
    shows_markdown: true,
  });
  await account.addBot(shop, answer);
}

/** A visitor who came from the bot to the admin, with a photo, a note and a message that was not delivered. Sets
    `account.amara`. */
async function talkToAmara(account) {
  const { admin, channel: shop } = account;
  const sender = {
    email: "amara.kone@example.com",
    phone: "+225 27 20 00 00 00",
    photo: `${shop.integrator.url}/amara.svg`,
    url: "https://shop.example.com/parcel",
    id: "user-4101",
  };
  for (const text of ["First order", "Size exchange"]) {
    const { chatId } = await account.openChat("Amara Kone", text, sender);
    await admin.close(chatId);
  }
  const amara = await account.openChat(
    "Amara Kone",
    "Hi! My parcel says delivered, but there is nothing here.",
    sender,
  );
  account.amara = amara;
  const { chatId } = amara;
  const timeline = () => admin.timeline(chatId);
  await waitFor("the bot", async () =>
    (await timeline()).some(({ from }) => from === "bot"),
  );
  await amara.say("AK-20931");
  await amara.say("I would rather talk to a person");
  await waitFor("the invitation", async () =>
    (await admin.chats("waiting")).some(({ chat_id }) => chat_id === chatId),
  );
  await admin.accept(chatId);
  const send = (text) => admin.send(chatId, text);
  const waitForDelivery = (state) =>
    waitFor(`a message that is ${state}`, async () =>
      (await timeline()).findLast(
        ({ from, delivery }) => from === "agent" && delivery?.state === state,
      ),
    );
  await send(
    "Hello Amara, I’m on it. I can see it was scanned at 08:54. Could you check with your neighbours while I ask the carrier?",
  );
  await waitForDelivery("delivered");
  await admin.post(`/agent/chats/${chatId}/notes`, {
    text: "Second missing parcel at this address this year. Ask for a photo of the place.",
  });
  await amara.post({
    type: "photo",
    file: `${shop.integrator.url}/front-door.svg`,
    file_name: "front-door.svg",
    file_size: 1_240_000,
    width: 1600,
    height: 1200,
  });
  await amara.say(
    "Nobody has it. This is the place where they usually leave it.",
  );
  shop.integrator.respond = () => rejection("Visitor session expired");
  await send(
    "Thank you. I’ve opened case 5512 with the carrier; you’ll hear from us today.",
  );
  await waitForDelivery("failed");
  shop.integrator.respond = () => ok();
  await send("If you prefer, I can send a replacement right away.");
}

/** Chats that wait, that agents have, that the bot has, and that are closed. */
async function fillInbox(account) {
  const { admin, agents, app, portal, channel: shop, returns } = account;
  const thanh = await account.openAcceptedChat("Thanh Nguyễn", {
    text: "Hello, I need an invoice for order 88120",
    channel: app,
  });
  await admin.send(thanh.chatId, "Of course. To which address shall it go?");
  await thanh.say("And our VAT number should be on it");
  const elif = await account.openAcceptedChat("Elif Wójcik-Andersen", {
    text: "The zip of my jacket broke after two weeks.",
    channel: app,
  });
  await admin.send(elif.chatId, "Your return label is attached.");
  const mehmet = await account.openAcceptedChat("Mehmet Baştürk", {
    text: "How do I reset my password?",
    channel: portal,
  });
  await admin.transfer(mehmet.chatId, {
    department_id: returns.department_id,
  });
  await account.openChat(
    "João Ferreira",
    "Paguei duas vezes pelo mesmo pedido, podem verificar?",
    { email: "joao.ferreira@example.com", phone: "+351 912 000 000" },
    app,
  );
  await app.visitor(undefined).say("Is the blue one back in stock this week?");
  await account.openAcceptedChat("Ingrid Lindqvist", {
    agent: agents[0],
    channel: app,
  });
  for (const [index, text] of BOT_QUESTIONS.entries())
    await shop.visitor(`Guest ${index + 1}`).say(text);
  for (const [name, text] of CLOSED_CHATS) {
    const { chatId } = await account.openAcceptedChat(name, {
      text,
      channel: portal,
    });
    await admin.send(chatId, "I have asked the warehouse.");
    await admin.close(chatId);
  }
}

/** Deliveries that failed at the warehouse, whose server is then down. */
async function addFailedDeliveries(account) {
  const { admin, portal, warehouse } = account;
  warehouse.respond = () => ({ status: 200, body: { result: "It is closed" } });
  for (const name of ["Kofi Mensah", "Priya Ortega", "Mateo Petrova"]) {
    const { chatId } = await account.openAcceptedChat(name, {
      channel: portal,
    });
    await admin.close(chatId);
  }
  await waitFor("the failed deliveries", async () => {
    const { deliveries } = await admin.get("/admin/deliveries");
    return deliveries.length === 4;
  });
  warehouse.respond = () => ({ status: 503, body: {} });
}

/** An account whose pages all show something. Sets `account.crmId` and `account.warehouseId`, the webhooks. */
export async function sample(account) {
  await organise(account);
  await addChannels(account);
  await fillInbox(account);
  await talkToAmara(account);
  await addFailedDeliveries(account);
  const { admin, bot } = account;
  await admin.patch(`/admin/bots/${bot.id}`, { answer_within: 120 });
  const { webhooks } = await admin.get("/admin/settings");
  const isWarehouse = ({ events }) => events.length > 0;
  account.warehouseId = webhooks.find(isWarehouse).webhook_id;
  account.crmId = webhooks.find((webhook) => !isWarehouse(webhook)).webhook_id;
}

/** The sample account with a chat whose timeline is long. Sets `account.priya`. */
export async function longTimeline(account) {
  await sample(account);
  const { admin } = account;
  const priya = await account.openAcceptedChat("Priya Raman", {
    channel: account.app,
  });
  account.priya = priya;
  for (let number = 1; number <= 60; number++) {
    await priya.say(`${number}. Where can I change the delivery address?`);
    if (number % 3 === 1) await admin.send(priya.chatId, "Did that solve it?");
  }
}
