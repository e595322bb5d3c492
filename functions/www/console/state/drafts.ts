import { signal } from "@preact/signals";
import type { Shelf } from "../../ui/storage";

interface Kept {
  text: string;
  isNote: boolean;
}

/** What was typed and not sent, by chat. Written through to storage at once. */
export class Drafts {
  /** Chats with a draft, for the list. */
  readonly chats = signal<ReadonlySet<number>>(new Set());

  constructor(private readonly shelf: Shelf) {
    this.chats.value = new Set(shelf.names().map(Number));
  }

  read(chatId: number): Kept {
    return this.shelf.read<Kept>(String(chatId)) ?? { text: "", isNote: false };
  }

  write(chatId: number, text: string, isNote: boolean): void {
    const isEmpty = text.trim().length === 0;
    if (isEmpty) this.shelf.remove(String(chatId));
    else this.shelf.write(String(chatId), { text, isNote });
    if (this.chats.peek().has(chatId) === !isEmpty) return;
    const chats = new Set(this.chats.peek());
    if (isEmpty) chats.delete(chatId);
    else chats.add(chatId);
    this.chats.value = chats;
  }

  clear(): void {
    this.shelf.clear();
    this.chats.value = new Set();
  }
}
