// A bot provider's server (specification, part B): replies to visitors and invites an agent on request.
//
//     PORT=8002 SIGNING_SECRET=whsec_... EVENTS_URL=https://.../bot/webhooks/<provider_id>/<token> node bot.js

import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.SIGNING_SECRET);
// The service may repeat a request. In production, store the ids of processed requests in your database.
const processedIds = new Set();

async function handleEvent({ event, chat_id, message }) {
    const sendText = (text) => sendEvent({ event: "BOT_MESSAGE", chat_id, message: { type: "TEXT", text } });
    if (event === "AGENT_UNAVAILABLE") return sendText("Nobody is here right now. Please leave your e-mail address.");
    if (event !== "CLIENT_MESSAGE") return;
    if (message.text.toLowerCase().includes("human")) return sendEvent({ event: "INVITE_AGENT", chat_id });
    return sendText('We are open from 9 to 5. Write "human" to talk to an agent.');
}

async function sendEvent(event) {
    const headers = { "Content-Type": "application/json" };
    const request = { method: "POST", headers, body: JSON.stringify(event), signal: AbortSignal.timeout(3000) };
    const response = await fetch(process.env.EVENTS_URL, request);
    if (!response.ok) throw new Error(`${event.event}: HTTP ${response.status}`);
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
    if (!event || processedIds.has(id)) return;
    processedIds.add(id);
    await handleEvent(event).catch((error) => console.error(error.message));
}

createServer(handle).listen(process.env.PORT, "127.0.0.1");
