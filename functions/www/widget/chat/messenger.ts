/* The conversation as it changes: sends the visitor's messages, and receives those of agents and bots. */

import type { Emit } from "../api/callbacks";
import type { UploadedFile } from "../../files/upload";
import { ServiceError, type Post } from "../service/client";
import type { ButtonId, Call, Chat, Earlier, Frame, Message, Mode, OnlineAgent, Session } from "../service/types";
import { isWaitingAlone, showsLog, type Notice, type Store } from "../state";
import { fill } from "../texts";
import type { DeferredStorage } from "../visitor/deferred-storage";
import { PersonChanged, type VisitorSession } from "../visitor/visitor-session";
import { LiveConnection, type Link, type LiveEvents } from "./live-connection";
import { Outbox, type Outgoing } from "./outbox";
import { Polling, type Pace } from "./polling";
import { randomId } from "./random-id";
import { playSoundIfUnread } from "./sound";
import { TypingNotice } from "./typing";
import { isAnswer, type ReadPosition } from "./conversation";

const READ = "read";
/** The end of the conversation when the visitor dismissed the preview of a message. */
const DISMISSED = "dismissed";
const FIRST_MESSAGE_AT = "first-message-at";
const TYPING_LIFETIME_MS = 30_000;
/** How long the beginning of a bot's answer is shown after its last piece, if the rest does not come. */
const GROWING_LIFETIME_MS = 20_000;
/** The service rejects a longer text in an invitation. */
const MAX_INVITE_LENGTH = 1000;
const RESTART_DELAY_MS = 30_000;
/** How often the session is read if nothing is pushed, while the window is open, while it shows the position in the
 * queue, and while it is closed. */
const OPEN_PACE: Pace = [3000, 30_000];
const QUEUE_PACE: Pace = [10_000, 30_000];
const CLOSED_PACE: Pace = [60_000, 300_000];
/** How often a page is read that the browser does not show. Then, reading pauses until the page is shown again. */
const MAX_HIDDEN_READS = 4;
/** If less time has passed since the session was read, another tab does not need to wait for a new answer. */
const MIN_READ_INTERVAL_MS = 2500;
/** The maximum number of messages in a session. */
const MAX_SESSION_MESSAGES = 50;
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
  /** Called when the person at the browser has changed. */
  onLeft: () => void = () => {};
  /** Called when a chat was opened, has ended or has another state. */
  onChat: () => void = () => {};
  /** Whether the mode must be up to date even while the window is closed. */
  isModeNeeded: () => boolean = () => false;
  readonly #outbox: Outbox;
  #live: LiveConnection;
  readonly #polling = new Polling(
    () => this.#pace(),
    () => this.#poll(),
  );
  #hiddenReads = 0;
  #readAt = Date.now();
  /** The position of the last message of the last session. */
  #readTo: ReadPosition | undefined;
  #typingTimer: ReturnType<typeof setTimeout> | undefined;
  #growingTimer: ReturnType<typeof setTimeout> | undefined;
  #restartTimer: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;

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
    this.typing = new TypingNotice(
      (frame) => this.#conversation.isChatOpen && this.#live.send(frame),
      () => store.state.settings.typing_preview,
    );
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
    // What the person has written since the page named the user is for the new visitor.
    session.onReplaced = () => this.#beginAnew(true);
    session.onLeft = () => this.#beginAnew(false);
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

  /** Whether the mode was read or pushed more than a minute ago. */
  get isOutdated(): boolean {
    return Date.now() - this.#readAt > CLOSED_PACE[0];
  }

  /** Must be called when the window was opened or closed. */
  windowChanged(): void {
    this.markRead();
    this.#polling.restart();
  }

  /** Must be called when `isModeNeeded` may have changed. Reads the mode now if it was read long ago. */
  refreshMode(): void {
    if (!this.isModeNeeded()) return;
    if (this.isOutdated) void this.catchUp();
    else this.#polling.ensure();
  }

  /** `buttonId` is the id of the bot's button that the visitor has pressed, if it has one. */
  sendText(text: string, buttonId?: ButtonId): void {
    this.#send({ type: "text", text, button_id: buttonId });
  }

  /** Sends a file that has been uploaded. */
  sendFile(uploaded: UploadedFile, name: string): void {
    this.#send({ ...uploaded, file_name: name });
  }

  #send(message: object): void {
    this.#polling.restart();
    this.#endGrowing();
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
        message,
        page: this.#session.page,
        invite: accepted?.text.slice(0, MAX_INVITE_LENGTH),
        department_id: accepted?.departmentId,
      },
    });
    if (isFirst) {
      this.#storage.write(FIRST_MESSAGE_AT, at);
      this.#emit("onMessageSent");
    }
    if (isNewChat && !accepted) this.#emit("onClientStartChat");
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
    const end = this.#conversation.end;
    const read = this.#storage.read<ReadPosition>(READ);
    const isSeen = this.#isLogSeen;
    const isNew = end !== undefined && (end.chatId !== read?.chatId || end.seq !== read.seq);
    if (isSeen && isNew) {
      this.#storage.write(READ, end);
      this.#live.tell({ type: "read", position: end });
    }
    this.#showUnread(isSeen ? end : read);
  }

  get #isLogSeen(): boolean {
    const { state } = this.#store;
    return state.isOpen && showsLog(state) && !document.hidden;
  }

  /** Removes the preview of the last unread message. */
  dismissPreview(): void {
    this.#storage.write(DISMISSED, this.#conversation.end);
    this.markRead();
  }

  #showUnread(read: ReadPosition | undefined): void {
    const answers = this.#conversation.answersAfter(read);
    const last = answers.at(-1);
    const isDismissed = last && !this.#conversation.answersAfter(this.#storage.read(DISMISSED)).includes(last);
    this.#store.update({ unread: answers.length, preview: isDismissed ? null : (last ?? null) });
  }

  /** Loads the messages before those of the log. */
  async loadEarlier(): Promise<void> {
    const { earlier } = this.#store.state;
    const [first] = this.#conversation.messages;
    if (!first || (earlier !== "more" && earlier !== "failed")) return;
    this.#store.update({ earlier: "loading" });
    const { chat_id, seq } = first;
    try {
      const { messages, has_earlier } = await this.#session.withToken((token) =>
        this.#post<Earlier>("history", { token, before: { chat_id, seq } }),
      );
      const [now] = this.#conversation.messages;
      // The history was cleared meanwhile.
      if (now?.chat_id !== chat_id || now.seq !== seq) return;
      this.#conversation.add(messages);
      this.#store.update();
      // Screen readers do not read out the messages that were added while they are being loaded.
      await new Promise((done) => setTimeout(done));
      this.#store.update({ earlier: has_earlier && messages.length > 0 ? "more" : "none" });
    } catch (error) {
      if (!(error instanceof PersonChanged)) this.#store.update({ earlier: "failed" });
    }
  }

  /** Called when the network is back, or the tab is visible again. */
  resume(): void {
    this.#hiddenReads = 0;
    this.#session.check();
    this.#outbox.flush();
    this.#live.check();
    this.markRead();
    this.#polling.restart();
    this.refreshMode();
  }

  /** Lets another tab become the leader while the page is in the browser's back/forward cache. */
  pause(): void {
    this.#live.stop();
    this.#polling.stop();
  }

  /** Connects again, and reads what was missed in the meantime. */
  restart(): void {
    this.#replaceLive();
    void this.catchUp();
    this.#polling.restart();
  }

  /** Ends all work for good. The responses to requests in flight are ignored. */
  stop(): void {
    this.#isStopped = true;
    this.#polling.stop();
    this.typing.stop();
    this.#outbox.stop();
    this.#live.stop();
    clearTimeout(this.#typingTimer);
    clearTimeout(this.#growingTimer);
    clearTimeout(this.#restartTimer);
  }

  #createLive(): LiveConnection {
    return new LiveConnection(`${this.#name}.${this.#storage.scope}`, this.#post, () => this.#session.token, {
      received: (message) => this.#onReceived(message),
      mustCatchUp: () => void this.catchUp(),
      linkChanged: (link) => this.#setLink(link),
      sessionEnded: () => {
        // The restart reads the session and thereby finds out whether the service still knows the visitor.
        this.#restartTimer = setTimeout(() => this.restart(), RESTART_DELAY_MS);
      },
    });
  }

  #replaceLive(): void {
    if (this.#isStopped) return;
    this.#live.stop();
    clearTimeout(this.#restartTimer);
    this.#live = this.#createLive();
    this.#setLink(null);
  }

  #setLink(link: Link | null): void {
    this.#store.update({ link });
    this.#polling.restart();
  }

  /** How often the session must be read now. */
  #pace(): Pace | undefined {
    const { isOpen, link } = this.#store.state;
    const { isChatOpen, chat } = this.#conversation;
    if (this.#isStopped || this.#hiddenReads >= MAX_HIDDEN_READS) return undefined;
    if (isChatOpen && link && link !== "live") return isOpen ? OPEN_PACE : CLOSED_PACE;
    // The position in the queue is not pushed.
    if (isOpen && chat?.state === "waiting" && this.#store.state.queuePosition) return QUEUE_PACE;
    // The mode is pushed only to open chats, and not if an agent becomes offline because of a time limit.
    const isModeShown = isOpen && (!isChatOpen || chat?.state === "waiting");
    return (isModeShown || this.isModeNeeded()) && !document.hidden ? CLOSED_PACE : undefined;
  }

  async #poll(): Promise<void> {
    this.#hiddenReads = document.hidden ? this.#hiddenReads + 1 : 0;
    // Another tab is the leader, and reads for all tabs.
    if (this.#store.state.link && !this.#live.isLeader) this.#live.tell({ type: "poll" });
    else await this.#read(this.#readTo);
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
      this.onChat();
    }
    this.#take([stored]);
    this.#share([stored]);
    this.#live.start();
  }

  /** Reads the session to get everything that was missed. */
  catchUp(): Promise<void> {
    return this.#read(undefined);
  }

  /** Reads the session. Leaves out messages up to `position`, which is the end of an earlier session: reading on from
   * the last known message would not work, because the visitor's own messages can have higher numbers than missed
   * answers. */
  async #read(position: ReadPosition | undefined): Promise<void> {
    if (this.#isStopped) return;
    this.#readAt = Date.now();
    const after = position?.chatId === this.#conversation.chat?.chat_id ? position?.seq : undefined;
    try {
      const session = await this.#session.load(after);
      if (this.#isStopped) return;
      // The numbers of a new chat begin at one again.
      if (after !== undefined && session.chat?.chat_id !== position?.chatId) return this.#read(undefined);
      // The response does not contain an earlier message that an agent has changed.
      const knownChange = this.#conversation.chat?.messages_changed_at;
      if (after !== undefined && session.chat?.messages_changed_at !== knownChange) return this.#read(undefined);
      this.#takeSession(session, true);
      this.#share(session.messages);
      this.#live.tell({ type: "mode", mode: session.mode, agents: session.agents });
      this.#live.reportRead(true);
    } catch (error) {
      // The session is read again when the socket opens, or at the next time.
      this.#live.reportRead(error instanceof ServiceError);
    }
    this.#outbox.flush();
    this.#connect();
  }

  /** Passes messages to the other tabs. */
  #share(messages: Message[]): void {
    const { chat } = this.#conversation;
    if (chat) this.#live.tell({ type: "stored", messages, chat });
  }

  #takeSession(session: Session, isLive = false): void {
    const {
      chat,
      messages,
      mode,
      bot: hasBot,
      agents,
      call,
      callback,
      callback_available,
      opens_at: opensAt,
      queue_position: queuePosition,
      has_earlier,
    } = session;
    const { bot_disclosure: isBotDisclosed, files: hasFiles = false } = session;
    const [first] = messages;
    // If the first message of a full response is not known, others before it may be missing. They are loaded with the
    // history.
    if (first && messages.length >= MAX_SESSION_MESSAGES && !this.#conversation.has(first))
      this.#conversation.dropStored();
    if (first && this.#conversation.messages.length === 0)
      this.#store.update({ earlier: has_earlier ? "more" : "none" });
    const last = messages.at(-1);
    if (last) this.#readTo = { chatId: last.chat_id, seq: last.seq };
    this.#setChat(chat, isLive);
    this.#take(messages, isLive);
    const wasQueued = this.#store.state.queuePosition !== undefined;
    this.#store.update({
      hasBot,
      isBotDisclosed,
      callback,
      isCallbackAvailable: callback_available,
      opensAt,
      hasFiles,
      queuePosition,
    });
    if (!wasQueued && queuePosition !== undefined) this.#polling.restart();
    this.#setMode(mode, agents);
    this.onCall(call);
  }

  #setMode(mode: Mode, agents: OnlineAgent[]): void {
    const { state } = this.#store;
    const wasOnline = state.mode === "online";
    this.#store.update({ mode, agents });
    if (wasOnline && isWaitingAlone(state)) this.notify(state.texts.nobody);
  }

  /** Adds a line after the last message of the log. */
  notify(text: string): void {
    this.#addNotice({ text, at: Date.now(), after: this.#conversation.end });
  }

  #addNotice(notice: Notice): void {
    this.#store.update({ notices: [...this.#store.state.notices, notice] });
  }

  #setChat(chat: Chat | null, isLive: boolean): void {
    const before = this.#conversation.chat;
    if (isLive && isOlder(chat, before)) return;
    const wasOpen = this.#conversation.isChatOpen;
    this.#conversation.chat = chat;
    const { agent, state } = chat ?? {};
    const text = agent ? fill(this.#store.state.texts.joined, agent.name) : "";
    if (agent && state === "active" && (before?.state !== "active" || before.agent?.name !== agent.name)) {
      if (agent.joined_at) this.#addNotice({ text, at: agent.joined_at, after: undefined, isServiceTime: true });
      else if (isLive) this.notify(text);
      if (isLive && before?.state !== "active") this.#emit("onAccept");
    }
    if (state !== "bot") this.#endGrowing();
    if (wasOpen !== this.#conversation.isChatOpen) this.#polling.restart();
    if (isLive) this.onChat();
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
        return this.#showTyping(received.typing, received.from === "bot");
      case "growing":
        return this.#grow(received);
      case "call":
        return this.onCall(received.call, `${received.chat_id}.${received.seq}`);
      case "joined":
        if (!this.#live.isLeader) return;
        this.#share(this.#conversation.after(received.position));
        return this.#live.shareLink();
      case "link":
        return this.#setLink(received.link);
      case "poll":
        if (this.#live.isLeader && Date.now() - this.#readAt > MIN_READ_INTERVAL_MS) void this.#read(this.#readTo);
        return;
      case "mode":
        this.#readAt = Date.now();
        this.#polling.postpone();
        return this.#setMode(received.mode, received.agents ?? []);
      case "seen":
        this.#conversation.markSeen(received.chat_id, received.seq);
        return this.#store.update();
      case "stored":
        this.#session.check();
        this.#storage.persist();
        this.#setChat(received.chat, true);
        this.#connect();
        return this.#take(received.messages, true);
      case "read":
        return this.#showUnread(received.position);
    }
  }

  #take(messages: Message[], isLive = false): void {
    const added = this.#conversation.add(messages);
    for (const { message_id } of messages) this.#outbox.remove(message_id);
    const answers = added.filter(isAnswer);
    const hasAnswer = answers.length > 0;
    if (hasAnswer) {
      this.#showTyping(false);
      this.#endGrowing();
    }
    this.markRead();
    if (!isLive || !hasAnswer) return;
    for (const _ of answers) this.#emit("onMessageReceived");
    // Another answer is likely.
    this.#polling.restart();
    if (this.#store.state.settings.sound) playSoundIfUnread(this.#name, () => this.#store.state.unread > 0);
  }

  #showTyping(isTyping: boolean, isBot = false): void {
    clearTimeout(this.#typingTimer);
    if (isTyping) this.#typingTimer = setTimeout(() => this.#showTyping(false), TYPING_LIFETIME_MS);
    const { texts } = this.#store.state;
    const name = isBot ? texts.bot : (this.#conversation.chat?.agent?.name ?? texts.agent);
    this.#store.update({ typingName: isTyping ? name : null });
  }

  /** Shows the text of an answer that the bot is still writing. It disappears when the message arrives, or if the bot
   * falls silent. */
  #grow({ chat_id, seq, name, growing: text }: Frame & { type: "growing" }): void {
    const { chat } = this.#conversation;
    if (chat?.state !== "bot" || chat.chat_id !== chat_id) return;
    // A piece can be overtaken by a longer one, or by the whole message.
    const isLate = this.#conversation.answersAfter({ chatId: chat_id, seq }).length > 0;
    if (isLate || this.#store.state.growing?.text.startsWith(text)) return;
    this.#showTyping(false);
    clearTimeout(this.#growingTimer);
    this.#growingTimer = setTimeout(() => this.#endGrowing(), GROWING_LIFETIME_MS);
    const isStopped = this.#store.state.growing?.isStopped ?? false;
    this.#store.update({ growing: { name, text, isStopped } });
  }

  /** Asks the bot to stop the answer that it is writing. */
  stopAnswer(): void {
    const { growing } = this.#store.state;
    if (growing === null || growing.isStopped) return;
    this.#live.send({ type: "stop" });
    this.#store.update({ growing: { ...growing, isStopped: true } });
  }

  #endGrowing(): void {
    clearTimeout(this.#growingTimer);
    if (this.#store.state.growing !== null) this.#store.update({ growing: null });
  }

  #showPending(): void {
    this.#conversation.pending = this.#outbox.messages.flatMap(({ endpoint, messageId, at, body, isFailed = false }) =>
      endpoint === "message" ? { messageId, at, isFailed, text: pendingText(body["message"]) } : [],
    );
    this.#store.update();
  }

  /** Starts again for another person, or with another visitor. */
  #beginAnew(keepsOutbox: boolean): void {
    this.typing.stop();
    if (!keepsOutbox) this.#outbox.clear();
    this.#conversation.clear();
    this.#storage.remove(READ);
    this.#storage.remove(DISMISSED);
    this.#storage.remove(FIRST_MESSAGE_AT);
    this.#readTo = undefined;
    this.#store.update({ unread: 0, preview: null, earlier: "none", rate: undefined, notices: [], invitation: null });
    this.#showTyping(false);
    this.#showPending();
    this.#replaceLive();
    this.onLeft();
  }
}

/** Returns what is shown of a message that the service has not confirmed yet. */
function pendingText(message: unknown): string {
  const { text, file_name } = message as { text?: string; file_name?: string };
  return text ?? file_name ?? "";
}

/** Whether a chat was read before another one, so that a late response does not undo a push. */
function isOlder(chat: Chat | null, known: Chat | null): boolean {
  if (!known) return false;
  return !chat || chat.chat_id < known.chat_id || (chat.chat_id === known.chat_id && chat.last_seq < known.last_seq);
}
