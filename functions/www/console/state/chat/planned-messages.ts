import { signal } from "@preact/signals";
import { hasStatus, type ApiClient } from "../../../api/client";
import type { PlannedMessage } from "../../../api/types";
import { announce } from "../../../ui/announcer";
import { toast } from "../../../ui/toast";
import { errorText } from "../page/error-text";
import { focusComposer } from "../list/view-state";
import type { Drafts } from "./drafts";
import { randomKey } from "./outbox";
import { unixSeconds } from "./snooze-times";
import type { Timelines } from "./timeline";
import { t } from "../../../texts/translate";

/** The messages that agents have planned to send later. The details of a chat list them. */
export class PlannedMessages {
  /** The chats whose draft is being planned, and therefore must not be sent as well. */
  readonly planningChatIds = signal<ReadonlySet<number>>(new Set());
  /** The last request to plan a message in each chat that has not succeeded. */
  private readonly attempts = new Map<number, { text: string; sendAt: number; id: string }>();

  constructor(
    private readonly api: ApiClient,
    private readonly timelines: Timelines,
    private readonly drafts: Drafts,
  ) {}

  /** Plans the text in the composer of a chat. It stays there until the service has stored it. */
  async planDraft(chatId: number, at: Date): Promise<void> {
    const { text: written, isNote } = this.drafts.read(chatId);
    const text = written.trim();
    if (text === "" || isNote || this.planningChatIds.peek().has(chatId)) return;
    const sendAt = unixSeconds(at);
    const request = this.api.put("/agent/chats/{chat_id}/planned/{planned_id}", {
      path: { chat_id: chatId, planned_id: this.idOf(chatId, text, sendAt) },
      body: { text, send_at: sendAt },
    });
    focusComposer(chatId);
    this.setPlanning(chatId, true);
    const failure = (error: unknown) => t`The message was not planned. ${errorText(error)}`;
    const isPlanned = await this.run(request, t`Message planned`, failure);
    this.setPlanning(chatId, false);
    if (isPlanned) {
      this.attempts.delete(chatId);
      this.removeFromDraft(chatId, text);
    }
    await this.refresh(chatId);
  }

  /** Returns the same id for the same text and time, because a request without a response may have been carried
   * out. */
  private idOf(chatId: number, text: string, sendAt: number): string {
    const last = this.attempts.get(chatId);
    if (last?.text === text && last.sendAt === sendAt) return last.id;
    const id = randomKey();
    this.attempts.set(chatId, { text, sendAt, id });
    return id;
  }

  /** Removes a planned text from the composer. What the agent has written after it stays. */
  private removeFromDraft(chatId: number, text: string): void {
    const draft = this.drafts.read(chatId);
    const written = draft.text.trimStart();
    if (draft.isNote || !written.startsWith(text)) return;
    this.drafts.write(chatId, written.slice(text.length).trimStart(), false, draft.actions);
    focusComposer(chatId);
  }

  private setPlanning(chatId: number, isPlanning: boolean): void {
    const chatIds = new Set(this.planningChatIds.peek());
    if (isPlanning) chatIds.add(chatId);
    else chatIds.delete(chatId);
    this.planningChatIds.value = chatIds;
  }

  async sendNow(chatId: number, { planned_id }: PlannedMessage): Promise<void> {
    const path = { chat_id: chatId, planned_id };
    await this.change(
      chatId,
      this.api.post("/agent/chats/{chat_id}/planned/{planned_id}", { path }),
      t`Message sent`,
      (reason) => t`The message was not sent. ${reason}`,
    );
    await this.refresh(chatId);
  }

  /** Cancels a planned message. If `canReply`, its text is put into the chat's composer, unless that has another. */
  async cancel(chatId: number, { planned_id, text }: PlannedMessage, canReply: boolean): Promise<void> {
    const path = { chat_id: chatId, planned_id };
    const isCancelled = await this.change(
      chatId,
      this.api.delete("/agent/chats/{chat_id}/planned/{planned_id}", { path }),
      t`Message cancelled`,
      (reason) => t`The message was not cancelled. ${reason}`,
    );
    if (isCancelled && canReply && this.drafts.read(chatId).text.trim() === "") {
      this.drafts.write(chatId, text, false);
      focusComposer(chatId);
    }
    await this.refresh(chatId);
  }

  /** Runs a request that ends a plan. Returns whether it has succeeded. */
  private async change(
    chatId: number,
    request: Promise<unknown>,
    success: string,
    failure: (reason: string) => string,
  ): Promise<boolean> {
    let isOver = false;
    const isDone = await this.run(request, success, (error) => {
      isOver = hasStatus(error, 404, 409);
      return isOver ? t`It was already sent or cancelled.` : failure(errorText(error));
    });
    // The button that had the focus has disappeared.
    if (isDone || isOver) focusComposer(chatId);
    return isDone;
  }

  /** Tells the agent how a request has ended. Returns whether it has succeeded. */
  private async run(request: Promise<unknown>, success: string, failure: (error: unknown) => string): Promise<boolean> {
    try {
      await request;
      announce(success);
      return true;
    } catch (error) {
      toast(failure(error), { isBad: true });
      return false;
    }
  }

  private async refresh(chatId: number): Promise<void> {
    await this.timelines
      .peek(chatId)
      ?.refreshDetails()
      .catch(() => {});
  }
}
