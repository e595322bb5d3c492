// Sends a visitor's messages to a channel (A-2 in docs/specification.md): one message for each line of the input.
//
//     CHANNEL_URL=https://.../channel/<secret>/<channel_id> node sender.js u-1 "Ada Lovelace"
//
// The answers arrive at integrator.js. Keep CHANNEL_URL on your server: anyone who has it can write as any visitor.

import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";

const MAX_ATTEMPTS = 6;

// Sends a message, and repeats it until the service has accepted or rejected it.
async function send(sender, message) {
    const body = JSON.stringify({ sender, message });
    // All attempts have the same key, so the service stores the message only once, even if a response was lost.
    const headers = { "Content-Type": "application/json", "Idempotency-Key": randomUUID() };
    let reason;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        let seconds = 2 ** attempt;
        try {
            const signal = AbortSignal.timeout(10_000);
            const response = await fetch(process.env.CHANNEL_URL, { method: "POST", headers, body, signal });
            if (response.ok) return;
            reason = `HTTP ${response.status} ${await response.text()}`;
            if (response.status !== 429 && response.status < 500) break; // the same request would be rejected again
            seconds = Number(response.headers.get("Retry-After")) || seconds;
        } catch (error) {
            reason = error.message; // no response
        }
        await setTimeout(Math.min(seconds, 30) * 1000);
    }
    throw new Error(`not sent: ${reason}`);
}

const [id, name] = process.argv.slice(2);
for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === "") continue;
    try {
        await send({ id, name }, { type: "text", text: line.trim() });
        console.log(`sent: ${line.trim()}`);
    } catch (error) {
        console.error(error.message);
    }
}
