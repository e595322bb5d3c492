/* The conversation as it changes: sends the visitor's messages, and receives those of agents and bots. */

import type { Emit } from "../api/callbacks";
import type { Post, ServiceError } from "../service/client";
import type { Call, Chat, Message, Session } from "../service/types";
import type { Store } from "../state";
import { fill } from "../texts/texts";
import type { DeferredStorage } from "../visitor/deferred-storage";
import type { VisitorSession } from "../visitor/visitor-session";
import { LiveConnection, type LiveEvents } from "./live-connection";
import { Outbox, type Outgoing } from "./outbox";
import { randomId } from "./random-id";
import { playSound } from "./sound";
import { TypingNotice } from "./typing";
import { isAnswer, type ReadPosition } from "./conversation";

const READ = "read";
const FIRST_MESSAGE_AT = "first-message-at";
const TYPING_LIFETIME_MS = 30_000;
/** The service rejects a longer text in an invitation. */
const MAX_INVITE_LENGTH = 1000;
const RESTART_DELAY_MS = 30_000;
/** The chat to which messages of a blacklisted visitor seem to belong. */
const BLACKLISTED_CHAT_ID = 0;

type Received = Parameters<LiveEvents["received"]>[0];

export class Messenger {
  readonly typing: TypingNotice;
  /** Called when an offline message was stored, or rejected for good. */
  onOfflineResult: (messageId: string, error: ServiceError | undefined) => void = () => {};
  /** Called with the call in progress when the session was read, and with each new status. `id` names the call whose
   * status was pushed. */
  onCall: (call: Call | null, id?: string) => void = () => {};
  /** Called when another user has become the visitor. */
  onReplaced: () => void = () => {};
  /** Whether the history of the known user is hidden, because the page has named another one. */
  #isHidden = false;
  readonly #outbox: Outbox;
  #live: LiveConnection;
  #typingTimer: ReturnType<typeof setTimeout> | undefined;
  #restartTimer: ReturnType<typeof setTimeout> | undefined;

  readonly #name: string;
  readonly #store: Store;
  readonly #session: VisitorSession;
  readonly #storage: DeferredStorage;
  readonly #post: Post;
  readonly #emit: Emit;

  constructor(name: string, store: Store, session: VisitorSession, storage: DeferredStorage, post: Post, emit: Emit) {
    this.#name = name;
    this.#store = store;
    this.#session = session;
    this.#storage = storage;
    this.#post = post;
    this.#emit = emit;
    this.typing = new TypingNotice((frame) => this.#conversation.isChatOpen && this.#live.send(frame));
    this.#live = this.#createLive();
    this.#outbox = new Outbox(storage, {
      changed: () => this.#showPending(),
      send: ({ endpoint, messageId, body }) =>
        session.withToken((token) => post(endpoint, { token, message_id: messageId, ...body })),
      sent: (message, response) => this.#onSent(message, response as { message?: Message; chat_id?: number }),
      failed: ({ endpoint, messageId }, error) => {
        if (endpoint !== "offline-message") return;
        this.#outbox.remove(messageId);
        this.onOfflineResult(messageId, error);
      },
    });
    session.onForgotten = () => {
      this.#conversation.clear();
      this.#replaceLive();
    };
    session.onReplaced = () => {
      this.#live.tell({ type: "replaced" });
      this.#beginAnew();
    };
  }

  get firstMessageAt(): number | undefined {
    return this.#storage.read<number>(FIRST_MESSAGE_AT);
  }

  get #conversation() {
    return this.#store.state.conversation;
  }

  /** Applies the session that the service has returned, and connects if there is an open chat. */
  begin(session: Session): void {
    this.#takeSession(session);
    this.#showPending();
    // Ask the leader for messages that arrived by socket after the service had read the session.
    this.#live.tell({ type: "joined", position: this.#conversation.end });
    this.#outbox.flush();
    this.#connect();
  }

  sendText(text: string): void {
    const { conversation, invitation } = this.#store.state;
    const isFirst = conversation.isEmpty;
    const isNewChat = !conversation.isChatOpen && conversation.pending.length === 0;
    const accepted = isNewChat ? invitation : null;
    this.#storage.persist();
    this.typing.stop();
    const messageId = randomId();
    const at = Date.now();
    this.#outbox.add({
      endpoint: "message",
      messageId,
      at,
      body: {
        message: { type: "text", text },
        page: this.#session.page,
        invite: accepted?.text.slice(0, MAX_INVITE_LENGTH),
        department_id: accepted?.departmentId,
      },
    });
    if (isFirst) {
      this.#storage.write(FIRST_MESSAGE_AT, at);
      this.#emit("onMessageSent");
    }
    if (isNewChat) this.#emit("onClientStartChat");
  }

  /** Sends a message of the offline form. Returns its id. */
  sendOffline(fields: Record<string, unknown>): string {
    const messageId = randomId();
    this.#storage.persist();
    this.#outbox.add({ endpoint: "offline-message", messageId, at: Date.now(), body: fields });
    return messageId;
  }

  retry(messageId: string): void {
    this.#outbox.retry(messageId);
  }

  /** Marks all messages as read if the visitor sees them. */
  markRead(): void {
    const { state } = this.#store;
    const end = this.#conversation.end;
    const read = this.#storage.read<ReadPosition>(READ);
    const isSeen = state.isOpen && state.screen === "chat" && !document.hidden;
    const isNew = end !== undefined && (end.chatId !== read?.chatId || end.seq !== read.seq);
    if (isSeen && isNew) {
      this.#storage.write(READ, end);
      this.#live.tell({ type: "read", position: end });
    }
    this.#store.update({ unread: this.#conversation.unreadCount(isSeen ? end : read) });
  }

  /** Called when the network is back, or the tab is visible again. */
  resume(): void {
    this.#outbox.flush();
    this.#live.check();
    this.markRead();
  }

  /** Hides the history of the known user until the service has created a visitor for another one. */
  hide(): void {
    this.#isHidden = true;
    this.#forgetHistory();
    this.#replaceLive();
  }

  async clear(): Promise<void> {
    this.#forgetHistory();
    this.#live.tell({ type: "cleared" });
    if (this.#session.token === undefined) return;
    await this.#session.withToken((token) => this.#post("visitor", { token, clear_history: true }));
  }

  /** Lets another tab become the leader while the page is in the browser's back/forward cache. */
  pause(): void {
    this.#live.stop();
  }

  /** Connects again, and reads what was missed in the meantime. */
  restart(): void {
    this.#replaceLive();
    void this.catchUp();
  }

  stop(): void {
    this.typing.stop();
    this.#outbox.stop();
    this.#live.stop();
    clearTimeout(this.#typingTimer);
    clearTimeout(this.#restartTimer);
  }

  #createLive(): LiveConnection {
    return new LiveConnection(this.#name, this.#post, () => this.#session.token, {
      received: (message) => this.#onReceived(message),
      mustCatchUp: () => {
        this.#store.update({ isDisconnected: false });
        void this.catchUp();
      },
      disconnected: () => this.#store.update({ isDisconnected: true }),
      sessionEnded: () => {
        // The restart reads the session and thereby finds out whether the service still knows the visitor.
        this.#restartTimer = setTimeout(() => this.restart(), RESTART_DELAY_MS);
      },
    });
  }

  #replaceLive(): void {
    this.#live.stop();
    clearTimeout(this.#restartTimer);
    this.#live = this.#createLive();
    this.#store.update({ isDisconnected: false });
  }

  #connect(): void {
    if (this.#conversation.isChatOpen) this.#live.start();
  }

  #onSent(outgoing: Outgoing, { message, chat_id }: { message?: Message; chat_id?: number }): void {
    const { endpoint, messageId } = outgoing;
    if (endpoint === "offline-message") {
      // Read the chat that the message has opened, because the response does not contain it.
      void this.catchUp();
      return this.onOfflineResult(messageId, undefined);
    }
    if (!message || chat_id === undefined) return;
    const stored: Message = { ...message, chat_id, message_id: messageId };
    if (chat_id === BLACKLISTED_CHAT_ID) return this.#take([this.#atEnd(stored)]);
    if (this.#conversation.chat?.chat_id !== chat_id) {
      this.#conversation.chat = { chat_id, state: "waiting", agent: null, last_seq: stored.seq };
      this.#store.update({ rate: undefined });
    }
    this.#take([stored]);
    this.#share([stored]);
    this.#live.start();
  }

  /** Reads the session to get everything that was missed. Reading on from the last known number would not work, because
   * the visitor's own messages can have higher numbers than missed answers. */
  async catchUp(): Promise<void> {
    try {
      const session = await this.#session.load();
      this.#takeSession(session, true);
      this.#share(session.messages);
    } catch {
      // The session is read again when the socket opens.
    }
    this.#outbox.flush();
    this.#connect();
  }

  /** Passes messages to the other tabs. */
  #share(messages: Message[]): void {
    const { chat } = this.#conversation;
    if (chat) this.#live.tell({ type: "stored", messages, chat });
  }

  #takeSession({ chat, messages, mode, bot, agents, call, callback }: Session, isLive = false): void {
    this.#setChat(chat, isLive);
    this.#take(messages, isLive);
    this.#store.update({ mode, hasBot: bot, agents, callback });
    this.onCall(call);
  }

  #setChat(chat: Chat | null, isLive: boolean): void {
    const before = this.#conversation.chat;
    if (isLive && isOlder(chat, before)) return;
    if (chat?.chat_id !== before?.chat_id) this.#store.update({ rate: undefined });
    this.#conversation.chat = chat;
    const { agent, state } = chat ?? {};
    const { notices, texts } = this.#store.state;
    if (isLive && agent && state === "active" && (before?.state !== "active" || before.agent?.name !== agent.name)) {
      this.#store.update({ notices: [...notices, { text: fill(texts.joined, agent.name), at: Date.now() }] });
      if (before?.state !== "active") this.#emit("onAccept");
    }
    this.#store.update();
  }

  /** Returns a message that the service has not stored, because the visitor is blacklisted, with a number after all
   * others. */
  #atEnd(message: Message): Message {
    const end = this.#conversation.end;
    return { ...message, chat_id: end?.chatId ?? message.chat_id, seq: (end?.seq ?? 0) + 0.001 };
  }

  #onReceived(received: Received): void {
    switch (received.type) {
      case "message":
        return this.#take([{ ...received.message, chat_id: received.chat_id }], true);
      case "chat":
        return this.#setChat(received.chat, true);
      case "typing":
        return this.#showTyping(received.typing);
      case "call":
        return this.onCall(received.call, `${received.chat_id}.${received.seq}`);
      case "joined":
        if (this.#live.isLeader) this.#share(this.#conversation.after(received.position));
        return;
      case "stored":
        this.#storage.persist();
        this.#setChat(received.chat, true);
        this.#connect();
        return this.#take(received.messages, true);
      case "read":
        return this.#store.update({ unread: this.#conversation.unreadCount(received.position) });
      case "cleared":
        return this.#forgetHistory();
      case "replaced":
        this.#session.adopt();
        return this.#beginAnew();
    }
  }

  #take(messages: Message[], isLive = false): void {
    const added = this.#conversation.add(messages);
    for (const { message_id } of messages) this.#outbox.remove(message_id);
    const answers = added.filter(isAnswer);
    if (answers.length > 0) this.#showTyping(false);
    this.markRead();
    if (!isLive) return;
    for (const _ of answers) this.#emit("onMessageReceived");
    if (answers.length > 0 && document.hidden && this.#live.isLeader && this.#store.state.settings.sound) playSound();
  }

  #showTyping(isTyping: boolean): void {
    clearTimeout(this.#typingTimer);
    if (isTyping) this.#typingTimer = setTimeout(() => this.#showTyping(false), TYPING_LIFETIME_MS);
    const { texts } = this.#store.state;
    this.#store.update({ typingName: isTyping ? (this.#conversation.chat?.agent?.name ?? texts.agent) : null });
  }

  #showPending(): void {
    this.#conversation.pending = this.#outbox.messages.flatMap(({ endpoint, messageId, at, body, isFailed = false }) =>
      endpoint === "message" ? { messageId, at, isFailed, text: (body["message"] as { text: string }).text } : [],
    );
    this.#store.update();
  }

  /** Starts again with a new visitor. */
  #beginAnew(): void {
    // What was written since the history was hidden is for the new visitor.
    this.#forgetHistory(this.#isHidden);
    this.#isHidden = false;
    this.#showPending();
    this.#replaceLive();
    this.onReplaced();
  }

  #forgetHistory(keepsOutbox = false): void {
    if (!keepsOutbox) this.#outbox.clear();
    this.#conversation.clear();
    this.#storage.remove(READ);
    this.#storage.remove(FIRST_MESSAGE_AT);
    this.#store.update({ unread: 0, rate: undefined, notices: [], invitation: null, typingName: null });
  }
}

/** Whether a chat was read before another one, so that a late response does not undo a push. */
function isOlder(chat: Chat | null, known: Chat | null): boolean {
  if (!known) return false;
  return !chat || chat.chat_id < known.chat_id || (chat.chat_id === known.chat_id && chat.last_seq < known.last_seq);
}
