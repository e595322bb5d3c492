/* A chat's entries and details. If the entries' numbers (`seq`) have gaps, the missing entries are requested. */

import { batch, signal } from "@preact/signals";
import { hasStatus, type ApiClient } from "../../../api/client";
import type { Chat, ChatRow, Entry, AgentPanel, Visitor } from "../../../api/types";
import { isInProgress } from "../calls/call-text";
import type { LoadState } from "../list/chats";

const ENTRIES_PER_PAGE = 200;
const MAX_ENTRIES_PER_PAGE = 500;
/** The maximum number of times to request missing entries again. A missing entry appears within ten seconds or never,
 * because the service sometimes skips a number. */
const MAX_GAP_RETRIES = 12;
const GAP_RETRY_INTERVAL_MS = 1000;

/** Returns the fields that are absent from most chats: the tags, and until when the chat is put aside. */
export const inboxFields = ({ tag_ids, snoozed_until }: Pick<ChatRow, "tag_ids" | "snoozed_until">) => ({
  ...(tag_ids === undefined ? {} : { tag_ids }),
  ...(snoozed_until === undefined ? {} : { snoozed_until }),
});

export class Timeline {
  readonly entries = signal<readonly Entry[]>([]);
  readonly chatDetails = signal<Chat | undefined>(undefined);
  readonly loadState = signal<LoadState>("idle");
  readonly problem = signal<unknown>(undefined);
  /** Whether the service has entries before the first loaded one. */
  readonly hasOlder = signal(false);
  readonly isLoadingOlder = signal(false);
  /** Whether the chat was shown before it was erased, or before the agent lost access to it. */
  readonly wasTakenAway = signal(false);

  /** All entries after `completeAfterSeq`, up to and including `completeUpToSeq`, are loaded. Pushes may have added
   * later entries, with gaps between them. */
  private completeAfterSeq = 0;
  private completeUpToSeq = 0;
  /** How often the details were changed without being read. */
  private detailChanges = 0;
  /** The last change of a message for which the entries were read again, or are being read, as Unix time in seconds. */
  private changesRequestedAt = 0;
  private currentRefresh: Promise<void> | undefined;
  private gapTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly api: ApiClient,
    readonly chatId: number,
  ) {}

  /** The highest `seq` of the loaded entries; 0 if none is loaded. */
  get lastSeq(): number {
    return this.entries.peek().at(-1)?.seq ?? 0;
  }

  /** Loads the chat's details and latest entries. `highestSeq` is the chat's last `seq`; undefined if it is not
   * known. */
  async open(highestSeq: number | undefined): Promise<void> {
    if (this.loadState.peek() === "loading") return;
    if (this.loadState.peek() === "ready") return this.refreshPending();
    this.loadState.value = "loading";
    try {
      this.completeAfterSeq = Math.max(0, (highestSeq ?? 0) - ENTRIES_PER_PAGE);
      this.completeUpToSeq = this.completeAfterSeq;
      const [chatDetails] = await Promise.all([this.loadDetails(), this.readForward(MAX_ENTRIES_PER_PAGE)]);
      batch(() => {
        this.chatDetails.value = chatDetails;
        this.hasOlder.value = this.completeAfterSeq > 0;
        this.problem.value = undefined;
        this.loadState.value = "ready";
      });
    } catch (error) {
      batch(() => {
        this.problem.value = error;
        this.loadState.value = "failed";
      });
      throw error;
    }
  }

  /** Reads the chat again after it has disappeared from the lists. If it was erased, or the agent may not see it any
   * more, forgets everything about it and returns true. */
  async forgetIfGone(): Promise<boolean> {
    try {
      await this.refreshDetails();
      return false;
    } catch (error) {
      if (!hasStatus(error, 403, 404)) throw error;
      batch(() => {
        this.entries.value = [];
        this.chatDetails.value = undefined;
        this.hasOlder.value = false;
        this.problem.value = error;
        this.loadState.value = "failed";
        this.wasTakenAway.value = true;
      });
      return true;
    }
  }

  /** Reads the details again if they have been changed meanwhile, because the response may be older than the change. */
  private async loadDetails(): Promise<Chat> {
    for (;;) {
      const changesBefore = this.detailChanges;
      const details = await this.api.get("/agent/chats/{chat_id}", { path: { chat_id: this.chatId } });
      if (this.detailChanges === changesBefore) return details;
    }
  }

  async refreshDetails(): Promise<void> {
    this.chatDetails.value = await this.loadDetails();
  }

  /** Changes the details without reading them. */
  private changeDetails(change: (details: Chat) => Chat): void {
    this.detailChanges++;
    const details = this.chatDetails.peek();
    if (details !== undefined) this.chatDetails.value = change(details);
  }

  /** Loads the entries after `completeUpToSeq`. Concurrent calls share one request. */
  refresh(): Promise<void> {
    this.currentRefresh ??= this.readForward(MAX_ENTRIES_PER_PAGE).finally(() => {
      this.currentRefresh = undefined;
    });
    return this.currentRefresh;
  }

  /** Like `refresh`, but also reloads entries that are going to change. */
  async refreshPending(): Promise<void> {
    const pending = this.entries.peek().find((entry) => isPending(entry));
    if (pending !== undefined && pending.seq <= this.completeUpToSeq)
      this.completeUpToSeq = Math.max(this.completeAfterSeq, pending.seq - 1);
    await this.refresh();
  }

  private async readForward(limit: number): Promise<void> {
    for (;;) {
      const after = this.completeUpToSeq;
      const { messages } = await this.api.get("/agent/chats/{chat_id}/messages", {
        path: { chat_id: this.chatId },
        query: { after, limit },
      });
      const lastEntry = messages.at(-1);
      if (lastEntry === undefined) return;
      batch(() => this.mergeEntries(messages));
      this.completeUpToSeq = Math.max(this.completeUpToSeq, lastEntry.seq);
      if (messages.length < limit) return;
    }
  }

  /** Loads the page of entries that precedes the first loaded entry. */
  async loadOlder(): Promise<void> {
    if (this.isLoadingOlder.peek() || this.completeAfterSeq === 0) return;
    this.isLoadingOlder.value = true;
    try {
      const after = Math.max(0, this.completeAfterSeq - ENTRIES_PER_PAGE);
      const { messages } = await this.api.get("/agent/chats/{chat_id}/messages", {
        path: { chat_id: this.chatId },
        query: { after, limit: this.completeAfterSeq - after },
      });
      const completeAfterSeq = this.completeAfterSeq;
      batch(() => {
        this.mergeEntries(messages.filter((entry) => entry.seq <= completeAfterSeq));
        this.completeAfterSeq = after;
        this.hasOlder.value = after > 0;
      });
    } finally {
      this.isLoadingOlder.value = false;
    }
  }

  /** Adds an entry, or replaces the entry with the same `seq`. Returns whether the entry is new. */
  applyEntry(entry: Entry): boolean {
    const isNew = !this.entries.peek().some((existing) => existing.seq === entry.seq);
    this.mergeEntries([entry]);
    if (this.loadState.peek() !== "ready") return isNew;
    if (entry.seq === this.completeUpToSeq + 1) this.completeUpToSeq = entry.seq;
    if (this.lastSeq > this.completeUpToSeq) this.fillGap();
    return isNew;
  }

  /** Loads the entries that are missing before the last loaded one. Retries while they may still appear. */
  private fillGap(attempt = 0): void {
    if (this.gapTimer !== undefined && attempt === 0) return;
    const targetSeq = this.lastSeq;
    const checkGap = () => {
      if (this.completeUpToSeq >= targetSeq) return;
      if (attempt >= MAX_GAP_RETRIES) this.completeUpToSeq = targetSeq;
      else
        this.gapTimer = setTimeout(
          () => ((this.gapTimer = undefined), this.fillGap(attempt + 1)),
          GAP_RETRY_INTERVAL_MS,
        );
    };
    this.refresh().then(checkGap, checkGap);
  }

  /** Updates the chat's details from its row: the state, agent, department, and time of the last change. */
  applyRow(row: ChatRow): void {
    this.readMissedChange(row);
    const { state, agent, department, updated_at, handover: fromRow } = row;
    this.changeDetails(({ tag_ids: _tags, snoozed_until: _snooze, ...details }) => {
      // A row contains only the beginning of the summary, and no data.
      const isSame = fromRow?.at === details.handover?.at;
      const handover = isSame ? details.handover : fromRow && { ...fromRow, data: null };
      return { ...details, ...inboxFields(row), state, agent, department, updated_at, handover };
    });
    this.readPlanned(row);
  }

  /** Reads the entries again if an agent has edited or deleted a message and the push about it was missed. */
  private readMissedChange({ messages_changed_at: changedAt = 0 }: ChatRow): void {
    const isKnown = ({ edited_at = 0, deleted_at = 0 }: Entry) => Math.max(edited_at, deleted_at) >= changedAt;
    if (changedAt <= this.changesRequestedAt || this.loadState.peek() !== "ready") return;
    if (this.entries.peek().some(isKnown)) return;
    void this.readAgain(changedAt);
  }

  /** Reads all loaded entries again. After a failure, the next row or refresh tries again. */
  private async readAgain(changedAt: number): Promise<void> {
    const before = this.changesRequestedAt;
    this.changesRequestedAt = changedAt;
    try {
      // A running request may have been answered before the change, and would skip the entries it has read.
      while (this.currentRefresh !== undefined) await this.currentRefresh.catch(() => {});
      this.completeUpToSeq = this.completeAfterSeq;
      await this.refresh();
    } catch {
      if (this.changesRequestedAt === changedAt) this.changesRequestedAt = before;
    }
  }

  /** Reads the details again if agents have planned or cancelled messages, or planned ones were sent. */
  private readPlanned({ planned = 0 }: ChatRow): void {
    const details = this.chatDetails.peek();
    if (details === undefined || (details.planned?.length ?? 0) === planned) return;
    void this.refreshDetails().catch(() => {});
  }

  applyPanel(panel: AgentPanel): void {
    this.changeDetails((details) => ({ ...details, panel }));
  }

  /** Applies the visitor of a push, which lacks what is shown from those with whom the visitor is merged. */
  applyPushedVisitor(visitor: Visitor): void {
    if (visitor.merged_with === undefined) this.applyVisitor(visitor);
    else void this.refreshDetails().catch(() => {});
  }

  applyVisitor(visitor: Visitor): void {
    this.changeDetails(({ visitor: { merged_with: _, ...before }, ...details }) => ({
      ...details,
      visitor: { ...before, ...visitor },
    }));
  }

  private mergeEntries(added: readonly Entry[]): void {
    if (added.length === 0) return;
    const currentEntries = this.entries.peek();
    const lastSeq = currentEntries.at(-1)?.seq ?? 0;
    if (added.every((entry, index) => entry.seq > (added[index - 1]?.seq ?? lastSeq))) {
      this.entries.value = [...currentEntries, ...added];
      return;
    }
    const bySeq = new Map(currentEntries.map((entry) => [entry.seq, entry]));
    let isChanged = false;
    for (const entry of added) {
      const before = bySeq.get(entry.seq);
      if (before !== undefined && JSON.stringify(before) === JSON.stringify(entry)) continue;
      bySeq.set(entry.seq, entry);
      isChanged = true;
    }
    if (isChanged) this.entries.value = [...bySeq.values()].sort((a, b) => a.seq - b.seq);
  }
}

/** Whether an entry reports a transfer. It is a system entry with a text, such as "Ann transferred the chat to Ben". */
export const isTransfer = (entry: Entry) => entry.from === "system" && entry.type === "text";

/** Returns when the chat's current owner got it, as Unix time in seconds. Undefined if it is not among the loaded
 * entries. */
export function ownedSince(entries: readonly Entry[]): number | undefined {
  const isHandover = (entry: Entry) =>
    entry.type === "chat_accepted" || entry.type === "agent_joined" || isTransfer(entry);
  return entries.findLast(isHandover)?.timestamp;
}

/** Returns the deliveries of an entry whose state agents see. A call shows the state of its own delivery. */
export const deliveriesOf = ({ delivery, webhook_delivery, bot_delivery }: Entry) =>
  [delivery, webhook_delivery, bot_delivery].filter((one) => one !== undefined);

/** Whether an entry is going to change: it is being delivered, or it is a call in progress. */
export function isPending(entry: Entry): boolean {
  if (entry.call !== undefined && isInProgress(entry.call)) return true;
  return deliveriesOf(entry).some(({ state }) => state === "pending");
}

/** The timelines of recently opened chats. The least recently used ones are dropped. */
export class Timelines {
  private readonly timelines = new Map<number, Timeline>();

  constructor(
    private readonly api: ApiClient,
    private readonly maxOpenTimelines = 40,
  ) {}

  open(chatId: number): Timeline {
    const timeline = this.timelines.get(chatId) ?? new Timeline(this.api, chatId);
    this.timelines.delete(chatId);
    this.timelines.set(chatId, timeline);
    for (const [oldest] of this.timelines) {
      if (this.timelines.size <= this.maxOpenTimelines) break;
      this.timelines.delete(oldest);
    }
    return timeline;
  }

  peek(chatId: number): Timeline | undefined {
    return this.timelines.get(chatId);
  }

  all(): Timeline[] {
    return [...this.timelines.values()];
  }

  remove(chatId: number): void {
    this.timelines.delete(chatId);
  }
}
