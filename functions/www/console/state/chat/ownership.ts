import { signal } from "@preact/signals";
import { ApiError, hasStatus, type ApiClient } from "../../../api/client";
import type { ChatRow } from "../../../api/types";
import type { PrefixedStorage } from "../../../ui/storage";
import { toast } from "../../../ui/toast";
import { sentence } from "../../../ui/words";
import type { ChatHeaders } from "./chat-headers";
import { type ChatStore, visitorName } from "../list/chats";
import { errorText } from "../page/error-text";
import type { Session } from "../agent/session";
import { t } from "../../../texts/translate";

/** How long a push may report that this agent has taken a chat. */
const TAKEN_SECONDS = 120;

export type TransferTarget = { agent_id: number } | { department_id: number } | { bot_id: string };

/** Who is responsible for a chat: the agent accepts chats, and transfers them. */
export class Ownership {
  /** The chats for which a request to accept them is still running. */
  readonly acceptingChatIds = signal<ReadonlySet<number>>(new Set());
  /** Called after the request to accept a chat, whether it succeeded or not. */
  onSettled: (chatId: number) => void = () => {};
  /** Called if a chat to be accepted does not exist. */
  onMissing: (chatId: number) => void = () => {};

  constructor(
    private readonly api: ApiClient,
    private readonly me: Session,
    private readonly chats: ChatStore,
    private readonly headers: ChatHeaders,
    private readonly storage: PrefixedStorage,
  ) {}

  /** Accepts the chat. The change is shown immediately and reverted if the request fails. */
  async accept(chatId: number): Promise<void> {
    const before = this.headers.peek(chatId);
    if (before === undefined || this.acceptingChatIds.peek().has(chatId)) return;
    if (before.state === "closed" || this.chats.isMine(before)) return;
    this.setAccepting(chatId, true);
    this.noteTaken(chatId);
    this.chats.keptOnTopId.value = chatId;
    this.headers.apply({ ...before, state: "active", agent: { id: this.me.id, name: this.me.name } });
    try {
      this.headers.apply(await this.api.post("/agent/chats/{chat_id}/accept", { path: { chat_id: chatId } }));
    } catch (error) {
      this.forgetTaken();
      this.headers.apply(before);
      await this.explain(before, error);
    } finally {
      this.setAccepting(chatId, false);
      this.onSettled(chatId);
    }
    await this.headers.refreshTimeline(chatId);
  }

  /** Declines the offer of a chat, which is then offered to the next agent. */
  async decline(chatId: number): Promise<void> {
    try {
      const body = { decline_offer: true };
      this.headers.apply(await this.api.patch("/agent/chats/{chat_id}", { path: { chat_id: chatId }, body }));
    } catch (error) {
      if (hasStatus(error, 409)) await this.headers.reload(chatId);
      else toast(t`The offer was not declined. ${errorText(error)}`, { isBad: true });
    }
  }

  private async explain(row: ChatRow, error: unknown): Promise<void> {
    const chatId = row.chat_id;
    if (hasStatus(error, 409, 403)) {
      const text = hasStatus(error, 409) ? conflictText(error, row) : t`This chat is offered to other agents.`;
      toast(text, { isBad: true });
      await this.headers.reload(chatId);
    } else if (hasStatus(error, 404)) {
      this.onMissing(chatId);
      toast(t`This chat does not exist any more.`, { isBad: true });
    } else {
      const action = { label: t`Try again`, run: () => void this.accept(chatId) };
      toast(t`The chat was not accepted. ${errorText(error)}`, { isBad: true, action });
    }
  }

  private setAccepting(chatId: number, isAccepting: boolean): void {
    const chatIds = new Set(this.acceptingChatIds.peek());
    if (isAccepting) chatIds.add(chatId);
    else chatIds.delete(chatId);
    this.acceptingChatIds.value = chatIds;
  }

  /** Transfers the chat. The note is stored with it, for the colleagues. */
  async transfer(chatId: number, to: TransferTarget, note = ""): Promise<void> {
    if ("agent_id" in to && to.agent_id === this.me.id) this.noteTaken(chatId);
    // A colleague may give the chat back at once.
    else this.forgetTaken();
    const body = note === "" ? to : { ...to, note };
    this.headers.apply(await this.api.post("/agent/chats/{chat_id}/transfer", { path: { chat_id: chatId }, body }));
    await this.headers.refreshTimeline(chatId);
  }

  /** Remembers, for all tabs of this browser, that the agent has taken a chat without having been given it. */
  private noteTaken(chatId: number): void {
    this.storage.write("taken", { chatId, at: Math.floor(Date.now() / 1000) });
  }

  private forgetTaken(): void {
    this.storage.remove("taken");
  }

  /** Returns whether the agent has just taken the chat, so that a push about it is no news. */
  hasTaken(chatId: number): boolean {
    const taken = this.storage.read<{ chatId: number; at: number }>("taken");
    return (
      this.acceptingChatIds.peek().has(chatId) ||
      (taken?.chatId === chatId && Date.now() / 1000 - taken.at < TAKEN_SECONDS)
    );
  }
}

/** The service says why, unless another agent was faster. */
const conflictText = (error: unknown, row: ChatRow) =>
  error instanceof ApiError && /capacity|offered/.test(error.message)
    ? sentence(error.message)
    : t`Another agent has accepted ${visitorName(row)}.`;
