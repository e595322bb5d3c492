/* The data sets with which the console is developed and tested. Each of them fills a new account through the public
   API, as its agents, visitors and receivers do. */

import { Account } from "../support/account.mjs";
import { ok } from "../support/receiver.mjs";
import { waitFor } from "../support/wait.mjs";
import { longTimeline, sample } from "./sample.mjs";

const FIRST_NAMES = "Amara Thanh Elif Mehmet João Ingrid Kofi Priya Luca Sofia"
  .concat(" Yuki Omar Freya Mateo")
  .split(" ");
const LAST_NAMES = "Kone Nguyễn Baştürk Ferreira Lindqvist Mensah Raman Bianchi"
  .concat(" Petrova Tanaka Haddad Nilsen Ortega")
  .split(" ");
const QUESTIONS = [
  "Is the blue one back in stock this week?",
  "I paid twice for the same order, can you check?",
  "Where can I change the delivery address?",
  "The app closes itself when I open my basket.",
  "Which size would you take with 1.82 m and 78 kg?",
  "My discount code does not work, it says it is used already although I never ordered before.",
];
const ANSWERS = [
  "I have asked the warehouse and come back to you today.",
  "Your return label is attached.",
  "It is on its way since this morning.",
];
const nameOf = (index) =>
  `${FIRST_NAMES[index % FIRST_NAMES.length]} ${LAST_NAMES[(index * 5 + 1) % LAST_NAMES.length]}`;

/** Creates departments, canned replies and a second channel. */
async function organisation({ admin, agents: [jonas] }) {
  for (const name of ["Billing", "Returns"])
    await admin.post("/admin/departments", { name });
  for (const [shortcut, text] of [
    ["hello", "Hello {visitor}, this is {agent}. How can I help you?"],
    ["refund", "{visitor}, the refund is on its way."],
  ])
    await admin.post("/agent/canned-replies", { shortcut, text });
  await jonas.setPresence("online");
}

/** An account in which agents talk, visitors wait, and chats have been closed. */
export async function usual(account) {
  const { admin } = account;
  await organisation(account);
  await admin.setPresence("online");
  const amara = await account.openAcceptedChat("Amara Kone", {
    text: "Hi! My parcel says delivered, but there is nothing here.",
    sender: { email: "amara.kone@example.com", phone: "+225 27 20 00 00 00" },
  });
  await admin.send(amara.chatId, "Hello Amara, I’m on it.");
  await admin.post(`/agent/chats/${amara.chatId}/notes`, {
    text: "Second missing parcel at this address this year.",
  });
  await amara.say("Nobody has it.");
  const thanh = await account.openAcceptedChat("Thanh Nguyễn", {
    text: "Hello, I need an invoice for order 88120",
  });
  await admin.send(thanh.chatId, "Of course. To which address shall it go?");
  await thanh.say("The one on file is right");
  for (const [name, text] of [
    ["João Ferreira", "Paguei duas vezes pelo mesmo pedido."],
    ["Anonymous", QUESTIONS[0]],
  ])
    await account.openChat(name, text);
  await account.openAcceptedChat("Ingrid Lindqvist", {
    agent: account.agents[0],
  });
  await closedChats(account);
}

/** Six chats of today in two channels: five were closed by agents, and one is open. */
export async function closedChats(account) {
  const { admin } = account;
  const portal = await account.addChannel("Partner portal");
  account.portal = portal;
  await account.addChannel("iOS app");
  for (let index = 0; index < 6; index++) {
    const channel = index % 2 === 0 ? account.channel : portal;
    const name = nameOf(index + 20);
    const { chatId } = await account.openAcceptedChat(name, {
      channel,
      text: QUESTIONS[index],
    });
    await admin.send(chatId, ANSWERS[index % ANSWERS.length]);
    if (index < 5) await admin.close(chatId);
  }
}

/** A hundred and ten open chats. */
export async function full(account) {
  await usual(account);
  await Promise.all(
    Array.from({ length: 110 }, (_, index) =>
      account.channel
        .visitor(nameOf(index))
        .say(QUESTIONS[index % QUESTIONS.length]),
    ),
  );
}

/** Long names and texts, and right-to-left scripts, which may break the layout. */
export async function unusualText(account) {
  await account.openAcceptedChat(
    "Maximiliane-Josephine Freifrau von Hohenstein-Wolfenbüttel",
    {
      text: `https://shop.example.com/a/very/long/address?session=${"1234567890abcdefghij".repeat(4)} Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenverordnung`,
      sender: {
        email:
          "maximiliane-josephine.freifrau-von-hohenstein@a-very-long-domain-name.example.com",
        phone: "+49 30 00000000 ext. 12345",
      },
    },
  );
  await account.openAcceptedChat("محمد عبد الرحمن الهاشمي", {
    text: "مرحبا، لم يصل طلبي رقم 4412 بعد. هل يمكنك التحقق من حالة الشحنة؟",
  });
  await account.openChat("נועה כהן", "שלום, איפה ההזמנה שלי?");
  await account.openChat("田中 由紀", "在庫はありますか？");
}

/** Three chats of whose acceptance the webhook does not want to hear, and a fourth that it accepts. Sets
    `account.failed`, the visitors of the first three. */
export async function failingReceiver(account) {
  const { admin } = account;
  await account.addWebhook(() => ({
    status: 200,
    body: { result: "The CRM is down" },
  }));
  account.failed = [];
  for (const name of ["Amara Kone", "Thanh Nguyễn", "Elif Baştürk"])
    account.failed.push(await account.openAcceptedChat(name));
  await waitFor("the failed deliveries", async () => {
    const { deliveries } = await admin.get("/admin/deliveries");
    return deliveries.length === 3;
  });
  account.webhook.respond = () => ok();
  await account.openAcceptedChat("João Ferreira");
}

/** A bot with a chat, a channel with an old address, a webhook whose secret was replaced, and a department. */
export async function bot(account) {
  const { admin, channel } = account;
  await account.addBot(channel, () => []);
  await channel.visitor("Kofi Mensah").say(QUESTIONS[0]);
  await admin.post(`/admin/channels/${channel.id}/rotate`);
  await account.addWebhook(() => ok());
  const { webhooks } = await admin.get("/admin/settings");
  await admin.post(`/admin/settings/webhooks/${webhooks[0].webhook_id}/rotate`);
  await admin.post("/admin/departments", { name: "Returns" });
}

/** More changes of the account than a page of the audit log shows. */
export async function changes(account) {
  const { admin, agents } = account;
  await bot(account);
  for (let minutes = 1; minutes <= 60; minutes++)
    await admin.put("/admin/settings", { idle_close: minutes });
  await admin.patch(`/admin/agents/${agents[0].id}`, { role: "admin" });
  await agents[0].logIn();
  await agents[0].post("/agent/canned-replies", {
    shortcut: "hello",
    text: "Hello {visitor}",
  });
}

export const DATA_SETS = {
  empty: () => {},
  sample,
  longTimeline,
  usual,
  full,
  unusual: unusualText,
  failing: failingReceiver,
};

/** Creates an account with a data set. */
export async function seed(name) {
  const account = await Account.create({ hasChannel: name !== "empty" });
  await DATA_SETS[name](account);
  return account;
}
