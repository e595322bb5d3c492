import { signal } from "@preact/signals";
import type { ReplyActions } from "../../../api/types";
import type { PrefixedStorage } from "../../../ui/storage";

interface StoredDraft {
  text: string;
  isNote: boolean;
  /** What is done after the text has been sent, if it contains a macro. */
  actions?: ReplyActions | undefined;
}

/** The texts that the agent has written but not sent, one per chat. Every change is written to storage. */
export class Drafts {
  /** The chats that have a draft. */
  readonly chatIds = signal<ReadonlySet<number>>(new Set());

  /** What was typed on this page and not sent. */
  private readonly typed = new Map<number, StoredDraft>();

  constructor(private readonly storage: PrefixedStorage) {
    this.chatIds.value = new Set(storage.names().map(Number));
  }

  read(chatId: number): StoredDraft {
    return this.storage.read<StoredDraft>(String(chatId)) ?? { text: "", isNote: false };
  }

  write(chatId: number, text: string, isNote: boolean, actions?: ReplyActions): void {
    const draft = { text, isNote, actions };
    if (text.trim() === "") this.typed.delete(chatId);
    else this.typed.set(chatId, draft);
    this.store(chatId, draft);
  }

  /** Applies a change that another tab has stored. A message that is sent in another tab must not delete another text
   * that was typed on this page. `before` is the stored value before the change. */
  syncWithStorage(chatId: number, before: string | null): void {
    const stored = this.read(chatId);
    const typed = this.typed.get(chatId);
    if (stored.text === "" && typed !== undefined && before !== JSON.stringify(typed)) {
      this.store(chatId, typed);
      return;
    }
    if (stored.text === "") this.typed.delete(chatId);
    this.setHasDraft(chatId, stored.text !== "");
  }

  private store(chatId: number, draft: StoredDraft): void {
    const isEmpty = draft.text.trim() === "";
    if (isEmpty) this.storage.remove(String(chatId));
    else this.storage.write(String(chatId), draft);
    this.setHasDraft(chatId, !isEmpty);
  }

  private setHasDraft(chatId: number, hasDraft: boolean): void {
    if (this.chatIds.peek().has(chatId) === hasDraft) return;
    const chatIds = new Set(this.chatIds.peek());
    if (hasDraft) chatIds.add(chatId);
    else chatIds.delete(chatId);
    this.chatIds.value = chatIds;
  }

  clear(): void {
    this.typed.clear();
    this.storage.clear();
    this.chatIds.value = new Set();
  }
}
