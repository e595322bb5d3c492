import type { ReadonlySignal } from "@preact/signals";
import type { ChatRow, Entry } from "../../../api/types";
import { announce } from "../../../ui/announcer";
import { toast } from "../../../ui/toast";
import { playSound, showDesktopNotification } from "./alerts";
import { callTitle, ringingText } from "../calls/call-text";
import type { ChatHeaders } from "../chat/chat-headers";
import { type ChatStore, visitorName } from "../list/chats";
import type { Closing } from "../chat/closing";
import type { Ownership } from "../chat/ownership";
import { openChat } from "../page/route";
import { t } from "../../../texts/translate";

/** How long a toast stays that tells of a chat that the agent was given, or of a message that was not delivered. */
const ALERT_TOAST_MS = 20_000;

interface Stores {
  chats: ChatStore;
  headers: ChatHeaders;
  closing: Closing;
  ownership: Ownership;
  openChatId: ReadonlySignal<number | undefined>;
}

/** Tells the agent what happens in the agent's chats and in those that wait. */
export class ChatAlerts {
  /** The failures of own messages that have been reported. */
  private readonly reportedFailures = new Set<string>();
  /** Functions that dismiss the toasts about chats that the agent was given, and about failures, by chat. */
  private readonly dismissals = new Map<number, () => void>();

  constructor(
    private readonly myId: number,
    private readonly stores: Stores,
  ) {}

  /** A visitor has written or called. */
  visitorActivity(row: ChatRow, entry: Entry | undefined): void {
    const { chats, closing } = this.stores;
    const call = entry?.call;
    if (row.state !== "waiting" && !chats.isMine(row) && call?.agent?.id !== this.myId) return;
    const name = visitorName(row);
    const text = call ? ringingText(call, name) : messageText(row, entry);
    if (closing.undo(row.chat_id)) toast(t`${name} wrote again. The chat stays open.`);
    announce(call ? text : this.announcement(row, text));
    if (this.isReading(row.chat_id)) return;
    const title = call ? callTitle(call) : row.state === "waiting" ? t`${name} is waiting` : name;
    notify(title, text, row.chat_id);
  }

  private announcement(row: ChatRow, text: string): string {
    const name = visitorName(row);
    if (this.stores.openChatId.peek() === row.chat_id) return `${name}: ${text}`;
    return row.state === "waiting" ? t`${name} is waiting for an agent` : t`New message from ${name}`;
  }

  /** A colleague, a bot or an assignment has given the chat to the agent. */
  chatGiven(row: ChatRow, by: Entry["agent"]): void {
    const { chats, ownership, openChatId } = this.stores;
    const chatId = row.chat_id;
    if (by?.id === this.myId || ownership.hasTaken(chatId)) return;
    const isReading = this.isReading(chatId);
    const name = visitorName(row);
    const text =
      by === undefined ? t`The chat with ${name} is yours now.` : t`${by.name} gave you the chat with ${name}.`;
    if (!isReading) chats.setGiven(chatId, true);
    if (openChatId.peek() === chatId) toast(text);
    else this.show(chatId, text, false);
    if (!isReading) notify(t`${name} is your chat now`, text, chatId);
  }

  /** A colleague's note mentions the agent. */
  mentioned(chatId: number, note: Entry): void {
    const row = this.stores.headers.peek(chatId);
    const name = row === undefined ? t`chat #${chatId}` : visitorName(row);
    const text = t`${note.agent?.name ?? t`A colleague`} mentions you in the chat with ${name}.`;
    announce(text);
    if (this.isReading(chatId)) return;
    this.show(chatId, text, false);
    notify(text, note.text ?? "", chatId);
  }

  /** The time has come until which the agent has put an own chat aside. */
  snoozeEnded(row: ChatRow): void {
    const text = t`The chat with ${visitorName(row)} is back from its snooze.`;
    announce(text);
    if (this.isReading(row.chat_id)) return;
    this.show(row.chat_id, text, false);
    notify(visitorName(row), text, row.chat_id);
  }

  /** An own message was not delivered. */
  messageFailed(chatId: number, entry: Entry | undefined): void {
    const attempts = entry?.delivery?.attempts.at(-1)?.at;
    const failure = `${chatId} ${entry?.seq} ${attempts}`;
    if (entry !== undefined && this.reportedFailures.has(failure)) return;
    this.reportedFailures.add(failure);
    const row = this.stores.headers.peek(chatId);
    const name = row === undefined ? t`chat #${chatId}` : visitorName(row);
    const text = t`Your message to ${name} was not delivered.`;
    announce(text);
    if (this.isReading(chatId)) return;
    this.show(chatId, text, true);
    notify(t`Not delivered`, text, chatId);
  }

  private isReading(chatId: number): boolean {
    return this.stores.chats.readingChatId.peek() === chatId && !document.hidden;
  }

  /** Shows a toast with a button that opens the chat. It replaces an earlier one about the chat. */
  private show(chatId: number, text: string, isBad: boolean): void {
    this.dismiss(chatId);
    const action = { label: t`Open`, run: () => openChat(chatId) };
    this.dismissals.set(chatId, toast(text, { isBad, durationMs: ALERT_TOAST_MS, action }));
  }

  /** Removes the toast about the chat. */
  dismiss(chatId: number): void {
    this.dismissals.get(chatId)?.();
    this.dismissals.delete(chatId);
  }
}

const messageText = (row: ChatRow, entry: Entry | undefined): string =>
  (entry === undefined ? row.last_message?.text : (entry.text ?? entry.file_name)) ?? "";

function notify(title: string, text: string, chatId: number): void {
  playSound();
  showDesktopNotification(title, text, chatId, () => openChat(chatId));
}
