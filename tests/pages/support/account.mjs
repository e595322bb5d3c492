/* The local host as its users see it: accounts with agents, channels with visitors, webhooks and bots. The file that
   READY_FILE names contains the host's URL and the operator's key. */

import assert from "node:assert/strict";
import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Receiver } from "./receiver.mjs";
import { waitFor } from "./wait.mjs";

export const host = JSON.parse(await readFile(process.env.READY_FILE, "utf8"));

const PASSWORD = "a long enough password";
const STATES = ["online", "away", "offline"];

export async function request(method, path, body, token) {
  const response = await fetch(host.base_url + path, {
    method,
    headers: {
      "content-type": "application/json",
      ...(token ? { authorization: `Bearer ${token}` } : {}),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return {
    status: response.status,
    body: await response.json().catch(() => undefined),
  };
}

async function requestOk(method, path, body, token) {
  const response = await request(method, path, body, token);
  assert.ok(
    response.status < 300,
    `${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`,
  );
  return response.body;
}

/** An agent or admin who is logged in. */
export class Agent {
  constructor({ name, email, role, accountId }) {
    Object.assign(this, { name, email, role, accountId });
    this.password = PASSWORD;
  }

  async logIn() {
    const { email, password } = this;
    const { token, agent } = await requestOk("POST", "/agent/login", {
      email,
      password,
    });
    this.token = token;
    this.id = agent.id;
  }

  /** The console's session, as it is stored in sessionStorage after the agent has signed in. */
  get session() {
    const { token, id, name, role, accountId, email } = this;
    return { token, id, name, role, accountId, email, photo: null };
  }

  get = (path) => requestOk("GET", path, undefined, this.token);
  post = (path, body = {}) => requestOk("POST", path, body, this.token);
  put = (path, body) => requestOk("PUT", path, body, this.token);
  patch = (path, body) => requestOk("PATCH", path, body, this.token);
  delete = (path) => requestOk("DELETE", path, undefined, this.token);

  setPresence(status) {
    assert.ok(STATES.includes(status));
    return this.put("/agent/presence", { status });
  }

  async chats(state = "open") {
    return (await this.get(`/agent/chats?state=${state}`)).chats;
  }

  async chatOf(visitorName) {
    const rows = [...(await this.chats()), ...(await this.chats("closed"))];
    return rows.find(({ visitor }) => visitor.name === visitorName);
  }

  accept = (chatId) => this.post(`/agent/chats/${chatId}/accept`);
  close = (chatId) => this.post(`/agent/chats/${chatId}/close`);
  transfer = (chatId, to) => this.post(`/agent/chats/${chatId}/transfer`, to);

  send(chatId, text) {
    return this.post(`/agent/chats/${chatId}/messages`, { type: "text", text });
  }

  async timeline(chatId) {
    return (await this.get(`/agent/chats/${chatId}/messages`)).messages;
  }

  /** Returns the texts of the chat's messages in order. */
  async texts(chatId) {
    return (await this.timeline(chatId)).flatMap(({ text }) => text ?? []);
  }
}

/** A visitor of a channel. */
export class Visitor {
  constructor(channel, name, sender = {}) {
    this.channel = channel;
    this.name = name;
    this.sender = { id: randomUUID(), name, ...sender };
  }

  /** Sends a message, which the service may reject. */
  tryPost(message) {
    return this.channel.tryPost({ sender: this.sender, message });
  }

  /** Returns the response. */
  async post(message) {
    const { status, text } = await this.tryPost(message);
    assert.equal(status, 200, text);
    return JSON.parse(text);
  }

  say(text) {
    return this.post({ type: "text", text });
  }
}

class Channel {
  constructor(settings, integrator) {
    this.id = settings.channel_id;
    this.signingSecret = settings.signing_secret;
    this.integrator = integrator;
    const { pathname } = new URL(settings.endpoint);
    this.endpoint = host.base_url + pathname;
  }

  /** Posts a visitor's message. Returns the status and the text of the response. */
  async tryPost(body) {
    const response = await fetch(this.endpoint, {
      method: "POST",
      body: JSON.stringify(body),
    });
    return { status: response.status, text: await response.text() };
  }

  visitor(name, sender) {
    return new Visitor(this, name, sender);
  }
}

export class Account {
  #receivers = [];

  /** Creates an account with an admin (Marta Lindholm), further agents, and one channel unless `hasChannel` is false.
      With `respondToEvent`, it has a webhook as well. */
  static async create({
    agents = ["Jonas Weber"],
    hasChannel = true,
    settings,
    respondToEvent,
    channelSettings = {},
  } = {}) {
    const account = new Account();
    const admin = { name: "Marta Lindholm", email: uniqueEmail("marta") };
    const created = await requestOk(
      "POST",
      "/operator/accounts",
      { name: "Fjord Outdoor", admin: { ...admin, password: PASSWORD } },
      host.operator_key,
    );
    account.id = created.account_id;
    account.admin = await account.#logIn({ ...admin, role: "admin" });
    account.agents = [];
    for (const name of agents)
      account.agents.push(await account.addAgent(name));
    if (settings) await account.admin.put("/admin/settings", settings);
    if (respondToEvent) await account.addWebhook(respondToEvent);
    if (hasChannel)
      account.channel = await account.addChannel("Shop", channelSettings);
    return account;
  }

  async #logIn(fields) {
    const agent = new Agent({ ...fields, accountId: this.id });
    await agent.logIn();
    return agent;
  }

  async addAgent(name) {
    const email = uniqueEmail("agent");
    const agent = { name, email, password: PASSWORD, role: "agent" };
    await this.admin.post("/admin/agents", agent);
    return this.#logIn(agent);
  }

  async #startReceiver(respond) {
    const receiver = await Receiver.start(respond);
    this.#receivers.push(receiver);
    return receiver;
  }

  async addChannel(name, settings = {}) {
    const integrator = await this.#startReceiver();
    const created = await this.admin.post("/admin/channels", {
      name,
      integrator_url: integrator.url,
      ...settings,
    });
    return new Channel(created, integrator);
  }

  async addWebhook(respond, fields = {}) {
    this.webhook = await this.#startReceiver(respond);
    const { webhook_id, signing_secret } = await this.admin.post(
      "/admin/settings/webhooks",
      { url: this.webhook.url, ...fields },
    );
    this.webhook.id = webhook_id;
    this.webhook.signingSecret = signing_secret;
    return this.webhook;
  }

  /** Connects a bot to the channel. `answer` returns the bot's events in reply to a visitor's message. Returns an
      object with two counts: `answered`, the bot's events that got a response, and `accepted`, those of them that the
      service accepted, and with its `id`, the `events` that it has got, and the function `post`, which sends a further
      event. */
  async addBot(channel, answer, name = "Parcel bot", settings = {}) {
    const token = randomUUID();
    const bot = { answered: 0, accepted: 0, events: [] };
    let previous = Promise.resolve();
    const reply = async (fields) => {
      const body = { id: randomUUID(), ...fields };
      const path = `/bot/webhooks/${provider_id}/${token}`;
      const response = await request("POST", path, body);
      bot.answered++;
      if (response.status < 300) bot.accepted++;
      return response;
    };
    bot.post = reply;
    const provider = await this.#startReceiver((event) => {
      const { chat_id } = event;
      bot.events.push(event);
      const replies =
        event.event === "CLIENT_MESSAGE" ? answer(event.message) : [];
      for (const fields of replies)
        previous = previous.then(() => reply({ chat_id, ...fields }));
      return { status: 200, body: {} };
    });
    const { provider_id } = await requestOk(
      "POST",
      "/operator/providers",
      { name: "Parcel bots", endpoint: provider.url },
      host.operator_key,
    );
    const { bot_id } = await this.admin.post("/admin/bots", {
      provider_id,
      token,
      name,
      channel_ids: channel === undefined ? [] : [channel.id],
      answer_within: null,
      ...settings,
    });
    this.bot = { id: bot_id };
    bot.id = bot_id;
    return bot;
  }

  /** Connects a gateway for phone calls, and gives the admin a phone. */
  async addTelephony() {
    this.gateway = await this.#startReceiver();
    this.gateway.secret = randomBytes(32);
    await this.admin.patch(`/admin/agents/${this.admin.id}`, {
      phone: "+31 20 765 4321",
    });
    await this.admin.patch("/admin/telephony", {
      provider: "http",
      url: this.gateway.url,
      number: "+31207654322",
      signing_secret: `whsec_${this.gateway.secret.toString("base64")}`,
    });
    await requestOk(
      "POST",
      `/operator/accounts/${this.id}/call-balance`,
      { minutes: 600, reference: randomUUID() },
      host.operator_key,
    );
  }

  /** Lets the admin call the visitor of a chat. Returns an object whose method `report` tells the service the next
      status of the call, as the gateway does. */
  async call(chatId, phone) {
    await this.admin.post(`/agent/chats/${chatId}/call`, { phone });
    return this.orderedCall();
  }

  /** Waits until the gateway has been told to call somebody. Returns the same object as `call`. */
  async orderedCall() {
    const { secret, received } = this.gateway;
    const { report_url, call_id } = await waitFor("the order of a call", () =>
      received.pop(),
    );
    const report = async (status, fields = {}) => {
      const body = JSON.stringify({ call_id, status, ...fields });
      const [id, time] = [randomUUID(), String(Math.floor(Date.now() / 1000))];
      const signature = createHmac("sha256", secret)
        .update(`${id}.${time}.${body}`)
        .digest("base64");
      const response = await fetch(report_url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "webhook-id": id,
          "webhook-timestamp": time,
          "webhook-signature": `v1,${signature}`,
        },
        body,
      });
      assert.ok(response.ok, await response.text());
    };
    return { report };
  }

  /** Opens a chat with a message from a new visitor. Returns the visitor, with the number of the chat. */
  async openChat(name, text = "Hello", sender, channel = this.channel) {
    const visitor = channel.visitor(name, sender);
    await visitor.say(text);
    const row = await waitFor(`a chat of ${name}`, () =>
      this.admin.chatOf(name),
    );
    return Object.assign(visitor, {
      chatId: row.chat_id,
      number: row.visitor.number,
    });
  }

  /** Like `openChat`, but an agent accepts the chat. */
  async openAcceptedChat(
    name,
    { agent = this.admin, text, sender, channel } = {},
  ) {
    const visitor = await this.openChat(name, text, sender, channel);
    await agent.accept(visitor.chatId);
    return visitor;
  }

  close() {
    for (const receiver of this.#receivers) receiver.close();
  }
}

const uniqueEmail = (name) => `${name}-${randomUUID()}@example.com`;
