/* The states of the widget's window: the session that the service returns, and the steps that lead to the state. */

import {
  CALLBACK_UNAVAILABLE,
  CHAT_ID,
  PICTURE_URL,
  SETTINGS,
} from "./mock-widget.mjs";

const VISITOR = {
  number: 42,
  contact_info: {
    client_name: null,
    email: null,
    phone: null,
    description: null,
  },
  custom_data: [],
};
const AGENT = { name: "Marta" };
const chat = (state) => ({
  chat_id: CHAT_ID,
  state,
  agent: AGENT,
  last_seq: 9,
  rated: false,
  rate: null,
});
const minutesAgo = (minutes) => Date.now() - minutes * 60_000;

const TALK = [
  {
    from: "bot",
    type: "markdown",
    name: "Parcel bot",
    content: "Hi! Ask me about **orders**, **returns** and *delivery*.",
  },
  {
    from: "visitor",
    type: "text",
    text: "My parcel says delivered, but there is nothing here.",
  },
  {
    from: "agent",
    type: "text",
    name: "Marta",
    text: "Hello! I can see it was scanned at 08:54. Could you check with your neighbours while I ask the carrier?",
  },
  { from: "agent", type: "text", name: "Marta", text: "One moment, please." },
  {
    from: "visitor",
    type: "text",
    text: "Nobody has it. See https://parcels.example/track?id=4711.",
  },
].map((message, index) => ({
  seq: index + 1,
  chat_id: CHAT_ID,
  at: minutesAgo(20 - index),
  ...message,
}));

const MEDIA = [
  {
    type: "photo",
    file: PICTURE_URL,
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
    file: "javascript:alert(1)",
    emoji: "👍",
    file_name: "x",
    file_size: 1,
  },
].map((message, index) => ({
  seq: index + 1,
  chat_id: CHAT_ID,
  at: minutesAgo(5),
  from: index === 2 ? "visitor" : "agent",
  name: index === 2 ? undefined : "Marta",
  ...message,
}));

const BUTTONS = {
  seq: 2,
  chat_id: CHAT_ID,
  at: minutesAgo(1),
  from: "bot",
  name: "Parcel bot",
  type: "buttons",
  title: "What can I do for you?",
  buttons: ["Where is my parcel?", "Return something", "Talk to a person"].map(
    (text) => ({ text }),
  ),
};

const inChat = (messages, state = "active") => ({
  visitor: VISITOR,
  chat: chat(state),
  messages,
});
const settings = (fields) => ({ widget: { ...SETTINGS, ...fields } });
const open = (page) =>
  page.locator("switchboard-widget").locator(".label").click();
const openCallForm = async (page) => {
  await page.evaluate(() => widget_api.open({ start: "call" }));
  await page.getByRole("heading", { name: "We call you back" }).waitFor();
};
const startCall = async (page) => {
  await openCallForm(page);
  await page.getByLabel("Phone").fill("+31 6 12 34 56 78");
  await page.getByRole("button", { name: "Call me now" }).click();
  await page.getByText("We are calling an agent").waitFor();
};
/** Returns the state of the window after a call has reached `status`, which the window shows with `heading`. */
const callUntil = (status, heading, fields) => ({
  callback: { result: "ok" },
  steps: async (page, mock) => {
    await startCall(page);
    while (mock.socketCount === 0) await page.waitForTimeout(20);
    mock.reportCall(status, fields);
    await page.getByRole("heading", { name: heading }).waitFor();
  },
});
const contactsForm = (when) => ({
  contacts_form: {
    when,
    fields: ["name", "email", "phone"],
    required: ["name", "email"],
    custom_fields: [],
  },
});
const CUSTOM_FIELDS = [
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
].map((field) => ({ options: [], link: null, ...field }));
const customFields = (when, fields = ["name"]) => ({
  contacts_form: { when, fields, required: [], custom_fields: CUSTOM_FIELDS },
});

export const STATES = {
  label: { steps: async () => {} },
  preview: {
    session: inChat(TALK.slice(0, 4)),
    steps: async (page) => page.locator(".preview").waitFor(),
  },
  "label-unread": {
    session: inChat(TALK),
    steps: async (page) => {
      await page.getByRole("button", { name: "Dismiss" }).click();
      await page.locator(".preview").waitFor({ state: "detached" });
      await page.locator(".label b").waitFor();
    },
  },
  loading: {
    steps: async (page) => {
      await page.route("**/window-*.js", () => {});
      await open(page);
      await page.getByText("Loading…").waitFor();
    },
  },
  "not-loaded": {
    steps: async (page) => {
      await page.route("**/window-*.js", (route) => route.abort());
      await open(page);
      await page.getByRole("button", { name: "Try again" }).waitFor();
    },
  },
  empty: {
    session: settings({
      greeting: "Hello! What are you looking for?",
      reply_time: "minutes",
    }),
    steps: open,
  },
  "empty-dark": {
    session: settings({ theme: "dark", reply_time: "day" }),
    steps: open,
  },
  "empty-light-own-launcher": {
    session: settings({
      theme: "light",
      launcher: { hidden: true, offset_x: 60, offset_y: 90, z_index: 7 },
    }),
    steps: (page) => page.evaluate(() => void widget_api.open()),
  },
  "long-draft": {
    session: inChat(TALK),
    steps: async (page) => {
      await open(page);
      await page.getByRole("textbox").fill("Where is it? ".repeat(75));
    },
  },
  chat: { session: inChat(TALK), steps: open },
  earlier: {
    session: inChat(TALK.slice(2)),
    earlier: TALK.slice(0, 2),
    steps: async (page) => {
      await open(page);
      await page.getByRole("button", { name: "Earlier messages" }).click();
      await page.getByText("Ask me about").waitFor();
      await page.locator(".log").evaluate((log) => log.scrollTo(0, 0));
    },
  },
  "earlier-failed": {
    session: inChat(TALK.slice(2)),
    earlier: TALK.slice(0, 2),
    override: (endpoint) =>
      endpoint === "history" ? { status: 404, error: {} } : undefined,
    steps: async (page) => {
      await open(page);
      await page.locator(".earlier button").click();
      await page.getByText("could not be loaded").waitFor();
    },
  },
  polling: {
    session: inChat(TALK),
    override: (endpoint) =>
      endpoint === "socket-ticket" ? { status: 503, error: {} } : undefined,
    steps: async (page) => {
      await open(page);
      await page.getByText("Messages may arrive a little later.").waitFor();
    },
  },
  landscape: {
    session: inChat(TALK),
    steps: async (page) => {
      await page.setViewportSize({ width: 844, height: 390 });
      await open(page);
      await page.locator(".composer").waitFor();
    },
  },
  "forced-colours": {
    session: inChat(TALK),
    steps: async (page) => {
      await page.emulateMedia({ forcedColors: "active" });
      await open(page);
      await page.locator(".composer").waitFor();
    },
  },
  "forced-colours-empty": {
    session: settings({ greeting: "Hello! What are you looking for?" }),
    steps: async (page) => {
      await page.emulateMedia({ forcedColors: "active" });
      await open(page);
      await page.locator(".composer").waitFor();
    },
  },
  typing: {
    session: inChat(TALK),
    steps: async (page, mock) => {
      await open(page);
      while (mock.socketCount === 0) await page.waitForTimeout(20);
      mock.push({
        type: "chat",
        chat: { ...chat("active"), agent: { name: "Dmitri" } },
      });
      mock.push({ type: "typing", from: "agent", typing: true });
      await page.locator(".dots").waitFor();
    },
  },
  buttons: {
    session: inChat(
      [TALK[0], BUTTONS].map((message, index) => ({
        ...message,
        seq: index + 1,
      })),
      "bot",
    ),
    steps: open,
  },
  "long-text": {
    session: {
      ...settings({
        title: "Northlight Outdoor & Running Specialists of the Far North",
      }),
      ...inChat(
        TALK.map((message) => ({
          ...message,
          name:
            message.from === "agent"
              ? "Wolfeschlegelsteinhausenbergerdorff the Younger of Hamburg"
              : message.name,
          text: message.text && `${message.text} ${"Donaudampf".repeat(9)}`,
        })),
      ),
      chat: {
        ...chat("active"),
        agent: {
          name: "Wolfeschlegelsteinhausenbergerdorff the Younger of Hamburg",
        },
      },
    },
    steps: open,
  },
  media: { session: inChat(MEDIA), steps: open },
  failed: {
    session: inChat(TALK),
    override: (endpoint) =>
      endpoint === "message"
        ? { status: 400, error: { code: "invalid_request" } }
        : undefined,
    steps: async (page) => {
      await open(page);
      await page.getByRole("textbox").fill("Hello?");
      await page.keyboard.press("Enter");
      await page.locator(".failed").waitFor();
    },
  },
  closed: {
    session: inChat(TALK, "closed"),
    steps: async (page) => {
      await open(page);
      await page.getByRole("button", { name: "Good" }).click();
    },
  },
  offline: {
    session: { mode: "offline", agents: [] },
    steps: async (page) => {
      await open(page);
      await page.getByLabel("Name").fill("Amara Kone");
      await page.getByLabel("E-mail").fill("amara.kone@example");
      await page
        .getByRole("textbox", { name: "Message" })
        .fill("My parcel says delivered, but there is nothing here.");
      await page.getByRole("button", { name: "Send message" }).click();
      await page.locator(".error").waitFor();
    },
  },
  "after-hours": {
    session: { ...inChat(TALK, "closed"), mode: "offline", agents: [] },
    steps: async (page) => {
      await open(page);
      await page.locator(".away-bar").waitFor();
    },
  },
  "after-hours-form": {
    session: { ...inChat(TALK, "closed"), mode: "offline", agents: [] },
    steps: async (page) => {
      await open(page);
      await page.getByRole("button", { name: "Leave a message" }).click();
      await page.getByLabel("E-mail").waitFor();
    },
  },
  "waiting-alone": {
    session: {
      ...inChat(TALK.slice(1, 2), "waiting"),
      mode: "offline",
      agents: [],
      chat: { ...chat("waiting"), agent: null },
    },
    steps: async (page) => {
      await open(page);
      await page.locator(".card").waitFor();
    },
  },
  "bot-at-night": {
    session: { mode: "offline", bot: true, agents: [] },
    steps: open,
  },
  "offline-success": {
    session: { mode: "offline", agents: [] },
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
    session: settings(contactsForm("before_first_message")),
    steps: open,
  },
  "custom-before": {
    session: settings(customFields("before_first_message")),
    steps: async (page) => {
      await open(page);
      await page.getByRole("button", { name: "Start chat" }).click();
      await page.locator(".error").first().waitFor();
    },
  },
  "custom-only": {
    session: settings(customFields("before_first_message", [])),
    steps: open,
  },
  "custom-offline": {
    session: {
      mode: "offline",
      agents: [],
      ...settings(customFields("never")),
    },
    steps: open,
  },
  "contacts-after-answer": {
    session: settings(contactsForm("after_first_message")),
    steps: async (page, mock) => {
      await open(page);
      await page.getByRole("textbox").fill("Hello?");
      await page.keyboard.press("Enter");
      await page.locator(".card").waitFor();
      while (mock.socketCount === 0) await page.waitForTimeout(20);
      mock.pushMessage({
        from: "agent",
        name: "Marta",
        type: "text",
        text: "Good morning! Which order is it about?",
      });
      await page.getByText("Which order").waitFor();
    },
  },
  "contacts-after": {
    session: settings(contactsForm("after_first_message")),
    steps: async (page) => {
      await open(page);
      await page.getByRole("textbox").fill("Hello?");
      await page.keyboard.press("Enter");
      await page.locator(".card").waitFor();
    },
  },
  invitation: {
    steps: async (page) => {
      await page.evaluate(() =>
        widget_api.setRules([
          {
            enabled: true,
            type: "all",
            conditions: [],
            commands: [
              {
                command: "proactive",
                params: {
                  message:
                    "Still deciding on the size? I can help you measure.",
                },
              },
            ],
          },
        ]),
      );
      await page.locator(".invitation").waitFor();
    },
  },
  call: { callback: { result: "ok" }, steps: openCallForm },
  "call-invalid": {
    callback: { result: "ok" },
    steps: async (page) => {
      await openCallForm(page);
      await page.getByLabel("Phone").fill("call me");
      await page.getByRole("button", { name: "Call me now" }).click();
      await page.locator(".error").waitFor();
    },
  },
  "call-not-sent": {
    callback: { result: "ok" },
    override: (endpoint) =>
      endpoint === "call" ? { status: 404, error: {} } : undefined,
    steps: async (page) => {
      await openCallForm(page);
      await page.getByLabel("Phone").fill("+31 6 12 34 56 78");
      await page.getByRole("button", { name: "Call me now" }).click();
      await page.getByRole("alert").waitFor();
    },
  },
  "call-starting": { callback: { result: "ok" }, steps: startCall },
  "call-ringing": callUntil("agent_connected", "Your phone is ringing"),
  "call-connected": callUntil("client_connected", "You are connected"),
  "call-ended": callUntil("end", "The call has ended"),
  "call-failed": callUntil("error", "The call has failed", {
    reason: "no answer from the client",
  }),
  "call-unavailable": {
    callback: CALLBACK_UNAVAILABLE,
    steps: async (page) => {
      await openCallForm(page);
      await page.getByText("We cannot call you at the moment").waitFor();
    },
  },
  "call-in-chat": {
    session: {
      ...inChat(TALK),
      call: {
        type: "callback",
        phone: "+31612345678",
        status: "agent_connected",
      },
    },
    callback: { result: "ok" },
    steps: async (page) => {
      await open(page);
      await page.getByText("Your phone is ringing").waitFor();
    },
  },
  "call-arabic": {
    session: settings({ language: "ar", title: "متجر الشمال" }),
    callback: { result: "ok" },
    steps: async (page) => {
      await page.evaluate(() => widget_api.open({ start: "call" }));
      await page.getByRole("heading", { name: "نعاود الاتصال بك" }).waitFor();
    },
  },
  "yellow-left": {
    session: {
      ...inChat(TALK),
      ...settings({ color: "#ffee00", position: "left" }),
    },
    steps: open,
  },
  arabic: {
    session: {
      ...settings({ language: "ar", title: "متجر الشمال" }),
      ...inChat(
        TALK.map((message) =>
          message.from === "visitor"
            ? { ...message, text: "الطرد لم يصل بعد." }
            : message,
        ),
      ),
    },
    steps: open,
  },
  hebrew: {
    session: settings({ language: "he", title: "חנות הצפון" }),
    steps: open,
  },
  "arabic-offline": {
    session: {
      ...settings({ language: "ar" }),
      mode: "offline",
      agents: [],
    },
    steps: open,
  },
};
