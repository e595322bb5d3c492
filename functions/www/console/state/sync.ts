/* Keeps the stores up to date: through pushes while the socket is open, and otherwise by polling. */

import { batch, signal } from "@preact/signals";
import { hasStatus, type ApiClient } from "../../api/client";
import type { Push } from "../../api/pushes";
import type { ChatChanges, ChatRow, Entry } from "../../api/types";
import { backoffDelayMs } from "../../socket/backoff";
import { agentProtocol } from "../../socket/agent-protocol";
import { PushSocket } from "../../socket/push-socket";
import { MEDIA_TYPES } from "../../ui/media-types";
import type { ChatStore } from "./list/chats";
import { MAX_CALL_SECONDS, type RunningCalls } from "./calls/running-calls";
import { Subscription, type Shown } from "./subscription";
import { deliveriesOf, isTransfer, type Timeline, type Timelines } from "./chat/timeline";
import type { Typing } from "./chat/typing-store";

export type ConnectionState =
  | { kind: "starting" }
  | { kind: "live" }
  /** The lists are polled. The next attempt to open a socket starts at `nextAttemptAt`; undefined while the first
   * socket is still connecting. */
  | { kind: "polling"; nextAttemptAt: number | undefined }
  /** There is no socket, and HTTP requests fail too. The next attempt starts at `nextAttemptAt`. */
  | { kind: "lost"; nextAttemptAt: number };

const POLL_INTERVAL_MS = 3000;
const HIDDEN_POLL_INTERVAL_MS = 15_000;
const RECONCILE_INTERVAL_MS = 5 * 60_000;
const HIDDEN_FLUSH_DELAY_MS = 250;
/** The maximum number of calls, and of chats with a call, that are read at once. */
const MAX_CALLS_READ = 10;
/** How many of a chat's last entries are read to find its last call. Each of a call's up to five statuses can add an
 * entry for each webhook that is notified. */
const ENTRIES_OF_A_CALL = 50;
/** How long to wait after a change of settings. The service's functions cache channels, agents and departments for ten
 * seconds. */
const SETTINGS_CACHE_MS = 11_000;

export interface SyncEvents {
  /** Called when a visitor has written or a chat has started waiting for an agent. If several pushes for the same chat
   * are applied together, this is called only once. */
  visitorActivity: (row: ChatRow, entry: Entry | undefined) => void;
  /** Called when somebody else has made the agent the chat's owner. `by` is who did it, if this is known. */
  chatGiven: (row: ChatRow, by: Entry["agent"]) => void;
  /** Called when a colleague's note mentions the agent. */
  mentioned: (chatId: number, note: Entry) => void;
  /** Called when a message of this agent could not be delivered. The message is undefined if only the chat's row tells
   * of the failure. */
  messageFailed: (chatId: number, entry: Entry | undefined) => void;
  /** Called when any delivery has failed, to a visitor, a bot or a webhook. */
  deliveryFailed: () => void;
  /** Called when chats have been erased, or the agent no longer sees them. */
  chatsGone: (chatIds: readonly number[]) => void;
  /** Called with the agents who show the chat that this console shows. */
  viewers: (chatId: number, agentIds: readonly number[]) => void;
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

  private readonly socket: PushSocket<Push>;
  private readonly subscription = new Subscription(
    (frame) => this.socket.send(frame),
    (shown, before) => this.onSubscribed(shown, before),
  );
  private cursor: string | undefined;
  private failureCount = 0;
  private pollCount = 0;
  private hasBeenLive = false;
  private socketRetryAt: number | undefined;
  private pollTimer: ReturnType<typeof setTimeout> | undefined;
  private reconcileTimer: ReturnType<typeof setInterval> | undefined;
  private settingsTimer: ReturnType<typeof setTimeout> | undefined;
  private isPolling = false;
  private isStopped = false;
  private pendingPushes: Push[] = [];
  /** The numbers of the pushed entries of each chat that the agent had not read when they were pushed. */
  private readonly pushedSeqs = new Map<number, Set<number>>();
  private isFlushScheduled = false;

  constructor(
    private readonly api: ApiClient,
    private readonly chats: ChatStore,
    private readonly timelines: Timelines,
    private readonly typing: Typing,
    private readonly runningCalls: RunningCalls,
    private readonly events: SyncEvents,
    createSocket?: (url: string) => WebSocket,
  ) {
    this.socket = new PushSocket(
      agentProtocol(api),
      {
        connected: () => {
          this.subscription.onSocketOpen();
          void this.onSocketOpen();
        },
        disconnected: (nextAttemptAt) => this.onSocketDown(nextAttemptAt),
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
    clearTimeout(this.settingsTimer);
    this.subscription.onSocketDown();
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

  sendSeen(chatId: number, seq: number): boolean {
    return this.socket.send({ type: "seen", chat_id: chatId, seq });
  }

  /** Changes what the console shows, and therefore gets pushes about. */
  show(shown: Shown): void {
    this.subscription.show(shown);
  }

  /** Reads what may have changed in newly shown lists and in the newly shown chat before the socket got pushes about
   * them. */
  private onSubscribed({ lists, open }: Shown, before: Shown | undefined): void {
    if (before === undefined) return;
    if (lists.some((list) => !before.lists.includes(list))) void this.readChanges().catch(() => {});
    const row = open === undefined || open === before.open ? undefined : this.chats.peek(open);
    const timeline = open === undefined || open === before.open ? undefined : this.timelines.peek(open);
    if (timeline === undefined || (row !== undefined && this.chats.isMine(row))) return;
    for (const request of [timeline.refreshPending(), timeline.refreshDetails()]) void request.catch(() => {});
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
      await this.refreshOpenTimeline();
      this.rereadCalls();
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
    // After a reconnection, treat the settings as changed: pushes of settings may have been missed, and `readChanges`
    // reads only changes of chats.
    if (this.hasBeenLive) this.onSettings();
    this.hasBeenLive = true;
    void this.openTimeline()
      ?.refreshPending()
      .catch(() => {});
    // Other timelines may have missed pushes too, but they are refreshed when they are opened.
  }

  /** Reads the calls again, because their starts and ends may have been missed while there was no socket. */
  private rereadCalls(): void {
    this.runningCalls.clear();
    const timeline = this.openTimeline();
    if (timeline !== undefined)
      for (const entry of timeline.entries.peek()) this.runningCalls.apply(timeline.chatId, entry);
    const rows = this.chats.open.peek().filter((row) => row.last_message?.type === "call");
    const isRecent = (row: ChatRow) => Date.now() / 1000 - (row.last_message?.timestamp ?? 0) < MAX_CALL_SECONDS;
    for (const row of rows.filter(isRecent).slice(0, MAX_CALLS_READ)) void this.readLastCall(row).catch(() => {});
    // Also read the known calls, because later messages may have followed them in their chats.
    this.readKnownCalls();
  }

  /** Reads the current state of the known calls. Forgets those whose chats the agent no longer sees. */
  private readKnownCalls(): void {
    for (const { chatId, seq } of this.runningCalls.positions.slice(0, MAX_CALLS_READ))
      void this.readCall(chatId, seq).catch(() => {});
  }

  private async readLastCall({ chat_id, seq }: ChatRow): Promise<void> {
    const messages = await this.messagesAfter(chat_id, Math.max(0, seq - ENTRIES_OF_A_CALL), ENTRIES_OF_A_CALL);
    for (const entry of messages) this.runningCalls.apply(chat_id, entry);
  }

  /** Reads the entry of a call. Forgets the call if the agent no longer sees its chat. */
  private async readCall(chatId: number, seq: number): Promise<void> {
    try {
      const entry = (await this.messagesAfter(chatId, seq - 1, 1)).find((entry) => entry.seq === seq);
      if (entry === undefined) this.runningCalls.remove([chatId]);
      else this.runningCalls.apply(chatId, entry);
    } catch (error) {
      if (!hasStatus(error, 403, 404)) throw error;
      this.runningCalls.remove([chatId]);
    }
  }

  private async messagesAfter(chatId: number, after: number, limit: number): Promise<readonly Entry[]> {
    const { messages } = await this.api.get("/agent/chats/{chat_id}/messages", {
      path: { chat_id: chatId },
      query: { after, limit },
    });
    return messages;
  }

  /** Removes chats that the agent no longer sees, with their calls. */
  removeChats(chatIds: readonly number[]): void {
    batch(() => {
      this.chats.remove(chatIds);
      this.runningCalls.remove(chatIds);
    });
    this.events.chatsGone(chatIds);
  }

  /** Refreshes the open chat's timeline. If the agent may not see the chat, or it does not exist, the error is ignored,
   * so that the console can still go live. */
  private async refreshOpenTimeline(): Promise<void> {
    const timeline = this.openTimeline();
    try {
      // If the timeline could not be loaded before, load it now: it shows an error until it is loaded.
      if (timeline?.loadState.peek() === "failed") await timeline.open(this.chats.peek(timeline.chatId)?.seq);
      else await timeline?.refresh();
    } catch (error) {
      if (!hasStatus(error, 403, 404)) throw error;
    }
  }

  private onSocketDown(nextAttemptAt: number): void {
    this.subscription.onSocketDown();
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
    while (this.cursor !== undefined) {
      const changes = await this.changesAfter(this.cursor);
      this.cursor = changes?.cursor;
      if (changes === undefined) break;
      batch(() => {
        this.chats.applyRows(changes.chats);
        this.applyToTimelines(changes.chats);
        this.removeChats(changes.gone);
      });
      if (changes.complete) return;
    }
    // Request the cursor before the list, so that no change is missed. Keep the cursor only after the list is loaded.
    const { cursor } = await this.api.get("/agent/changes");
    await this.loadOpenChats();
    this.applyToTimelines(this.timelines.all().flatMap(({ chatId }) => this.chats.peek(chatId) ?? []));
    this.cursor = cursor;
  }

  /** Tells the loaded timelines of edits and deletions whose pushes were missed. */
  private applyToTimelines(rows: readonly ChatRow[]): void {
    for (const row of rows) this.timelines.peek(row.chat_id)?.applyRow(row);
  }

  /** Loads the open chats, then reads the known calls, because no push reports the end of a call whose chat the agent
   * no longer sees. */
  private async loadOpenChats(): Promise<void> {
    await this.chats.loadOpen();
    this.readKnownCalls();
  }

  /** Returns the first page of the changes after a cursor, or undefined if the cursor is too old. */
  private async changesAfter(cursor: string): Promise<ChatChanges | undefined> {
    try {
      return await this.api.get("/agent/changes", { query: { cursor } });
    } catch (error) {
      if (!hasStatus(error, 410)) throw error;
      return undefined;
    }
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
    await this.readChanges();
    const timeline = this.openTimeline();
    if (timeline?.loadState.peek() === "ready") {
      await timeline.refreshPending();
      if (this.pollCount++ % 2 === 0) await this.refreshDetails(timeline);
    } else if (timeline?.loadState.peek() === "failed") await this.refreshOpenTimeline();
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
    if (detail !== undefined) this.typing.setVisitor(timeline.chatId, detail.visitor_typing);
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
      const isMine = this.chats.isMine(row);
      if (isMine && !(previousRow !== undefined && this.chats.isMine(previousRow)))
        void this.reportGiven(row, undefined);
      if (isMine && previousRow !== undefined && row.failed_messages > previousRow.failed_messages)
        this.events.messageFailed(row.chat_id, undefined);
    }
  }

  /** Reports changed settings, and loads the open chats again after a delay: changed channels, agents and departments
   * can make chats visible or hidden, and such chats are not pushed. */
  private onSettings(): void {
    this.events.settings();
    clearTimeout(this.settingsTimer);
    this.settingsTimer = setTimeout(() => void this.loadOpenChats().catch(() => {}), SETTINGS_CACHE_MS);
  }

  /** Reports a chat that the agent was given. If it is not known who did it, reads the chat's last entry, because the
   * row may be pushed without the entry of the transfer. */
  private async reportGiven(row: ChatRow, by: Entry["agent"]): Promise<void> {
    const readTransfer = async () => {
      const messages = await this.messagesAfter(row.chat_id, row.seq - 1, 1).catch(() => []);
      return messages.find(isTransfer)?.agent;
    };
    const agent = by ?? (await readTransfer());
    if (!this.isStopped) this.events.chatGiven(row, agent);
  }

  /** Reports the failure of a delivery. If the failure is not shown yet, reads the entry again when it is. */
  private reportFailure({ chat_id: chatId, message: entry, result_in_ms: resultInMs }: PushOf<"delivery">): void {
    if (resultInMs !== undefined) {
      setTimeout(() => void this.readFailure(chatId, entry.seq).catch(() => {}), resultInMs);
    } else if (deliveriesOf(entry).some(({ state }) => state === "failed")) {
      this.events.deliveryFailed();
      if (entry.delivery?.state === "failed" && entry.agent?.id === this.chats.me)
        this.events.messageFailed(chatId, entry);
    }
  }

  private async readFailure(chatId: number, seq: number): Promise<void> {
    if (this.isStopped) return;
    const message = (await this.messagesAfter(chatId, seq - 1, 1)).find((entry) => entry.seq === seq);
    if (message !== undefined) this.reportFailure({ type: "delivery", chat_id: chatId, seq, message });
  }

  private refreshPendingIn(ms: number, chatId: number): void {
    setTimeout(() => {
      if (!this.isStopped)
        void this.timelines
          .peek(chatId)
          ?.refreshPending()
          .catch(() => {});
    }, ms);
  }

  private reloadChat(chatId: number): void {
    const timeline = this.timelines.peek(chatId);
    const requests = [this.readChanges(), timeline?.refreshPending(), timeline?.refreshDetails()];
    for (const request of requests) void request?.catch(() => {});
  }

  /** Returns whether an entry has neither been pushed before nor been read by the agent. Does not compare it with the
   * last known number: a push can overtake another one, and a row that is pushed under load may be newer than the
   * entries that are pushed with it. */
  private isFirstPush(chatId: number, seq: number): boolean {
    const lastReadSeq = this.chats.lastReadSeq(chatId) ?? 0;
    const unread = new Set([...(this.pushedSeqs.get(chatId) ?? [])].filter((pushed) => pushed > lastReadSeq));
    const isFirst = seq > lastReadSeq && !unread.has(seq);
    this.pushedSeqs.set(chatId, isFirst ? unread.add(seq) : unread);
    return isFirst;
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
    const changes: PushedChanges = {
      rows: new Map(),
      activeChats: new Map(),
      given: new Set(),
      transferredBy: new Map(),
    };
    batch(() => {
      for (const push of pushes) this.applyPush(push, changes);
      this.chats.applyRows([...changes.rows.values()]);
    });
    for (const [chatId, entry] of changes.activeChats) {
      const row = this.chats.peek(chatId);
      if (row !== undefined) this.events.visitorActivity(row, entry);
    }
    for (const chatId of changes.given) {
      const row = this.chats.peek(chatId);
      if (row !== undefined && this.chats.isMine(row)) void this.reportGiven(row, changes.transferredBy.get(chatId));
    }
  }

  private applyPush(push: Push, changes: PushedChanges): void {
    switch (push.type) {
      case "chat":
        return this.applyChat(push, changes);
      case "chat_gone":
        changes.rows.delete(push.chat_id);
        return this.removeChats([push.chat_id]);
      case "changes":
        return this.applyChanges(push, changes);
      case "message":
        return this.applyMessage(push, changes);
      case "delivery":
        this.runningCalls.apply(push.chat_id, push.message);
        this.timelines.peek(push.chat_id)?.applyEntry(push.message);
        if (push.result_in_ms !== undefined) this.refreshPendingIn(push.result_in_ms, push.chat_id);
        return this.reportFailure(push);
      case "panel":
        return this.timelines.peek(push.chat_id)?.applyPanel(push.panel);
      case "visitor":
        return this.timelines.peek(push.chat_id)?.applyPushedVisitor(push.visitor);
      case "typing":
        return this.applyTyping(push);
      case "viewers":
        return this.events.viewers(push.chat_id, push.agent_ids);
      case "presence":
        return this.events.presence(push.agent_id, push.status);
      case "settings":
        return this.onSettings();
      case "subscribed":
        return this.subscription.confirm();
      case "incomplete":
        return push.chat_id === undefined ? void this.readMissedChanges() : this.reloadChat(push.chat_id);
    }
  }

  private applyChat({ chat_id, seq, chat }: PushOf<"chat">, { rows, activeChats, given }: PushedChanges): void {
    const before = rows.get(chat_id) ?? this.chats.peek(chat_id);
    rows.set(chat_id, { ...chat, seq });
    const wasMine = before !== undefined && this.chats.isMine(before);
    // Until the lists are loaded, it is not known whose the chat was before.
    if (this.chats.isMine(chat) && !wasMine && this.chats.loadState.peek() === "ready") given.add(chat_id);
    if (chat.state === "waiting" && before?.state !== "waiting") activeChats.set(chat_id, undefined);
    this.timelines.peek(chat_id)?.applyRow(chat);
  }

  private applyChanges({ chats, gone, visitor_messages }: PushOf<"changes">, changes: PushedChanges): void {
    for (const chat of chats) {
      const { chat_id, seq } = chat;
      // A push about the open chat can overtake the joined ones.
      if (seq >= (this.chats.peek(chat_id)?.seq ?? 0)) this.applyChat({ type: "chat", chat_id, seq, chat }, changes);
    }
    for (const { chat_id, seq } of visitor_messages) {
      if (!this.isFirstPush(chat_id, seq)) continue;
      this.chats.incrementUnread(chat_id);
      changes.activeChats.set(chat_id, changes.activeChats.get(chat_id));
    }
    for (const chatId of gone) changes.rows.delete(chatId);
    this.removeChats(gone);
  }

  /** Reads changes that were too large for a push. */
  private async readMissedChanges(): Promise<void> {
    const before = this.chats.rows.peek();
    await this.readChanges().catch(() => {});
    if (!this.isStopped) this.reportVisitorActivity(before);
  }

  private applyTyping(push: PushOf<"typing">): void {
    const { visitors, colleagues } = this.typing;
    if (!push.typing) (push.from === "visitor" ? visitors : colleagues).stop(push.chat_id);
    else if (push.from === "visitor") visitors.start(push.chat_id, { text: push.text });
    else colleagues.start(push.chat_id, { name: push.agent.name });
  }

  private applyMessage({ chat_id, message: entry }: PushOf<"message">, changes: PushedChanges): void {
    const { rows, activeChats, transferredBy } = changes;
    if (isTransfer(entry)) transferredBy.set(chat_id, entry.agent);
    const row = rows.get(chat_id) ?? this.chats.peek(chat_id);
    const isNew = this.isFirstPush(chat_id, entry.seq);
    this.runningCalls.apply(chat_id, entry);
    this.timelines.peek(chat_id)?.applyEntry(entry);
    if (row !== undefined && entry.seq > row.seq) rows.set(chat_id, withLastMessage(row, entry));
    if (entry.from === "agent") this.typing.colleagues.stop(chat_id);
    const isMentioned = entry.mentions?.includes(this.chats.me) === true && entry.agent?.id !== this.chats.me;
    if (isMentioned && isNew) this.events.mentioned(chat_id, entry);
    if (entry.from !== "visitor") return;
    this.typing.visitors.stop(chat_id);
    if (!isNew) return;
    this.chats.incrementUnread(chat_id);
    activeChats.set(chat_id, entry);
  }
}

type PushOf<Type extends Push["type"]> = Extract<Push, { type: Type }>;

/** What the pushes of one batch have changed so far. */
interface PushedChanges {
  rows: Map<number, ChatRow>;
  /** The chats in which a visitor has written, with the message, or which have started waiting. */
  activeChats: Map<number, Entry | undefined>;
  /** The chats that have become the agent's own. */
  given: Set<number>;
  /** The agents who have transferred chats. */
  transferredBy: Map<number, Entry["agent"]>;
}

const MESSAGE_TYPES = new Set(["text", ...MEDIA_TYPES, "markdown", "buttons", "call"]);

/** Returns a copy of the row with `entry` as its last message, for use until the row itself is pushed. */
function withLastMessage(row: ChatRow, entry: Entry): ChatRow {
  if (entry.from === "system" || !MESSAGE_TYPES.has(entry.type)) return { ...row, seq: entry.seq };
  const type = entry.type as NonNullable<ChatRow["last_message"]>["type"];
  const text = entry.text ?? entry.file_name ?? entry.content ?? "";
  const { from, timestamp } = entry;
  const agentId = from === "agent" ? (entry.agent?.id ?? null) : null;
  return { ...row, seq: entry.seq, last_message: { from, agent_id: agentId, type, text, timestamp } };
}
