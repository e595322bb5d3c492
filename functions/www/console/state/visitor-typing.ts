import { signal } from "@preact/signals";

/** A typing notice expires after this time if it is not repeated. */
const TYPING_TIMEOUT_MS = 12_000;

export interface VisitorTyping {
  text: string | undefined;
}

/** The visitors who are typing, by chat number. */
export class TypingStore {
  readonly visitors = signal<ReadonlyMap<number, VisitorTyping>>(new Map());
  private readonly timers = new Map<number, ReturnType<typeof setTimeout>>();

  set(chatId: number, isTyping: boolean, text?: string): void {
    clearTimeout(this.timers.get(chatId));
    this.timers.delete(chatId);
    if (isTyping)
      this.timers.set(
        chatId,
        setTimeout(() => this.set(chatId, false), TYPING_TIMEOUT_MS),
      );
    const previous = this.visitors.peek().get(chatId);
    if (isTyping === (previous !== undefined) && previous?.text === text) return;
    const visitors = new Map(this.visitors.peek());
    if (isTyping) visitors.set(chatId, { text });
    else visitors.delete(chatId);
    this.visitors.value = visitors;
  }
}
