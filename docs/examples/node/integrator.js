// An integrator's server (A-3 in docs/specification.md): receives the messages of agents and bots to your visitors.
//
//     PORT=8001 SIGNING_SECRET=whsec_... node integrator.js

import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.SIGNING_SECRET);
// The service repeats a request that failed. In production, store the ids of forwarded messages in your database.
const forwardedIds = new Set();

// Replace this function: forward the message to the visitor.
async function forwardToVisitor({ sender, recipient, message }) {
    if (message.type === "typein" || message.type === "typeout") return;
    console.log(`${sender.name} to ${recipient.id}: ${message.text ?? message.file ?? message.type}`);
}

function verifyRequest(body, headers) {
    try {
        return webhook.verify(body, headers);
    } catch {
        return null;
    }
}

function respond(response, status, body) {
    const json = JSON.stringify(body);
    response.writeHead(status, { "Content-Type": "application/json" }).end(json);
}

async function handle(request, response) {
    const event = verifyRequest(await text(request), request.headers);
    if (!event) return respond(response, 401, { error: { code: 401, message: "wrong signature" } });
    const id = request.headers["webhook-id"];
    if (!forwardedIds.has(id)) {
        await forwardToVisitor(event);
        // Only now: an id that is stored before the message was forwarded loses the message if forwarding fails.
        forwardedIds.add(id);
    }
    respond(response, 200, { result: "ok" });
}

createServer((request, response) => {
    handle(request, response).catch((error) => {
        console.error(error);
        // Any status but 200 makes the service send the message again, three times in all. If the client has
        // disconnected during its upload, nobody reads the response.
        respond(response, 500, { error: { code: 500, message: "the message was not forwarded" } });
    });
}).listen(process.env.PORT, "127.0.0.1");
