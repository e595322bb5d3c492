// A bot that answers with a language model behind any OpenAI-compatible endpoint (POST {MODEL_URL}/chat/completions).
// It answers turns of a visitor, and hands the chat over with a summary if the visitor or the model asks for it.
//
//     PORT=8002 SIGNING_SECRET=whsec_... EVENTS_URL=https://.../bot/webhooks/<provider_id>/<token> \
//         MODEL_URL=https://api.example.com/v1 MODEL_KEY=... MODEL=... node bot-llm.js

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.SIGNING_SECRET);
const INSTRUCTIONS = "You answer visitors of a shop that is open from 9 to 5. Call invite_agent if you do not know.";
const SUMMARY = "Summarise this chat in at most three sentences for the agent who takes it over.";
const UNAVAILABLE = "No agent is available. Say so, and ask the visitor for an e-mail address.";
const HUMAN = /\b(human|agent|real person)\b/i;
const REASONS = ["requested", "unknown_answer", "sensitive", "complaint", "sales", "out_of_scope", "error", "other"];
const TEXT = { type: "string" };
const PARAMETERS = { type: "object", properties: { reason: { enum: REASONS }, summary: TEXT, text: TEXT } };
const INVITE = { name: "invite_agent", description: "Hand the chat over to a human", parameters: PARAMETERS };
const TOOLS = [{ type: "function", function: INVITE }];

// In production, store these in your database.
const acceptedIds = new Set();
const chats = new Map(); // chat_id to {history, seq, version, answered, running}

function handleEvent(event) {
    const { event: name, chat_id } = event;
    if (name === "AGENT_JOINED" || name === "CHAT_CLOSED") return chats.delete(chat_id);
    const chat = chats.get(chat_id) ?? { history: [], seq: 0, version: 0, answered: 0, running: false };
    chats.set(chat_id, chat);
    if (name === "AGENT_UNAVAILABLE") {
        chat.history.push({ role: "system", content: UNAVAILABLE });
        chat.version++;
    } else if (name === "CLIENT_MESSAGE" || name === "CHAT_RETURNED") {
        addMessages(chat, event);
    }
    return answer(chat_id, chat);
}

// Adds the messages that the chat does not have yet: one can arrive in two events, or in an event and in a 409.
function addMessages(chat, { messages, message, up_to_seq }) {
    const isNew = ({ seq }) => seq === undefined || seq > chat.seq;
    for (const it of (messages ?? (message ? [message] : [])).filter(isNew)) {
        chat.history.push({ role: "user", content: it.text ?? it.file ?? `(${it.type})` });
        chat.version++;
    }
    chat.seq = Math.max(chat.seq, up_to_seq ?? 0);
}

// Answers until the visitor has written nothing since the answer was begun. One chat has one answer at a time.
async function answer(chat_id, chat) {
    if (chat.running) return;
    chat.running = true;
    try {
        while (chat.answered < chat.version && chats.get(chat_id) === chat) {
            chat.answered = chat.version;
            const seq = chat.seq;
            const reply = await think(chat.history);
            if (chat.answered < chat.version || chats.get(chat_id) !== chat) continue; // stale
            const { status, body } = await sendEvent({ ...reply, chat_id, reply_to_seq: seq || undefined });
            if (status === 409 && body.error?.code === "superseded") {
                addMessages(chat, body);
                chat.answered = -1;
                if (!body.messages.length) await setTimeout(1000); // the newer message is just being stored
            } else if (status !== 200) break;
            else chat.history.push({ role: "assistant", content: reply.message?.text ?? reply.text });
        }
    } finally {
        chat.running = false;
    }
}

// Returns the event that answers the visitor. If the model fails, this is a hand-over, too.
async function think(history) {
    try {
        if (history.at(-1).role === "user" && HUMAN.test(history.at(-1).content)) {
            const { content } = await askModel([...history, { role: "user", content: SUMMARY }], []);
            return invite({ reason: "requested", summary: content });
        }
        const { content, tool } = await askModel(history, history.at(-1).role === "system" ? [] : TOOLS);
        return tool ? invite(JSON.parse(tool)) : { event: "BOT_MESSAGE", message: { type: "TEXT", text: content } };
    } catch (error) {
        console.error(`the model failed: ${error.message}`);
        return invite({ reason: "error" });
    }
}

function invite({ reason, summary, text }) {
    const known = REASONS.includes(reason) ? reason : "other";
    const last_words = text || "I am getting a colleague.";
    return { event: "INVITE_AGENT", reason: known, summary: summary?.slice(0, 4000) || undefined, text: last_words };
}

// Reads the answer of the model as server-sent events. Returns its text and the arguments of invite_agent, if called.
async function askModel(history, tools) {
    const messages = [{ role: "system", content: INSTRUCTIONS }, ...history];
    const body = { model: process.env.MODEL, stream: true, messages, ...(tools.length ? { tools } : {}) };
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${process.env.MODEL_KEY}` };
    const request = { method: "POST", headers, body: JSON.stringify(body), signal: AbortSignal.timeout(60_000) };
    const response = await fetch(`${process.env.MODEL_URL}/chat/completions`, request);
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    let content = "";
    let tool;
    for await (const data of serverSentEvents(response.body)) {
        const delta = data.choices?.[0]?.delta ?? {};
        content += delta.content ?? "";
        for (const call of delta.tool_calls ?? []) tool = (tool ?? "") + (call.function?.arguments ?? "");
    }
    if (!content && tool === undefined) throw new Error("an empty answer");
    return { content, tool };
}

async function* serverSentEvents(stream) {
    let rest = "";
    for await (const part of stream.pipeThrough(new TextDecoderStream())) {
        const lines = (rest + part).split("\n");
        rest = lines.pop();
        for (const line of lines.filter((it) => it.startsWith("data:"))) {
            const data = line.slice(5).trim();
            if (data === "[DONE]") return;
            yield JSON.parse(data);
        }
    }
    throw new Error("the answer is incomplete");
}

// Sends an event, three times if the service is busy, always with the same key. Returns the last response.
async function sendEvent(event) {
    const headers = { "Content-Type": "application/json", "Idempotency-Key": randomUUID() };
    let result = { status: 0, body: {} };
    for (let attempt = 0; attempt < 3; attempt++) {
        try {
            const request = { method: "POST", headers, body: JSON.stringify(event), signal: AbortSignal.timeout(3000) };
            const response = await fetch(process.env.EVENTS_URL, request);
            result = { status: response.status, body: await response.json().catch(() => ({})) };
            if (response.status !== 429 && response.status < 500) break;
        } catch (error) {
            result = { status: 0, body: { error: { code: error.message } } }; // no response
        }
        await setTimeout(2 ** attempt * 1000);
    }
    const code = result.body.error?.code;
    if (result.status !== 200) console.error(`${event.event} was not accepted: HTTP ${result.status} ${code}`);
    return result;
}

function verifyRequest(body, headers) {
    try {
        return webhook.verify(body, headers);
    } catch {
        return null;
    }
}

async function handle(request, response) {
    const event = verifyRequest(await text(request), request.headers);
    response.writeHead(event ? 200 : 401).end(); // respond first: the model takes longer than three seconds
    const id = request.headers["webhook-id"];
    if (!event || acceptedIds.has(id)) return;
    acceptedIds.add(id);
    await handleEvent(event);
}

createServer((request, response) => {
    // An error must not end the process. A client that disconnects during its upload causes one, too.
    handle(request, response).catch((error) => console.error(error));
}).listen(process.env.PORT, "127.0.0.1");
