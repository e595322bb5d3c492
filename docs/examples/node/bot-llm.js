// A bot that answers with a language model behind any OpenAI-compatible endpoint (POST {MODEL_URL}/chat/completions).
// It answers turns of a visitor, shows the answer while the model writes it, and hands the chat over with a summary if the
// visitor or the model asks for it. On standby, it suggests answers to the agent.
//
//     PORT=8002 SIGNING_SECRET=whsec_... EVENTS_URL=https://.../bot/webhooks/<provider_id>/<token> \
//         MODEL_URL=https://api.example.com/v1 MODEL_KEY=... MODEL=... node bot-llm.js

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.SIGNING_SECRET);
const INSTRUCTIONS = `You answer visitors of a shop that is open from 9 to 5. Call invite_agent if you do not know, or if the
visitor wants a person. Its summary is for the agent, its text for the visitor.`;
const UNAVAILABLE = "No agent is available. Say so, and ask the visitor for an e-mail address.";
const REASONS = ["requested", "unknown_answer", "sensitive", "complaint", "sales", "out_of_scope", "error", "other"];
const TEXT = { type: "string" };
const PARAMETERS = { type: "object", properties: { reason: { enum: REASONS }, summary: TEXT, text: TEXT } };
const INVITE = { name: "invite_agent", description: "Hand the chat over to a human", parameters: PARAMETERS };
const CHUNK_MS = Number(process.env.CHUNK_SECONDS ?? 0.5) * 1000;
const TOOLS = [{ type: "function", function: INVITE }];

// In production, store these in your database.
const acceptedIds = new Set();
const chats = new Map(); // chat_id to {history, seq, version, answered, running, hasAgent}

function handleEvent(event) {
    const { event: name, chat_id } = event;
    if (name === "CHAT_CLOSED") return chats.delete(chat_id);
    const empty = { history: [], seq: 0, version: 0, answered: 0, running: false, hasAgent: false };
    const chat = chats.get(chat_id) ?? empty;
    chats.set(chat_id, chat);
    // What is being written for the old chat is not sent.
    if (name === "AGENT_JOINED") return chats.set(chat_id, { ...empty, history: chat.history, hasAgent: true });
    chat.hasAgent &&= name !== "CHAT_RETURNED";
    if (name === "AGENT_UNAVAILABLE") {
        chat.history.push({ role: "system", content: UNAVAILABLE });
        chat.version++;
    } else if (["CLIENT_MESSAGE", "CHAT_RETURNED", "STANDBY_MESSAGE"].includes(name)) {
        addMessages(chat, event);
    }
    return answer(chat_id, chat);
}

// Adds the messages that the chat does not have yet: one can arrive in two events, or in an event and in a 409.
function addMessages(chat, { messages, message, up_to_seq }) {
    const isNew = ({ seq }) => seq === undefined || seq > chat.seq;
    for (const it of (messages ?? (message ? [message] : [])).filter(isNew)) {
        const role = it.from === "agent" ? "assistant" : "user";
        chat.history.push({ role, content: it.text ?? it.file ?? `(${it.type})` });
        if (role === "user") [chat.seq, chat.version] = [Math.max(chat.seq, it.seq ?? 0), chat.version + 1];
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
            const target = { chat_id, reply_to_seq: chat.seq || undefined };
            let reply = await think(chat.history, chat.hasAgent ? () => true : streamTo(target));
            if (chat.answered < chat.version || chats.get(chat_id) !== chat) continue; // stale
            // An agent decides what is sent.
            if (chat.hasAgent) reply = reply.message && { event: "DRAFT", text: reply.message.text };
            if (!reply) continue;
            const { status, body } = await sendEvent({ ...reply, ...target });
            if (status === 409 && body.error?.code === "superseded") {
                addMessages(chat, body);
                chat.answered = -1;
                if (!body.messages.length) await setTimeout(1000); // the newer message is just being stored
            } else if (status !== 200) break;
            else if (!chat.hasAgent) chat.history.push({ role: "assistant", content: reply.message?.text ?? reply.text });
        }
    } finally {
        chat.running = false;
    }
}

// Returns a function that shows the visitor the beginning of an answer, and returns whether the rest is wanted.
function streamTo(target) {
    let sentAt = Date.now();
    return async (content) => {
        if (!content || Date.now() - sentAt < CHUNK_MS) return true;
        sentAt = Date.now();
        const { status, body } = await sendEvent({ event: "MESSAGE_CHUNK", text: content, ...target }, 1);
        return status !== 409 && !body.stopped;
    };
}

// Returns the event that answers the visitor. If the model fails, this is a hand-over, too.
async function think(history, show) {
    try {
        const { content, tool } = await askModel(history, history.at(-1).role === "system" ? [] : TOOLS, show);
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
async function askModel(history, tools, show = () => true) {
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
        if (!(await show(content))) break;
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
async function sendEvent(event, attempts = 3) {
    const headers = { "Content-Type": "application/json", "Idempotency-Key": randomUUID() };
    let result = { status: 0, body: {} };
    for (let attempt = 0; attempt < attempts; attempt++) {
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
