/* Reads requests from standard input. Writes for each one why a library's verifier rejects it, or null, and writes the
   signatures of others. */

import { readFileSync } from "node:fs";

const { library, received, to_sign } = JSON.parse(readFileSync(0, "utf8"));
const { Webhook, WebhookVerificationError } = await import(library);

function rejection({ secret, headers, body, now }) {
  Date.now = () => now * 1000;
  try {
    new Webhook(secret).verify(body, headers);
    return null;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.message;
    throw error;
  }
}

function signature({ secret, id, timestamp, body }) {
  return new Webhook(secret).sign(id, new Date(timestamp * 1000), body);
}

console.log(JSON.stringify({ rejections: received.map(rejection), signatures: to_sign.map(signature) }));
