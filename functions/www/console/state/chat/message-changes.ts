import { effect, signal, type Signal } from "@preact/signals";
import type { ApiClient } from "../../../api/client";
import type { Entry } from "../../../api/types";
import { announce } from "../../../ui/announcer";
import { toast } from "../../../ui/toast";
import { errorText } from "../page/error-text";
import type { Timeline, Timelines } from "./timeline";
import { t } from "../../../texts/translate";

/** How long after it was sent a message can be changed. The service has the same limit. */
const MAX_CHANGE_AGE_SECONDS = 24 * 60 * 60;

interface Changer {
  id: number;
  role: string;
}

interface EditedMessage {
  chatId: number;
  seq: number;
  /** What the agent has typed. */
  text: Signal<string>;
}

/** What an agent changes in messages that were sent: the text of an own message, and the deletion of a message. */
export class MessageChanges {
  /** The message whose text the agent is editing. */
  readonly editing = signal<EditedMessage | undefined>(undefined);

  constructor(
    private readonly api: ApiClient,
    private readonly me: Changer,
    private readonly timelines: Timelines,
  ) {
    effect(() => {
      if (this.editing.value !== undefined && !this.isEditable(this.editing.value)) this.editing.value = undefined;
    });
  }

  private isEditable({ chatId, seq }: EditedMessage): boolean {
    const timeline = this.timelines.peek(chatId);
    const entry = timeline?.entries.value.find((one) => one.seq === seq);
    return entry !== undefined && entry.type !== "deleted" && timeline?.chatDetails.value?.state !== "closed";
  }

  beginEditing(chatId: number, { seq, text }: Entry): void {
    this.editing.value = { chatId, seq, text: signal(text ?? "") };
  }

  /** Keeps the earlier text if a message of the chat is being edited. */
  stopEditing(chatId: number): void {
    if (this.editing.peek()?.chatId === chatId) this.editing.value = undefined;
  }

  canEdit(chatId: number, entry: Entry, now = Date.now()): boolean {
    return entry.type === "text" && entry.agent?.id === this.me.id && this.isChangeable(chatId, entry, now);
  }

  canDelete(chatId: number, entry: Entry, now = Date.now()): boolean {
    const isAllowed = entry.agent?.id === this.me.id || this.me.role === "admin";
    return isAllowed && this.isChangeable(chatId, entry, now);
  }

  private isChangeable(chatId: number, entry: Entry, now: number): boolean {
    const chat = this.timelines.peek(chatId)?.chatDetails.value;
    // Only chats of a widget have a browser session.
    const canChannelChange = chat?.session !== undefined && chat.state !== "closed";
    const isMessage = entry.from === "agent" && !["note", "call", "deleted"].includes(entry.type);
    return canChannelChange && isMessage && now / 1000 - entry.timestamp < MAX_CHANGE_AGE_SECONDS;
  }

  /** Begins to edit the agent's last message. Returns false if it cannot be edited. */
  editLast(chatId: number): boolean {
    const entries = this.timelines.peek(chatId)?.entries.peek() ?? [];
    const last = entries.findLast(
      ({ from, agent, type }) => from === "agent" && agent?.id === this.me.id && type !== "note" && type !== "deleted",
    );
    if (last === undefined || !this.canEdit(chatId, last)) return false;
    this.beginEditing(chatId, last);
    return true;
  }

  /** Replaces the text of a message. If this fails, the agent can go on editing. */
  async edit(chatId: number, entry: Entry, text: string): Promise<void> {
    this.editing.value = undefined;
    if (text === entry.text) return;
    const edited = { ...entry, text, edited_at: Math.floor(Date.now() / 1000) };
    const isChanged = await this.change(
      chatId,
      entry,
      edited,
      { success: t`Message changed`, failure: (reason) => t`The message was not changed. ${reason}` },
      () =>
        this.api.patch("/agent/chats/{chat_id}/messages/{seq}", {
          path: { chat_id: chatId, seq: entry.seq },
          body: { text },
        }),
    );
    if (!isChanged && this.editing.peek() === undefined) this.beginEditing(chatId, edited);
  }

  async delete(chatId: number, entry: Entry): Promise<void> {
    const { seq, id, from, agent, timestamp } = entry;
    const deleted = { seq, id, from, agent, timestamp, type: "deleted", deleted_at: Math.floor(Date.now() / 1000) };
    await this.change(
      chatId,
      entry,
      deleted as Entry,
      { success: t`Message deleted`, failure: (reason) => t`The message was not deleted. ${reason}` },
      () => this.api.delete("/agent/chats/{chat_id}/messages/{seq}", { path: { chat_id: chatId, seq } }),
    );
  }

  /** Shows the changed message before the service responds, and the earlier one again if the request fails, unless the
   * message has changed meanwhile. Returns whether the request has succeeded. */
  private async change(
    chatId: number,
    before: Entry,
    after: Entry,
    { success, failure }: { success: string; failure: (reason: string) => string },
    request: () => Promise<Entry>,
  ): Promise<boolean> {
    const timeline: Timeline | undefined = this.timelines.peek(chatId);
    timeline?.applyEntry(after);
    try {
      timeline?.applyEntry(await request());
      announce(success);
      return true;
    } catch (error) {
      if (timeline?.entries.peek().includes(after) === true) timeline.applyEntry(before);
      toast(failure(errorText(error)), { isBad: true });
      return false;
    }
  }
}
