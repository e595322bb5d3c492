import { signal } from "@preact/signals";
import type { PrefixedStorage } from "../../ui/storage";

interface StoredDraft {
  text: string;
  isNote: boolean;
}

/** The texts that the agent has written but not sent, one per chat. Every change is written to storage. */
export class Drafts {
  /** The chats that have a draft. */
  readonly chatIds = signal<ReadonlySet<number>>(new Set());

  constructor(private readonly storage: PrefixedStorage) {
    this.chatIds.value = new Set(storage.names().map(Number));
  }

  read(chatId: number): StoredDraft {
    return this.storage.read<StoredDraft>(String(chatId)) ?? { text: "", isNote: false };
  }

  write(chatId: number, text: string, isNote: boolean): void {
    const isEmpty = text.trim().length === 0;
    if (isEmpty) this.storage.remove(String(chatId));
    else this.storage.write(String(chatId), { text, isNote });
    if (this.chatIds.peek().has(chatId) === !isEmpty) return;
    const chatIds = new Set(this.chatIds.peek());
    if (isEmpty) chatIds.delete(chatId);
    else chatIds.add(chatId);
    this.chatIds.value = chatIds;
  }

  clear(): void {
    this.storage.clear();
    this.chatIds.value = new Set();
  }
}
