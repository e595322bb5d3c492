/* The state of the signed-in agent's session: the stores, their synchronisation, and the agent's actions. */

import { batch, computed, effect, signal } from "@preact/signals";
import { ApiError, hasStatus, NetworkError, type ApiClient } from "../../api/client";
import type {
  Bot,
  CannedReply,
  Channel,
  Chat,
  ChatRow,
  Colleague,
  Entry,
  PresenceStatus,
  VisitorChanges,
} from "../../api/types";
import { announce } from "../../ui/announcer";
import { sentence } from "../../ui/words";
import { persistentStorage, type PrefixedStorage } from "../../ui/storage";
import { toast } from "../../ui/toast";
import { shownName } from "../../ui/confirm-name";
import { callTitle, ringingText } from "./call-text";
import { ChatStore } from "./chats";
import { Drafts } from "./drafts";
import { showAttentionCount, showDesktopNotification, playSound } from "./alerts";
import { countFailedDeliveriesSoon } from "./failed-deliveries";
import { Outbox, type OutgoingContent, type OutgoingItem } from "./outbox";
import { EventuallyConsistentList } from "./eventually-consistent-list";
import { openChat, route } from "./route";
import { RunningCalls } from "./running-calls";
import { api as sessionApi, endSession, isNewSession, loadProfile, session, type Session } from "./session";
import { Sync } from "./sync";
import { Timelines, type Timeline } from "./timeline";
import { Typing } from "./typing-store";

/** How long the agent can undo closing a chat. The request is sent only after this time. */
export const UNDO_CLOSE_MS = 5000;
/** How long a push may report that this agent has taken a chat. */
const TAKEN_SECONDS = 120;
/** How long a toast stays that tells of a chat that the agent was given, or of a message that was not delivered. */
const ALERT_TOAST_MS = 20_000;
/** The service works on an erasure for up to twenty seconds before it responds. */
const ERASURE_TIMEOUT_MS = 30_000;

export function errorText(error: unknown): string {
  if (error instanceof ApiError && error.status >= 500)
    return `The service failed (status ${error.status}). Try again in a moment.`;
  if (error instanceof ApiError) return sentence(error.message);
  if (error instanceof NetworkError) return "The service does not respond. Check the network and try again.";
  return "Something went wrong in this page. Reload it if this happens again.";
}

export interface Directory {
  agents: readonly Colleague[];
  departments: readonly { id: number; name: string }[];
}

export class Workspace {
  readonly chats: ChatStore;
  readonly channels: EventuallyConsistentList<Channel>;
  readonly bots: EventuallyConsistentList<Bot>;
  readonly timelines: Timelines;
  readonly outbox: Outbox;
  readonly drafts: Drafts;
  readonly typing = new Typing();
  readonly runningCalls: RunningCalls;
  readonly sync: Sync;
  readonly isAdmin: boolean;

  readonly presence = signal<PresenceStatus | undefined>(undefined);
  readonly directory = signal<Directory | undefined>(undefined);
  /** The account's canned replies. Undefined until they are loaded. */
  readonly cannedReplies = signal<readonly CannedReply[] | undefined>(undefined);
  /** The chats for which a request to accept them is still running. */
  readonly acceptingChatIds = signal<ReadonlySet<number>>(new Set());
  /** The outbox keys of the entries that this page sent, by entry id. They let an entry's component keep the key that
   * it had as an outbox item. */
  readonly sentItemKeys = new Map<string, string>();
  readonly openChatId = computed(() => (route.value.section === "inbox" ? route.value.id : undefined));

  /** Whether the account has no chats at all, neither open nor closed. Undefined until this is known. */
  readonly isEmptyAccount = signal<boolean | undefined>(undefined);

  private readonly storage: PrefixedStorage;
  /** The failures of own messages that have been reported. */
  private readonly reportedFailures = new Set<string>();
  /** Functions that dismiss the toasts about chats that the agent was given, and about failures, by chat. */
  private readonly alertToasts = new Map<number, () => void>();
  private readonly cleanups: (() => void)[] = [];
  private readonly closeTimers = new Map<number, { timer: ReturnType<typeof setTimeout>; dismiss: () => void }>();

  constructor(
    readonly me: Session,
    readonly api: ApiClient = sessionApi,
    storage: PrefixedStorage = persistentStorage,
    createSocket?: (url: string) => WebSocket,
  ) {
    this.isAdmin = me.role === "admin";
    this.storage = storage.child(`${me.accountId}.${me.id}.`);
    this.chats = new ChatStore(api, me.id, this.storage);
    this.channels = new EventuallyConsistentList(
      async () => (await api.get("/admin/channels")).channels,
      ({ channel_id }) => channel_id,
    );
    this.bots = new EventuallyConsistentList(
      async () => (await api.get("/admin/bots")).bots,
      ({ bot_id }) => bot_id,
    );
    this.timelines = new Timelines(api);
    this.drafts = new Drafts(this.storage.child("draft."));
    this.runningCalls = new RunningCalls(this.storage, me.id);
    this.outbox = new Outbox(api, this.storage.child("outbox."));
    this.outbox.isPaused = (chatId) => this.acceptingChatIds.peek().has(chatId);
    this.outbox.onSent = (item, response) => this.onSent(item, response);
    this.outbox.onRejected = (item) => announce(`Not sent: ${item.problem}`);
    this.sync = new Sync(
      api,
      this.chats,
      this.timelines,
      this.typing,
      this.runningCalls,
      {
        visitorActivity: (row, entry) => this.onVisitorActivity(row, entry),
        chatGiven: (row, by) => this.onChatGiven(row, by),
        messageFailed: (chatId, entry) => this.onMessageFailed(chatId, entry),
        deliveryFailed: () => this.isAdmin && countFailedDeliveriesSoon(api),
        chatsGone: (chatIds) => this.onChatsGone(chatIds),
        presence: (agentId, status) => this.onPresence(agentId, status),
        settings: () => this.loadSharedData(),
        sessionEnded: () => endSession("expired"),
        recovered: () => this.outbox.retryNow(),
      },
      createSocket,
    );
    this.sync.openTimeline = () => {
      const id = this.openChatId.peek();
      return id === undefined ? undefined : this.timelines.peek(id);
    };
  }

  start(): void {
    this.cleanups.push(showAttentionCount(this.chats.attentionCount));
    this.cleanups.push(
      effect(() => {
        const id = this.openChatId.value;
        if (id === undefined) return;
        this.dismissAlert(id);
        void this.openTimeline(id);
      }),
      effect(() => {
        const id = this.openChatId.value;
        if (id === undefined) return;
        for (const entry of this.timelines.open(id).entries.value) this.runningCalls.apply(id, entry);
      }),
      effect(() => this.keepOpenChatOnTop()),
    );
    addEventListener("storage", this.onStorage);
    addEventListener("pagehide", this.onPageHide);
    addEventListener("online", this.onOnline);
    this.cleanups.push(() => {
      removeEventListener("storage", this.onStorage);
      removeEventListener("pagehide", this.onPageHide);
      removeEventListener("online", this.onOnline);
    });
    this.sync.start();
    this.outbox.start();
    void loadProfile();
    void this.loadPresence();
    this.loadSharedData();
  }

  stop(): void {
    this.onPageHide();
    this.sync.stop();
    this.outbox.stop();
    for (const stop of this.cleanups.splice(0)) stop();
  }

  private readonly onStorage = (event: StorageEvent) => {
    const name = this.storage.nameOf(event.key);
    if (name === "read" || name === "given") this.chats.reloadReadMarks();
    if (name?.startsWith("outbox.")) this.outbox.syncWithStorage();
    const draftChatId = /^draft\.(\d+)$/.exec(name ?? "")?.[1];
    if (draftChatId !== undefined) this.drafts.syncWithStorage(Number(draftChatId), event.oldValue);
  };

  private readonly onOnline = () => this.outbox.retryNow();

  /** Immediately sends the requests that are delayed for Undo, because the page is being closed. */
  private readonly onPageHide = () => {
    for (const [chatId, { timer, dismiss }] of this.closeTimers) {
      clearTimeout(timer);
      dismiss();
      void this.sendClose(chatId, true);
    }
  };

  // Timelines and read positions

  timeline(chatId: number): Timeline {
    return this.timelines.open(chatId);
  }

  async openTimeline(chatId: number): Promise<void> {
    const timeline = this.timelines.open(chatId);
    try {
      const wasLoaded = timeline.loadState.peek() === "ready";
      await timeline.open(this.chats.peek(chatId)?.seq);
      if (wasLoaded) await timeline.refreshDetails();
      const detail = timeline.chatDetails.peek();
      if (detail !== undefined) this.typing.setVisitor(chatId, detail.visitor_typing);
    } catch (error) {
      if (hasStatus(error, 404)) this.sync.removeChats([chatId]);
    }
  }

  /** Returns the `seq` up to which the agent has read the chat: the stored position, or else the agent's own last
   * entry. Without either, nothing has been read of a chat that waits for the agent, and the position in other chats is
   * not known. */
  readPosition(chatId: number): number | undefined {
    const lastOwnEntry = this.timelines
      .peek(chatId)
      ?.entries.peek()
      .findLast((entry) => entry.from === "agent" && entry.agent?.id === this.me.id);
    const row = this.chats.peek(chatId);
    const unread = row !== undefined && this.chats.isUnread(row) ? 0 : undefined;
    return this.chats.lastReadSeq(chatId) ?? lastOwnEntry?.seq ?? unread;
  }

  markRead(chatId: number): void {
    this.chats.markRead(chatId, this.timelines.peek(chatId)?.lastSeq ?? 0);
  }

  private onVisitorActivity(row: ChatRow, entry: Entry | undefined): void {
    const call = entry?.call;
    const isRelevant = row.state === "waiting" || this.chats.isMine(row) || call?.agent?.id === this.me.id;
    if (!isRelevant) return;
    const isVisible = this.chats.readingChatId.peek() === row.chat_id && !document.hidden;
    const name = visitorName(row);
    const text = call
      ? ringingText(call, name)
      : entry
        ? (entry.text ?? entry.file_name ?? "")
        : (row.last_message?.text ?? "");
    if (this.closeTimers.has(row.chat_id)) {
      this.undoClose(row.chat_id);
      toast(`${name} wrote again. The chat stays open.`);
    }
    announce(
      call
        ? text
        : this.openChatId.peek() === row.chat_id
          ? `${name}: ${text}`
          : row.state === "waiting"
            ? `${name} is waiting for an agent`
            : `New message from ${name}`,
    );
    if (isVisible) return;
    playSound();
    const title = call ? callTitle(call) : row.state === "waiting" ? `${name} is waiting` : name;
    showDesktopNotification(title, text, row.chat_id, () => openChat(row.chat_id));
  }

  /** An unread chat stays above the queue while the agent reads it, so that it does not move away under the agent. */
  private keepOpenChatOnTop(): void {
    const id = this.openChatId.value;
    const row = id === undefined ? undefined : this.chats.row(id);
    if (row !== undefined && this.chats.isUnread(row)) this.chats.keptOnTopId.value = id;
    else if (this.chats.keptOnTopId.peek() !== id) this.chats.keptOnTopId.value = undefined;
  }

  /** Alerts the agent to a chat that a colleague, a bot or an assignment has given to the agent. */
  private onChatGiven(row: ChatRow, by: Entry["agent"]): void {
    const chatId = row.chat_id;
    if (by?.id === this.me.id || this.hasTaken(chatId)) return;
    const isReading = this.chats.readingChatId.peek() === chatId && !document.hidden;
    const name = visitorName(row);
    const text =
      by === undefined ? `The chat with ${name} is yours now.` : `${by.name} gave you the chat with ${name}.`;
    if (!isReading) this.chats.setGiven(chatId, true);
    const isOpen = this.openChatId.peek() === chatId;
    if (isOpen) toast(text);
    else this.showAlert(chatId, text, false);
    if (isReading) return;
    playSound();
    showDesktopNotification(`${name} is your chat now`, text, chatId, () => openChat(chatId));
  }

  /** Remembers, for all tabs of this browser, that the agent has taken a chat without having been given it. */
  private noteTaken(chatId: number): void {
    this.storage.write("taken", { chatId, at: Math.floor(Date.now() / 1000) });
  }

  private hasTaken(chatId: number): boolean {
    const taken = this.storage.read<{ chatId: number; at: number }>("taken");
    return (
      this.acceptingChatIds.peek().has(chatId) ||
      (taken?.chatId === chatId && Date.now() / 1000 - taken.at < TAKEN_SECONDS)
    );
  }

  /** Alerts the agent to an own message that was not delivered. */
  private onMessageFailed(chatId: number, entry: Entry | undefined): void {
    const attempts = entry?.delivery?.attempts.at(-1)?.at;
    const failure = `${chatId} ${entry?.seq} ${attempts}`;
    if (entry !== undefined && this.reportedFailures.has(failure)) return;
    this.reportedFailures.add(failure);
    const row = this.header(chatId);
    const name = row === undefined ? `chat #${chatId}` : visitorName(row);
    const text = `Your message to ${name} was not delivered.`;
    announce(text);
    if (this.chats.readingChatId.peek() === chatId && !document.hidden) return;
    this.showAlert(chatId, text, true);
    playSound();
    showDesktopNotification("Not delivered", text, chatId, () => openChat(chatId));
  }

  /** Shows a toast with a button that opens the chat. It replaces an earlier one about the chat. */
  private showAlert(chatId: number, text: string, isBad: boolean): void {
    this.dismissAlert(chatId);
    const action = { label: "Open", run: () => openChat(chatId) };
    this.alertToasts.set(chatId, toast(text, { isBad, durationMs: ALERT_TOAST_MS, action }));
  }

  private dismissAlert(chatId: number): void {
    this.alertToasts.get(chatId)?.();
    this.alertToasts.delete(chatId);
  }

  /** Removes what this page still shows or stores of chats that are gone. */
  private onChatsGone(chatIds: readonly number[]): void {
    for (const chatId of chatIds) {
      this.dismissAlert(chatId);
      const timeline = this.timelines.peek(chatId);
      if (timeline?.loadState.peek() === "ready") {
        void timeline.forgetIfGone().then(
          (isGone) => isGone && this.drafts.write(chatId, "", false),
          () => {},
        );
      } else if (this.drafts.chatIds.peek().has(chatId)) void this.dropDraftIfErased(chatId);
    }
  }

  private async dropDraftIfErased(chatId: number): Promise<void> {
    try {
      await this.api.get("/agent/chats/{chat_id}", { path: { chat_id: chatId } });
    } catch (error) {
      if (hasStatus(error, 404)) this.drafts.write(chatId, "", false);
    }
  }

  // Messages and chat actions

  send(chatId: number, draft: OutgoingContent): void {
    this.outbox.add(chatId, draft);
  }

  private onSent(item: OutgoingItem, response: { seq: number; id: string }): void {
    this.sentItemKeys.set(response.id, item.key);
    const timeline = this.timelines.peek(item.chatId);
    if (timeline === undefined || timeline.entries.peek().some((entry) => entry.seq === response.seq)) return;
    const { me } = this;
    const common = {
      seq: response.seq,
      id: response.id,
      from: "agent" as const,
      agent: { id: me.id, name: me.name },
      timestamp: Math.floor(item.createdAt / 1000),
    };
    const entry =
      item.kind === "note"
        ? { ...common, type: "note", text: item.body.text }
        : {
            ...common,
            ...withoutNulls(item.body),
            type: item.body.type,
            delivery: { state: "pending" as const, attempts: [] },
          };
    timeline.applyEntry(entry as Entry);
  }

  /** Accepts the chat. The change is shown immediately and reverted if the request fails. */
  async accept(chatId: number): Promise<void> {
    const before = this.header(chatId);
    if (
      before === undefined ||
      this.acceptingChatIds.peek().has(chatId) ||
      before.state === "closed" ||
      this.chats.isMine(before)
    )
      return;
    const { me } = this;
    this.acceptingChatIds.value = new Set(this.acceptingChatIds.peek()).add(chatId);
    this.noteTaken(chatId);
    this.chats.keptOnTopId.value = chatId;
    const mine: ChatRow = { ...before, state: "active", agent: { id: me.id, name: me.name } };
    this.applyRow(mine);
    try {
      this.applyRow(await this.api.post("/agent/chats/{chat_id}/accept", { path: { chat_id: chatId } }));
    } catch (error) {
      this.storage.remove("taken");
      this.applyRow(before);
      if (hasStatus(error, 409, 403)) {
        toast(
          hasStatus(error, 409)
            ? `Another agent has accepted ${visitorName(before)}.`
            : "This chat is offered to other agents.",
          { isBad: true },
        );
        await this.reloadHeader(chatId);
      } else if (hasStatus(error, 404)) {
        this.sync.removeChats([chatId]);
        toast("This chat does not exist any more.", { isBad: true });
      } else {
        toast(`The chat was not accepted. ${errorText(error)}`, {
          isBad: true,
          action: { label: "Try again", run: () => void this.accept(chatId) },
        });
      }
    } finally {
      const acceptingChatIds = new Set(this.acceptingChatIds.peek());
      acceptingChatIds.delete(chatId);
      this.acceptingChatIds.value = acceptingChatIds;
      void this.outbox.sendNext(chatId);
    }
    await this.timelines
      .peek(chatId)
      ?.refresh()
      .catch(() => {});
  }

  /** Closes the chat after a delay during which the agent can undo it. */
  close(chatId: number): void {
    const row = this.header(chatId);
    if (row === undefined || row.state === "closed" || this.closeTimers.has(chatId)) return;
    this.chats.setClosing(chatId, true);
    const dismiss = toast(`Chat with ${visitorName(row)} closed.`, {
      durationMs: UNDO_CLOSE_MS,
      action: {
        label: "Undo",
        run: () => {
          this.undoClose(chatId);
          openChat(chatId);
        },
      },
    });
    const timer = setTimeout(() => void this.sendClose(chatId, false), UNDO_CLOSE_MS);
    this.closeTimers.set(chatId, { timer, dismiss });
  }

  isClosing(chatId: number): boolean {
    return this.chats.closingChatIds.value.has(chatId);
  }

  private undoClose(chatId: number): void {
    const closing = this.closeTimers.get(chatId);
    if (closing === undefined) return;
    clearTimeout(closing.timer);
    closing.dismiss();
    this.closeTimers.delete(chatId);
    this.chats.setClosing(chatId, false);
  }

  private async sendClose(chatId: number, keepalive: boolean): Promise<void> {
    this.closeTimers.delete(chatId);
    const before = this.header(chatId);
    try {
      await this.api.post("/agent/chats/{chat_id}/close", { path: { chat_id: chatId }, keepalive });
      const row = this.chats.peek(chatId) ?? before;
      if (row !== undefined) this.applyRow({ ...row, state: "closed", updated_at: Math.floor(Date.now() / 1000) });
    } catch (error) {
      if (before !== undefined)
        toast(`The chat with ${visitorName(before)} was not closed. ${errorText(error)}`, { isBad: true });
    } finally {
      this.chats.setClosing(chatId, false);
    }
    await this.timelines
      .peek(chatId)
      ?.refresh()
      .catch(() => {});
  }

  async transfer(chatId: number, to: { agent_id: number } | { department_id: number }): Promise<void> {
    if ("agent_id" in to && to.agent_id === this.me.id) this.noteTaken(chatId);
    // A colleague may give the chat back at once.
    else this.storage.remove("taken");
    this.applyRow(await this.api.post("/agent/chats/{chat_id}/transfer", { path: { chat_id: chatId }, body: to }));
    await this.timelines
      .peek(chatId)
      ?.refresh()
      .catch(() => {});
  }

  /** Calls the visitor. The agent's own phone rings first. */
  async call(chatId: number, phone: string, idempotencyKey: string): Promise<void> {
    await this.api.post("/agent/chats/{chat_id}/call", { path: { chat_id: chatId }, body: { phone }, idempotencyKey });
    await this.timelines
      .peek(chatId)
      ?.refresh()
      .catch(() => {});
  }

  async retryDelivery(chatId: number, entry: Entry): Promise<void> {
    const timeline = this.timelines.peek(chatId);
    timeline?.applyEntry({ ...entry, delivery: { state: "pending", attempts: entry.delivery?.attempts ?? [] } });
    try {
      await this.api.post("/agent/chats/{chat_id}/messages/{seq}/retry", { path: { chat_id: chatId, seq: entry.seq } });
    } catch (error) {
      if (!hasStatus(error, 409)) timeline?.applyEntry(entry);
      toast(`The message was not sent again. ${errorText(error)}`, { isBad: true });
      await timeline?.refreshPending().catch(() => {});
    }
  }

  async assignToCrm(chatId: number): Promise<void> {
    await this.api.post("/agent/chats/{chat_id}/assign", { path: { chat_id: chatId } });
    const timeline = this.timelines.peek(chatId);
    const detail = timeline?.chatDetails.peek();
    if (detail?.panel.assignment?.state !== "done" && detail !== undefined) {
      timeline?.applyPanel({ ...detail.panel, assignment: { state: "pending" } });
    }
  }

  async changeVisitor(chatId: number, number: number, changes: VisitorChanges): Promise<void> {
    const changed = await this.api.patch("/agent/visitors/{number}", { path: { number }, body: changes });
    batch(() => {
      for (const timeline of this.timelines.all()) {
        const detail = timeline.chatDetails.peek();
        if (detail?.visitor.number === number) timeline.applyVisitor({ ...detail.visitor, ...changed });
      }
      const rows = [...this.chats.rows.peek().values()].filter((row) => row.visitor.number === number);
      this.chats.applyRows(rows.map((row) => ({ ...row, visitor: { ...row.visitor, name: changed.name } })));
    });
    void this.timelines
      .peek(chatId)
      ?.refresh()
      .catch(() => {});
  }

  /** Erases a visitor together with all of their chats. Repeats the request until the erasure is complete, or the agent
   * signs out: another session could belong to another account, where another visitor has this number. */
  async eraseVisitor(number: number, onProgress: (removed: { chats: number; entries: number }) => void): Promise<void> {
    const removed = { chats: 0, entries: 0 };
    const token = session.peek()?.token;
    for (;;) {
      if (session.peek()?.token !== token) throw sessionEnded();
      const response = await this.api.delete("/admin/visitors/{number}", {
        path: { number },
        timeoutMs: ERASURE_TIMEOUT_MS,
      });
      removed.chats += response.removed.chats;
      removed.entries += response.removed.entries;
      onProgress({ ...removed });
      if (response.complete) break;
    }
    const ids = [...this.chats.rows.peek().values()]
      .filter((row) => row.visitor.number === number)
      .map((row) => row.chat_id);
    for (const id of ids) {
      this.timelines.remove(id);
      this.drafts.write(id, "", false);
    }
    this.sync.removeChats(ids);
  }

  /** Returns the chat's row from a list, or builds one from its details. Undefined if neither is loaded. */
  header(chatId: number): ChatRow | undefined {
    const detail = this.timelines.peek(chatId)?.chatDetails.peek();
    return this.chats.peek(chatId) ?? (detail && rowFromDetails(detail));
  }

  applyRow(row: ChatRow): void {
    batch(() => {
      this.chats.applyRows([row]);
      this.timelines.peek(row.chat_id)?.applyRow(row);
    });
  }

  /** Reloads the chat's details and updates its row. */
  async reloadHeader(chatId: number): Promise<void> {
    const timeline = this.timelines.open(chatId);
    await timeline.refreshDetails().catch(() => {});
    const detail = timeline.chatDetails.peek();
    const row = this.chats.peek(chatId);
    if (detail !== undefined && row !== undefined) {
      const { state, agent, department, updated_at } = detail;
      this.chats.applyRows([{ ...row, state, agent, department, updated_at }]);
    }
  }

  // Presence, colleagues and canned replies

  /** Loads what all consoles of the account share. If a request fails, the data is loaded again when it is needed. */
  private loadSharedData(): void {
    void this.loadCannedReplies().catch(() => {});
    void this.loadDirectory().catch(() => {});
  }

  private async loadPresence(): Promise<void> {
    try {
      const { status, online } = await this.api.get("/agent/presence");
      this.presence.value = online || status === "away" ? status : "offline";
      if (isNewSession && this.presence.peek() === "offline") await this.setPresence("online");
    } catch {
      // If the request fails, the presence stays unknown until the agent changes it.
    }
  }

  async setPresence(status: PresenceStatus): Promise<void> {
    const before = this.presence.peek();
    this.presence.value = status;
    try {
      await this.api.put("/agent/presence", { body: { status } });
    } catch (error) {
      this.presence.value = before;
      toast(`You are still ${before ?? "offline"}. ${errorText(error)}`, { isBad: true });
    }
  }

  private onPresence(agentId: number, status: PresenceStatus): void {
    if (agentId === this.me.id) this.presence.value = status;
    const directory = this.directory.peek();
    if (directory === undefined) return;
    this.directory.value = {
      ...directory,
      agents: directory.agents.map((agent) => (agent.id === agentId ? { ...agent, status } : agent)),
    };
  }

  async loadDirectory(): Promise<void> {
    this.directory.value = await this.api.get("/agent/agents");
  }

  async loadCannedReplies(): Promise<void> {
    const { canned_replies } = await this.api.get("/agent/canned-replies");
    this.cannedReplies.value = [...canned_replies].sort((a, b) => a.shortcut.localeCompare(b.shortcut));
  }

  /** Returns whether the chat has a draft or an unsent message. */
  hasUnsent(chatId: number): boolean {
    return this.drafts.chatIds.peek().has(chatId) || this.outbox.items.peek().some((item) => item.chatId === chatId);
  }

  discardUnsent(): void {
    this.drafts.clear();
    for (const item of this.outbox.items.peek()) this.outbox.discard(item.key);
  }
}

/** Builds a row for a chat that is not in any list, for example one that was opened through a link. */
export function rowFromDetails(detail: Chat): ChatRow {
  const { chat_id, state, visitor, channel, agent, department, updated_at, seq, waiting_since } = detail;
  return {
    chat_id,
    state,
    visitor: { number: visitor.number, name: visitor.name },
    channel,
    agent,
    department,
    last_message: null,
    failed_messages: 0,
    updated_at,
    seq,
    waiting_since,
  };
}

export const isAnonymous = (name: string) => name === "Anonymous" || shownName(name) === "";

/** Returns the visitor's name, or "Visitor" and the visitor's number if the name is unknown. */
export function visitorName(row: Pick<ChatRow, "visitor">): string {
  return isAnonymous(row.visitor.name) ? `Visitor ${row.visitor.number}` : row.visitor.name;
}

/** Returns the error with which the service rejects requests of an ended session. */
const sessionEnded = () => new ApiError(401, "unauthorized", "the session has ended", undefined, undefined);

function withoutNulls<T extends object>(body: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(body).filter(([, value]) => value !== null && value !== undefined),
  ) as Partial<T>;
}
