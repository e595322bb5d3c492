// An integrator's server (specification, A-3): receives what agents and bots write to your visitors.
//
//     PORT=8001 SIGNING_SECRET=whsec_... node integrator.js

import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.SIGNING_SECRET);
const received = new Set(); // the ids of requests; keep them in your database, because a request may come again

// Here you pass the message on to your visitor.
function show({ sender, recipient, message }) {
    if (message.type === "typein" || message.type === "typeout") return;
    console.log(`${sender.name} to ${recipient.id}: ${message.text ?? message.file ?? message.type}`);
}

function verified(body, headers) {
    try {
        return webhook.verify(body, headers);
    } catch {
        return null;
    }
}

async function handle(request, response) {
    const answer = (status, body) => {
        response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    };
    const event = verified(await text(request), request.headers);
    if (!event) return answer(401, { error: { code: 401, message: "wrong signature" } });
    const id = request.headers["webhook-id"];
    if (!received.has(id)) {
        received.add(id);
        show(event);
    }
    answer(200, { result: "ok" });
}

createServer(handle).listen(process.env.PORT, "127.0.0.1");
