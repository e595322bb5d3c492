/* A mock of the widget's endpoints, with a site that includes the widget, for the tests of the view. */

import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { WebSocketServer } from "../../../functions/www/node_modules/ws/wrapper.mjs";
import { address, close, listen, WidgetSite } from "./widget-site.mjs";

const WIDGET_FOLDER = join(
  dirname(fileURLToPath(import.meta.url)),
  "../../../functions/www/dist/widget",
);
const TYPES = {
  js: "text/javascript; charset=utf-8",
  txt: "text/plain; charset=utf-8",
};

export const SETTINGS = {
  color: "#00464a",
  color2: null,
  theme: "system",
  position: "right",
  launcher: {
    hidden: false,
    offset_x: 20,
    offset_y: 20,
    z_index: 2_147_483_000,
  },
  title: "Northlight",
  greeting: null,
  avatar: null,
  language: "auto",
  texts: {},
  allowed_sites: [],
  contacts_form: {
    when: "never",
    fields: ["name", "email"],
    required: [],
    custom_fields: [],
  },
  rating: true,
  sound: true,
  typing_preview: true,
  reply_time: null,
};

export const SESSION = {
  v: 1,
  widget: SETTINGS,
  rules: [],
  mode: "online",
  departments: [],
  callback: true,
  callback_available: true,
  agents: [
    { name: "Marta Lindholm", photo: null, department_ids: [] },
    { name: "Dmitri Orlov", photo: null, department_ids: [3] },
  ],
  visitor: null,
  chat: null,
  messages: [],
  call: null,
  has_earlier: false,
};
export const CALLBACK_DISABLED = {
  result: "fail",
  reason: "Callback disabled",
};
export const CALLBACK_UNAVAILABLE = {
  result: "fail",
  reason: "Callback unavaiable",
};
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
export const CHAT_ID = 7;
/** The number of the entry with the visitor's call. */
const CALL_SEQ = 100;
/** The maximum number of messages in a response. */
const PAGE_SIZE = 50;
const TOKEN = "visitor-token";
const TOKEN_KEY = "switchboard.widget.w1.token";
/** The address of a picture in messages. The mock serves the picture. */
export const PICTURE_URL = "https://files.example/door.jpg";
const PICTURE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="480"><rect width="640" height="480" fill="#b9a48a"/><rect x="230" y="90" width="180" height="390" fill="#5d4632"/></svg>';

export class MockWidget {
  /** The requests to the widget's endpoints, with their bodies. */
  requests = [];
  /** Fields that replace those of the sample session. If `reset` sets a visitor, the page has the visitor's token. */
  session = {};
  /** Returns a status, headers and body in place of the usual response, or undefined for the usual one. May return a
   * promise. */
  override = () => undefined;
  state = "waiting";
  /** Earlier messages than those of the session, oldest first. */
  earlier = [];
  /** Whether the service refuses sockets. */
  refusesSockets = false;
  /** Whether the visitor can ask for a callback: the result of isCallbackEnabled. */
  callback = CALLBACK_DISABLED;
  /** When the agent got the chat. */
  joinedAt = undefined;
  #stored = [];
  /** The visitor's call, as the service has stored it. */
  #call = null;

  static async start() {
    const mock = new MockWidget();
    mock.#service = await listen((request, response) =>
      mock.#handle(request, response),
    );
    mock.url = address(mock.#service);
    mock.#site = await WidgetSite.start(mock.url);
    mock.siteUrl = mock.#site.url;
    mock.#sockets = new WebSocketServer({
      server: mock.#service,
      path: "/socket",
      verifyClient: () => !mock.refusesSockets,
    });
    mock.#sockets.on("connection", (socket) =>
      socket.on("message", (data) => {
        const frame = JSON.parse(data);
        mock.requests.push({ endpoint: "socket", body: frame });
        if (frame.type === "ping") socket.send('{"v":1,"type":"pong"}');
      }),
    );
    return mock;
  }
  #service;
  #site;
  #sockets;

  reset(fields = {}) {
    this.requests = [];
    this.session = fields.session ?? {};
    this.#site.script = fields.page?.(this.url);
    this.#site.changePolicy = fields.policy;
    this.#site.stored = fields.session?.visitor
      ? { [TOKEN_KEY]: JSON.stringify(TOKEN) }
      : {};
    this.state = "waiting";
    this.joinedAt = undefined;
    this.earlier = fields.earlier ?? [];
    this.refusesSockets = fields.refusesSockets ?? false;
    this.override = fields.override ?? (() => undefined);
    this.callback = fields.callback ?? CALLBACK_DISABLED;
    this.#stored = [];
    this.#call = null;
    this.dropSockets();
  }

  get socketCount() {
    return this.#sockets.clients.size;
  }

  push(frame) {
    for (const socket of this.#sockets.clients)
      socket.send(JSON.stringify({ v: 1, chat_id: CHAT_ID, ...frame }));
  }

  /** Stores and pushes the next status of the visitor's call. If there is no call yet, creates one: a callback, unless
   * `fields` contains another type. */
  reportCall(status, fields = {}) {
    this.#call = {
      type: "callback",
      phone: "+31612345678",
      ...this.#call,
      status,
      ...fields,
    };
    this.push({ type: "call", seq: CALL_SEQ, call: this.#call });
  }

  /** Pushes a message to the visitor, and returns it in later sessions. */
  pushMessage(fields) {
    const message = this.#store(fields);
    this.push({ type: "message", seq: message.seq, message });
  }

  /** Returns what the session of a known visitor contains now. */
  readSession() {
    return this.#respond("session", { token: TOKEN });
  }

  dropSockets() {
    for (const socket of this.#sockets.clients) socket.terminate();
  }

  async close() {
    this.dropSockets();
    await close(this.#service);
    await this.#site.close();
  }

  async #handle(request, response) {
    const { pathname } = new URL(request.url, this.url);
    const asset = /^\/(widget\.js|widget\/(assets\/[\w.-]+))$/.exec(pathname);
    if (asset) return this.#serveAsset(asset[2] ?? asset[1], response);
    if (pathname === "/picture.svg")
      return response
        .writeHead(200, { "content-type": "image/svg+xml" })
        .end(PICTURE);
    const endpoint = pathname.split("/").pop();
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString() || "{}");
    this.requests.push({
      endpoint,
      body,
      method: request.method,
      contentType: request.headers["content-type"],
    });
    const result =
      (await this.override(endpoint, body)) ?? this.#respond(endpoint, body);
    if (result === "drop") return request.socket.destroy();
    const { status = 200, headers = {}, ...json } = result;
    response
      .writeHead(status, {
        "content-type": "application/json",
        "access-control-allow-origin": "*",
        ...headers,
      })
      .end(
        JSON.stringify(json).replaceAll(PICTURE_URL, `${this.url}/picture.svg`),
      );
  }

  #respond(
    endpoint,
    {
      token,
      message,
      message_id,
      identify,
      contact_info = {},
      phone,
      after = 0,
      before,
    },
  ) {
    const session = { ...SESSION, ...this.session };
    switch (endpoint) {
      case "session": {
        if (!token && !identify)
          return { ...session, visitor: null, chat: null, messages: [] };
        const chat =
          this.#stored.length > 0 || this.#call ? this.#chat : session.chat;
        // Only the response to the request that sends a message contains its `message_id`.
        const known = [...session.messages, ...this.#stored]
          .filter(({ seq }) => seq > after)
          .map(({ message_id: _, ...message }) => message);
        const visitor = { ...VISITOR, ...(identify ? { token: TOKEN } : {}) };
        const isCalling =
          this.#call && !["end", "error"].includes(this.#call.status);
        const call = isCalling ? this.#call : session.call;
        return {
          ...session,
          visitor,
          chat,
          messages: known.slice(-PAGE_SIZE),
          call,
          has_earlier:
            session.has_earlier ||
            known.length > PAGE_SIZE ||
            (after === 0 && this.earlier.length > 0),
        };
      }
      case "message":
        return {
          message: this.#store({ from: "visitor", ...message, message_id }),
          chat_id: CHAT_ID,
        };
      case "history": {
        const isEarlier = ({ chat_id, seq }) =>
          chat_id < before.chat_id ||
          (chat_id === before.chat_id && seq < before.seq);
        const all = [
          ...this.earlier,
          ...(this.session.messages ?? []),
          ...this.#stored,
        ];
        const earlier = all.filter(isEarlier);
        return {
          messages: earlier.slice(-PAGE_SIZE),
          has_earlier: earlier.length > PAGE_SIZE,
        };
      }
      case "callback":
        return this.callback;
      case "call":
        if (this.callback.result === "fail") return this.callback;
        this.#call ??= {
          type: "callback",
          phone: phone.replace(/[^+\d]/g, ""),
          status: "start",
        };
        return {
          result: "ok",
          chat_id: CHAT_ID,
          seq: CALL_SEQ,
          call: this.#call,
        };
      case "offline-message":
        this.#store({ from: "visitor", type: "text", text: message });
        return { result: "ok" };
      case "visitor":
        return {
          visitor: {
            ...VISITOR,
            contact_info: {
              ...VISITOR.contact_info,
              client_name: contact_info.name ?? null,
            },
          },
        };
      case "socket-ticket":
        if (!token)
          return {
            status: 400,
            error: { code: "invalid_request", field: "token" },
          };
        return {
          status: 201,
          ticket: "t",
          url: `${this.url.replace("http", "ws")}/socket`,
          expires_in: 60,
        };
      default:
        return { result: "ok" };
    }
  }

  get #chat() {
    const agent =
      this.state === "waiting"
        ? null
        : { name: "Marta", joined_at: this.joinedAt };
    const last_seq = (this.session.messages?.length ?? 0) + this.#stored.length;
    return {
      chat_id: CHAT_ID,
      state: this.state,
      agent,
      last_seq,
      rated: false,
    };
  }

  /** Changes the state of the visitor's chat. */
  setState(state) {
    this.state = state;
    this.push({ type: "chat", chat: this.#chat });
  }

  #store(fields) {
    const seq = (this.session.messages?.length ?? 0) + this.#stored.length + 1;
    const message = { seq, chat_id: CHAT_ID, at: Date.now(), ...fields };
    this.#stored.push(message);
    return message;
  }

  async #serveAsset(path, response) {
    try {
      const bytes = await readFile(join(WIDGET_FOLDER, path));
      response
        .writeHead(200, {
          "content-type": TYPES[path.split(".").pop()],
          "access-control-allow-origin": "*",
        })
        .end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  }
}
