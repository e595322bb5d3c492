/* Keeps the stores up to date: through pushes while the socket is open, and otherwise by polling. */

import { batch, signal } from "@preact/signals";
import { hasStatus, type ApiClient } from "../../api/client";
import type { ChatChanges, Push } from "../../api/planned-endpoints";
import type { ChatRow, Entry } from "../../api/types";
import { backoffDelayMs } from "../../socket/backoff";
import { PushSocket } from "../../socket/push-socket";
import type { ChatStore } from "./chats";
import type { Timeline, Timelines } from "./timeline";
import type { TypingStore } from "./visitor-typing";

export type ConnectionState =
  | { kind: "starting" }
  | { kind: "live" }
  /** The lists are polled. The next attempt to open a socket starts at `nextAttemptAt`. Undefined means that no attempt
   * is planned, because the service does not support sockets or the first socket is still connecting. */
  | { kind: "polling"; nextAttemptAt: number | undefined }
  /** There is no socket, and HTTP requests fail too. The next attempt starts at `nextAttemptAt`. */
  | { kind: "lost"; nextAttemptAt: number };

const POLL_INTERVAL_MS = 3000;
const HIDDEN_POLL_INTERVAL_MS = 15_000;
const RECONCILE_INTERVAL_MS = 5 * 60_000;
const HIDDEN_FLUSH_DELAY_MS = 250;

export interface SyncEvents {
  /** Called when a visitor has written or a chat has started waiting for an agent. If several pushes for the same chat
   * are applied together, this is called only once. */
  visitorActivity: (row: ChatRow, entry: Entry | undefined) => void;
  presence: (agentId: number, status: "online" | "away" | "offline") => void;
  settings: () => void;
  sessionEnded: () => void;
  /** Called when the service responds again after failures. */
  recovered: () => void;
}

export class Sync {
  readonly connection = signal<ConnectionState>({ kind: "starting" });
  /** Returns the open chat's timeline, which is refreshed together with the lists; undefined if no chat is open. */
  openTimeline: () => Timeline | undefined = () => undefined;

  private readonly socket: PushSocket;
  private cursor: string | undefined;
  private supportsChanges = true;
  private failureCount = 0;
  private pollCount = 0;
  private socketRetryAt: number | undefined;
  private pollTimer: ReturnType<typeof setTimeout> | undefined;
  private reconcileTimer: ReturnType<typeof setInterval> | undefined;
  private isPolling = false;
  private isStopped = false;
  private pendingPushes: Push[] = [];
  private isFlushScheduled = false;

  constructor(
    private readonly api: ApiClient,
    private readonly chats: ChatStore,
    private readonly timelines: Timelines,
    private readonly typing: TypingStore,
    private readonly events: SyncEvents,
    createSocket?: (url: string) => WebSocket,
  ) {
    this.socket = new PushSocket(
      api,
      {
        connected: () => void this.onSocketOpen(),
        disconnected: (nextAttemptAt) => this.onSocketDown(nextAttemptAt),
        unavailable: () => this.onSocketDown(undefined),
        push: (push) => this.enqueue(push),
        sessionEnded: () => events.sessionEnded(),
      },
      createSocket,
    );
  }

  start(): void {
    document.addEventListener("visibilitychange", this.onVisible);
    addEventListener("online", this.onOnline);
    addEventListener("offline", this.onOffline);
    this.socket.start();
    this.poll();
    this.reconcileTimer = setInterval(() => {
      if (this.connection.peek().kind === "live") void this.readChanges().catch(() => {});
    }, RECONCILE_INTERVAL_MS);
  }

  stop(): void {
    this.isStopped = true;
    document.removeEventListener("visibilitychange", this.onVisible);
    removeEventListener("online", this.onOnline);
    removeEventListener("offline", this.onOffline);
    clearTimeout(this.pollTimer);
    clearInterval(this.reconcileTimer);
    this.socket.stop();
  }

  /** Reconnects and polls now instead of waiting for the next attempt. */
  reconnectNow(): void {
    this.socket.reconnectNow();
    this.poll();
  }

  sendTyping(chatId: number, typing: "typein" | "typeout"): boolean {
    return this.socket.send({ type: "typing", chat_id: chatId, typing });
  }

  private readonly onVisible = () => {
    if (document.visibilityState !== "visible") return;
    this.socket.checkConnection();
    if (this.connection.peek().kind !== "live") this.poll();
  };

  private readonly onOnline = () => this.reconnectNow();

  private readonly onOffline = () => {
    this.socket.checkConnection();
    if (this.connection.peek().kind !== "live") this.poll();
  };

  private async onSocketOpen(): Promise<void> {
    this.socketRetryAt = undefined;
    const before = this.chats.rows.peek();
    const isFirst = this.chats.loadState.peek() !== "ready";
    try {
      await this.readChanges();
      await this.openTimeline()?.refresh();
      if (!isFirst) this.reportVisitorActivity(before);
    } catch {
      // Earlier changes are not pushed again, so keep polling until a request succeeds.
      if (!this.isStopped && !this.isPolling) this.schedulePoll(POLL_INTERVAL_MS);
      return;
    }
    if (this.isStopped || !this.socket.isOpen) return;
    clearTimeout(this.pollTimer);
    this.failureCount = 0;
    this.setConnection({ kind: "live" });
    void this.openTimeline()
      ?.refreshPending()
      .catch(() => {});
    // Other timelines may have missed pushes too, but they are refreshed when they are opened.
  }

  private onSocketDown(nextAttemptAt: number | undefined): void {
    this.socketRetryAt = nextAttemptAt;
    const wasLive = this.connection.peek().kind === "live";
    if (wasLive || this.connection.peek().kind === "polling") this.setConnection({ kind: "polling", nextAttemptAt });
    if (wasLive) this.poll();
  }

  private setConnection(connection: ConnectionState): void {
    const before = this.connection.peek();
    this.connection.value = connection;
    if (before.kind === "lost" && connection.kind !== "lost") this.events.recovered();
  }

  /** Loads and applies the changes after the cursor, or loads the open chats if there is no valid cursor. */
  private async readChanges(): Promise<void> {
    if (this.supportsChanges) {
      try {
        while (this.cursor !== undefined) {
          const changes: ChatChanges = await this.api.get("/agent/changes", { query: { cursor: this.cursor } });
          batch(() => {
            this.chats.applyRows(changes.chats);
            this.chats.remove(changes.gone);
          });
          this.cursor = changes.cursor;
          if (changes.complete) return;
        }
        this.cursor = (await this.api.get("/agent/changes")).cursor;
      } catch (error) {
        if (hasStatus(error, 410)) {
          this.cursor = undefined;
          return this.readChanges();
        }
        if (!hasStatus(error, 404, 405)) throw error;
        this.supportsChanges = false;
      }
    }
    await this.chats.loadOpen();
  }

  private poll(): void {
    if (this.isPolling || this.isStopped) return;
    clearTimeout(this.pollTimer);
    this.isPolling = true;
    void this.pollOnce()
      .catch((error: unknown) => {
        if (hasStatus(error, 401) || this.isStopped) return;
        this.failureCount++;
        // Retry soon after the first failure, because one slow response does not mean that the connection is lost.
        const delay = Math.max(this.failureCount > 1 ? 0 : POLL_INTERVAL_MS, backoffDelayMs(this.failureCount));
        this.setConnection({ kind: "lost", nextAttemptAt: Date.now() + delay });
        this.schedulePoll(delay);
      })
      .finally(() => {
        this.isPolling = false;
      });
  }

  private async pollOnce(): Promise<void> {
    const before = this.chats.rows.peek();
    const isFirst = this.chats.loadState.peek() !== "ready";
    await this.chats.loadOpen();
    const timeline = this.openTimeline();
    if (timeline?.loadState.peek() === "ready") {
      await timeline.refreshPending();
      if (this.pollCount++ % 2 === 0) await this.refreshDetails(timeline);
    }
    if (this.isStopped) return;
    this.failureCount = 0;
    if (!isFirst) this.reportVisitorActivity(before);
    if (this.socket.isOpen) {
      if (this.connection.peek().kind !== "live") void this.onSocketOpen();
      return;
    }
    if (this.connection.peek().kind === "lost" && this.socketRetryAt !== undefined) this.socket.reconnectNow();
    // `socketRetryAt` is undefined until the first socket has opened or failed.
    this.setConnection({ kind: "polling", nextAttemptAt: this.socketRetryAt });
    this.schedulePoll(document.hidden ? HIDDEN_POLL_INTERVAL_MS : POLL_INTERVAL_MS);
  }

  private async refreshDetails(timeline: Timeline): Promise<void> {
    await timeline.refreshDetails();
    const detail = timeline.chatDetails.peek();
    if (detail !== undefined) this.typing.set(timeline.chatId, detail.visitor_typing);
  }

  private schedulePoll(ms: number): void {
    clearTimeout(this.pollTimer);
    this.pollTimer = setTimeout(() => this.poll(), ms);
  }

  /** Reports visitor activity found by polling, in the same way as activity found through pushes. `before` contains the
   * rows as they were before the poll. */
  private reportVisitorActivity(before: ReadonlyMap<number, ChatRow>): void {
    for (const row of this.chats.rows.peek().values()) {
      const previousRow = before.get(row.chat_id);
      if (previousRow === row) continue;
      const isNewWait = row.state === "waiting" && previousRow?.state !== "waiting";
      const isNewMessage =
        row.last_message?.from === "visitor" &&
        JSON.stringify(previousRow?.last_message) !== JSON.stringify(row.last_message);
      if (isNewWait || isNewMessage) this.events.visitorActivity(row, undefined);
    }
  }

  private enqueue(push: Push): void {
    this.pendingPushes.push(push);
    if (this.isFlushScheduled) return;
    this.isFlushScheduled = true;
    const flush = () => this.flush();
    if (document.hidden) setTimeout(flush, HIDDEN_FLUSH_DELAY_MS);
    else requestAnimationFrame(flush);
  }

  /** Applies all pushes that have arrived since the last call, as one batch. */
  flush(): void {
    this.isFlushScheduled = false;
    if (this.isStopped) return;
    const pushes = this.pendingPushes;
    this.pendingPushes = [];
    const activeChats = new Map<number, Entry | undefined>();
    const rows = new Map<number, ChatRow>();
    const current = (chatId: number) => rows.get(chatId) ?? this.chats.peek(chatId);
    batch(() => {
      for (const push of pushes) {
        switch (push.type) {
          case "chat": {
            const before = current(push.chat_id);
            rows.set(push.chat_id, { ...push.chat, seq: push.seq });
            if (push.chat.state === "waiting" && before?.state !== "waiting") activeChats.set(push.chat_id, undefined);
            this.timelines.peek(push.chat_id)?.applyRow(push.chat);
            break;
          }
          case "chat_gone":
            rows.delete(push.chat_id);
            this.chats.remove([push.chat_id]);
            break;
          case "message": {
            const entry = push.message;
            const row = current(push.chat_id);
            const isNew = this.timelines.peek(push.chat_id)?.applyEntry(entry) ?? entry.seq > (row?.seq ?? 0);
            if (row !== undefined && entry.seq > (row.seq ?? 0)) rows.set(push.chat_id, withLastMessage(row, entry));
            if (entry.from === "visitor") {
              this.typing.set(push.chat_id, false);
              if (isNew) {
                this.chats.incrementUnread(push.chat_id);
                activeChats.set(push.chat_id, entry);
              }
            }
            break;
          }
          case "delivery":
            this.timelines.peek(push.chat_id)?.applyEntry(push.message);
            break;
          case "panel":
            this.timelines.peek(push.chat_id)?.applyPanel(push.panel);
            break;
          case "visitor":
            this.timelines.peek(push.chat_id)?.applyVisitor(push.visitor);
            break;
          case "typing":
            if (push.from === "visitor") this.typing.set(push.chat_id, push.typing, push.text);
            break;
          case "presence":
            this.events.presence(push.agent_id, push.status);
            break;
          case "settings":
            this.events.settings();
            break;
        }
      }
      this.chats.applyRows([...rows.values()]);
    });
    for (const [chatId, entry] of activeChats) {
      const row = this.chats.peek(chatId);
      if (row !== undefined) this.events.visitorActivity(row, entry);
    }
  }
}

const MESSAGE_TYPES = new Set([
  "text",
  "video",
  "audio",
  "voice",
  "photo",
  "sticker",
  "document",
  "location",
  "markdown",
  "buttons",
]);

/** Returns a copy of the row with `entry` as its last message, for use until the row itself is pushed. */
function withLastMessage(row: ChatRow, entry: Entry): ChatRow {
  if (!MESSAGE_TYPES.has(entry.type)) return { ...row, seq: entry.seq };
  const type = entry.type as NonNullable<ChatRow["last_message"]>["type"];
  const text = entry.text ?? entry.file_name ?? entry.content ?? "";
  return { ...row, seq: entry.seq, last_message: { from: entry.from, type, text, timestamp: entry.timestamp } };
}
