// A bot provider's server (specification, part B): answers visitors and hands over to an agent.
//
//     PORT=8002 SIGNING_SECRET=whsec_... EVENTS_URL=https://.../bot/webhooks/<provider_id>/<token> node bot.js

import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.SIGNING_SECRET);
const received = new Set(); // the ids of requests; keep them in your database, because a request may come again

async function react({ event, chat_id, message }) {
    const say = (text) => send({ event: "BOT_MESSAGE", chat_id, message: { type: "TEXT", text } });
    if (event === "AGENT_UNAVAILABLE") return say("Nobody is here right now. Please leave your e-mail address.");
    if (event !== "CLIENT_MESSAGE") return;
    if (message.text.toLowerCase().includes("human")) return send({ event: "INVITE_AGENT", chat_id });
    return say('We are open from 9 to 5. Write "human" to talk to an agent.');
}

async function send(event) {
    const headers = { "Content-Type": "application/json" };
    const request = { method: "POST", headers, body: JSON.stringify(event), signal: AbortSignal.timeout(3000) };
    const response = await fetch(process.env.EVENTS_URL, request);
    if (!response.ok) throw new Error(`${event.event}: HTTP ${response.status}`);
}

function verified(body, headers) {
    try {
        return webhook.verify(body, headers);
    } catch {
        return null;
    }
}

async function handle(request, response) {
    const event = verified(await text(request), request.headers);
    response.writeHead(event ? 200 : 401).end(); // first: a bot has three seconds to take an event, and more to react
    const id = request.headers["webhook-id"];
    if (!event || received.has(id)) return;
    received.add(id);
    await react(event).catch((error) => console.error(error.message));
}

createServer(handle).listen(process.env.PORT, "127.0.0.1");
