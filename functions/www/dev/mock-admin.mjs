/* The mock service's endpoints for admins. */

import { randomUUID } from "node:crypto";
import { deliveryCounts, deliveryWithRequest, receiverTest } from "./mock-receivers.mjs";
import { auditLog, exportChats, report } from "./mock-reports-and-audit-log.mjs";
import { telephony } from "./mock-calls.mjs";

const json = (status, body) => ({ status, body });
const invalid = (field, message) =>
  json(400, { error: { code: "invalid_request", message: `${field} ${message}`, field } });
const SECRET = "whsec_c2VjcmV0LWZvci1kZXZlbG9wbWVudA==";
const REPLAY_MS = 900;
/** A small number, so that replaying the sample deliveries takes several requests. */
const MAX_REPLAYS_PER_REQUEST = 2;
const now = () => Math.floor(Date.now() / 1000);
const found = (body) => (body === undefined ? undefined : json(200, body));
const isWebUrl = (url) => /^https?:\/\/[^/\s]+/.test(url ?? "");

/** Handles a request for admins. Returns undefined if the path does not exist. */
export function handleAdmin(dataset, method, path, query, body = {}) {
  const [, , resource, id, action] = path.split("/");
  switch (resource) {
    case "settings":
      return id === "webhooks"
        ? webhooks(dataset, method, path.split("/").slice(4), body)
        : settings(dataset, method, body);
    case "deliveries":
      if (id === "replay") return replay(dataset, body);
      if (id === "counts") return json(200, deliveryCounts(dataset, query));
      return id === undefined
        ? deliveries(dataset, query)
        : found(deliveryWithRequest(dataset, Number(id), Number(action)));
    case "bots":
      return action === undefined ? bots(dataset, method, id, body) : botAction(action, body);
    case "providers":
      return json(200, { providers: dataset.providers });
    case "visitors":
      return method === "GET" ? visitor(dataset, Number(id)) : undefined;
    case "agents":
      return agents(dataset, method, id, body);
    case "reports":
      return json(200, report(dataset, query));
    case "audit":
      return json(200, auditLog(dataset, query));
    case "chats":
      return exportChats(dataset, query, id === "export.csv");
    case "telephony":
      return telephony(dataset, method, body);
    case "departments":
      return departments(dataset, method, id, body);
    default:
      return undefined;
  }
}

function settings({ settings }, method, body) {
  if (method === "GET") return json(200, settings);
  if (body.idle_close > 129_600) return invalid("idle_close", "must be a whole number from 1 to 129600");
  const { limits, callback, ...fields } = body;
  Object.assign(settings, fields);
  Object.assign(settings.limits, limits);
  Object.assign(settings.callback, callback);
  return json(200, settings);
}

function webhooks({ settings }, method, [id, action], body) {
  const { webhooks } = settings;
  if (body.url !== undefined && !isWebUrl(body.url)) return invalid("url", "must be an http or https address");
  if (id === undefined) {
    const webhook = { webhook_id: `wh${randomUUID().slice(0, 4)}`, url: body.url, events: body.events ?? [] };
    webhooks.push(webhook);
    return json(201, { ...webhook, signing_secret: SECRET });
  }
  const index = webhooks.findIndex(({ webhook_id }) => webhook_id === id);
  const webhook = webhooks[index];
  if (webhook === undefined) return undefined;
  if (action === "rotate") return json(200, { ...webhook, signing_secret: SECRET });
  if (action === "test") return json(200, receiverTest(webhook.url, body.event, webhook.webhook_id === "wh1"));
  if (method === "DELETE") {
    webhooks.splice(index, 1);
    return json(200, { webhook_id: id, deleted: true });
  }
  return json(200, Object.assign(webhook, body));
}

function deliveries(dataset, query) {
  const number = (name, otherwise) => Number(query.get(name) ?? otherwise);
  const matches = ({ state, target, channel_id, chat_id, since }) =>
    state === (query.get("state") ?? "failed") &&
    (query.get("target") ?? target) === target &&
    (query.get("channel_id") ?? channel_id) === channel_id &&
    number("chat_id", chat_id) === chat_id &&
    since >= number("from", 0) &&
    since <= number("to", Infinity);
  const all = dataset.deliveries.filter(matches).sort((a, b) => b.since - a.since);
  const start = number("cursor", 0);
  const end = start + number("limit", 50);
  return json(200, { deliveries: all.slice(start, end), next: end < all.length ? String(end) : null });
}

/** Sends deliveries again. In the mock, each of them succeeds. */
function replay({ deliveries }, body) {
  const isOne = body.seq !== undefined;
  const chosen = deliveries.filter(
    ({ state, channel_id, chat_id, seq, since, target }) =>
      (isOne ? chat_id === body.chat_id && seq === body.seq : state === "failed") &&
      (body.channel_id ?? channel_id) === channel_id &&
      (body.chat_id ?? chat_id) === chat_id &&
      since >= (body.from ?? 0) &&
      since <= (body.to ?? Infinity) &&
      (body.target ?? target) === target,
  );
  const replayed = chosen.sort((a, b) => a.since - b.since).slice(0, MAX_REPLAYS_PER_REQUEST);
  for (const delivery of replayed) {
    delivery.state = "pending";
    delete delivery.error;
    const arrive = () => {
      delivery.state = "delivered";
      delivery.attempts = [...delivery.attempts, { at: Date.now(), status: 200, ms: 91 }];
    };
    setTimeout(arrive, REPLAY_MS).unref();
  }
  return json(202, { replayed: replayed.length, skipped: 0, next: replayed.length < chosen.length ? "1-1" : null });
}

function bots({ bots }, method, id, body) {
  if (id === undefined && method === "GET") return json(200, { bots });
  if (id === undefined) {
    if (body.provider_id === "unknown") return invalid("provider_id", "does not exist");
    const bot = {
      bot_id: `bot${bots.length + 1}`,
      provider_id: body.provider_id,
      name: body.name ?? "Bot",
      channel_ids: body.channel_ids ?? [],
      answer_within: 120,
      created_at: Math.floor(Date.now() / 1000),
    };
    bots.push(bot);
    return json(201, { ...bot, signing_secret: SECRET });
  }
  const index = bots.findIndex(({ bot_id }) => bot_id === id);
  if (index < 0) return undefined;
  if (method === "DELETE") {
    bots.splice(index, 1);
    return json(200, { bot_id: id, deleted: true });
  }
  if (body.answer_within > 900) return invalid("answer_within", "must be a whole number from 1 to 900");
  return json(200, Object.assign(bots[index], body));
}

function botAction(action, body) {
  if (action === "rotate") return json(200, { signing_secret: SECRET, old_signing_secret_valid_until: now() + 3600 });
  if (action === "test")
    return json(200, receiverTest("https://bots.parcel.example/events/***", body.event ?? "CLIENT_MESSAGE", false));
  return json(200, {
    since: now() - 3600,
    events: 214,
    answered: 209,
    failed: 3,
    slowest_ms: 2410,
    handed_over: 41,
    fallbacks: 2,
    is_complete: true,
  });
}

function visitor({ visitors, chats }, number) {
  const visitor = visitors.get(number);
  if (visitor === undefined) return undefined;
  const own = [...chats.values()].filter((chat) => chat.visitor === number);
  const entries = own.reduce((sum, chat) => sum + chat.entries.length, 0);
  return json(200, { visitor, chats_count: own.length, entries, is_complete: true });
}

const SECONDS_SINCE_SEEN = { online: 20, away: 1200, offline: 200_000 };
const agentOf = ({ id, name, email, phone = null, photo, role, status }) => ({
  agent_id: id,
  name,
  email,
  phone,
  photo,
  role,
  created_at: 1_700_000_000,
  last_seen_at: status === undefined ? null : now() - SECONDS_SINCE_SEEN[status],
});

function agents({ agents }, method, id, body) {
  if (id === undefined && method === "GET") return json(200, { agents: agents.map(agentOf) });
  const isTaken = agents.some((agent) => agent.email === body.email && String(agent.id) !== id);
  if (isTaken) return json(409, { error: { code: "conflict", message: "the e-mail address is already in use" } });
  if (id === undefined) {
    const { name, email, role = "agent" } = body;
    const agent = {
      id: Math.max(...agents.map(({ id }) => id)) + 1,
      name,
      email,
      role,
      status: "offline",
      photo: null,
    };
    agents.push(agent);
    return json(201, agentOf(agent));
  }
  const index = agents.findIndex((agent) => String(agent.id) === id);
  const agent = agents[index];
  if (agent === undefined) return undefined;
  if (method === "DELETE") {
    agents.splice(index, 1);
    return json(200, { agent_id: agent.id, deleted: true });
  }
  if (body.photo && !isWebUrl(body.photo)) return invalid("photo", "must be an http or https address");
  return json(200, agentOf(Object.assign(agent, body)));
}

function departments(dataset, method, id, body) {
  const { departments, members } = dataset;
  const shown = ({ id, name }) => ({ department_id: id, name, agent_ids: members.get(id) ?? [] });
  if (id === undefined && method === "GET") return json(200, { departments: departments.map(shown) });
  if (id === undefined) {
    const department = { id: Math.max(0, ...departments.map(({ id }) => id)) + 1, name: body.name };
    departments.push(department);
    return json(201, shown(department));
  }
  const index = departments.findIndex((department) => String(department.id) === id);
  const department = departments[index];
  if (department === undefined) return undefined;
  if (method === "DELETE") {
    departments.splice(index, 1);
    return json(200, { department_id: department.id, deleted: true });
  }
  if (body.name) department.name = body.name;
  if (body.agent_ids) members.set(department.id, body.agent_ids);
  return json(200, shown(department));
}
