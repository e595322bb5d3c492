/* A mock of the service for development and tests of the pages. It keeps sample data in memory and implements the
   agents' API of docs/openapi.json and its sockets. It is not part of the product. Tests control it through /_mock. */

import { randomUUID } from "node:crypto";
import { WebSocketServer } from "ws";
import { handleAdmin } from "./mock-admin.mjs";
import { callVisitor, reportCall } from "./mock-calls.mjs";
import { receiverTest } from "./mock-receivers.mjs";
import { channelOf, DATASETS } from "./mock-data.mjs";

const DELIVERY_MS = 350;
const json = (status, body, headers = {}) => ({ status, body, headers });
const error = (status, code, message, field, headers) =>
  json(status, { error: { code, message, ...(field ? { field } : {}) } }, headers);

export class MockService {
  constructor(dataset = "normal") {
    this.sockets = new Map();
    this.server = new WebSocketServer({ noServer: true });
    this.reset(dataset);
  }

  reset(dataset, options = {}) {
    this.dataset = DATASETS[dataset](Date.now(), options);
    this.datasetName = dataset;
    this.tokens = new Map();
    this.tickets = new Map();
    this.storedResponses = new Map();
    this.changes = [];
    this.failures = [];
    this.latency = 0;
    this.hasSockets = true;
    for (const socket of this.sockets.keys()) socket.terminate();
    this.sockets.clear();
  }

  // Chat rows and details in the format of the API.

  row(chat) {
    const { chat_id, state, channel, agent, department, updated_at } = chat;
    const visitor = this.dataset.visitors.get(chat.visitor);
    const last = chat.entries.findLast((entry) => entry.from !== "system" && entry.type !== "note");
    const text = last ? (last.text ?? last.file_name ?? last.content ?? "") : "";
    return {
      chat_id,
      state,
      visitor: { number: visitor.number, name: visitor.name },
      channel,
      agent,
      department,
      last_message: last
        ? {
            from: last.from,
            agent_id: last.from === "agent" ? (last.agent?.id ?? null) : null,
            type: last.type,
            text: text.slice(0, 200),
            timestamp: last.timestamp,
          }
        : null,
      failed_messages: chat.entries.filter(({ from, delivery }) => from === "agent" && delivery?.state === "failed")
        .length,
      updated_at,
      seq: chat.entries.at(-1)?.seq ?? 0,
      waiting_since: state === "waiting" ? chat.waiting_since : null,
    };
  }

  detail(chat) {
    const {
      chat_id,
      state,
      channel,
      agent,
      department,
      opened_at,
      updated_at,
      panel,
      rate = null,
      typing = false,
      session,
      page,
      referrer,
    } = chat;
    return {
      chat_id,
      state,
      channel,
      agent,
      department,
      opened_at,
      updated_at,
      seq: chat.entries.at(-1)?.seq ?? 0,
      waiting_since: state === "waiting" ? chat.waiting_since : null,
      visitor_typing: typing,
      rate,
      visitor: this.dataset.visitors.get(chat.visitor),
      panel,
      session,
      page,
      referrer,
    };
  }

  // Pushes.

  push(frame) {
    for (const [socket] of this.sockets) socket.send(JSON.stringify({ v: 1, ...frame }));
  }

  changed(chat) {
    chat.updated_at = now();
    this.changes.push(chat.chat_id);
    this.push({ type: "chat", chat_id: chat.chat_id, seq: chat.entries.at(-1)?.seq ?? 0, chat: this.row(chat) });
  }

  add(chat, entry) {
    const stored = { seq: (chat.entries.at(-1)?.seq ?? 0) + 1, id: randomUUID(), timestamp: now(), ...entry };
    chat.entries.push(stored);
    this.push({ type: "message", chat_id: chat.chat_id, seq: stored.seq, message: stored });
    this.changed(chat);
    return stored;
  }

  deliver(chat, entry) {
    const later = (ms, callback) => setTimeout(callback, ms).unref();
    const update = (delivery) => {
      entry.delivery = delivery;
      this.push({ type: "delivery", chat_id: chat.chat_id, seq: entry.seq, message: entry });
    };
    if (/\bfail\b/i.test(entry.text ?? "")) {
      const attempts = [];
      const attempt = (n) => {
        attempts.push({ at: Date.now(), status: 503, ms: 240, error: "Visitor session expired" });
        if (n < 3) {
          update({ state: "pending", attempts: [...attempts] });
          later(400, () => attempt(n + 1));
        } else
          update({
            state: "failed",
            attempts: [...attempts],
            error: { code: 410, message: "Visitor session expired" },
          });
      };
      later(DELIVERY_MS, () => attempt(1));
    } else
      later(DELIVERY_MS, () =>
        update({
          state: "delivered",
          attempts: [...(entry.delivery?.attempts ?? []), { at: Date.now(), status: 200, ms: 84 }],
        }),
      );
  }

  visitorWrites(chatId, content) {
    const chat = this.dataset.chats.get(chatId);
    chat.typing = false;
    return this.add(chat, { from: "visitor", type: "text", ...content });
  }

  // HTTP.

  async handle(method, url, headers, body) {
    const path = url.pathname;
    if (path.startsWith("/_mock/")) return this.control(path.slice("/_mock/".length), body);
    if (this.latency > 0) await new Promise((done) => setTimeout(done, this.latency));
    const failure = this.failures.find(
      (failure) => (failure.method ?? method) === method && new RegExp(failure.path).test(path) && failure.times > 0,
    );
    if (failure) {
      failure.times--;
      if (failure.status === 0) return undefined;
      return error(
        failure.status,
        failure.code ?? "unavailable",
        failure.message ?? "the service is busy",
        undefined,
        failure.headers,
      );
    }
    if (method === "POST" && path === "/agent/login") return this.login(body);
    if (method === "POST" && path === "/_local/sign-in")
      return body?.code === "demo"
        ? this.login({ email: this.dataset.agents[0].email, password: "secret" })
        : error(401, "unauthorized", "the code is not valid");
    if (path.startsWith("/channel/")) return this.channelMessage(body);
    const me = this.tokens.get((headers.authorization ?? "").replace("Bearer ", ""));
    if (!me) return error(401, "unauthorized", "the session has ended");
    return (
      this.route(method, path, url.searchParams, body, me, headers) ??
      error(404, "not_found", "the path does not exist")
    );
  }

  login({ email, password } = {}) {
    const agent = this.dataset.agents.find((agent) => agent.email === email);
    if (!agent || password !== "secret")
      return error(401, "invalid_credentials", "the e-mail or the password is wrong");
    const token = randomUUID();
    this.tokens.set(token, agent);
    return json(200, {
      token,
      agent: { id: agent.id, name: agent.name, role: agent.role, account_id: "acc_demo" },
      must_change_password: agent.mustChangePassword === true,
    });
  }

  channelMessage(body) {
    const dataset = this.dataset;
    const number = Math.max(0, ...dataset.visitors.keys()) + 1;
    dataset.visitors.set(number, visitorOf(number, body?.sender?.name ?? "Anonymous"));
    const chat = {
      chat_id: Math.max(1000, ...dataset.chats.keys()) + 1,
      visitor: number,
      state: "waiting",
      channel: { channel_id: "ch_1", name: dataset.channels[0]?.name ?? "Channel" },
      agent: null,
      department: null,
      opened_at: now(),
      updated_at: now(),
      waiting_since: now(),
      entries: [],
      panel: emptyPanel(),
    };
    dataset.chats.set(chat.chat_id, chat);
    this.add(chat, { from: "visitor", type: "text", text: body?.message?.text ?? "" });
    return json(200, { result: "ok" });
  }

  route(method, path, query, body, me, headers) {
    const dataset = this.dataset;
    const pathNumbers = (pattern) => new RegExp(`^${pattern}$`).exec(path)?.slice(1).map(Number);
    let ids;
    if (path === "/agent/me")
      return json(200, {
        agent: { id: me.id, name: me.name, email: me.email, photo: me.photo, phone: null },
        role: me.role,
        account: { account_id: "acc_demo", name: dataset.account },
        must_change_password: false,
      });
    if (path === "/agent/sessions" && method === "GET") {
      const at = Math.floor(Date.now() / 1000);
      const session = { created_at: at - 90_000, source_address: "192.0.2.7", last_request_at: at - 4_000 };
      const browser = "Mozilla/5.0 (Android 15; Mobile; rv:132.0) Gecko/132.0 Firefox/132.0";
      return json(200, {
        sessions: [
          { ...session, id: "aaaaaaaaaaaaaaaa", current: true, user_agent: headers["user-agent"] ?? null },
          { ...session, id: "bbbbbbbbbbbbbbbb", current: false, user_agent: browser },
        ],
      });
    }
    if (path.startsWith("/agent/sessions")) return json(200, { deleted: true, ended_sessions: 1 });
    if (path === "/agent/password")
      return body.current_password === "secret"
        ? json(200, { changed: true, ended_sessions: 1 })
        : error(400, "invalid_request", "current_password is wrong", "current_password");
    if (path === "/agent/logout") return json(200, {});
    if (path === "/agent/presence") {
      if (method === "PUT") {
        me.status = body.status;
        this.push({ type: "presence", agent_id: me.id, status: me.status });
      }
      return json(200, { status: me.status, online: me.status === "online" });
    }
    if (path === "/agent/agents")
      return json(200, {
        agents: dataset.agents.map(({ id, name, photo, status }) => ({ id, name, photo, status })),
        departments: dataset.departments,
      });
    if (path === "/agent/socket-ticket") {
      if (!this.hasSockets) return undefined;
      const ticket = randomUUID();
      this.tickets.set(ticket, me);
      return json(201, { ticket, url: `ws://${headers.host}/_socket`, expires_in: 60 });
    }
    if (path === "/agent/changes") {
      const cursor = query.get("cursor");
      if (cursor === null)
        return json(200, { cursor: String(this.changes.length), chats: [], gone: [], complete: true });
      const ids = [...new Set(this.changes.slice(Number(cursor)))];
      const rows = ids.map((id) => dataset.chats.get(id)).filter(Boolean);
      return json(200, {
        cursor: String(this.changes.length),
        chats: rows.map((chat) => this.row(chat)),
        gone: ids.filter((id) => !dataset.chats.has(id)),
        complete: true,
      });
    }
    if (path === "/agent/canned-replies") {
      if (method === "GET") return json(200, { canned_replies: dataset.canned });
      const reply = { id: randomUUID(), ...body };
      dataset.canned.push(reply);
      this.push({ type: "settings" });
      return json(201, reply);
    }
    const canned = /^\/agent\/canned-replies\/(.+)$/.exec(path)?.[1];
    if (canned) {
      const index = dataset.canned.findIndex((reply) => reply.id === canned);
      if (index < 0) return undefined;
      if (method === "DELETE") return json(200, dataset.canned.splice(index, 1)[0]);
      Object.assign(dataset.canned[index], body);
      return json(200, dataset.canned[index]);
    }
    if (path === "/agent/chats") {
      const wanted = { open: ["bot", "waiting", "active"], closed: ["closed"] }[query.get("state") ?? "open"] ?? [
        query.get("state"),
      ];
      const before = Number(query.get("before") ?? Infinity);
      const limit = Math.min(100, Number(query.get("limit") ?? 100));
      const all = [...dataset.chats.values()]
        .filter((chat) => wanted.includes(chat.state) && chat.chat_id < before)
        .sort((a, b) => b.chat_id - a.chat_id);
      const page = all.slice(0, limit);
      return json(200, {
        chats: page.map((chat) => this.row(chat)),
        next: all.length > limit ? page.at(-1).chat_id : null,
      });
    }
    if (path === "/agent/search") {
      const words = (query.get("q") ?? "").toLowerCase();
      const found = [...dataset.chats.values()].filter((chat) => {
        const visitor = dataset.visitors.get(chat.visitor);
        return `${chat.chat_id} ${visitor.number} ${visitor.name} ${visitor.email} ${visitor.phone} ${this.row(chat).last_message?.text}`
          .toLowerCase()
          .includes(words);
      });
      return json(200, { chats: found.slice(0, 20).map((chat) => this.row(chat)), next: null });
    }
    if ((ids = pathNumbers("/agent/visitors/(\\d+)/chats"))) {
      const own = [...dataset.chats.values()]
        .filter((chat) => chat.visitor === ids[0])
        .sort((a, b) => b.chat_id - a.chat_id);
      return json(200, { chats: own.map((chat) => this.row(chat)), next: null });
    }
    if ((ids = pathNumbers("/agent/visitors/(\\d+)")) && method === "PATCH") {
      const visitor = dataset.visitors.get(ids[0]);
      if (body.email && !/@/.test(body.email))
        return error(400, "invalid_request", "email must be an e-mail address", "email");
      for (const [field, value] of Object.entries(body)) {
        visitor[field] = value;
        if (field !== "blacklisted") visitor.sources[field] = "agent";
      }
      const { number, id, name, phone, email, description, blacklisted, sources } = visitor;
      return json(200, { number, id, name, phone, email, description, blacklisted, sources });
    }
    if ((ids = pathNumbers("/admin/visitors/(\\d+)")) && method === "DELETE") {
      const own = [...dataset.chats.values()].filter((chat) => chat.visitor === ids[0]);
      for (const chat of own) dataset.chats.delete(chat.chat_id);
      return json(200, {
        number: ids[0],
        removed: { chats: own.length, entries: own.reduce((sum, chat) => sum + chat.entries.length, 0) },
        complete: true,
      });
    }
    const admin = path.startsWith("/admin/") ? handleAdmin(dataset, method, path, query, body) : undefined;
    if (admin !== undefined) return admin;
    if (path.startsWith("/admin/channels")) return this.channels(method, path.split("/").slice(3), body, headers);
    if ((ids = pathNumbers("/agent/chats/(\\d+)(?:/.*)?"))) {
      const chat = dataset.chats.get(ids[0]);
      if (!chat) return error(404, "not_found", "the chat does not exist");
      return this.chat(method, path.split("/").slice(4), chat, query, body, me, headers);
    }
    return undefined;
  }

  channels(method, [id, action], body, { host }) {
    const { channels } = this.dataset;
    const endpoint = `http://${host}/channel/${"k3Vq9".repeat(6)}/${id ?? "ch_1"}`;
    if (action === "signing-secret")
      return json(200, {
        signing_secret: "whsec_bmV3LXNlY3JldC1mb3ItZGV2ZWxvcG1lbnQ=",
        old_signing_secret_valid_until: now() + 86400,
      });
    if (action === "test") {
      const { integrator_url } = channels.find(({ channel_id }) => channel_id === id);
      return json(200, receiverTest(`${integrator_url}/${id}`, "message", false));
    }
    if (action === "rotate") return json(200, { endpoint, old_endpoint_valid_until: now() + 86400 });
    if (id === undefined && method === "GET") return json(200, { channels });
    const invalid = channelError(body);
    if (invalid !== undefined)
      return error(400, "invalid_request", `${invalid.field} ${invalid.message}`, invalid.field);
    if (id === undefined) {
      const channel = channelOf({ ...body, channel_id: `ch_${channels.length + 1}` }, host);
      channels.push(channel);
      const secrets = { endpoint, signing_secret: "whsec_c2VjcmV0LWZvci1kZXZlbG9wbWVudA==" };
      return json(201, channel.kind === "widget" ? channel : { ...channel, ...secrets });
    }
    const index = channels.findIndex(({ channel_id }) => channel_id === id);
    const channel = channels[index];
    if (channel === undefined) return error(404, "not_found", "the channel does not exist");
    if (method === "DELETE") {
      channels.splice(index, 1);
      return json(200, { channel_id: id, deleted: true });
    }
    const { widget, ...fields } = body ?? {};
    Object.assign(channel, fields);
    if (channel.kind === "widget") Object.assign(channel.widget, widget);
    return json(200, channel);
  }

  chat(method, segments, chat, query, body, me, headers) {
    const [resource, seq, action] = segments;
    const author = { id: me.id, name: me.name };
    const isMine = chat.state === "active" && chat.agent?.id === me.id;
    const isUnassigned = chat.state === "bot" || chat.state === "waiting";
    if (resource === undefined) return json(200, this.detail(chat));
    if (resource === "messages" && method === "GET") {
      const after = Number(query.get("after") ?? 0);
      const limit = Math.min(500, Number(query.get("limit") ?? 500));
      return json(200, { messages: chat.entries.filter((entry) => entry.seq > after).slice(0, limit) });
    }
    if (resource === "messages" && action === "retry") {
      const entry = chat.entries.find((entry) => entry.seq === Number(seq));
      if (entry?.delivery?.state !== "failed") return error(409, "conflict", "the message has not failed");
      entry.delivery = { state: "pending", attempts: entry.delivery.attempts };
      const succeeds = !/again/.test(entry.text ?? "");
      this.push({ type: "delivery", chat_id: chat.chat_id, seq: entry.seq, message: entry });
      this.deliver(
        chat,
        succeeds ? Object.assign(entry, { text: (entry.text ?? "").replace(/\bfail\b/i, "arrive") }) : entry,
      );
      return json(202, { seq: entry.seq, id: entry.id });
    }
    if (resource === "messages" || resource === "notes") {
      const key = headers["idempotency-key"];
      if (key && this.storedResponses.has(key)) return json(201, this.storedResponses.get(key));
      if (resource === "messages" && !isMine) return error(409, "conflict", "the chat belongs to another agent");
      const entry = this.add(
        chat,
        resource === "notes"
          ? { from: "agent", agent: author, type: "note", text: body.text }
          : { from: "agent", agent: author, ...body, delivery: { state: "pending", attempts: [] } },
      );
      if (resource === "messages") this.deliver(chat, entry);
      const response = { seq: entry.seq, id: entry.id };
      if (key) this.storedResponses.set(key, response);
      return json(201, response);
    }
    if (resource === "accept") {
      if (!isUnassigned && !isMine) return error(409, "conflict", "another agent has the chat");
      Object.assign(chat, { state: "active", agent: author });
      this.add(chat, {
        from: "system",
        type: "chat_accepted",
        webhook_delivery: { state: "delivered", attempts: [{ at: Date.now(), status: 200, ms: 61 }] },
      });
      return json(200, this.row(chat));
    }
    if (resource === "close") {
      if (!isUnassigned && !isMine && me.role !== "admin") return error(409, "conflict", "another agent has the chat");
      chat.state = "closed";
      this.add(chat, { from: "system", type: "chat_finished", webhook_delivery: { state: "delivered", attempts: [] } });
      return json(200, { chat_id: chat.chat_id, state: "closed" });
    }
    if (resource === "transfer") {
      const agent = this.dataset.agents.find((agent) => agent.id === body.agent_id);
      if (agent && agent.status !== "online") return error(409, "conflict", "the agent is not online");
      if (agent) chat.agent = { id: agent.id, name: agent.name };
      else
        Object.assign(chat, {
          state: "waiting",
          agent: null,
          waiting_since: now(),
          department: this.dataset.departments.find((department) => department.id === body.department_id),
        });
      this.changed(chat);
      return json(200, this.row(chat));
    }
    if (resource === "call") {
      if (!isMine) return error(409, "conflict", "another agent has the chat");
      return callVisitor(this, chat, body, author);
    }
    if (resource === "typing") return json(200, { chat_id: chat.chat_id, type: body?.type ?? "typein" });
    if (resource === "assign") {
      chat.panel = { ...chat.panel, assignment: { state: "pending" } };
      setTimeout(() => {
        chat.panel = {
          ...chat.panel,
          assignment: { state: "done" },
        };
        this.push({ type: "panel", chat_id: chat.chat_id, seq: chat.entries.at(-1)?.seq ?? 0, panel: chat.panel });
      }, 600).unref();
      return json(200, { chat_id: chat.chat_id, assign_to: chat.panel.crm_link });
    }
    return undefined;
  }

  // Control endpoints for tests.

  control(action, body = {}) {
    switch (action) {
      case "reset":
        this.reset(body.dataset ?? this.datasetName, body);
        break;
      case "visitor":
        return json(200, this.visitorWrites(body.chat_id, body.content ?? { text: body.text }));
      case "call":
        return reportCall(this, body);
      case "typing":
        this.push({
          type: "typing",
          chat_id: body.chat_id,
          from: "visitor",
          typing: body.typing,
          ...(body.text ? { text: body.text } : {}),
        });
        break;
      case "fail":
        this.failures.push({ times: Infinity, ...body });
        break;
      case "recover":
        this.failures = [];
        break;
      case "latency":
        this.latency = body.ms;
        break;
      case "sockets":
        this.hasSockets = body.on;
        if (!body.on) for (const socket of this.sockets.keys()) socket.close(1011);
        break;
      case "chats":
        return json(
          200,
          [...this.dataset.chats.values()].map((chat) => ({ ...this.row(chat), entries: chat.entries })),
        );
    }
    return json(200, {});
  }

  upgrade(request, socket, head) {
    const ticket = new URL(request.url, "http://x").searchParams.get("ticket");
    const agent = this.tickets.get(ticket);
    this.tickets.delete(ticket);
    if (!agent) return socket.destroy();
    this.server.handleUpgrade(request, socket, head, (connection) => {
      this.sockets.set(connection, agent);
      connection.on("close", () => this.sockets.delete(connection));
      connection.on("message", (data) => {
        const frame = JSON.parse(String(data));
        if (frame.type === "ping") connection.send(JSON.stringify({ v: 1, type: "pong" }));
      });
    });
  }
}

export const now = () => Math.floor(Date.now() / 1000);
export const emptyPanel = () => ({
  custom_data: [],
  enable_assign: false,
  crm_link: null,
  page: null,
  assignment: null,
});
export const visitorOf = (number, name, more = {}) => ({
  number,
  id: `user-${number}`,
  name,
  phone: null,
  email: null,
  photo: null,
  url: null,
  invite: null,
  description: null,
  blacklisted: false,
  chats_count: 1,
  sources: {},
  ...more,
});

/** Returns what is wrong with the body of a request for a channel. */
function channelError({ widget } = {}) {
  const message = "must be one of the colours #000000 to #ffffff";
  if (widget?.color && !/^#[\da-f]{6}$/i.test(widget.color)) return { field: "widget.color", message };
  return undefined;
}
