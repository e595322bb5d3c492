// A webhook receiver (part C of docs/specification.md): returns customer data for the agent who accepts a chat.
//
//     PORT=8003 SIGNING_SECRET=whsec_... node webhook.js

import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.SIGNING_SECRET);

// Replace this function: look up the visitor. If an event is repeated, return the same response again.
async function customerData({ event_name, visitor }) {
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

function respond(response, status, body) {
    const json = JSON.stringify(body);
    response.writeHead(status, { "Content-Type": "application/json" }).end(json);
}

async function handle(request, response) {
    const event = verifyRequest(await text(request), request.headers);
    if (!event) return respond(response, 401, { result: "FAILURE" });
    console.log(event.event_name, event.chat_id ?? "");
    respond(response, 200, { result: "OK", ...(await customerData(event)) });
}

createServer((request, response) => {
    handle(request, response).catch((error) => {
        console.error(error);
        // Any status but 2xx makes the service send the event again, three times in all. If the client has
        // disconnected during its upload, nobody reads the response.
        respond(response, 500, { result: "FAILURE" });
    });
}).listen(process.env.PORT, "127.0.0.1");
