/* Sample accounts of the mock service: empty, normal, busy, and with unusual data. */

import { randomUUID } from "node:crypto";
import { createTelephony } from "./mock-calls.mjs";
import { createAuditLog } from "./mock-reports-and-audit-log.mjs";
import { emptyPanel, visitorOf } from "./mock-service.mjs";

const FIRST_NAMES = [
  "Amara",
  "Thanh",
  "Elif",
  "Mehmet",
  "João",
  "Ingrid",
  "Kofi",
  "Priya",
  "Luca",
  "Sofia",
  "Yuki",
  "Omar",
  "Freya",
  "Mateo",
  "Anja",
  "Noor",
  "Tomasz",
  "Chidi",
  "Hana",
  "Pierre",
];
const LAST_NAMES = [
  "Kone",
  "Nguyễn",
  "Wójcik-Andersen",
  "Baştürk",
  "Ferreira",
  "Lindqvist",
  "Mensah",
  "Raman",
  "Bianchi",
  "Petrova",
  "Tanaka",
  "Haddad",
  "Nilsen",
  "Ortega",
  "Keller",
  "Rahman",
  "Nowak",
  "Okafor",
  "Sato",
  "Dubois",
];
const VISITOR_TEXTS = [
  "Is the blue one back in stock this week?",
  "I paid twice for the same order, can you check?",
  "Perfect, then please send the invoice to the address on file and copy accounting.",
  "Where can I change the delivery address?",
  "The app closes itself when I open my basket.",
  "Thanks!",
  "My discount code does not work, it says it is used already although I never ordered before.",
  "Do you ship to Iceland?",
  "Which size would you take with 1.82 m and 78 kg?",
  "The parcel arrived, but one box is missing.",
  "Can I return it in the shop?",
  "ok",
];
const AGENT_TEXTS = [
  "Your return label is attached.",
  "Did that solve it?",
  "I have asked the warehouse and come back to you today.",
  "It is on its way since this morning.",
  "You are welcome!",
];
const CHANNELS = [
  { channel_id: "ch_1", name: "Shop widget", kind: "widget" },
  { channel_id: "ch_2", name: "iOS app" },
  { channel_id: "ch_3", name: "Partner portal" },
];

const createAgents = () => [
  { id: 1, name: "Marta Lindholm", email: "marta@example.com", role: "admin", status: "online", photo: null },
  { id: 2, name: "Jonas Weber", email: "jonas@example.com", role: "agent", status: "online", photo: null },
  { id: 3, name: "Aiko Mori", email: "aiko@example.com", role: "agent", status: "away", photo: null },
  { id: 4, name: "Samuel Adeyemi", email: "samuel@example.com", role: "agent", status: "offline", photo: null },
  { id: 5, name: "Chiara Conti", email: "chiara@example.com", role: "agent", status: "online", photo: null },
];
const DEPARTMENTS = [
  { id: 1, name: "Billing" },
  { id: 2, name: "Returns" },
  { id: 3, name: "Wholesale" },
];
const createCannedReplies = () => [
  { id: randomUUID(), shortcut: "hello", text: "Hello {visitor}, this is {agent}. How can I help you?" },
  {
    id: randomUUID(),
    shortcut: "refund",
    text: "{visitor}, the refund is on its way. It takes three to five working days until you see it on your account.",
  },
  {
    id: randomUUID(),
    shortcut: "label",
    text: "I have sent you a return label by e-mail. Please put it on the outside of the box.",
  },
  { id: randomUUID(), shortcut: "thanks", text: "Thank you for your patience, {visitor}!" },
  {
    id: randomUUID(),
    shortcut: "hours",
    text: "We are here from Monday to Friday, 8:00 to 18:00, and on Saturdays until 14:00.",
  },
];

/** Returns a channel in the format of the API. */
export function channelOf({ channel_id, name, kind, integrator_url, widget }, host) {
  const common = { channel_id, name, enabled: true, agent_ids: [], department_ids: [], bot_id: null, created_at: 0 };
  if (kind !== "widget")
    return {
      ...common,
      kind: "api",
      integrator_url: integrator_url ?? "https://chat.fjord.example/messages",
      append_channel_id: true,
      chunked: false,
      validation: "strict",
      hidden_error_codes: [],
      shows_markdown: false,
      shows_buttons: false,
      old_endpoints: [{ valid_until: Math.floor(Date.now() / 1000) + 43_200 }],
      refused: [
        { day: 0, reason: "message.file_size is required", count: 12, last_at: Math.floor(Date.now() / 1000) - 900 },
        { day: 0, reason: "sender.id is required", count: 1, last_at: Math.floor(Date.now() / 1000) - 4000 },
      ],
    };
  return {
    ...common,
    kind,
    widget_id: channel_id,
    snippet: `<script async src="https://${host}/widget/${channel_id}"></script>`,
    widget: {
      color: "#00464a",
      color2: null,
      theme: "system",
      position: "right",
      launcher: { hidden: false, offset_x: 20, offset_y: 20, z_index: 2_147_483_000 },
      title: "Fjord Outdoor",
      greeting: "Hi! How can we help you?",
      avatar: null,
      language: "auto",
      texts: { write: "Ask us anything" },
      allowed_sites: ["shop.fjord.example"],
      contacts_form: { when: "never", fields: ["name", "email", "phone"], required: [], custom_fields: [] },
      rating: true,
      sound: true,
      typing_preview: true,
      reply_time: null,
      moved_from: null,
      ...widget,
    },
  };
}

const createSettings = () => ({
  webhook_url: "https://crm.fjord.example/hooks",
  webhooks: [
    { webhook_id: "wh1", url: "https://crm.fjord.example/hooks", events: [] },
    {
      webhook_id: "wh2",
      url: "https://warehouse.fjord.example/chat-events",
      events: ["chat_finished", "offline_message"],
    },
  ],
  safe_urls: ["fjord.example", "carrier.example"],
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
      commands: [{ command: "proactive", params: { message: "Can we help you to choose?" } }],
    },
  ],
  callback: { enabled: true, days: [1, 2, 3, 4, 5], from: "09:00", to: "17:30", utc_offset: 60 },
  limits: { visitor_messages: 30, bot_requests: 300, channel_chats: 300 },
  idle_close: 1440,
  retention_days: 365,
  time_zone: "Europe/Berlin",
  allows_http_receivers: false,
});

const createBots = () => [
  {
    bot_id: "bot1",
    provider_id: "parcel",
    name: "Parcel bot",
    channel_ids: ["ch_1"],
    answer_within: 120,
    created_at: 1_700_000_000,
  },
];

/** Returns a delivery in the format of the delivery log. `attempts` are pairs of the status and the duration in
 * milliseconds; an attempt without a status had no response. */
function deliveryOf(nowMs, secondsAgo, state, { attempts, error, ...fields }) {
  const since = Math.floor(nowMs / 1000) - secondsAgo;
  return {
    id: randomUUID(),
    channel_id: "ch_2",
    since,
    state,
    attempts: attempts.map(([status, ms, message], index) => ({
      at: (since + index * 3) * 1000 + 200,
      ms,
      ...(status === null ? {} : { status }),
      ...(message === undefined ? {} : { error: message }),
    })),
    ...(error === undefined ? {} : { error }),
    ...fields,
  };
}

function createDeliveries(nowMs) {
  const webhook = { target: "webhook", webhook_id: "wh1" };
  const [noResponse, busy] = ["no response within 3 s", "status 503"];
  const failed = [
    [503, 212, busy],
    [null, 3000, noResponse],
    [503, 2990, busy],
  ];
  const add = (secondsAgo, state, chat_id, seq, fields) =>
    deliveryOf(nowMs, secondsAgo, state, { chat_id, seq, ...fields });
  return [
    add(31, "pending", 1005, 4, { target: "channel", type: "text", attempts: [[null, 3000, noResponse]] }),
    add(140, "failed", 1004, 6, { ...webhook, type: "chat_accepted", attempts: failed }),
    add(160, "failed", 1004, 11, {
      target: "channel",
      type: "text",
      attempts: [[200, 84, "Visitor session expired"]],
      error: { code: 410, message: "Visitor session expired" },
    }),
    add(240, "delivered", 1006, 3, { target: "channel", type: "photo", attempts: [[200, 84]] }),
    add(420, "delivered", 1008, 2, {
      target: "bot",
      type: "text",
      attempts: [
        [500, 40, "status 500"],
        [200, 412],
      ],
    }),
    add(900, "superseded", 1009, 2, { target: "bot", type: "text", attempts: [[null, 2100, noResponse]] }),
    add(5400, "failed", 1010, 7, { ...webhook, webhook_id: "wh2", type: "chat_finished", attempts: failed }),
    add(7200, "delivered", 1010, 8, { ...webhook, type: "chat_finished", attempts: [[200, 131]] }),
  ];
}

class Dataset {
  constructor(nowMs) {
    this.now = Math.floor(nowMs / 1000);
    this.account = "Fjord Outdoor";
    this.agents = createAgents();
    this.departments = DEPARTMENTS.map((department) => ({ ...department }));
    this.channels = CHANNELS.map((channel) => channelOf(channel, "api.example.com"));
    this.canned = createCannedReplies();
    this.settings = createSettings();
    this.bots = createBots();
    this.providers = [
      { provider_id: "parcel", name: "Parcel bots" },
      { provider_id: "answers", name: "Ready answers" },
    ];
    this.telephony = createTelephony();
    this.members = new Map([
      [1, [1, 2]],
      [2, [3]],
    ]);
    this.deliveries = createDeliveries(nowMs);
    this.auditLog = createAuditLog(nowMs);
    this.visitors = new Map();
    this.chats = new Map();
    this.nextChat = 1001;
    this.nextVisitor = 4101;
  }

  visitor(name, more = {}) {
    const number = this.nextVisitor++;
    const sources = Object.fromEntries(
      ["name", "email", "phone", "description"]
        .filter((field) => more[field] || (field === "name" && name !== "Anonymous"))
        .map((field) => [field, "visitor"]),
    );
    const visitor = visitorOf(number, name, { sources, ...more, number });
    this.visitors.set(number, visitor);
    return visitor;
  }

  chat(visitor, state, minutesAgo, more = {}) {
    const id = this.nextChat++;
    const at = this.now - Math.round(minutesAgo * 60);
    const chat = {
      chat_id: id,
      visitor: visitor.number,
      state,
      channel: CHANNELS[0],
      agent: null,
      department: null,
      opened_at: at,
      updated_at: at,
      waiting_since: at,
      entries: [],
      panel: emptyPanel(),
      ...more,
    };
    this.chats.set(id, chat);
    return chat;
  }

  addEntry(chat, secondsAgo, entry) {
    const timestamp = this.now - secondsAgo;
    chat.entries.push({
      seq: (chat.entries.at(-1)?.seq ?? 0) + 1,
      id: randomUUID(),
      type: "text",
      timestamp,
      ...entry,
    });
    chat.updated_at = timestamp;
    return this;
  }
}

const me = { id: 1, name: "Marta Lindholm" };
const delivered = (ms = 84) => ({ state: "delivered", attempts: [{ at: Date.now() - 60_000, status: 200, ms }] });
const picture = (width, height, hue) =>
  `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}"><rect width="100%" height="100%" fill="hsl(${hue} 30% 70%)"/><rect y="${height * 0.62}" width="100%" height="${height * 0.38}" fill="hsl(${hue} 25% 45%)"/><rect x="${width * 0.38}" y="${height * 0.3}" width="${width * 0.24}" height="${height * 0.42}" fill="hsl(${hue} 35% 30%)"/></svg>`)}`;
export const PICTURES = { "door.svg": picture(1600, 1200, 30) };

function addAmaraChat(dataset, base) {
  const visitor = dataset.visitor("Amara Kone", {
    email: "amara.kone@example.com",
    phone: "+225 27 20 00 00 00",
    chats_count: 4,
    photo: `${base}/_mock/pictures/door.svg`,
    sources: { name: "visitor", email: "visitor", phone: "crm" },
  });
  for (const [text, days] of [
    ["First order", 303],
    ["Size exchange", 110],
    ["Invoice for September", 40],
  ]) {
    const earlier = dataset.chat(visitor, "closed", days * 1440, { agent: me });
    dataset.addEntry(earlier, days * 86400, { from: "visitor", text });
  }
  const chat = dataset.chat(visitor, "active", 9, {
    agent: me,
    panel: {
      custom_data: [
        { title: "Plan", content: "Gold, since 2023", link: null, key: null, source: "crm" },
        {
          title: "Last order",
          content: "AK-20931",
          link: "https://shop.example.com/orders/AK-20931",
          key: null,
          source: "crm",
        },
        { title: "Open cases", content: "1", link: null, key: null, source: "crm" },
        {
          title: "Cart",
          content: "2 jackets, 298 EUR",
          link: "https://shop.example.com/cart/77",
          key: null,
          source: "script",
        },
        { title: null, content: "Gold, says the page", link: null, key: "Customer", source: "script" },
      ],
      enable_assign: true,
      crm_link: "https://crm.example.com/people/8812",
      page: { url: "https://shop.example.com/help/parcel", title: "Where is my parcel?" },
      assignment: null,
    },
    session: {
      geoip: { country: "Côte d’Ivoire", country_code: "CI", region: "Abidjan", city: "Abidjan" },
      utm_json: { source: "newsletter", campaign: "october" },
      ip_addr: "203.0.113.77",
      user_agent: "Mozilla/5.0 (Android 14; Mobile; rv:132.0) Gecko/132.0 Firefox/132.0",
    },
    referrer: "https://www.google.com/",
  });
  const addEntry = (ago, entry) => dataset.addEntry(chat, ago, entry);
  addEntry(520, { from: "visitor", text: "Hi! My parcel says delivered, but there is nothing here." });
  addEntry(515, {
    from: "bot",
    bot: { name: "Parcel bot" },
    type: "buttons",
    title: "Sorry to hear that. Which order is it about?",
    buttons: [{ text: "AK-20931" }, { text: "AK-20877" }, { text: "Another one" }],
    delivery: delivered(),
  });
  addEntry(470, { from: "visitor", text: "AK-20931" });
  addEntry(462, { from: "visitor", text: "I would rather talk to a person" });
  addEntry(430, { from: "system", type: "agent_joined", bot_delivery: delivered(40) });
  addEntry(429, { from: "system", type: "chat_accepted", webhook_delivery: delivered(61) });
  addEntry(410, {
    from: "agent",
    agent: me,
    text: "Hello Amara, I’m on it. I can see it was scanned at 08:54. Could you check with your neighbours while I ask the carrier?",
    delivery: delivered(84),
  });
  addEntry(380, {
    from: "agent",
    agent: me,
    type: "note",
    text: "Second missing parcel at this address this year. Ask for a photo of the place.",
  });
  addEntry(240, {
    from: "visitor",
    type: "photo",
    file: `${base}/_mock/pictures/door.svg`,
    file_name: "front-door.jpg",
    file_size: 1_240_000,
    width: 1600,
    height: 1200,
  });
  addEntry(236, { from: "visitor", text: "Nobody has it. This is the place where they usually leave it." });
  addEntry(160, {
    from: "agent",
    agent: me,
    text: "Thank you. I’ve opened case 5512 with the carrier; you’ll hear from us today.",
    delivery: {
      state: "failed",
      attempts: [0, 3, 6].map((at, index) => ({
        at: Date.now() - 160_000 + at * 1000,
        ...(index === 0 ? {} : { status: 503 }),
        ms: [3001, 212, 2984][index],
        error: index === 0 ? "no response within 3 seconds" : "Visitor session expired",
      })),
      error: { code: 410, message: "Visitor session expired" },
    },
  });
  addEntry(60, {
    from: "agent",
    agent: me,
    text: "If you prefer, I can send a replacement right away.",
    delivery: { state: "pending", attempts: [] },
  });
  return chat;
}

function normal(nowMs, { base = "" } = {}) {
  const dataset = new Dataset(nowMs);
  const amaraChat = addAmaraChat(dataset, base);
  dataset.typingChat = amaraChat.chat_id;
  const add = (name, state, secondsAgo, text, more = {}, visitorMore = {}) => {
    const chat = dataset.chat(dataset.visitor(name, visitorMore), state, secondsAgo / 60, {
      ...(state === "active" ? { agent: me } : {}),
      ...more,
    });
    if (typeof text === "string") dataset.addEntry(chat, secondsAgo, { from: "visitor", text });
    else
      for (const [index, entry] of text.entries())
        dataset.addEntry(chat, secondsAgo + (text.length - 1 - index) * 40, entry);
    return chat;
  };
  add(
    "João Ferreira",
    "waiting",
    252,
    "Paguei duas vezes pelo mesmo pedido, podem verificar?",
    { channel: CHANNELS[1], department: DEPARTMENTS[0] },
    { email: "joao.ferreira@example.com", phone: "+351 912 000 000" },
  );
  add("Anonymous", "waiting", 48, "Is the blue one back in stock this week?");
  add("Thanh Nguyễn", "active", 130, [
    { from: "visitor", text: "Hello, I need an invoice for order 88120" },
    { from: "agent", agent: me, text: "Of course. To which address shall it go?", delivery: delivered() },
    { from: "visitor", text: "The one on file is right" },
    { from: "visitor", text: "And our VAT number should be on it" },
    { from: "visitor", text: "Perfect, then please send the invoice to the address on file and copy accounting" },
  ]);
  add(
    "Elif Wójcik-Andersen",
    "active",
    560,
    [
      { from: "visitor", text: "The zip of my jacket broke after two weeks." },
      { from: "agent", agent: me, text: "Your return label is attached.", delivery: delivered() },
    ],
    { department: DEPARTMENTS[1] },
  );
  add("Anonymous", "active", 1290, [
    { from: "visitor", text: "How do I reset my password?" },
    { from: "agent", agent: me, text: "Did that solve it?", delivery: delivered() },
  ]);
  add("Mehmet Baştürk", "active", 2050, [
    { from: "agent", agent: me, text: "Could you send me a picture of the door?", delivery: delivered() },
    {
      from: "visitor",
      type: "photo",
      file: `${base}/_mock/pictures/door.svg`,
      file_name: "front-door.jpg",
      file_size: 840_000,
      width: 1200,
      height: 1600,
    },
  ]);
  const bots = [
    "Opening hours on Sunday?",
    "Track AK-20877",
    "Which tent for four people?",
    "Gift card balance",
    "Change my e-mail address",
    "Store in Bergen",
  ];
  for (const [index, text] of bots.entries()) {
    add(`${FIRST_NAMES[(index * 7 + 3) % 20]} ${LAST_NAMES[(index * 3 + 5) % 20]}`, "bot", 30 + index * 140, [
      { from: "visitor", text },
      {
        from: "bot",
        bot: { name: "Parcel bot" },
        type: "markdown",
        content: "Have a look at [our help page](https://shop.example.com/help), it has **everything** about this.",
        text: "Have a look at our help page, it has everything about this.",
        delivery: delivered(),
      },
    ]);
  }
  add(
    "Ingrid Lindqvist",
    "active",
    300,
    [
      { from: "visitor", text: "Good morning" },
      {
        from: "agent",
        agent: { id: 2, name: "Jonas Weber" },
        text: "Good morning! How can I help?",
        delivery: delivered(),
      },
    ],
    { agent: { id: 2, name: "Jonas Weber" } },
  );
  for (let index = 0; index < 24; index++) {
    add(
      `${FIRST_NAMES[(index * 3) % 20]} ${LAST_NAMES[(index * 7 + 1) % 20]}`,
      "closed",
      3600 * (index * 5 + 2),
      [
        { from: "visitor", text: VISITOR_TEXTS[index % VISITOR_TEXTS.length] },
        { from: "agent", agent: me, text: AGENT_TEXTS[index % AGENT_TEXTS.length], delivery: delivered() },
      ],
      { agent: me, rate: index % 3 === 0 ? "positive" : null, channel: CHANNELS[index % 3] },
    );
  }
  return dataset;
}

function empty(nowMs) {
  const dataset = new Dataset(nowMs);
  dataset.channels = [];
  dataset.canned = [];
  dataset.bots = [];
  dataset.deliveries = [];
  dataset.auditLog = [];
  dataset.departments = [];
  Object.assign(dataset.settings, { webhooks: [], rules: [], safe_urls: [] });
  return dataset;
}

function busy(nowMs, { base = "" } = {}) {
  const dataset = normal(nowMs, { base });
  for (const [id, chat] of dataset.chats)
    if (chat.state !== "closed" && id !== dataset.typingChat) dataset.chats.delete(id);
  for (let index = 0; index < 39; index++) {
    const state = index < 9 ? "waiting" : index < 31 ? "active" : "bot";
    const name =
      index % 6 === 5 ? "Anonymous" : `${FIRST_NAMES[(index * 11) % 20]} ${LAST_NAMES[(index * 3 + 1) % 20]}`;
    const secondsAgo = 20 + index * 47;
    const chat = dataset.chat(dataset.visitor(name), state, secondsAgo / 60 + 3, {
      channel: CHANNELS[index % 3],
      waiting_since: dataset.now - secondsAgo,
      ...(state === "active" ? { agent: me } : {}),
      ...(index % 4 === 0 ? { department: DEPARTMENTS[index % 3] } : {}),
    });
    for (let line = 0; line < 30; line++) {
      const isReply = state === "active" && (line + index) % 3 === 1;
      dataset.addEntry(
        chat,
        secondsAgo + (29 - line) * 50,
        isReply
          ? { from: "agent", agent: me, text: AGENT_TEXTS[(line + index) % AGENT_TEXTS.length], delivery: delivered() }
          : { from: "visitor", text: VISITOR_TEXTS[(line * 5 + index) % VISITOR_TEXTS.length] },
      );
    }
  }
  return dataset;
}

/** Long names and texts, and right-to-left and Asian scripts, which may break the layout. */
function unusualText(nowMs, { base = "" } = {}) {
  const dataset = normal(nowMs, { base });
  const long = dataset.chat(
    dataset.visitor("Maximiliane-Josephine Freifrau von Hohenstein-Wolfenbüttel zu Altenburg-Schwarzenfels", {
      email: "maximiliane-josephine.freifrau-von-hohenstein-wolfenbuettel@a-very-long-domain-name.example.com",
      phone: "+49 30 0000000000000000 ext. 12345",
      description:
        "Prefers letters. Has a dog that barks at couriers, two houses, and a contract from 1998 that nobody has read since.",
      chats_count: 212,
    }),
    "active",
    3,
    {
      agent: me,
      channel: { channel_id: "ch_9", name: "Corporate customer portal of the northern region" },
      department: { id: 9, name: "Contracts and complaints of corporate customers" },
      panel: {
        custom_data: [
          {
            title: "Contract number",
            content: "HW-1998-00000000000000000000000000000000000000000000042",
            link: null,
            key: null,
            source: "crm",
          },
          {
            title: "Remarks",
            content:
              "Asks for the same person each time and does not like to be transferred. Please read the file before you answer anything about the contract.",
            link: null,
            key: "Important",
            source: "crm",
          },
        ],
        enable_assign: true,
        crm_link: "https://crm.example.com/people/1",
        page: null,
        assignment: { state: "failed", message: "The card is locked by somebody else since Tuesday" },
      },
    },
  );
  dataset.addEntry(long, 170, {
    from: "visitor",
    text: "https://shop.example.com/a/very/long/address/that/has/no/place/to/break?session=1234567890abcdefghijklmnopqrstuvwxyz1234567890abcdefghijklmnopqrstuvwxyz and Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenverordnung",
  });
  dataset.addEntry(long, 160, { from: "visitor", text: "Have a look at [link blocked], is that you?" });
  dataset.addEntry(long, 155, {
    from: "visitor",
    type: "document",
    file: "[link blocked]",
    file_name: "contract.pdf",
    file_size: 88_000,
  });
  dataset.addEntry(long, 150, { from: "visitor", type: "location", latitude: 59.91273, longitude: 10.74609 });
  dataset.addEntry(long, 140, {
    from: "visitor",
    type: "voice",
    file: `${base}/_mock/pictures/none.ogg`,
    file_name: "voice.ogg",
    file_size: 41_000,
    duration: 17,
  });
  dataset.addEntry(long, 135, {
    from: "visitor",
    type: "video",
    file: `${base}/_mock/pictures/none.mp4`,
    file_name: "unboxing.mp4",
    file_size: 18_400_000,
    duration: 73,
    width: 1280,
    height: 720,
    thumb: `${base}/_mock/pictures/door.svg`,
  });
  dataset.addEntry(long, 130, {
    from: "visitor",
    type: "document",
    file: "https://files.example.com/terms-and-conditions-of-the-contract-of-1998-final-version-7-really-final.pdf",
    file_name: "terms-and-conditions-of-the-contract-of-1998-final-version-7-really-final.pdf",
    file_size: 2_300_000,
    text: "Page 12, second paragraph",
  });
  dataset.addEntry(long, 120, { from: "visitor", text: "👍" });
  const arabic = dataset.chat(
    dataset.visitor("محمد عبد الرحمن الهاشمي", { email: "mohammed@example.com" }),
    "active",
    6,
    {
      agent: me,
    },
  );
  dataset.addEntry(arabic, 300, {
    from: "visitor",
    text: "مرحبا، لم يصل طلبي رقم 4412 بعد. هل يمكنك التحقق من حالة الشحنة؟",
  });
  dataset.addEntry(arabic, 250, {
    from: "agent",
    agent: me,
    text: "مرحبا محمد، سأتحقق من ذلك الآن.",
    delivery: delivered(),
  });
  dataset.addEntry(arabic, 200, { from: "visitor", text: "شكرا لك! رابط التتبع: https://track.example.com/4412" });
  dataset.addEntry(arabic, 150, { from: "visitor", text: "Mixed: الطلب AK-20931 should be here" });
  const hebrew = dataset.chat(dataset.visitor("נועה כהן"), "waiting", 1.5);
  dataset.addEntry(hebrew, 90, { from: "visitor", text: "שלום, איפה ההזמנה שלי?" });
  const japanese = dataset.chat(dataset.visitor("田中 由紀"), "waiting", 0.5);
  dataset.addEntry(japanese, 30, {
    from: "visitor",
    text: "在庫はありますか？青いジャケットのMサイズを探しています。",
  });
  return dataset;
}

/** A chat with a long timeline. */
function longTimeline(nowMs, { base = "", entries = 1200 } = {}) {
  const dataset = normal(nowMs, { base });
  const chat = dataset.chat(dataset.visitor("Priya Raman"), "active", 600, { agent: me });
  for (let index = 0; index < entries; index++) {
    dataset.addEntry(
      chat,
      (entries - index) * 90,
      index % 3 === 1
        ? { from: "agent", agent: me, text: AGENT_TEXTS[index % AGENT_TEXTS.length], delivery: delivered() }
        : { from: "visitor", text: `${index + 1}. ${VISITOR_TEXTS[index % VISITOR_TEXTS.length]}` },
    );
  }
  return dataset;
}

export const DATASETS = { normal, empty, busy, unusualText, longTimeline };
