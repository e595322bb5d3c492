/* Tells the visitor that the agent has seen a message, once for each message. */

import type { Entry } from "../../api/types";

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
