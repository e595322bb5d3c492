/* Messages and notes that the service has not confirmed yet. Each item is stored under its own key, so that a reload or
   a second tab does not lose it. The key is also sent as the Idempotency-Key, so that a retry does not store the
   message twice. */

import { signal } from "@preact/signals";
import { ApiError, isRetryable, NetworkError, type ApiClient } from "../../../api/client";
import type { AgentMessage, NewNote, ReplyActions } from "../../../api/types";
import type { PrefixedStorage } from "../../../ui/storage";
import { t } from "../../../texts/translate";

export type OutgoingContent =
  /** `actions` is what the console does with the chat when the message is stored. */
  { kind: "message"; body: AgentMessage; actions?: ReplyActions | undefined } | { kind: "note"; body: NewNote };

export type OutgoingState = "sending" | "waiting" | "rejected";

export type OutgoingItem = OutgoingContent & {
  key: string;
  chatId: number;
  /** When the item was created, as Unix time in milliseconds. The times are unique and determine the order of the
   * items. */
  createdAt: number;
  state: OutgoingState;
  /** Why the item has not been sent. This is usually the service's error message. */
  problem?: string;
};

const MAX_RETRY_DELAY_MS = 30_000;
const IDEMPOTENCY_KEY_BYTES = 16;

/** Returns a random key. Does not use `crypto.randomUUID`, because browsers offer it only over https. */
export function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(IDEMPOTENCY_KEY_BYTES)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}

export class Outbox {
  readonly items = signal<readonly OutgoingItem[]>([]);
  /** Called when the service has stored an item. */
  onSent: (item: OutgoingItem, response: { seq: number; id: string }) => void = () => {};
  /** Called after a stored item has left the outbox. */
  onDone: (item: OutgoingItem) => void = () => {};
  onRejected: (item: OutgoingItem) => void = () => {};
  /** Returns whether the chat's messages must wait because the chat is still being accepted. */
  isPaused: (chatId: number) => boolean = () => false;

  private readonly sendingChatIds = new Set<number>();
  private readonly failureCounts = new Map<number, number>();
  private readonly timers = new Map<number, ReturnType<typeof setTimeout>>();
  private isStopped = false;

  constructor(
    private readonly api: ApiClient,
    private readonly storage: PrefixedStorage,
  ) {
    const stored = storage.names().map((name) => storage.read<OutgoingItem>(name));
    this.items.value = stored
      .filter((item): item is OutgoingItem => item !== undefined && typeof item.key === "string")
      .map((item) => (item.state === "rejected" ? item : { ...item, state: "waiting" as const }))
      .sort((a, b) => a.createdAt - b.createdAt);
  }

  /** Sends all unsent items, including those that were already in storage when the page was loaded. */
  start(): void {
    for (const chatId of new Set(this.items.peek().map((item) => item.chatId))) void this.sendNext(chatId);
  }

  stop(): void {
    this.isStopped = true;
    for (const timer of this.timers.values()) clearTimeout(timer);
    this.timers.clear();
  }

  add(chatId: number, content: OutgoingContent): OutgoingItem {
    const latest = this.items.peek().at(-1)?.createdAt ?? 0;
    const item: OutgoingItem = {
      ...content,
      key: randomKey(),
      chatId,
      createdAt: Math.max(Date.now(), latest + 1),
      state: "sending",
    };
    this.storage.write(item.key, item);
    this.items.value = [...this.items.peek(), item];
    void this.sendNext(chatId);
    return item;
  }

  /** Sends the unsent items now instead of waiting for the next scheduled retry. */
  retryNow(): void {
    for (const [chatId, timer] of this.timers) {
      clearTimeout(timer);
      this.timers.delete(chatId);
    }
    this.start();
  }

  retry(key: string): void {
    const item = this.items.peek().find((item) => item.key === key);
    if (item === undefined) return;
    const { problem: _, ...rest } = item;
    this.update({ ...rest, state: "sending" } as OutgoingItem);
    void this.sendNext(item.chatId);
  }

  discard(key: string): OutgoingItem | undefined {
    const item = this.items.peek().find((item) => item.key === key);
    this.storage.remove(key);
    this.items.value = this.items.peek().filter((item) => item.key !== key);
    if (item !== undefined) void this.sendNext(item.chatId);
    return item;
  }

  /** Loads items that another tab has added to storage, and drops items that it has removed. */
  syncWithStorage(): void {
    const names = new Set(this.storage.names());
    const currentItems = this.items.peek();
    const remainingItems = currentItems.filter((item) => names.has(item.key) || this.sendingChatIds.has(item.chatId));
    const added = [...names]
      .filter((name) => !currentItems.some((item) => item.key === name))
      .flatMap((name) => this.storage.read<OutgoingItem>(name) ?? []);
    if (remainingItems.length !== currentItems.length || added.length > 0)
      this.items.value = [...remainingItems, ...added].sort((a, b) => a.createdAt - b.createdAt);
  }

  private update(item: OutgoingItem): void {
    this.storage.write(item.key, item);
    this.items.value = this.items.peek().map((other) => (other.key === item.key ? item : other));
  }

  /** Sends the chat's next item. Only one request per chat runs at a time, so that the messages stay in order. */
  async sendNext(chatId: number): Promise<void> {
    if (this.isStopped || this.sendingChatIds.has(chatId) || this.timers.has(chatId) || this.isPaused(chatId)) return;
    const item = this.items.peek().find((item) => item.chatId === chatId && item.state !== "rejected");
    if (item === undefined) return;
    this.sendingChatIds.add(chatId);
    try {
      const response = await this.send(item);
      this.failureCounts.delete(chatId);
      this.storage.remove(item.key);
      // Add the entry to the timeline before the item is removed, so that the message stays visible.
      this.onSent(item, response);
      this.items.value = this.items.peek().filter((other) => other.key !== item.key);
      this.onDone(item);
    } catch (error) {
      if (this.isStopped) return;
      // Status 401 means that the session has ended. The item is sent again after the agent has signed back in.
      if (isRetryable(error) || (error instanceof ApiError && error.status === 401)) {
        this.scheduleRetry(item, error);
        return;
      }
      const rejected: OutgoingItem = {
        ...item,
        state: "rejected",
        problem: error instanceof Error ? error.message : t`It could not be sent.`,
      };
      if (this.items.peek().some((other) => other.key === item.key)) this.update(rejected);
      this.onRejected(rejected);
    } finally {
      this.sendingChatIds.delete(chatId);
    }
    void this.sendNext(chatId);
  }

  private scheduleRetry(item: OutgoingItem, error: unknown): void {
    const failureCount = (this.failureCounts.get(item.chatId) ?? 0) + 1;
    this.failureCounts.set(item.chatId, failureCount);
    const problem =
      error instanceof NetworkError ? t`Waiting for the network` : error instanceof Error ? error.message : "";
    if (this.items.peek().some((other) => other.key === item.key)) this.update({ ...item, state: "waiting", problem });
    const retryAfterMs = error instanceof ApiError && error.retryAfter !== undefined ? error.retryAfter * 1000 : 0;
    const delay =
      Math.max(retryAfterMs, Math.min(MAX_RETRY_DELAY_MS, 1000 * 2 ** (failureCount - 1))) * (1 + Math.random() * 0.2);
    const timer = setTimeout(() => {
      this.timers.delete(item.chatId);
      void this.sendNext(item.chatId);
    }, delay);
    this.timers.set(item.chatId, timer);
  }

  private send(item: OutgoingItem) {
    const path = { chat_id: item.chatId };
    const idempotencyKey = item.key;
    return item.kind === "note"
      ? this.api.post("/agent/chats/{chat_id}/notes", { path, body: item.body, idempotencyKey })
      : this.api.post("/agent/chats/{chat_id}/messages", { path, body: item.body, idempotencyKey });
  }
}
