// A webhook receiver (specification, part C): shows the agent who accepts a chat what you know of the visitor.
//
//     PORT=8003 SIGNING_SECRET=whsec_... node webhook.js

import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.SIGNING_SECRET);

// Here you look the visitor up. A repeated event gets the same answer again.
function about({ event_name, visitor }) {
    if (event_name !== "chat_accepted") return {};
    const content = `No. ${visitor.number}, 3 orders`;
    return { custom_data: [{ title: "Customer", content, link: "https://crm.example" }] };
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
    if (!event) return answer(401, { result: "FAILURE" });
    console.log(event.event_name, event.chat_id ?? "");
    answer(200, { result: "OK", ...about(event) });
}

createServer(handle).listen(process.env.PORT, "127.0.0.1");
