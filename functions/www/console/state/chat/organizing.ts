import { effect } from "@preact/signals";
import type { ApiClient } from "../../../api/client";
import type { ChatRow, ChatUpdate } from "../../../api/types";
import { toast } from "../../../ui/toast";
import { type ChatStore, visitorName } from "../list/chats";
import { errorText } from "../page/error-text";
import type { ChatHeaders } from "./chat-headers";
import { t } from "../../../texts/translate";

/** The longest delay of a timer in a browser. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** How agents keep the inbox in order: the tags of chats, and chats that are put aside. */
export class Organizing {
  constructor(
    private readonly api: ApiClient,
    private readonly chats: ChatStore,
    private readonly headers: ChatHeaders,
  ) {}

  /** Puts a tag on the chat, or removes it. */
  async setTag(chatId: number, tagId: number, isSet: boolean): Promise<void> {
    const before = this.headers.peek(chatId);
    if (before === undefined) return;
    const others = (before.tag_ids ?? []).filter((id) => id !== tagId);
    const shown = { ...before, tag_ids: isSet ? [...others, tagId] : others };
    await this.change(before, shown, isSet ? { add_tags: [tagId] } : { remove_tags: [tagId] });
  }

  /** Puts a tag on one of several chats, or removes it. Fails if the change is not stored. */
  async storeTag(chatId: number, tagId: number, isSet: boolean): Promise<void> {
    const body = isSet ? { add_tags: [tagId] } : { remove_tags: [tagId] };
    this.headers.apply(await this.api.patch("/agent/chats/{chat_id}", { path: { chat_id: chatId }, body }));
  }

  /** Puts several tags on the chat. Returns whether they are stored. */
  async addTags(chatId: number, tagIds: readonly number[]): Promise<boolean> {
    const before = this.headers.peek(chatId);
    if (before === undefined) return false;
    const others = (before.tag_ids ?? []).filter((id) => !tagIds.includes(id));
    return this.change(before, { ...before, tag_ids: [...others, ...tagIds] }, { add_tags: [...tagIds] });
  }

  /** Puts the chat aside until this time, in Unix seconds, or ends this. */
  async snooze(chatId: number, until: number | undefined): Promise<void> {
    const before = this.headers.peek(chatId);
    if (before === undefined) return;
    const { snoozed_until: _, ...awake } = before;
    const shown = until === undefined ? awake : { ...awake, snoozed_until: until };
    if (await this.change(before, shown, { snoozed_until: until ?? null })) {
      if (until === undefined) return;
      const undo = { label: t`Undo`, run: () => void this.snooze(chatId, undefined) };
      toast(t`The chat with ${visitorName(before)} is put aside.`, { action: undo });
    }
  }

  /** Shows the change at once and reverts it if the request fails. Returns whether it succeeded. */
  private async change(before: ChatRow, shown: ChatRow, body: ChatUpdate): Promise<boolean> {
    this.headers.apply(shown);
    try {
      this.headers.apply(await this.api.patch("/agent/chats/{chat_id}", { path: { chat_id: before.chat_id }, body }));
      return true;
    } catch (error) {
      this.headers.apply(before);
      toast(t`The chat with ${visitorName(before)} was not changed. ${errorText(error)}`, { isBad: true });
      return false;
    }
  }

  /** Lets chats return to the list when their time comes, and calls `onReturn` for each of them. Returns a function that
   * stops this. */
  watchSnoozes(onReturn: (row: ChatRow) => void): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = effect(() => {
      clearTimeout(timer);
      const snoozed = this.chats.snoozed.value;
      if (snoozed.length === 0) return;
      const next = Math.min(...snoozed.map((row) => row.snoozed_until ?? Infinity));
      timer = setTimeout(
        () => this.chats.endSnoozes(Math.floor(Date.now() / 1000)).forEach(onReturn),
        Math.min(Math.max(0, next * 1000 - Date.now()), MAX_TIMER_MS),
      );
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }
}
