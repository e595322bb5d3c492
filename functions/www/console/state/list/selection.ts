import { signal } from "@preact/signals";

/** The chats that the agent has selected in the list, to change several of them at once. */
export class Selection {
  readonly chatIds = signal<ReadonlySet<number>>(new Set());
  /** The chat that was toggled last, from which a range extends. */
  private last: number | undefined;

  toggle(chatId: number): void {
    const chatIds = new Set(this.chatIds.peek());
    if (!chatIds.delete(chatId)) chatIds.add(chatId);
    this.chatIds.value = chatIds;
    this.last = chatId;
  }

  /** Selects the chats of the list from the one that was toggled last to this one. */
  extendTo(chatId: number, listed: readonly number[]): void {
    const from = this.last === undefined ? -1 : listed.indexOf(this.last);
    const to = listed.indexOf(chatId);
    if (from < 0 || to < 0) return this.toggle(chatId);
    const range = listed.slice(Math.min(from, to), Math.max(from, to) + 1);
    this.chatIds.value = new Set([...this.chatIds.peek(), ...range]);
  }

  /** Selects these chats, or none if they are all selected. */
  toggleAll(listed: readonly number[]): void {
    const areAllSelected = listed.every((chatId) => this.chatIds.peek().has(chatId));
    this.chatIds.value = areAllSelected ? new Set() : new Set(listed);
  }

  remove(chatIds: readonly number[]): void {
    this.chatIds.value = new Set([...this.chatIds.peek()].filter((id) => !chatIds.includes(id)));
  }

  clear(): void {
    this.last = undefined;
    if (this.chatIds.peek().size > 0) this.chatIds.value = new Set();
  }
}
