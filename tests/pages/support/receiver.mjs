/* An HTTP server of a customer: an integrator, a webhook receiver or a bot provider. It also serves media files. */

import { createHmac } from "node:crypto";
import http from "node:http";
import { waitFor } from "./wait.mjs";

const PICTURE = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** A front door, 1600 pixels wide and 1200 high. */
const DOOR =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1600 1200" width="1600" height="1200">' +
  '<rect width="1600" height="1200" fill="#c9bda4"/><rect y="744" width="1600" height="456" fill="#8f7b56"/>' +
  '<rect x="608" y="360" width="384" height="504" fill="#675232"/></svg>';

export class Receiver {
  /** The JSON bodies of the requests so far. A body that is not JSON is undefined. */
  received = [];
  /** Returns the response to a body, of which the second argument has the text and the headers. Undefined means that the
      server does not respond. */
  respond = () => ok();
  #server;

  static async start(respond = () => ok()) {
    const receiver = new Receiver();
    receiver.respond = respond;
    receiver.#server = http.createServer((request, response) => {
      receiver.#handle(request, response).catch(() => response.destroy());
    });
    await new Promise((done) =>
      receiver.#server.listen(0, "127.0.0.1", () => done()),
    );
    return receiver;
  }

  get url() {
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  async #handle(request, response) {
    if (request.method === "GET") {
      const [type, picture] = request.url.endsWith(".svg")
        ? ["image/svg+xml", DOOR]
        : ["image/png", PICTURE];
      return response.writeHead(200, { "content-type": type }).end(picture);
    }
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const body = parsed(text);
    this.received.push(body);
    const result = this.respond(body, { text, headers: request.headers });
    if (result === undefined) return;
    response
      .writeHead(result.status, { "content-type": "application/json" })
      .end(JSON.stringify(result.body));
  }

  /** Waits for a request whose body fulfils `matches`, and returns the body. */
  waitFor(description, matches) {
    return waitFor(description, () => this.received.find(matches));
  }

  close() {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns a server's function that accepts only requests with a signature of this secret (`whsec_...`) that is at most
    five minutes old. */
export function verifying(secret) {
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const refusal = (status) => ({ status, body: {} });
  return (body, { text, headers }) => {
    const { "webhook-id": id, "webhook-timestamp": time } = headers;
    const age = Math.abs(Date.now() / 1000 - Number(time));
    const digest = createHmac("sha256", key).update(`${id}.${time}.${text}`);
    const right = `v1,${digest.digest("base64")}`;
    const signatures = headers["webhook-signature"]?.split(" ") ?? [];
    if (!signatures.includes(right) || !(age < 300)) return refusal(401);
    return body === undefined ? refusal(400) : ok();
  };
}

export const ok = (fields = {}) => ({
  status: 200,
  body: { result: "ok", ...fields },
});
export const rejection = (message) => ({
  status: 200,
  body: { error: { code: 410, message } },
});

/** The fields of a webhook's response that fill the CRM card of the visitor's details. */
export const CRM_CARD = {
  custom_data: [
    { title: "Plan", content: "Gold, since 2023" },
    {
      title: "Last order",
      content: "AK-20931",
      link: "https://crm.example/orders/20931",
    },
    { title: "Open cases", content: "1" },
  ],
  enable_assign: true,
  crm_link: "https://crm.example/card/7",
};
