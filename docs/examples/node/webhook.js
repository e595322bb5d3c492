// A webhook receiver (specification, part C): returns customer data for the agent who accepts a chat.
//
//     PORT=8003 SIGNING_SECRET=whsec_... node webhook.js

import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.SIGNING_SECRET);

// Replace this function: look up the visitor. If an event is repeated, return the same response again.
function customerData({ event_name, visitor }) {
    if (event_name !== "chat_accepted") return {};
    const content = `No. ${visitor.number}, 3 orders`;
    return { custom_data: [{ title: "Customer", content, link: "https://crm.example" }] };
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
    if (!event) return respond(401, { result: "FAILURE" });
    console.log(event.event_name, event.chat_id ?? "");
    respond(200, { result: "OK", ...customerData(event) });
}

createServer(handle).listen(process.env.PORT, "127.0.0.1");
