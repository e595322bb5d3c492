import type { ApiClient } from "../../../api/client";
import type { ChatRow } from "../../../api/types";
import { toast } from "../../../ui/toast";
import type { ChatHeaders } from "./chat-headers";
import { type ChatStore, visitorName } from "../list/chats";
import { errorText } from "../page/error-text";
import { openChat } from "../page/route";
import { t } from "../../../texts/translate";

/** How long the agent can undo closing a chat. The request is sent only after this time. */
const UNDO_CLOSE_MS = 5000;

/** Closes chats after a delay during which the agent can undo it. */
export class Closing {
  private readonly waiting = new Map<number, { timer: ReturnType<typeof setTimeout>; dismiss: () => void }>();

  constructor(
    private readonly api: ApiClient,
    private readonly chats: ChatStore,
    private readonly headers: ChatHeaders,
  ) {}

  close(chatId: number): void {
    const row = this.headers.peek(chatId);
    if (row === undefined || row.state === "closed" || this.waiting.has(chatId)) return;
    this.chats.setClosing(chatId, true);
    const undo = () => {
      this.undo(chatId);
      openChat(chatId);
    };
    const dismiss = toast(t`Chat with ${visitorName(row)} closed.`, {
      durationMs: UNDO_CLOSE_MS,
      action: { label: t`Undo`, run: undo },
    });
    const timer = setTimeout(() => void this.send(chatId, false), UNDO_CLOSE_MS);
    this.waiting.set(chatId, { timer, dismiss });
  }

  /** Keeps the chat open. Returns whether it was about to be closed. */
  undo(chatId: number): boolean {
    const closing = this.waiting.get(chatId);
    if (closing === undefined) return false;
    clearTimeout(closing.timer);
    closing.dismiss();
    this.waiting.delete(chatId);
    this.chats.setClosing(chatId, false);
    return true;
  }

  /** Sends the delayed requests at once, because the page is being closed. */
  flush(): void {
    for (const [chatId, { timer, dismiss }] of this.waiting) {
      clearTimeout(timer);
      dismiss();
      void this.send(chatId, true);
    }
  }

  /** Closes one of several chats at once. Fails if it is not closed. */
  async closeNow(chatId: number): Promise<void> {
    const before = this.headers.peek(chatId);
    await this.api.post("/agent/chats/{chat_id}/close", { path: { chat_id: chatId } });
    this.showClosed(this.chats.peek(chatId) ?? before);
  }

  private showClosed(row: ChatRow | undefined): void {
    if (row !== undefined) this.headers.apply({ ...row, state: "closed", updated_at: Math.floor(Date.now() / 1000) });
  }

  private async send(chatId: number, keepalive: boolean): Promise<void> {
    this.waiting.delete(chatId);
    const before = this.headers.peek(chatId);
    try {
      await this.api.post("/agent/chats/{chat_id}/close", { path: { chat_id: chatId }, keepalive });
      this.showClosed(this.chats.peek(chatId) ?? before);
    } catch (error) {
      if (before !== undefined)
        toast(t`The chat with ${visitorName(before)} was not closed. ${errorText(error)}`, { isBad: true });
    } finally {
      this.chats.setClosing(chatId, false);
    }
    await this.headers.refreshTimeline(chatId);
  }
}
