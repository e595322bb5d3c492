import { signal } from "@preact/signals";

/** The colleagues who have the open chat open too. */
export class Viewers {
  private readonly shown = signal<{ chatId: number; agentIds: readonly number[] } | undefined>(undefined);

  constructor(private readonly myId: number) {}

  /** Applies a push, which the service sends only while several agents have the chat open. */
  set(chatId: number, agentIds: readonly number[]): void {
    this.shown.value = { chatId, agentIds };
  }

  /** Forgets the viewers, because another chat is opened or the socket is closed. */
  clear(): void {
    this.shown.value = undefined;
  }

  others(chatId: number): readonly number[] {
    const shown = this.shown.value;
    return shown?.chatId === chatId ? shown.agentIds.filter((id) => id !== this.myId) : [];
  }
}
