/* The entries of one chat, keyed by seq. */

import { batch, signal } from "@preact/signals";
import type { ApiClient } from "../../api/client";
import type { Chat, ChatRow, Entry, Panel } from "../../api/types";
import type { LoadState } from "./chats";

const ENTRIES_PER_PAGE = 200;
const MAX_ENTRIES_PER_PAGE = 500;
/** A number that is being written appears within ten seconds, or never. */
const MAX_GAP_RETRIES = 12;
const GAP_RETRY_INTERVAL_MS = 1000;

export class Timeline {
  readonly entries = signal<readonly Entry[]>([]);
  readonly detail = signal<Chat | undefined>(undefined);
  readonly progress = signal<LoadState>("idle");
  readonly problem = signal<unknown>(undefined);
  /** Whether the service has entries older than the first one here. */
  readonly hasOlder = signal(false);
  readonly isLoadingOlder = signal(false);

  /** Entries above `floor` and up to `settled` are complete; a push may have brought later ones. */
  private completeAfterSeq = 0;
  private completeUpToSeq = 0;
  private currentRefresh: Promise<void> | undefined;
  private gapTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly api: ApiClient,
    readonly chatId: number,
  ) {}

  /** The highest entry here. */
  get lastSeq(): number {
    return this.entries.peek().at(-1)?.seq ?? 0;
  }

  /** Reads the end of the timeline; `highest` is the chat's highest entry where it is known. */
  async open(highestSeq: number | undefined): Promise<void> {
    if (this.progress.peek() === "loading") return;
    if (this.progress.peek() === "ready") return this.refreshPending();
    this.progress.value = "loading";
    try {
      this.completeAfterSeq = Math.max(0, (highestSeq ?? 0) - ENTRIES_PER_PAGE);
      this.completeUpToSeq = this.completeAfterSeq;
      const [detail] = await Promise.all([this.readDetail(), this.readForward(MAX_ENTRIES_PER_PAGE)]);
      batch(() => {
        this.detail.value = detail;
        this.hasOlder.value = this.completeAfterSeq > 0;
        this.problem.value = undefined;
        this.progress.value = "ready";
      });
    } catch (error) {
      batch(() => {
        this.problem.value = error;
        this.progress.value = "failed";
      });
      throw error;
    }
  }

  private readDetail(): Promise<Chat> {
    return this.api.get("/agent/chats/{chat_id}", { path: { chat_id: this.chatId } });
  }

  async refreshDetail(): Promise<void> {
    this.detail.value = await this.readDetail();
  }

  /** Reads what came after the last complete entry. Calls at the same time share one request. */
  refresh(): Promise<void> {
    this.currentRefresh ??= this.readForward(MAX_ENTRIES_PER_PAGE).finally(() => {
      this.currentRefresh = undefined;
    });
    return this.currentRefresh;
  }

  /** As `refresh`, and again every entry whose delivery is still on its way. */
  async refreshPending(): Promise<void> {
    const pending = this.entries.peek().find((entry) => hasPendingDelivery(entry));
    if (pending !== undefined && pending.seq <= this.completeUpToSeq) this.completeUpToSeq = Math.max(this.completeAfterSeq, pending.seq - 1);
    await this.refresh();
  }

  private async readForward(maxTimelines: number): Promise<void> {
    for (;;) {
      const after = this.completeUpToSeq;
      const { messages } = await this.api.get("/agent/chats/{chat_id}/messages", {
        path: { chat_id: this.chatId },
        query: { after, limit: maxTimelines },
      });
      const lastSeq = messages.at(-1);
      if (lastSeq === undefined) return;
      batch(() => this.merge(messages));
      this.completeUpToSeq = Math.max(this.completeUpToSeq, lastSeq.seq);
      if (messages.length < maxTimelines) return;
    }
  }

  /** Reads the page before the first entry. */
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
        this.merge(messages.filter((entry) => entry.seq <= completeAfterSeq));
        this.completeAfterSeq = after;
        this.hasOlder.value = after > 0;
      });
    } finally {
      this.isLoadingOlder.value = false;
    }
  }

  /** An entry of a push, or of an answer. Whether it is new here. */
  applyEntry(entry: Entry): boolean {
    const isNew = !this.entries.peek().some((currentEntries) => currentEntries.seq === entry.seq);
    this.merge([entry]);
    if (this.progress.peek() !== "ready") return isNew;
    if (entry.seq === this.completeUpToSeq + 1) this.completeUpToSeq = entry.seq;
    if (this.lastSeq > this.completeUpToSeq) this.fillGap();
    return isNew;
  }

  /** Reads what is missing before the last entry, for as long as a number may still appear. */
  private fillGap(attempt = 0): void {
    if (this.gapTimer !== undefined && attempt === 0) return;
    const targetSeq = this.lastSeq;
    const checkGap = () => {
      if (this.completeUpToSeq >= targetSeq) return;
      if (attempt >= MAX_GAP_RETRIES) this.completeUpToSeq = targetSeq;
      else this.gapTimer = setTimeout(() => ((this.gapTimer = undefined), this.fillGap(attempt + 1)), GAP_RETRY_INTERVAL_MS);
    };
    this.refresh().then(checkGap, checkGap);
  }

  /** The header as a list has it: state, owner and department. */
  applyRow(row: ChatRow): void {
    const detail = this.detail.peek();
    if (detail === undefined) return;
    const { state, agent, department, updated_at } = row;
    this.detail.value = { ...detail, state, agent, department, updated_at };
  }

  applyPanel(panel: Panel): void {
    const detail = this.detail.peek();
    if (detail !== undefined) this.detail.value = { ...detail, panel };
  }

  applyVisitor(visitor: Chat["visitor"]): void {
    const detail = this.detail.peek();
    if (detail !== undefined) this.detail.value = { ...detail, visitor: { ...detail.visitor, ...visitor } };
  }

  private merge(added: readonly Entry[]): void {
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

export function hasPendingDelivery(entry: Entry): boolean {
  return [entry.delivery, entry.webhook_delivery, entry.bot_delivery].some((delivery) => delivery?.state === "pending");
}

/** The timelines of the chats that were opened; the least recently used ones are dropped. */
export class Timelines {
  private readonly timelines = new Map<number, Timeline>();

  constructor(
    private readonly api: ApiClient,
    private readonly maxTimelines = 40,
  ) {}

  open(chatId: number): Timeline {
    const timeline = this.timelines.get(chatId) ?? new Timeline(this.api, chatId);
    this.timelines.delete(chatId);
    this.timelines.set(chatId, timeline);
    for (const [oldest] of this.timelines) {
      if (this.timelines.size <= this.maxTimelines) break;
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
