// A bot provider's server (part B of docs/specification.md): replies to visitors and invites an agent on request.
//
//     PORT=8002 SIGNING_SECRET=whsec_... EVENTS_URL=https://.../bot/webhooks/<provider_id>/<token> node bot.js

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.SIGNING_SECRET);
// The service may repeat a request. In production, store the ids of accepted requests in your database.
const acceptedIds = new Set();

async function handleEvent({ event, chat_id, message }) {
    const sendText = (text) => sendEvent({ event: "BOT_MESSAGE", chat_id, message: { type: "TEXT", text } });
    if (event === "AGENT_UNAVAILABLE") return sendText("Nobody is here right now. Please leave your e-mail address.");
    if (event !== "CLIENT_MESSAGE") return;
    if (message.text.toLowerCase().includes("human")) return sendEvent({ event: "INVITE_AGENT", chat_id });
    return sendText('We are open from 9 to 5. Write "human" to talk to an agent.');
}

// Sends an event, three times if the service is busy. A rejected event is only reported: the chat of a test event does
// not exist (400), and an answer may come after the chat was handed over to an agent (403).
async function sendEvent(event) {
    const headers = { "Content-Type": "application/json", "Idempotency-Key": randomUUID() };
    let reason;
    for (let attempt = 0; attempt < 3; attempt++) {
        try {
            const request = { method: "POST", headers, body: JSON.stringify(event), signal: AbortSignal.timeout(3000) };
            const response = await fetch(process.env.EVENTS_URL, request);
            if (response.ok) return;
            reason = `HTTP ${response.status} ${await response.text()}`;
            if (response.status !== 429 && response.status < 500) break;
        } catch (error) {
            reason = error.message; // no response
        }
        await setTimeout(2 ** attempt * 1000);
    }
    console.error(`${event.event} was not accepted: ${reason}`);
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
    response.writeHead(event ? 200 : 401).end(); // respond first: the bot must accept an event within three seconds
    const id = request.headers["webhook-id"];
    if (!event || acceptedIds.has(id)) return;
    acceptedIds.add(id);
    await handleEvent(event);
}

createServer((request, response) => {
    // An error must not end the process. A client that disconnects during its upload causes one, too.
    handle(request, response).catch((error) => console.error(error));
}).listen(process.env.PORT, "127.0.0.1");
