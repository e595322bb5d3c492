/* The state of the signed-in agent's session: the stores, and their synchronisation. */

import { effect, signal } from "@preact/signals";
import { hasStatus, type ApiClient } from "../../api/client";
import type { Bot, Channel, PresenceStatus } from "../../api/types";
import { announce } from "../../ui/announcer";
import { persistentStorage, type PrefixedStorage } from "../../ui/storage";
import { showAttentionCount } from "./alerts/alerts";
import { CannedReplies } from "./agent/canned-replies";
import { ChatAlerts } from "./alerts/chat-alerts";
import { ChatHeaders } from "./chat/chat-headers";
import { ChatStore } from "./list/chats";
import { BulkChange } from "./chat/bulk-change";
import { Closing } from "./chat/closing";
import { Drafts } from "./chat/drafts";
import { Selection } from "./list/selection";
import { shownLists } from "./list/shown-lists";
import { EventuallyConsistentList } from "./list/eventually-consistent-list";
import { countFailedDeliveriesSoon } from "./alerts/failed-deliveries";
import { Organizing } from "./chat/organizing";
import { keepFilterInAddress } from "./list/chat-filter";
import { MessageChanges } from "./chat/message-changes";
import { Outbox } from "./chat/outbox";
import { Ownership } from "./chat/ownership";
import { PlannedMessages } from "./chat/planned-messages";
import { Presence } from "./agent/presence";
import { Reading } from "./chat/reading";
import { MacroRunner } from "./chat/reply-actions";
import { Roster } from "./agent/roster";
import { RunningCalls } from "./calls/running-calls";
import { SentMessages } from "./chat/sent-messages";
import { api as sessionApi, endSession, loadProfile, type Session } from "./agent/session";
import { isWebPushEnabled } from "./agent/preferences";
import { Sync } from "./sync";
import { Timelines } from "./chat/timeline";
import { Typing } from "./chat/typing-store";
import { Viewers } from "./chat/viewers";
import { Visitors } from "./chat/visitors";
import { t } from "../../texts/translate";

export class Workspace {
  readonly isAdmin: boolean;
  readonly presence: Presence;
  readonly roster: Roster;
  readonly cannedReplies: CannedReplies;
  readonly channels: EventuallyConsistentList<Channel>;
  readonly bots: EventuallyConsistentList<Bot>;

  readonly chats: ChatStore;
  readonly selection = new Selection();
  readonly bulk = new BulkChange();
  /** Whether the account has no chats at all, neither open nor closed. Undefined until this is known. */
  readonly isEmptyAccount = signal<boolean | undefined>(undefined);
  readonly timelines: Timelines;
  readonly headers: ChatHeaders;
  readonly reading: Reading;
  readonly typing = new Typing();
  readonly viewers: Viewers;
  readonly runningCalls: RunningCalls;
  readonly ownership: Ownership;
  readonly closing: Closing;
  readonly organizing: Organizing;
  readonly macros: MacroRunner;
  readonly visitors: Visitors;

  readonly drafts: Drafts;
  readonly outbox: Outbox;
  readonly sentMessages: SentMessages;
  readonly messageChanges: MessageChanges;
  readonly plannedMessages: PlannedMessages;
  readonly sync: Sync;

  private readonly storage: PrefixedStorage;
  private readonly alerts: ChatAlerts;
  private readonly cleanups: (() => void)[] = [];

  constructor(
    readonly me: Session,
    readonly api: ApiClient = sessionApi,
    storage: PrefixedStorage = persistentStorage,
    createSocket?: (url: string) => WebSocket,
  ) {
    this.isAdmin = me.role === "admin";
    this.storage = storage.child(`${me.accountId}.${me.id}.`);
    this.presence = new Presence(api);
    this.roster = new Roster(api);
    this.cannedReplies = new CannedReplies(api);
    this.channels = new EventuallyConsistentList(
      async () => (await api.get("/admin/channels")).channels,
      ({ channel_id }) => channel_id,
    );
    this.bots = new EventuallyConsistentList(
      async () => (await api.get("/admin/bots")).bots,
      ({ bot_id }) => bot_id,
    );
    this.viewers = new Viewers(me.id);
    this.chats = new ChatStore(api, me.id, this.storage);
    this.timelines = new Timelines(api);
    this.headers = new ChatHeaders(this.chats, this.timelines);
    this.reading = new Reading(me.id, this.chats, this.timelines, this.typing);
    this.runningCalls = new RunningCalls(this.storage, me.id);
    this.ownership = new Ownership(api, me, this.chats, this.headers, this.storage);
    this.closing = new Closing(api, this.chats, this.headers);
    this.organizing = new Organizing(api, this.chats, this.headers);
    this.macros = new MacroRunner(this.organizing, this.ownership, this.headers, this.roster);
    this.visitors = new Visitors(api, this.chats, this.timelines, this.headers);
    this.drafts = new Drafts(this.storage.child("draft."));
    this.outbox = new Outbox(api, this.storage.child("outbox."));
    this.sentMessages = new SentMessages(api, me, this.timelines);
    this.messageChanges = new MessageChanges(api, me, this.timelines);
    this.plannedMessages = new PlannedMessages(api, this.timelines, this.drafts);
    const { chats, headers, closing, ownership } = this;
    const { openChatId } = this.reading;
    this.alerts = new ChatAlerts(me.id, { chats, headers, closing, ownership, openChatId });
    this.sync = this.createSync(createSocket);
    this.connect();
  }

  private createSync(createSocket: ((url: string) => WebSocket) | undefined): Sync {
    return new Sync(
      this.api,
      this.chats,
      this.timelines,
      this.typing,
      this.runningCalls,
      {
        visitorActivity: (row, entry) => this.alerts.visitorActivity(row, entry),
        chatGiven: (row, by) => this.alerts.chatGiven(row, by),
        mentioned: (chatId, note) => this.alerts.mentioned(chatId, note),
        messageFailed: (chatId, entry) => this.alerts.messageFailed(chatId, entry),
        deliveryFailed: () => this.isAdmin && countFailedDeliveriesSoon(this.api),
        chatsGone: (chatIds) => this.onChatsGone(chatIds),
        viewers: (chatId, agentIds) => this.viewers.set(chatId, agentIds),
        presence: (agentId, status) => this.onPresence(agentId, status),
        settings: () => this.loadSharedData(),
        sessionEnded: () => endSession("expired"),
        recovered: () => this.outbox.retryNow(),
      },
      createSocket,
    );
  }

  /** Tells the stores of each other's events. */
  private connect(): void {
    const { outbox, ownership, reading, sync, visitors } = this;
    outbox.isPaused = (chatId) => ownership.acceptingChatIds.peek().has(chatId);
    outbox.onSent = (item, response) => this.sentMessages.add(item, response);
    outbox.onDone = (item) => {
      if (item.kind === "message" && item.actions !== undefined) void this.macros.run(item.chatId, item.actions);
    };
    outbox.onRejected = (item) => announce(t`Not sent: ${item.problem ?? ""}`);
    ownership.onSettled = (chatId) => void outbox.sendNext(chatId);
    ownership.onMissing = (chatId) => sync.removeChats([chatId]);
    reading.onMissing = (chatId) => sync.removeChats([chatId]);
    reading.onSeen = (chatId, seq) => sync.sendSeen(chatId, seq);
    visitors.onErased = (chatIds) => {
      for (const id of chatIds) {
        this.timelines.remove(id);
        this.drafts.write(id, "", false);
      }
      sync.removeChats(chatIds);
    };
    sync.openTimeline = () => {
      const id = reading.openChatId.peek();
      return id === undefined ? undefined : this.timelines.peek(id);
    };
  }

  start(): void {
    this.cleanups.push(showAttentionCount(this.chats.attentionCount));
    this.cleanups.push(
      effect(() => {
        const id = this.reading.openChatId.value;
        this.viewers.clear();
        if (id === undefined) return;
        this.alerts.dismiss(id);
        void this.reading.openTimeline(id);
      }),
      effect(() => {
        const id = this.reading.openChatId.value;
        if (id === undefined) return;
        for (const entry of this.timelines.open(id).entries.value) this.runningCalls.apply(id, entry);
      }),
      effect(() => this.reading.keepOpenChatOnTop()),
      effect(() => this.reading.reportSeen()),
      keepFilterInAddress(),
      this.organizing.watchSnoozes((row) => this.alerts.snoozeEnded(row)),
      effect(() => this.sync.show({ lists: shownLists(), open: this.reading.openChatId.value })),
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
    void this.presence.load();
    if (isWebPushEnabled.peek()) void import("./alerts/web-push").then(({ renewWebPush }) => renewWebPush(this.api));
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

  private readonly onPageHide = () => this.closing.flush();

  /** Loads what all consoles of the account share. If a request fails, the data is loaded again when it is needed. */
  private loadSharedData(): void {
    this.cannedReplies.load().catch(() => {});
    this.roster.refresh();
  }

  private onPresence(agentId: number, status: PresenceStatus): void {
    if (agentId === this.me.id) this.presence.status.value = status;
    this.roster.setPresence(agentId, status);
  }

  /** Removes what this page still shows or stores of chats that are gone. */
  private onChatsGone(chatIds: readonly number[]): void {
    for (const chatId of chatIds) {
      this.alerts.dismiss(chatId);
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

  /** Returns whether the chat has a draft or an unsent message. */
  hasUnsent(chatId: number): boolean {
    return this.drafts.chatIds.peek().has(chatId) || this.outbox.items.peek().some((item) => item.chatId === chatId);
  }

  discardUnsent(): void {
    this.drafts.clear();
    for (const item of this.outbox.items.peek()) this.outbox.discard(item.key);
  }
}
