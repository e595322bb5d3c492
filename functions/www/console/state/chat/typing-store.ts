import { signal } from "@preact/signals";

/** A typing notice expires after this time. The service uses the same time, and does not push the expiry. */
const TYPING_TIMEOUT_MS = 30_000;

export interface VisitorTyping {
  /** What the visitor has typed so far, if the visitor's front end sends it. */
  text: string | undefined;
}

export interface ColleagueTyping {
  name: string;
}

/** The current typing notices, by chat number. */
export class TypingStore<Notice> {
  readonly notices = signal<ReadonlyMap<number, Notice>>(new Map());
  private readonly timers = new Map<number, ReturnType<typeof setTimeout>>();

  start(chatId: number, notice: Notice): void {
    clearTimeout(this.timers.get(chatId));
    this.timers.set(
      chatId,
      setTimeout(() => this.stop(chatId), TYPING_TIMEOUT_MS),
    );
    this.notices.value = new Map(this.notices.peek()).set(chatId, notice);
  }

  stop(chatId: number): void {
    clearTimeout(this.timers.get(chatId));
    if (!this.timers.delete(chatId)) return;
    const notices = new Map(this.notices.peek());
    notices.delete(chatId);
    this.notices.value = notices;
  }
}

/** Who is typing in the chats that the agent sees. */
export class Typing {
  readonly visitors = new TypingStore<VisitorTyping>();
  readonly colleagues = new TypingStore<ColleagueTyping>();

  /** Applies `visitor_typing` from a chat's details. The details contain no text, so a text that was pushed is kept. */
  setVisitor(chatId: number, isTyping: boolean): void {
    if (!isTyping) return this.visitors.stop(chatId);
    this.visitors.start(chatId, this.visitors.notices.peek().get(chatId) ?? { text: undefined });
  }
}
