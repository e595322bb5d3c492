/* Phone calls and the telephony settings of the mock service. */

const json = (status, body) => ({ status, body });
const invalid = (field, message) =>
  json(400, { error: { code: "invalid_request", message: `${field} ${message}`, field } });
const conflict = (message) => json(409, { error: { code: "conflict", message } });
const INCOMING_URL = "https://chat.fjord.example/calls/acc_demo";
const isNumber = (text) => /^\+?[\d\s()-]{5,}$/.test(text ?? "");

const CALLBACK_LIMITS = { countries: ["NO"], callbacks_per_number: 5, callbacks_per_day: 200, locked: false };

export const createTelephony = () => ({
  telephony: {
    provider: "http",
    url: "https://gateway.fjord.example/calls",
    number: "+4721000000",
    channel_id: "ch_1",
    record: true,
    ring_seconds: 30,
    max_minutes: 120,
    ...CALLBACK_LIMITS,
  },
  balance_minutes: 594,
  incoming_url: INCOMING_URL,
});

export function telephony(dataset, method, body) {
  const state = dataset.telephony;
  if (method === "DELETE") {
    state.telephony = null;
    return json(200, { deleted: true });
  }
  if (method === "PATCH") {
    if (body.number !== undefined && !isNumber(body.number)) return invalid("number", "must be a phone number");
    const { signing_secret: _, auth_token: __, ...visible } = body;
    const defaults = { channel_id: null, record: false, ring_seconds: 30, max_minutes: 120, ...CALLBACK_LIMITS };
    const { url, api_url, account_sid, ...kept } = state.telephony ?? defaults;
    const isSameProvider = body.provider === undefined || body.provider === state.telephony?.provider;
    const isOther = (name, stored) => body[name] !== undefined && body[name] !== stored;
    const needsToken =
      isSameProvider && account_sid && (isOther("account_sid", account_sid) || isOther("api_url", api_url));
    if (needsToken && !body.auth_token) return invalid("auth_token", "is required");
    state.telephony = { ...kept, ...(isSameProvider ? { url, api_url, account_sid } : {}), ...visible };
  }
  return json(200, state);
}

/** Handles an agent's request to call the visitor of a chat. */
export function callVisitor(service, chat, { phone } = {}, agent) {
  const visitor = service.dataset.visitors.get(chat.visitor);
  const number = phone ?? visitor.phone;
  if (service.dataset.telephony.telephony === null) return conflict("the account has no telephony provider");
  if (chat.entries.some(({ call }) => call && !["end", "error"].includes(call.status)))
    return conflict("the visitor has a call in progress");
  if (!isNumber(number)) return invalid("phone", "must be a valid number, not a premium-rate one");
  const { seq, id } = addCall(service, chat, {
    type: "outgoing",
    phone: number.replace(/[^+\d]/g, ""),
    status: "start",
    agent,
  });
  return json(201, { seq, id });
}

function addCall(service, chat, call) {
  const author = call.type === "outgoing" ? { from: "agent", agent: call.agent } : { from: "visitor" };
  return service.add(chat, { ...author, type: "call", text: call.phone, call });
}

/** Reports the next status of a chat's call. Starts a call if none is in progress. */
export function reportCall(service, { chat_id, ...fields }) {
  const chat = service.dataset.chats.get(chat_id);
  const entry = chat.entries.findLast(({ call }) => call && !["end", "error"].includes(call.status));
  const [{ id, name }] = service.dataset.agents;
  if (entry === undefined)
    return json(
      200,
      addCall(service, chat, {
        type: "callback",
        phone: "+4790000000",
        status: "start",
        agent: { id, name },
        ...fields,
      }),
    );
  entry.call = { ...entry.call, ...fields };
  service.push({ type: "delivery", chat_id, seq: entry.seq, message: entry });
  return json(200, entry);
}
