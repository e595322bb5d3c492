import { computed } from "@preact/signals";
import { hasStatus } from "../../../api/client";
import type { Entry } from "../../../api/types";
import type { ChatStore } from "../list/chats";
import { route } from "../page/route";
import type { Timelines } from "./timeline";
import type { Typing } from "./typing-store";

/** The chat that the agent has open, and how far the agent has read. */
export class Reading {
  readonly openChatId = computed(() => (route.value.section === "inbox" ? route.value.id : undefined));
  /** Called if a chat that the agent opens does not exist. */
  onMissing: (chatId: number) => void = () => {};
  /** Called with the last message that the agent has seen. Returns false if the visitor cannot be told now. */
  onSeen: (chatId: number, seq: number) => boolean = () => false;

  private readonly seenNotice = new SeenNotice((chatId, seq) => this.onSeen(chatId, seq));

  constructor(
    private readonly myId: number,
    private readonly chats: ChatStore,
    private readonly timelines: Timelines,
    private readonly typing: Typing,
  ) {}

  /** Loads the chat's timeline, or what is new in it. */
  async openTimeline(chatId: number): Promise<void> {
    const timeline = this.timelines.open(chatId);
    try {
      const wasLoaded = timeline.loadState.peek() === "ready";
      await timeline.open(this.chats.peek(chatId)?.seq);
      if (wasLoaded) await timeline.refreshDetails();
      const detail = timeline.chatDetails.peek();
      if (detail !== undefined) this.typing.setVisitor(chatId, detail.visitor_typing);
    } catch (error) {
      if (hasStatus(error, 404)) this.onMissing(chatId);
    }
  }

  /** Returns the `seq` up to which the agent has read the chat: the stored position, or else the agent's own last
   * entry. Without either, nothing has been read of a chat that waits for the agent, and the position in other chats is
   * not known. */
  readPosition(chatId: number): number | undefined {
    const lastOwnEntry = this.timelines
      .peek(chatId)
      ?.entries.peek()
      .findLast((entry) => entry.from === "agent" && entry.agent?.id === this.myId);
    const row = this.chats.peek(chatId);
    const unread = row !== undefined && this.chats.isUnread(row) ? 0 : undefined;
    return this.chats.lastReadSeq(chatId) ?? lastOwnEntry?.seq ?? unread;
  }

  markRead(chatId: number): void {
    this.chats.markRead(chatId, this.timelines.peek(chatId)?.lastSeq ?? 0);
  }

  /** Tells the visitor of an own chat what the agent has seen: the messages at the end of the log, while the page is
   * visible. */
  reportSeen(): void {
    const id = this.chats.readingChatId.value;
    const row = id === undefined ? undefined : this.chats.row(id);
    if (row === undefined || !this.chats.isMine(row)) return;
    const timeline = this.timelines.open(row.chat_id);
    // Only chats of a widget have a session.
    if (timeline.chatDetails.value?.session !== undefined) this.seenNotice.onRead(row.chat_id, timeline.entries.value);
  }

  /** An unread chat stays above the queue while the agent reads it, so that it does not move away under the agent. */
  keepOpenChatOnTop(): void {
    const id = this.openChatId.value;
    const row = id === undefined ? undefined : this.chats.row(id);
    if (row !== undefined && this.chats.isUnread(row)) this.chats.keptOnTopId.value = id;
    else if (this.chats.keptOnTopId.peek() !== id) this.chats.keptOnTopId.value = undefined;
  }
}

/** Tells the visitor that the agent has seen a message, once for each message. */
export class SeenNotice {
  /** The last message of each chat that was reported. */
  private readonly reported = new Map<number, number>();

  /** `send` returns false if there is no connection. The message is then reported with the next change of the chat. */
  constructor(private readonly send: (chatId: number, seq: number) => boolean) {}

  onRead(chatId: number, entries: readonly Entry[]): void {
    const last = entries.findLast((entry) => entry.from === "visitor")?.seq ?? 0;
    if (last > (this.reported.get(chatId) ?? 0) && this.send(chatId, last)) this.reported.set(chatId, last);
  }
}
