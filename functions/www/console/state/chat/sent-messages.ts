import { hasStatus, type ApiClient } from "../../../api/client";
import type { Entry } from "../../../api/types";
import { toast } from "../../../ui/toast";
import { errorText } from "../page/error-text";
import type { OutgoingItem } from "./outbox";
import type { Session } from "../agent/session";
import type { Timelines } from "./timeline";
import { t } from "../../../texts/translate";

/** The messages and notes of this agent in the timelines, from the service's response on. */
export class SentMessages {
  /** The outbox keys of the entries that this page sent, by entry id. They let an entry's component keep the key that
   * it had as an outbox item. */
  readonly itemKeys = new Map<string, string>();

  constructor(
    private readonly api: ApiClient,
    private readonly me: Session,
    private readonly timelines: Timelines,
  ) {}

  /** Shows an outbox item as an entry before the push about it arrives. */
  add(item: OutgoingItem, { seq, id }: { seq: number; id: string }): void {
    this.itemKeys.set(id, item.key);
    const timeline = this.timelines.peek(item.chatId);
    if (timeline === undefined || timeline.entries.peek().some((entry) => entry.seq === seq)) return;
    const common = {
      seq,
      id,
      from: "agent" as const,
      agent: { id: this.me.id, name: this.me.name },
      timestamp: Math.floor(item.createdAt / 1000),
    };
    const delivery = { state: "pending" as const, attempts: [] };
    const entry =
      item.kind === "note"
        ? { ...common, type: "note", ...item.body }
        : { ...common, ...withoutNulls(item.body), type: item.body.type, delivery };
    timeline.applyEntry(entry as Entry);
  }

  /** Delivers a message again. */
  async retry(chatId: number, entry: Entry): Promise<void> {
    const timeline = this.timelines.peek(chatId);
    timeline?.applyEntry({ ...entry, delivery: { state: "pending", attempts: entry.delivery?.attempts ?? [] } });
    try {
      await this.api.post("/agent/chats/{chat_id}/messages/{seq}/retry", { path: { chat_id: chatId, seq: entry.seq } });
    } catch (error) {
      if (!hasStatus(error, 409)) timeline?.applyEntry(entry);
      toast(t`The message was not sent again. ${errorText(error)}`, { isBad: true });
      await timeline?.refreshPending().catch(() => {});
    }
  }
}

function withoutNulls<T extends object>(body: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(body).filter(([, value]) => value !== null && value !== undefined),
  ) as Partial<T>;
}
