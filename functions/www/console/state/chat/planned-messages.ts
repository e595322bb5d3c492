import type { ApiClient } from "../../../api/client";
import type { PlannedMessage } from "../../../api/types";
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
  constructor(
    private readonly api: ApiClient,
    private readonly timelines: Timelines,
    private readonly drafts: Drafts,
  ) {}

  /** Plans the text in the composer of a chat, which becomes empty. If this fails, the text returns. */
  async planDraft(chatId: number, at: Date): Promise<void> {
    const text = this.drafts.read(chatId).text.trim();
    if (text === "") return;
    this.setDraft(chatId, "");
    const request = this.api.post("/agent/chats/{chat_id}/messages", {
      path: { chat_id: chatId },
      body: { type: "text", text, send_at: unixSeconds(at) },
      idempotencyKey: randomKey(),
    });
    if (await this.run(chatId, request, (reason) => t`The message was not planned. ${reason}`)) return;
    const written = this.drafts.read(chatId).text;
    this.setDraft(chatId, [text, written].filter((part) => part !== "").join("\n"));
  }

  async sendNow(chatId: number, plannedId: string): Promise<void> {
    const path = { chat_id: chatId, planned_id: plannedId };
    await this.run(
      chatId,
      this.api.post("/agent/chats/{chat_id}/planned/{planned_id}", { path }),
      (reason) => t`The message was not sent. ${reason}`,
    );
  }

  async cancel(chatId: number, { planned_id }: PlannedMessage): Promise<void> {
    const path = { chat_id: chatId, planned_id };
    await this.run(
      chatId,
      this.api.delete("/agent/chats/{chat_id}/planned/{planned_id}", { path }),
      (reason) => t`The message was not cancelled. ${reason}`,
    );
  }

  private setDraft(chatId: number, text: string): void {
    this.drafts.write(chatId, text, false);
    focusComposer(chatId);
  }

  /** Reads the details again after a request. Returns whether it has succeeded. */
  private async run(chatId: number, request: Promise<unknown>, failure: (reason: string) => string): Promise<boolean> {
    let isDone = true;
    try {
      await request;
    } catch (error) {
      isDone = false;
      toast(failure(errorText(error)), { isBad: true });
    }
    await this.timelines
      .peek(chatId)
      ?.refreshDetails()
      .catch(() => {});
    return isDone;
  }
}
