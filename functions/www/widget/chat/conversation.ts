/* The visitor's messages in order: first the stored ones by chat and number, then the visitor's own ones that are not
   stored yet. */

import type { Chat, Message } from "../service/types";

export interface PendingMessage {
  messageId: string;
  text: string;
  /** Unix time in milliseconds. */
  at: number;
  isFailed: boolean;
}

/** How far the visitor has read. */
export interface ReadPosition {
  chatId: number;
  seq: number;
}

export class Conversation {
  chat: Chat | null = null;
  /** The messages in the outbox. */
  pending: readonly PendingMessage[] = [];
  #stored: Message[] = [];
  /** Messages up to this position were seen by an agent, as far as the service has reported it. */
  #seen: ReadPosition | undefined;
  /** Messages up to this position were cleared, and are ignored if a late response contains them. */
  #clearedEnd: ReadPosition | undefined;

  get messages(): readonly Message[] {
    return this.#stored;
  }

  get isEmpty(): boolean {
    return this.#stored.length + this.pending.length === 0;
  }

  get isChatOpen(): boolean {
    return this.chat !== null && this.chat.state !== "closed";
  }

  /** The position of the last stored message. */
  get end(): ReadPosition | undefined {
    return positionOf(this.#stored.at(-1));
  }

  /** The visitor's newest message that an agent has seen. An answer of an agent implies that. */
  get lastSeen(): Message | undefined {
    const answer = this.#stored.findLast(({ from }) => from === "agent");
    return this.#stored.findLast(
      (message) =>
        message.from === "visitor" &&
        ((answer && !isAfter(message, positionOf(answer))) || (this.#seen && !isAfter(message, this.#seen))),
    );
  }

  /** Notes that an agent has seen the messages up to a position. */
  markSeen(chatId: number, seq: number): void {
    if (isAfter({ chat_id: chatId, seq }, this.#seen)) this.#seen = { chatId, seq };
  }

  has({ chat_id, seq }: Message): boolean {
    return this.#stored.some((message) => message.chat_id === chat_id && message.seq === seq);
  }

  /** Adds messages, and replaces those that have changed. Returns those that were not known yet, in order. */
  add(messages: Message[]): Message[] {
    const added: Message[] = [];
    for (const message of messages.filter((message) => isAfter(message, this.#clearedEnd))) {
      const index = this.#stored.findIndex(({ chat_id, seq }) => chat_id === message.chat_id && seq === message.seq);
      const known = this.#stored[index];
      if (known) this.#stored[index] = merged(known, message);
      else added.push(message);
    }
    this.#stored = [...this.#stored, ...added].sort(inOrder);
    return added.sort(inOrder);
  }

  /** Returns the messages after a position. */
  after(position: ReadPosition | undefined): Message[] {
    return this.#stored.filter((message) => isAfter(message, position));
  }

  /** Returns the messages of agents and bots after a position. */
  answersAfter(position: ReadPosition | undefined): Message[] {
    return this.after(position).filter(isAnswer);
  }

  /** Forgets the stored messages, because others that follow them are not known. */
  dropStored(): void {
    this.#stored = [];
  }

  clear(): void {
    this.#clearedEnd = this.end ?? this.#clearedEnd;
    this.chat = null;
    this.#stored = [];
    this.#seen = undefined;
  }
}

const positionOf = (message: Message | undefined): ReadPosition | undefined =>
  message && { chatId: message.chat_id, seq: message.seq };

/** A message that was deleted stays deleted, even if an older response arrives late. */
function merged(known: Message, received: Message): Message {
  if (known.deleted_at) return known;
  if (received.deleted_at) return received;
  return (received.edited_at ?? 0) < (known.edited_at ?? 0) ? known : { ...known, ...received };
}

/** Whether a message is from an agent or a bot, and was not deleted. */
export const isAnswer = ({ from, deleted_at }: Message): boolean => from !== "visitor" && !deleted_at;
/** Whether a message is after a position. Every message is after an undefined position. */
export const isAfter = ({ chat_id, seq }: Pick<Message, "chat_id" | "seq">, position: ReadPosition | undefined) =>
  !position || chat_id > position.chatId || (chat_id === position.chatId && seq > position.seq);
const inOrder = (a: Message, b: Message) => a.chat_id - b.chat_id || a.seq - b.seq;
