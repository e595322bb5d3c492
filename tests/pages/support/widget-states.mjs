/* The states of the widget's window. Each of them has options of `shopJourney`, and can have the functions `seed`, which
   returns a known visitor, `prepare`, which is called with the page before it is loaded, and `steps`, which lead to the
   state. */

import { fail, holdRequests } from "./failures.mjs";
import {
  api,
  composer,
  heading,
  invite,
  label,
  loadEarlier,
  unreadLabel,
  write,
} from "./shop.mjs";
import { waitFor } from "./wait.mjs";

export const PHONE = { width: 390, height: 844, touch: true };

/** A conversation for `Shop.addChat`. */
export const TALK = [
  "My parcel says delivered, but there is nothing here.",
  {
    type: "text",
    text: "Hello! I can see it was scanned at 08:54. Could you check with your neighbours while I ask the carrier?",
  },
  { type: "text", text: "One moment, please." },
  "Nobody has it. See https://parcels.example/track?id=4711.",
];

export const CONTACTS = {
  fields: ["name", "email", "phone"],
  required: ["name", "email"],
};
export const CUSTOM_FIELDS = {
  fields: ["name"],
  custom_fields: [
    { key: "order", label: "Order number", type: "text", required: false },
    {
      key: "topic",
      label: "What is it about?",
      type: "select",
      options: ["Delivery", "Returns", "Something else"],
      required: true,
    },
    {
      key: "consent",
      label: "I agree that my data is used to answer me.",
      type: "consent",
      link: "https://shop.example/privacy",
      required: true,
    },
  ],
};
const form = (when, fields) => ({
  settings: { contacts_form: { ...fields, when } },
});

const PICTURE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="480"><rect width="640" height="480" fill="#b9a48a"/><rect x="230" y="90" width="180" height="390" fill="#5d4632"/></svg>';
const LONG_NAME = "Wolfeschlegelsteinhausenbergerdorff the Younger of Hamburg";
const WINDOW_CODE = "**/window-*.js";

const open = (page) => label(page).click();
const openComposer = async (page) => {
  await open(page);
  await composer(page).waitFor();
};
const talk = (shop) => shop.addChat(...TALK);
const botSays = (message) => ({ event: "BOT_MESSAGE", message });

/** Returns messages with files, which the shop serves. */
function media(shop) {
  shop.site.set("/door.svg", { body: PICTURE });
  return [
    {
      type: "photo",
      file: `${shop.site.url}/door.svg`,
      file_name: "door.jpg",
      file_size: 1,
      width: 640,
      height: 480,
      text: "The door",
    },
    {
      type: "audio",
      file: "https://files.example/song.mp3",
      file_name: "song.mp3",
      file_size: 1,
      title: "Waves",
      performer: "The Sea",
    },
    {
      type: "document",
      file: "https://files.example/invoice.pdf",
      file_name: "invoice-2026-11.pdf",
      file_size: 248_133,
    },
    { type: "location", latitude: 59.3293, longitude: 18.0686 },
    {
      type: "sticker",
      file: `${shop.site.url}/door.svg`,
      emoji: "👍",
      file_name: "x",
      file_size: 1,
    },
  ];
}

/** A chat of a known visitor that has ended, while nobody is online. */
const afterHours = {
  seed: async (shop) => {
    const visitor = await talk(shop);
    await shop.closeChat();
    await shop.admin.setPresence("offline");
    return visitor;
  },
};
const earlier = {
  seed: async (shop) => {
    const visitor = await talk(shop);
    await shop.closeChat();
    await visitor.say("It has come back.");
    return visitor;
  },
};

const openCallForm = async (page) => {
  await api(page, "open", { start: "call" });
  await heading(page, "We call you back");
};
const startCall = async (page) => {
  await openCallForm(page);
  await page.getByLabel("Phone").fill("+31 6 12 34 56 78");
  await page.getByRole("button", { name: "Call me now" }).click();
  await page.getByText("We are calling an agent").waitFor();
};
/** Returns the state of the window after a call has reached a status, which the window shows with a heading. */
const callUntil = (statuses, name, fields) => ({
  telephony: true,
  steps: async (page, shop) => {
    await startCall(page);
    const call = await shop.account.orderedCall();
    for (const status of statuses) await call.report(status, fields);
    await heading(page, name);
  },
});

export const STATES = {
  label: {},
  preview: {
    seed: (shop) => shop.addChat(...TALK.slice(0, 3)),
    steps: (page) => page.locator(".preview").waitFor(),
  },
  "label-unread": {
    seed: (shop) => shop.addChat(...TALK.slice(0, 3)),
    steps: async (page) => {
      await page.getByRole("button", { name: "Dismiss" }).click();
      await page.locator(".preview").waitFor({ state: "detached" });
      await unreadLabel(page, 2).waitFor();
    },
  },
  loading: {
    prepare: (page) => holdRequests(page, WINDOW_CODE),
    steps: async (page) => {
      await open(page);
      await page.getByText("Loading…").waitFor();
    },
  },
  "not-loaded": {
    prepare: (page) => page.route(WINDOW_CODE, (route) => route.abort()),
    steps: async (page) => {
      await open(page);
      await page.getByRole("button", { name: "Try again" }).waitFor();
    },
  },
  empty: {
    settings: {
      greeting: "Hello! What are you looking for?",
      reply_time: "minutes",
    },
    steps: openComposer,
  },
  "empty-dark": {
    settings: { theme: "dark", reply_time: "day" },
    steps: openComposer,
  },
  "empty-light-own-launcher": {
    settings: {
      theme: "light",
      launcher: { hidden: true, offset_x: 60, offset_y: 90, z_index: 7 },
    },
    steps: async (page) => {
      await api(page, "open");
      await composer(page).waitFor();
    },
  },
  "long-draft": {
    seed: talk,
    steps: async (page) => {
      await open(page);
      await composer(page).fill("Where is it? ".repeat(75));
    },
  },
  chat: {
    seed: async (shop) => {
      const content =
        "Hi! Ask me about **orders**, **returns** and *delivery*.";
      await shop.account.addBot(shop.widget, () => [
        botSays({ type: "MARKDOWN", content }),
        { event: "INVITE_AGENT" },
      ]);
      return talk(shop);
    },
    steps: openComposer,
  },
  earlier: {
    ...earlier,
    steps: async (page) => {
      await open(page);
      await loadEarlier(page);
      await page.getByText("My parcel says").waitFor();
      await page.locator(".log").evaluate((log) => log.scrollTo(0, 0));
    },
  },
  "earlier-failed": {
    ...earlier,
    prepare: (page) => fail(page, "**/history", { status: 404 }),
    steps: async (page) => {
      await open(page);
      await loadEarlier(page);
      await page.getByText("could not be loaded").waitFor();
    },
  },
  polling: {
    seed: talk,
    prepare: (page) => fail(page, "**/socket-ticket"),
    steps: async (page) => {
      await open(page);
      await page.getByText("Messages may arrive a little later.").waitFor();
    },
  },
  landscape: {
    seed: talk,
    steps: async (page) => {
      await page.setViewportSize({ width: 844, height: 390 });
      await openComposer(page);
    },
  },
  "forced-colours": {
    seed: talk,
    steps: async (page) => {
      await page.emulateMedia({ forcedColors: "active" });
      await openComposer(page);
    },
  },
  "forced-colours-empty": {
    settings: { greeting: "Hello! What are you looking for?" },
    steps: async (page) => {
      await page.emulateMedia({ forcedColors: "active" });
      await openComposer(page);
    },
  },
  typing: {
    seed: talk,
    steps: async (page, shop) => {
      await open(page);
      // A notice of typing is lost until the socket is open.
      await waitFor("the notice", async () => {
        const path = `/agent/chats/${shop.chatId}/typing`;
        await shop.admin.post(path, { type: "typein" });
        return page.locator(".dots").isVisible();
      });
    },
  },
  buttons: {
    seed: async (shop) => {
      const buttons = [
        "Where is my parcel?",
        "Return something",
        "Talk to a person",
      ].map((text) => ({ text }));
      const title = "What can I do for you?";
      await shop.account.addBot(shop.widget, () => [
        botSays({ type: "BUTTONS", title, buttons }),
      ]);
      const visitor = await shop.addVisitor();
      await visitor.say("Hello");
      return visitor;
    },
    steps: async (page) => {
      await open(page);
      await page.getByRole("button", { name: "Return something" }).waitFor();
    },
  },
  "long-text": {
    settings: {
      title: "Northlight Outdoor & Running Specialists of the Far North",
    },
    seed: async (shop) => {
      shop.agent = await shop.account.addAgent(LONG_NAME);
      await shop.agent.setPresence("online");
      const text = `${TALK[0]} ${"Donaudampf".repeat(9)}`;
      return shop.addChat(text, { type: "text", text }, text);
    },
    steps: openComposer,
  },
  media: {
    seed: (shop) => shop.addChat("Hello", ...media(shop)),
    steps: openComposer,
  },
  failed: {
    seed: talk,
    prepare: (page) => fail(page, "**/message", { status: 400 }),
    steps: async (page) => {
      await open(page);
      await write(page, "Hello?");
      await page.locator(".failed").waitFor();
    },
  },
  closed: {
    seed: async (shop) => {
      const visitor = await talk(shop);
      await shop.closeChat();
      return visitor;
    },
    steps: async (page) => {
      await open(page);
      await page.getByRole("button", { name: "Good" }).click();
    },
  },
  offline: {
    presence: "offline",
    steps: async (page) => {
      await open(page);
      await page.getByLabel("Name").fill("Amara Kone");
      await page.getByLabel("E-mail").fill("amara.kone@example");
      await page.getByRole("textbox", { name: "Message" }).fill(TALK[0]);
      await page.getByRole("button", { name: "Send message" }).click();
      await page.locator(".error").waitFor();
    },
  },
  "after-hours": {
    ...afterHours,
    steps: async (page) => {
      await open(page);
      await page.locator(".away-bar").waitFor();
    },
  },
  "after-hours-form": {
    ...afterHours,
    steps: async (page) => {
      await open(page);
      await page.getByRole("button", { name: "Leave a message" }).click();
      await page.getByLabel("E-mail").waitFor();
    },
  },
  "waiting-alone": {
    seed: async (shop) => {
      const visitor = await shop.addVisitor();
      await visitor.say(TALK[0]);
      await shop.admin.setPresence("offline");
      return visitor;
    },
    steps: async (page) => {
      await open(page);
      await page.locator(".card").waitFor();
    },
  },
  "bot-at-night": {
    presence: "offline",
    seed: (shop) => void shop.account.addBot(shop.widget, () => []),
    steps: openComposer,
  },
  "offline-success": {
    presence: "offline",
    steps: async (page) => {
      await open(page);
      await page.getByLabel("E-mail").fill("amara@shop.example");
      await page
        .getByRole("textbox", { name: "Message" })
        .fill("Where is my parcel?");
      await page.getByRole("button", { name: "Send message" }).click();
      await page.locator(".success").waitFor();
    },
  },
  "contacts-before": {
    ...form("before_first_message", CONTACTS),
    steps: async (page) => {
      await open(page);
      await page.getByLabel("E-mail").waitFor();
    },
  },
  "custom-before": {
    ...form("before_first_message", CUSTOM_FIELDS),
    steps: async (page) => {
      await open(page);
      await page.getByRole("button", { name: "Start chat" }).click();
      await page.locator(".error").first().waitFor();
    },
  },
  "custom-only": {
    ...form("before_first_message", { ...CUSTOM_FIELDS, fields: [] }),
    steps: async (page) => {
      await open(page);
      await page.getByLabel("Order number").waitFor();
    },
  },
  "custom-offline": {
    ...form("never", CUSTOM_FIELDS),
    presence: "offline",
    steps: async (page) => {
      await open(page);
      await page.getByLabel("Order number").waitFor();
    },
  },
  "contacts-after-answer": {
    ...form("after_first_message", CONTACTS),
    steps: async (page, shop) => {
      await open(page);
      await write(page, "Hello?");
      await page.locator(".card").waitFor();
      await shop.accept();
      await shop.answer("Good morning! Which order is it about?");
      await page.getByText("Which order").waitFor();
    },
  },
  "contacts-after": {
    ...form("after_first_message", CONTACTS),
    steps: async (page) => {
      await open(page);
      await write(page, "Hello?");
      await page.locator(".card").waitFor();
    },
  },
  invitation: {
    steps: async (page) => {
      const text = "Still deciding on the size? I can help you measure.";
      await api(page, "setRules", [invite(text)]);
      await page.locator(".invitation").waitFor();
    },
  },
  call: { telephony: true, steps: openCallForm },
  "call-invalid": {
    telephony: true,
    steps: async (page) => {
      await openCallForm(page);
      await page.getByLabel("Phone").fill("call me");
      await page.getByRole("button", { name: "Call me now" }).click();
      await page.locator(".error").waitFor();
    },
  },
  "call-not-sent": {
    telephony: true,
    prepare: (page) => fail(page, "**/call", { status: 404 }),
    steps: async (page) => {
      await openCallForm(page);
      await page.getByLabel("Phone").fill("+31 6 12 34 56 78");
      await page.getByRole("button", { name: "Call me now" }).click();
      await page.getByRole("alert").waitFor();
    },
  },
  "call-starting": { telephony: true, steps: startCall },
  "call-ringing": callUntil(["agent_connected"], "Your phone is ringing"),
  "call-connected": callUntil(
    ["agent_connected", "client_connected"],
    "You are connected",
  ),
  "call-ended": callUntil(
    ["agent_connected", "client_connected", "end"],
    "The call has ended",
  ),
  "call-failed": callUntil(["error"], "The call has failed", {
    reason: "no answer from the client",
  }),
  "call-unavailable": {
    telephony: true,
    steps: async (page, shop) => {
      await shop.admin.setPresence("offline");
      await openCallForm(page);
      await page.getByText("We cannot call you at the moment").waitFor();
    },
  },
  "call-in-chat": {
    telephony: true,
    seed: talk,
    steps: async (page, shop) => {
      await startCall(page);
      await (await shop.account.orderedCall()).report("agent_connected");
      await page.getByRole("button", { name: "Write a message" }).click();
      await page.getByText("Your phone is ringing").waitFor();
    },
  },
  "call-arabic": {
    telephony: true,
    settings: { language: "ar", title: "متجر الشمال" },
    steps: async (page) => {
      await api(page, "open", { start: "call" });
      await heading(page, "نعاود الاتصال بك");
    },
  },
  "yellow-left": {
    settings: { color: "#ffee00", position: "left" },
    seed: talk,
    steps: openComposer,
  },
  arabic: {
    settings: { language: "ar", title: "متجر الشمال" },
    seed: (shop) => shop.addChat("الطرد لم يصل بعد.", ...TALK.slice(1)),
    steps: async (page) => {
      await open(page);
      await page.locator(".composer").waitFor();
    },
  },
  hebrew: {
    settings: { language: "he", title: "חנות הצפון" },
    steps: async (page) => {
      await open(page);
      await page.locator(".composer").waitFor();
    },
  },
  "arabic-offline": {
    presence: "offline",
    settings: { language: "ar" },
    steps: async (page) => {
      await open(page);
      await page.locator("form").waitFor();
    },
  },
};

/** Opens the shop in a state of the widget. `options` are those of `Shop.open`. Returns the page. */
export async function openState(
  shop,
  { seed = () => {}, prepare, steps = () => {} },
  options,
) {
  const visitor = await seed(shop);
  const page = await shop.open({ ...options, visitor, prepare });
  await steps(page, shop);
  return page;
}
