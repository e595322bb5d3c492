import { batch } from "@preact/signals";
import type { Chat, ChatRow } from "../../../api/types";
import type { ChatStore } from "../list/chats";
import { inboxFields, type Timelines } from "./timeline";

/** What the lists and the open conversations show of a chat besides its entries. It is the same in both. */
export class ChatHeaders {
  constructor(
    private readonly chats: ChatStore,
    private readonly timelines: Timelines,
  ) {}

  /** Returns the chat's row from a list, or builds one from its details. Undefined if neither is loaded. */
  peek(chatId: number): ChatRow | undefined {
    const detail = this.timelines.peek(chatId)?.chatDetails.peek();
    return this.chats.peek(chatId) ?? (detail && rowFromDetails(detail));
  }

  apply(row: ChatRow): void {
    batch(() => {
      this.chats.applyRows([row]);
      this.timelines.peek(row.chat_id)?.applyRow(row);
    });
  }

  /** Reloads the chat's details and updates its row. */
  async reload(chatId: number): Promise<void> {
    const timeline = this.timelines.open(chatId);
    await timeline.refreshDetails().catch(() => {});
    const detail = timeline.chatDetails.peek();
    const row = this.chats.peek(chatId);
    if (detail !== undefined && row !== undefined) {
      const { state, agent, department, updated_at, handover } = detail;
      const { tag_ids: _tags, snoozed_until: _snooze, ...others } = row;
      const changed = { state, agent, department, updated_at, handover, ...inboxFields(detail) };
      this.chats.applyRows([{ ...others, ...changed }]);
    }
  }

  /** Loads what an action has changed in the chat's timeline. If this fails, the next push loads it. */
  async refreshTimeline(chatId: number): Promise<void> {
    await this.timelines
      .peek(chatId)
      ?.refresh()
      .catch(() => {});
  }
}

/** Builds a row for a chat that is not in any list, for example one that was opened through a link. */
export function rowFromDetails(detail: Chat): ChatRow {
  const { chat_id, state, visitor, channel, agent, department, updated_at, seq, waiting_since, handover } = detail;
  return {
    chat_id,
    state,
    visitor: { number: visitor.number, name: visitor.name },
    channel,
    agent,
    department,
    last_message: null,
    failed_messages: 0,
    updated_at,
    seq,
    waiting_since,
    handover,
    ...inboxFields(detail),
    ...(detail.planned === undefined ? {} : { planned: detail.planned.length }),
  };
}
