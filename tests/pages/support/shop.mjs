/* A shop of another origin whose pages include a widget of the local host. The pages have a strict policy. */

import { randomUUID } from "node:crypto";
import { request } from "./account.mjs";
import {
  embedding,
  openWindow,
  serviceUrl,
  strictPolicy,
  write,
} from "./embedding.mjs";
import { Network } from "./network.mjs";
import { waitFor } from "./wait.mjs";

export * from "./embedding.mjs";

const POLICY = {
  "media-src": "https: http:",
  "require-trusted-types-for": "'script'",
  "trusted-types": "'none'",
};

/** Runs a test with an account whose agents have the state `presence`, a widget with `settings`, and a shop. `policy`
    contains directives that replace those of the shop's policy. With `telephony`, visitors can ask for a callback. */
export function shopJourney(
  name,
  run,
  { presence, policy, telephony, ...options } = {},
) {
  embedding(
    name,
    async (context) => {
      await prepareAccount(context.account, { presence, telephony });
      await run(await Shop.start(context, policy));
    },
    { hasChannel: false, agents: [], ...options },
  );
}

/** Sets what a state of the widget requires of the account. */
export async function prepareAccount(
  account,
  { presence = "online", telephony } = {},
) {
  if (telephony) {
    await account.addTelephony();
    await account.admin.put("/admin/settings", { callback: { enabled: true } });
  }
  if (presence !== "offline")
    for (const agent of [account.admin, ...account.agents])
      await agent.setPresence(presence);
}

export class Shop {
  /** The requests of all pages to the widget's endpoints so far: endpoint, method, content type, body. */
  requests = [];
  /** The number of those requests that have no response yet. */
  pending = 0;
  #context;

  constructor(context, site) {
    this.#context = context;
    const { account, widget, expectProblems, t } = context;
    Object.assign(this, { account, widget, site, expectProblems, t });
    this.admin = account.admin;
    /** Who accepts and answers chats. */
    this.agent = account.admin;
  }

  static async start(context, policy) {
    const directives = { ...POLICY, ...policy };
    const headers = {
      "content-security-policy": strictPolicy(serviceUrl, directives),
    };
    const body =
      "<main><h1>Northlight shoes</h1><p>Light shoes for long days.</p></main>";
    return new Shop(context, await context.widget.site({ headers, body }));
  }

  /** Opens a page of the shop in a new browser context, and returns when the widget has been loaded, unless `isLoading`
      is set. `visitor` is a known visitor; `prepare` is called with the page before it is loaded. */
  async open({
    path = "/",
    visitor,
    prepare = () => {},
    isLoading = false,
    ...options
  } = {}) {
    const page = await this.#context.openSignedOut({
      width: 1100,
      height: 800,
      ...options,
    });
    page
      .context()
      .on("request", (request) => this.#record(request))
      .on("requestfinished", (request) => this.#forget(request))
      .on("requestfailed", (request) => this.#forget(request));
    if (visitor) await this.#storeToken(page, visitor);
    await prepare(page);
    await page.goto(this.site.url + path);
    if (!isLoading) await page.locator(".root").waitFor({ state: "attached" });
    return page;
  }

  /** Opens the console, signed in as the admin. */
  openConsole() {
    return this.#context.open();
  }

  /** Starts a network between the browser and the service, which ends with the test. */
  async addNetwork() {
    const network = await Network.start();
    this.t.after(() => network.close());
    return network;
  }

  #record(request) {
    const endpoint = endpointOf(request);
    if (endpoint === undefined) return;
    this.pending++;
    this.requests.push({
      endpoint,
      method: request.method(),
      contentType: request.headers()["content-type"],
      body: request.postDataJSON(),
    });
  }

  #forget(request) {
    if (endpointOf(request) !== undefined) this.pending--;
  }

  requestsTo(endpoint) {
    return this.requests.filter((request) => request.endpoint === endpoint);
  }

  #storeToken(page, { token }) {
    const key = `switchboard.widget.${this.widget.id}.token`;
    return page.addInitScript(
      ([key, token]) => {
        if (location.protocol === "about:" || sessionStorage.getItem("opened"))
          return;
        sessionStorage.setItem("opened", "true");
        localStorage.setItem(key, JSON.stringify(token));
      },
      [key, token],
    );
  }

  async #post(endpoint, body) {
    const path = `/widget/${this.widget.id}/${endpoint}`;
    const response = await request("POST", path, body);
    if (response.status >= 300)
      throw new Error(`${path}: ${JSON.stringify(response)}`);
    return response.body;
  }

  /** Creates a visitor who has used the widget on an earlier page. */
  async addVisitor() {
    const { visitor } = await this.#post("session", { identify: true });
    const { token, number } = visitor;
    const say = async (text) => {
      const message = { type: "text", text };
      const message_id = randomUUID();
      await this.#post("message", { token, message_id, message });
    };
    return { token, number, say };
  }

  /** Creates a known visitor with a chat that the agent has accepted, and adds further messages: texts of the visitor,
      and objects that the agent sends. */
  async addChat(text, ...messages) {
    const visitor = await this.addVisitor();
    await visitor.say(text);
    await this.accept();
    for (const message of messages)
      if (typeof message === "string") await visitor.say(message);
      else await this.answer(message);
    return visitor;
  }

  /** The agent accepts the chat of a visitor who waits, or whom a bot answers. */
  async accept(state = "waiting") {
    const [row] = await waitFor(`a chat: ${state}`, async () => {
      const chats = await this.agent.chats(state);
      return chats.length > 0 && chats;
    });
    this.chatId = row.chat_id;
    await this.agent.accept(this.chatId);
  }

  /** The agent sends a text, or another message, to the chat that was accepted last. */
  answer(message) {
    const text = { type: "text", text: message };
    return this.agent.post(
      `/agent/chats/${this.chatId}/messages`,
      typeof message === "string" ? text : message,
    );
  }

  closeChat() {
    return this.agent.close(this.chatId);
  }

  /** The visitor writes in the window of the page, and the agent accepts the chat. */
  async startChat(page, text = "Hello") {
    await openWindow(page);
    await write(page, text);
    await this.accept();
    await page.getByText("Marta Lindholm joined the chat").waitFor();
  }

  /** Sets the account's rules. */
  setRules(rules) {
    return this.admin.put("/admin/settings", { rules });
  }
}

/** Returns the last part of the request's path if it is an endpoint of a widget. */
function endpointOf(request) {
  const { pathname } = new URL(request.url());
  return /^\/widget\/[^/]+\/([\w-]+)$/.exec(pathname)?.[1];
}

export const bubbles = (page) => page.locator(".bubble").allTextContents();

/** Lets the page do what it does by itself: returns after it has been idle several times. */
export const idle = (page) =>
  page.evaluate(async () => {
    for (let round = 0; round < 20; round++)
      await new Promise((done) => requestIdleCallback(done));
  });

/** Makes the page believe that its tab is hidden or visible. */
export const setHidden = (page, isHidden) =>
  page.evaluate((isHidden) => {
    Object.defineProperty(document, "hidden", {
      configurable: true,
      get: () => isHidden,
    });
    document.dispatchEvent(new Event("visibilitychange"));
  }, isHidden);

/** Closes the window of the widget with the keyboard. */
export async function closeWindow(page) {
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
}

/** Uses the button at the top of the log. An ordinary click would scroll to the button, which loads the messages too, so
    that the button could disappear before the click. */
export const loadEarlier = (page) =>
  page.getByRole("button", { name: "Earlier messages" }).dispatchEvent("click");

export const unreadLabel = (page, count) =>
  page.getByRole("button", { name: `Open chat, ${count} unread` });

const rule = (name, conditions, command, params) => ({
  name,
  enabled: true,
  type: "all",
  conditions: conditions.map(([condition, comparator, value]) => ({
    condition,
    comparator,
    value,
  })),
  commands: [{ command, params }],
});
export { rule };

/** Returns a rule that invites the visitor while all conditions hold. */
export const invite = (message, ...conditions) =>
  rule(message, conditions, "proactive", { message });

export const heading = (page, name) =>
  page.getByRole("heading", { name }).waitFor();
