import { batch } from "@preact/signals";
import { ApiError, type ApiClient } from "../../../api/client";
import type { Visitor, VisitorChanges } from "../../../api/types";
import type { ChatHeaders } from "./chat-headers";
import type { ChatStore } from "../list/chats";
import { session } from "../agent/session";
import type { Timeline, Timelines } from "./timeline";

/** The service works on an erasure for up to twenty seconds before it responds. */
const ERASURE_TIMEOUT_MS = 30_000;

type ErasedVisitor = Pick<Visitor, "number" | "merged_with">;

interface Removed {
  chats: number;
  entries: number;
}

/** What agents and admins change of visitors. */
export class Visitors {
  /** Called with the erased visitors' chats that were listed. */
  onErased: (chatIds: readonly number[]) => void = () => {};

  constructor(
    private readonly api: ApiClient,
    private readonly chats: ChatStore,
    private readonly timelines: Timelines,
    private readonly headers: ChatHeaders,
  ) {}

  /** Changes a visitor in all chats. `chatId` is the chat in which the agent has done it. */
  async change(chatId: number, number: number, changes: VisitorChanges): Promise<void> {
    await this.patch(number, changes);
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
      const rows = this.rowsOf(number);
      this.chats.applyRows(rows.map((row) => ({ ...row, visitor: { ...row.visitor, name: changed.name } })));
    });
    return changed;
  }

  /** Shows the changed visitor in a timeline. A visitor who is or was merged with the changed one has changed too, and
   * is read again. */
  private applyChange(timeline: Timeline, changed: Visitor): void {
    const visitor = timeline.chatDetails.peek()?.visitor;
    if (visitor?.number === changed.number) timeline.applyVisitor(changed);
    else if (visitor?.merged_with?.includes(changed.number) || changed.merged_with?.includes(visitor?.number ?? 0))
      void timeline.refreshDetails().catch(() => {});
  }

  /** Erases a visitor and those with whom the visitor is merged, together with all of their chats. Repeats the request
   * until the erasure is complete, or the agent signs out: another session could belong to another account, where
   * another visitor has this number. */
  async erase(visitor: ErasedVisitor, onProgress: (removed: Removed) => void): Promise<void> {
    const { number, merged_with: mergedWith = [] } = visitor;
    const removed = { chats: 0, entries: 0 };
    const token = session.peek()?.token;
    for (;;) {
      if (session.peek()?.token !== token) throw sessionEnded();
      const response = await this.api.delete("/admin/visitors/{number}", {
        path: { number },
        timeoutMs: ERASURE_TIMEOUT_MS,
      });
      removed.chats += response.removed.chats;
      removed.entries += response.removed.entries;
      onProgress({ ...removed });
      if (response.complete) break;
    }
    this.onErased([number, ...mergedWith].flatMap((erased) => this.rowsOf(erased).map((row) => row.chat_id)));
  }

  private rowsOf(number: number) {
    return [...this.chats.rows.peek().values()].filter((row) => row.visitor.number === number);
  }
}

/** Returns the error with which the service rejects requests of an ended session. */
const sessionEnded = () => new ApiError(401, "unauthorized", "the session has ended", undefined, undefined);
