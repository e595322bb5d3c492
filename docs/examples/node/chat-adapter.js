// An adapter for the package "chat" (`npm install chat @chat-adapter/state-memory`): with it, a bot that is written for
// several chat platforms answers the visitors of Switchboard, too. A thread is a chat of one visitor.
//
//     const chat = new Chat({ userName: "bot", state, concurrency: "queue", adapters: { switchboard } });
//     chat.onDirectMessage((thread, message) => thread.post("We are open from 9 to 5."));
//     const response = await chat.webhooks.switchboard(request); // in the server of the bot's endpoint
//
// Switchboard has no reactions, edits or deletions: these methods throw. A stream is sent as one message at its end.
// The SDK does not say which message an answer belongs to, so an answer is refused as stale only if the visitor has
// written something that has not arrived here. Set the bot's `quiet_ms` to get what a visitor writes in a row at once.

import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { Message, NotImplementedError, markdownToPlainText, parseMarkdown, stringifyMarkdown } from "chat";
import { Webhook } from "standardwebhooks";

const PREFIX = "switchboard:";
const toDate = (seconds) => (seconds ? new Date(seconds * 1000) : new Date());

export class SwitchboardAdapter {
    name = "switchboard";
    persistThreadHistory = true; // the SDK keeps the messages of a thread
    #upToSeq = new Map(); // thread id to the newest message that the bot knows

    constructor({ signingSecret, eventsUrl, userName = "bot" }) {
        Object.assign(this, { eventsUrl, userName, webhook: new Webhook(signingSecret) });
    }

    async initialize(chat) {
        this.chat = chat;
    }

    // Responds at once; the SDK calls the bot afterwards and recognises repeated messages by their ids.
    async handleWebhook(request, options) {
        let event;
        try {
            event = this.webhook.verify(await request.text(), Object.fromEntries(request.headers));
        } catch {
            return new Response(null, { status: 401 });
        }
        const threadId = this.encodeThreadId(event.chat_id);
        if (event.event === "CHAT_CLOSED") this.#upToSeq.delete(threadId);
        if (event.event === "CLIENT_MESSAGE" || (event.event === "CHAT_RETURNED" && event.messages.length > 0)) {
            this.#upToSeq.set(threadId, event.up_to_seq);
            this.chat.processMessage(this, threadId, this.parseMessage(event), options);
        }
        return new Response(null, { status: 200 });
    }

    parseMessage(event) {
        const text = event.message?.text ?? event.messages.map((it) => it.text ?? it.file ?? `(${it.type})`).join("\n");
        const name = event.sender?.name ?? "Visitor";
        const author = { userId: event.client_id, userName: name, fullName: name, isBot: false, isMe: false };
        const metadata = { dateSent: toDate((event.message ?? event.messages.at(-1)).timestamp), edited: false };
        const threadId = this.encodeThreadId(event.chat_id);
        const content = { text, formatted: parseMarkdown(text), attachments: [] };
        return new Message({ id: event.id, threadId, raw: event, author, metadata, ...content });
    }

    // If the visitor has written since, Switchboard refuses the message: the newer message is an event of its own.
    async postMessage(threadId, message) {
        const reply_to_seq = this.#upToSeq.get(threadId);
        const event = { event: "BOT_MESSAGE", message: toBotMessage(message), reply_to_seq };
        return { id: randomUUID(), threadId, raw: await this.sendEvent(threadId, event) };
    }

    async stream(threadId, chunks) {
        let markdown = "";
        for await (const chunk of chunks) markdown += typeof chunk === "string" ? chunk : (chunk.text ?? "");
        return this.postMessage(threadId, { markdown });
    }

    // Hands the chat over, with `reason`, `summary` and the other fields of INVITE_AGENT.
    inviteAgent(threadId, fields = {}) {
        const reply_to_seq = this.#upToSeq.get(threadId);
        return this.sendEvent(threadId, { event: "INVITE_AGENT", reply_to_seq, ...fields });
    }

    // Sends an event, three times if the service is busy, always with the same key.
    async sendEvent(threadId, event) {
        const headers = { "Content-Type": "application/json", "Idempotency-Key": randomUUID() };
        const body = JSON.stringify({ ...event, chat_id: this.decodeThreadId(threadId) });
        let reason;
        for (let attempt = 0; attempt < 3; attempt++) {
            const request = { method: "POST", headers, body, signal: AbortSignal.timeout(3000) };
            const response = await fetch(this.eventsUrl, request).catch(noResponse);
            if (response.ok) return response.json();
            reason = response.reason ?? `HTTP ${response.status} ${await response.text()}`;
            if (response.status !== 0 && response.status !== 429 && response.status < 500) break;
            await setTimeout(2 ** attempt * 1000);
        }
        throw new Error(`${event.event} was not accepted: ${reason}`);
    }

    encodeThreadId = (chatId) => PREFIX + chatId;
    decodeThreadId = (threadId) => threadId.slice(PREFIX.length);
    channelIdFromThreadId = (threadId) => threadId;
    isDM = () => true;
    renderFormatted = (content) => stringifyMarkdown(content);
    fetchThread = async (id) => ({ id, channelId: id, isDM: true, metadata: {} });
    fetchMessages = async () => ({ messages: [] });
    startTyping = async () => {};
    editMessage = unsupported("editMessage");
    deleteMessage = unsupported("deleteMessage");
    addReaction = unsupported("addReaction");
    removeReaction = unsupported("removeReaction");
}

function noResponse(error) {
    return { status: 0, reason: error.message };
}

function unsupported(method) {
    return async () => {
        throw new NotImplementedError(`Switchboard has no ${method}`, method);
    };
}

function toBotMessage(message) {
    if (typeof message === "string" || message.raw !== undefined) return { type: "TEXT", text: message.raw ?? message };
    const content = message.markdown ?? (message.ast && stringifyMarkdown(message.ast));
    if (content === undefined) throw new NotImplementedError("only text and Markdown can be sent", "postMessage");
    return { type: "MARKDOWN", content, text: markdownToPlainText(content) };
}
