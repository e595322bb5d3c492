// An integrator's server (specification, A-3): receives the messages of agents and bots to your visitors.
//
//     PORT=8001 SIGNING_SECRET=whsec_... node integrator.js

import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.SIGNING_SECRET);
// The service may repeat a request. In production, store the ids of processed requests in your database.
const processedIds = new Set();

// Replace this function: forward the message to the visitor.
function forwardToVisitor({ sender, recipient, message }) {
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

async function handle(request, response) {
    const respond = (status, body) => {
        response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    };
    const event = verifyRequest(await text(request), request.headers);
    if (!event) return respond(401, { error: { code: 401, message: "wrong signature" } });
    const id = request.headers["webhook-id"];
    if (!processedIds.has(id)) {
        processedIds.add(id);
        forwardToVisitor(event);
    }
    respond(200, { result: "ok" });
}

createServer(handle).listen(process.env.PORT, "127.0.0.1");
