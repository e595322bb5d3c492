import { batch } from "@preact/signals";
import { ApiError, hasStatus, type ApiClient } from "../../../api/client";
import type { Visitor, VisitorChanges } from "../../../api/types";
import type { ChatHeaders } from "./chat-headers";
import type { ChatStore } from "../list/chats";
import { session } from "../agent/session";
import type { Timeline, Timelines } from "./timeline";

/** The service works on an erasure for up to twenty seconds before it responds. */
const ERASURE_TIMEOUT_MS = 30_000;

interface Removed {
  chats: number;
  entries: number;
}

/** What agents and admins change of visitors. */
export class Visitors {
  /** Called with an erased visitor's chats that were listed. */
  onErased: (chatIds: readonly number[]) => void = () => {};

  constructor(
    private readonly api: ApiClient,
    private readonly chats: ChatStore,
    private readonly timelines: Timelines,
    private readonly headers: ChatHeaders,
  ) {}

  /** Changes a visitor in all chats. `chatId` is the chat in which the agent has done it. */
  async change(chatId: number, number: number, changes: VisitorChanges): Promise<void> {
    const { name } = await this.patch(number, changes);
    // The name of a merged visitor can be that of another one, which the lists do not show.
    if (changes.name !== undefined) this.rename(number, changes.name ? name : "");
    void this.headers.refreshTimeline(chatId);
  }

  /** Merges a visitor with another one who is the same person. */
  merge(number: number, other: number): Promise<Visitor> {
    return this.patch(number, { merge_with: other });
  }

  /** Separates a visitor from those with whom it is merged. */
  separate(number: number): Promise<Visitor> {
    return this.patch(number, { separate: true });
  }

  private async patch(number: number, changes: VisitorChanges): Promise<Visitor> {
    const changed = await this.api.patch("/agent/visitors/{number}", { path: { number }, body: changes });
    batch(() => {
      for (const timeline of this.timelines.all()) this.applyChange(timeline, changed);
    });
    return changed;
  }

  private rename(number: number, name: string): void {
    this.chats.applyRows(this.rowsOf(number).map((row) => ({ ...row, visitor: { ...row.visitor, name } })));
  }

  /** Shows the changed visitor in a timeline. A visitor who is or was merged with the changed one has changed too, and
   * is read again. */
  private applyChange(timeline: Timeline, changed: Visitor): void {
    const visitor = timeline.chatDetails.peek()?.visitor;
    if (visitor?.number === changed.number) timeline.applyVisitor(changed);
    else if (visitor?.merged_with?.includes(changed.number) || changed.merged_with?.includes(visitor?.number ?? 0))
      void timeline.refreshDetails().catch(() => {});
  }

  /** Erases a visitor with all of their chats, and before that each of those with whom the visitor is merged. One of
   * the latter who does not exist any more counts as erased. Stops when the agent signs out: another session could
   * belong to another account, where other visitors have these numbers. */
  async erase(number: number, merged: readonly number[], onProgress: (removed: Removed) => void): Promise<void> {
    const removed = { chats: 0, entries: 0 };
    const token = session.peek()?.token;
    const add = ({ chats, entries }: Removed) => {
      removed.chats += chats;
      removed.entries += entries;
      onProgress({ ...removed });
    };
    for (const other of merged) {
      await this.eraseOne(other, token, add).catch((error: unknown) => {
        if (!hasStatus(error, 404)) throw error;
      });
      this.removeRows(other);
    }
    await this.eraseOne(number, token, add);
    this.removeRows(number);
  }

  /** Repeats the request until the erasure of the visitor is complete. */
  private async eraseOne(
    number: number,
    token: string | undefined,
    onRemoved: (removed: Removed) => void,
  ): Promise<void> {
    for (;;) {
      if (session.peek()?.token !== token) throw sessionEnded();
      const response = await this.api.delete("/admin/visitors/{number}", {
        path: { number },
        timeoutMs: ERASURE_TIMEOUT_MS,
      });
      onRemoved(response.removed);
      if (response.complete) return;
    }
  }

  private removeRows(number: number): void {
    this.onErased(this.rowsOf(number).map((row) => row.chat_id));
  }

  private rowsOf(number: number) {
    return [...this.chats.rows.peek().values()].filter((row) => row.visitor.number === number);
  }
}

/** Returns the error with which the service rejects requests of an ended session. */
const sessionEnded = () => new ApiError(401, "unauthorized", "the session has ended", undefined, undefined);
