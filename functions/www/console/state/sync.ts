/* Keeps the stores equal to the service: by pushes while there is a socket, by reading again while there is none. */

import { batch, signal } from "@preact/signals";
import { isStatus, type Api } from "../../api/client";
import type { Changes, Push } from "../../api/contract";
import type { ChatRow, Entry } from "../../api/types";
import { backoff } from "../../socket/backoff";
import { PushSocket } from "../../socket/socket";
import type { ChatStore } from "./chats";
import type { Timeline, Timelines } from "./timeline";
import type { TypingStore } from "./typing";

export type Link =
  | { kind: "starting" }
  | { kind: "live" }
  /** There are no pushes: the lists are read every few seconds. Without `nextAttemptAt` the service has no sockets. */
  | { kind: "polling"; nextAttemptAt: number | undefined }
  /** Not even reading works. */
  | { kind: "lost"; nextAttemptAt: number };

const POLL_MS = 3000;
const POLL_HIDDEN_MS = 15_000;
const RECONCILE_MS = 5 * 60_000;
const HIDDEN_FLUSH_MS = 250;

export interface SyncEvents {
  /** A visitor wrote, or a chat began to wait. Called once for each flush and chat. */
  arrived: (row: ChatRow, entry: Entry | undefined) => void;
  presence: (agentId: number, status: "online" | "away" | "offline") => void;
  settings: () => void;
  sessionEnded: () => void;
  /** The service answers again. */
  back: () => void;
}

export class Sync {
  readonly link = signal<Link>({ kind: "starting" });
  /** The chat that is shown: its timeline is kept fresh. */
  shown: () => Timeline | undefined = () => undefined;

  private readonly socket: PushSocket;
  private cursor: string | undefined;
  private hasChanges = true;
  private failures = 0;
  private polls = 0;
  private socketRetryAt: number | undefined;
  private pollTimer: ReturnType<typeof setTimeout> | undefined;
  private reconcileTimer: ReturnType<typeof setInterval> | undefined;
  private isPolling = false;
  private isStopped = false;
  private queue: Push[] = [];
  private isFlushScheduled = false;

  constructor(
    private readonly api: Api,
    private readonly chats: ChatStore,
    private readonly timelines: Timelines,
    private readonly typing: TypingStore,
    private readonly events: SyncEvents,
    createSocket?: (url: string) => WebSocket,
  ) {
    this.socket = new PushSocket(
      api,
      {
        open: () => void this.onOpen(),
        down: (nextAttemptAt) => this.onDown(nextAttemptAt),
        unavailable: () => this.onDown(undefined),
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
      if (this.link.peek().kind === "live") void this.readChanges().catch(() => {});
    }, RECONCILE_MS);
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

  /** The agent does not want to wait for the next attempt. */
  hurry(): void {
    this.socket.hurry();
    this.poll();
  }

  sendTyping(chatId: number, typing: "typein" | "typeout"): boolean {
    return this.socket.send({ type: "typing", chat_id: chatId, typing });
  }

  private readonly onVisible = () => {
    if (document.visibilityState !== "visible") return;
    this.socket.check();
    if (this.link.peek().kind !== "live") this.poll();
  };

  private readonly onOnline = () => this.hurry();

  private readonly onOffline = () => {
    this.socket.check();
    if (this.link.peek().kind !== "live") this.poll();
  };

  private async onOpen(): Promise<void> {
    this.socketRetryAt = undefined;
    const before = this.chats.rows.peek();
    const isFirst = this.chats.progress.peek() !== "ready";
    try {
      await this.readChanges();
      await this.shown()?.refresh();
      if (!isFirst) this.noticeDifferences(before);
    } catch {
      // Pushes alone would leave out what happened before: polling goes on until a read works.
      if (!this.isStopped && !this.isPolling) this.pollAfter(POLL_MS);
      return;
    }
    if (this.isStopped || !this.socket.isOpen) return;
    clearTimeout(this.pollTimer);
    this.failures = 0;
    this.setLink({ kind: "live" });
    void this.shown()
      ?.refreshPending()
      .catch(() => {});
    // Timelines that are not shown may have missed pushes: they are read again when they are opened.
  }

  private onDown(nextAttemptAt: number | undefined): void {
    this.socketRetryAt = nextAttemptAt;
    const wasLive = this.link.peek().kind === "live";
    if (wasLive || this.link.peek().kind === "polling") this.setLink({ kind: "polling", nextAttemptAt });
    if (wasLive) this.poll();
  }

  private setLink(link: Link): void {
    const before = this.link.peek();
    this.link.value = link;
    if (before.kind === "lost" && link.kind !== "lost") this.events.back();
  }

  /** What changed since the cursor; without one, every open chat. */
  private async readChanges(): Promise<void> {
    if (this.hasChanges) {
      try {
        while (this.cursor !== undefined) {
          const changes: Changes = await this.api.get("/agent/changes", { query: { cursor: this.cursor } });
          batch(() => {
            this.chats.upsert(changes.chats);
            this.chats.remove(changes.gone);
          });
          this.cursor = changes.cursor;
          if (changes.complete) return;
        }
        this.cursor = (await this.api.get("/agent/changes")).cursor;
      } catch (error) {
        if (isStatus(error, 410)) {
          this.cursor = undefined;
          return this.readChanges();
        }
        if (!isStatus(error, 404, 405)) throw error;
        this.hasChanges = false;
      }
    }
    await this.chats.loadOpen();
  }

  private poll(): void {
    if (this.isPolling || this.isStopped) return;
    clearTimeout(this.pollTimer);
    this.isPolling = true;
    void this.readOnce()
      .catch((error: unknown) => {
        if (isStatus(error, 401) || this.isStopped) return;
        this.failures++;
        // One slow answer is not a lost connection.
        const delay = Math.max(this.failures > 1 ? 0 : POLL_MS, backoff(this.failures));
        this.setLink({ kind: "lost", nextAttemptAt: Date.now() + delay });
        this.pollAfter(delay);
      })
      .finally(() => {
        this.isPolling = false;
      });
  }

  private async readOnce(): Promise<void> {
    const before = this.chats.rows.peek();
    const isFirst = this.chats.progress.peek() !== "ready";
    await this.chats.loadOpen();
    const timeline = this.shown();
    if (timeline?.progress.peek() === "ready") {
      await timeline.refreshPending();
      if (this.polls++ % 2 === 0) await this.refreshDetail(timeline);
    }
    if (this.isStopped) return;
    this.failures = 0;
    if (!isFirst) this.noticeDifferences(before);
    if (this.socket.isOpen) {
      if (this.link.peek().kind !== "live") void this.onOpen();
      return;
    }
    if (this.link.peek().kind === "lost" && this.socketRetryAt !== undefined) this.socket.hurry();
    // Until the first socket opened or failed, nothing is known about pushes.
    this.setLink({ kind: "polling", nextAttemptAt: this.socketRetryAt });
    this.pollAfter(document.hidden ? POLL_HIDDEN_MS : POLL_MS);
  }

  private async refreshDetail(timeline: Timeline): Promise<void> {
    await timeline.refreshDetail();
    const detail = timeline.detail.peek();
    if (detail !== undefined) this.typing.set(timeline.chatId, detail.visitor_typing);
  }

  private pollAfter(ms: number): void {
    clearTimeout(this.pollTimer);
    this.pollTimer = setTimeout(() => this.poll(), ms);
  }

  /** What a push would have told. */
  private noticeDifferences(before: ReadonlyMap<number, ChatRow>): void {
    for (const row of this.chats.rows.peek().values()) {
      const old = before.get(row.chat_id);
      if (old === row) continue;
      const isNewWait = row.state === "waiting" && old?.state !== "waiting";
      const isNewMessage =
        row.last_message?.from === "visitor" && JSON.stringify(old?.last_message) !== JSON.stringify(row.last_message);
      if (isNewWait || isNewMessage) this.events.arrived(row, undefined);
    }
  }

  private enqueue(push: Push): void {
    this.queue.push(push);
    if (this.isFlushScheduled) return;
    this.isFlushScheduled = true;
    const flush = () => this.flush();
    if (document.hidden) setTimeout(flush, HIDDEN_FLUSH_MS);
    else requestAnimationFrame(flush);
  }

  /** Applies what arrived since the last frame as one change. */
  flush(): void {
    this.isFlushScheduled = false;
    if (this.isStopped) return;
    const pushes = this.queue;
    this.queue = [];
    const arrived = new Map<number, Entry | undefined>();
    const rows = new Map<number, ChatRow>();
    const current = (chatId: number) => rows.get(chatId) ?? this.chats.peek(chatId);
    batch(() => {
      for (const push of pushes) {
        switch (push.type) {
          case "chat": {
            const before = current(push.chat_id);
            rows.set(push.chat_id, { ...push.chat, seq: push.seq });
            if (push.chat.state === "waiting" && before?.state !== "waiting") arrived.set(push.chat_id, undefined);
            this.timelines.known(push.chat_id)?.applyRow(push.chat);
            break;
          }
          case "chat_gone":
            rows.delete(push.chat_id);
            this.chats.remove([push.chat_id]);
            break;
          case "message": {
            const entry = push.message;
            const row = current(push.chat_id);
            const isNew = this.timelines.known(push.chat_id)?.apply(entry) ?? entry.seq > (row?.seq ?? 0);
            if (row !== undefined && entry.seq > (row.seq ?? 0)) rows.set(push.chat_id, withLast(row, entry));
            if (entry.from === "visitor") {
              this.typing.set(push.chat_id, false);
              if (isNew) {
                this.chats.countUnread(push.chat_id);
                arrived.set(push.chat_id, entry);
              }
            }
            break;
          }
          case "delivery":
            this.timelines.known(push.chat_id)?.apply(push.message);
            break;
          case "panel":
            this.timelines.known(push.chat_id)?.applyPanel(push.panel);
            break;
          case "visitor":
            this.timelines.known(push.chat_id)?.applyVisitor(push.visitor);
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
      this.chats.upsert([...rows.values()]);
    });
    for (const [chatId, entry] of arrived) {
      const row = this.chats.peek(chatId);
      if (row !== undefined) this.events.arrived(row, entry);
    }
  }
}

const SHOWN_IN_LIST = new Set([
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

/** The row as its next push will say it. */
function withLast(row: ChatRow, entry: Entry): ChatRow {
  if (!SHOWN_IN_LIST.has(entry.type)) return { ...row, seq: entry.seq };
  const type = entry.type as NonNullable<ChatRow["last_message"]>["type"];
  const text = entry.text ?? entry.file_name ?? entry.content ?? "";
  return { ...row, seq: entry.seq, last_message: { from: entry.from, type, text, timestamp: entry.timestamp } };
}
