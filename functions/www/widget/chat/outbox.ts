/* The queue of the visitor's messages. Each is kept in storage until the service has confirmed it, and is sent again
   with the same id, so that the service stores it once. */

import { backoffDelayMs } from "../../socket/backoff";
import { ServiceError } from "../service/client";
import type { DeferredStorage } from "../visitor/deferred-storage";

export interface Outgoing {
  endpoint: "message" | "offline-message";
  messageId: string;
  /** When the visitor sent the message, or last sent it again, as Unix time in milliseconds. */
  at: number;
  body: Record<string, unknown>;
  isFailed?: boolean;
}

export interface OutboxEvents {
  /** Called when a message was added or removed, or has failed. */
  changed: () => void;
  /** Sends a message. Rejects with a ServiceError if the service responds with an error. */
  send: (message: Outgoing) => Promise<unknown>;
  sent: (message: Outgoing, response: unknown) => void;
  /** Called when the service has rejected a message for good, or when it is too old to be sent again. */
  failed: (message: Outgoing, error: ServiceError) => void;
}

const KEY_PREFIX = "out.";
/** The service recognizes a repeated message for 24 hours. */
const MAX_RESEND_AGE_MS = 23 * 3_600_000;

export class Outbox {
  readonly #queue: Outgoing[];
  #isSending = false;
  #isStopped = false;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  readonly #storage: DeferredStorage;
  readonly #events: OutboxEvents;

  constructor(storage: DeferredStorage, events: OutboxEvents) {
    this.#storage = storage;
    this.#events = events;
    this.#queue = storage
      .names(KEY_PREFIX)
      .flatMap((name) => storage.read<Outgoing>(name) ?? [])
      .sort((a, b) => a.at - b.at);
  }

  get messages(): readonly Outgoing[] {
    return this.#queue;
  }

  add(message: Outgoing): void {
    this.#queue.push(message);
    this.#store(message);
    this.flush();
  }

  /** Sends a failed message again. */
  retry(messageId: string): void {
    const message = this.#queue.find((message) => message.messageId === messageId);
    if (message === undefined) return;
    message.at = Date.now();
    message.isFailed = false;
    this.#store(message);
    this.flush();
  }

  /** Removes a message that another tab has sent. */
  remove(messageId: string | undefined): void {
    const index = this.#queue.findIndex((message) => message.messageId === messageId);
    if (index < 0) return;
    this.#queue.splice(index, 1);
    this.#storage.remove(KEY_PREFIX + messageId);
    this.#events.changed();
  }

  clear(): void {
    for (const { messageId } of [...this.#queue]) this.remove(messageId);
  }

  /** Sends all waiting messages one after the other, now. */
  flush(): void {
    clearTimeout(this.#timer);
    if (!this.#isSending) void this.#sendAll();
  }

  /** Sends nothing from now on. The result of a message that is being sent is not reported. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#isStopped = true;
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    try {
      for (let message = this.#next(); message !== undefined; message = this.#next()) {
        try {
          if (Date.now() - message.at > MAX_RESEND_AGE_MS) throw new ServiceError(408, undefined, undefined);
          const response = await this.#events.send(message);
          this.#failures = 0;
          this.remove(message.messageId);
          if (!this.#isStopped) this.#events.sent(message, response);
        } catch (error) {
          if (this.#mustWait(message, error)) break;
        }
      }
    } finally {
      this.#isSending = false;
    }
  }

  /** Takes the error of a message. Returns true if the message, and those after it, are sent later. */
  #mustWait(message: Outgoing, error: unknown): boolean {
    // The widget was stopped, the person has signed out, or another tab has sent the message.
    if (this.#isStopped || !this.#queue.includes(message)) return false;
    if (error instanceof ServiceError && !error.isTemporary) {
      message.isFailed = true;
      this.#store(message);
      this.#events.failed(message, error);
      return false;
    }
    this.#failures++;
    const retryAfter = error instanceof ServiceError ? error.retryAfter : undefined;
    this.#timer = setTimeout(() => this.flush(), retryAfter ? retryAfter * 1000 : backoffDelayMs(this.#failures));
    return true;
  }

  #next(): Outgoing | undefined {
    return this.#isStopped ? undefined : this.#queue.find(({ isFailed }) => !isFailed);
  }

  #store(message: Outgoing): void {
    this.#storage.write(KEY_PREFIX + message.messageId, message);
    this.#events.changed();
  }
}
