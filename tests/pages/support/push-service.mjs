/* The push service of a browser with its subscription (Web Push). The library http_ece decrypts what it gets. */

import { createECDH, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { decrypt } from "http_ece";
import { waitFor } from "./wait.mjs";

export class PushService {
  /** The decrypted notifications so far. */
  notifications = [];
  onNotification = () => {};
  #keys = createECDH("prime256v1");
  #auth = randomBytes(16);
  #server;

  static async start() {
    const service = new PushService();
    service.#keys.generateKeys();
    service.#server = createServer((request, response) => {
      service.#handle(request, response).catch(() => response.destroy());
    }).listen(0, "127.0.0.1");
    await once(service.#server, "listening");
    return service;
  }

  /** What a browser's PushSubscription contains. */
  get subscription() {
    return {
      endpoint: `http://127.0.0.1:${this.#server.address().port}/`,
      keys: {
        p256dh: this.#keys.getPublicKey("base64url"),
        auth: this.#auth.toString("base64url"),
      },
    };
  }

  async #handle(request, response) {
    const options = { privateKey: this.#keys, authSecret: this.#auth };
    const body = await buffer(request);
    const text = decrypt(body, { version: "aes128gcm", ...options });
    const notification = JSON.parse(text);
    this.notifications.push(notification);
    this.onNotification(notification);
    response.writeHead(201).end();
  }

  /** Waits for a notification of this kind, and returns it. */
  waitFor(kind) {
    return waitFor(`the notification ${kind}`, () =>
      this.notifications.find((notification) => notification.kind === kind),
    );
  }

  close() {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
