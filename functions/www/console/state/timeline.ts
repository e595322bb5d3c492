/* The entries of one chat, keyed by seq. */

import { batch, signal } from "@preact/signals";
import type { Api } from "../../api/client";
import type { Chat, ChatRow, Entry, Panel } from "../../api/types";
import type { Progress } from "./chats";

const ENTRIES_PER_PAGE = 200;
const MAX_ENTRIES_PER_PAGE = 500;
/** A number that is being written appears within ten seconds, or never. */
const GAP_RETRIES = 12;
const GAP_RETRY_MS = 1000;

export class Timeline {
  readonly entries = signal<readonly Entry[]>([]);
  readonly detail = signal<Chat | undefined>(undefined);
  readonly progress = signal<Progress>("idle");
  readonly problem = signal<unknown>(undefined);
  /** Whether the service has entries older than the first one here. */
  readonly hasOlder = signal(false);
  readonly isLoadingOlder = signal(false);

  /** Entries above `floor` and up to `settled` are complete; a push may have brought later ones. */
  private floor = 0;
  private settled = 0;
  private running: Promise<void> | undefined;
  private gapTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly api: Api,
    readonly chatId: number,
  ) {}

  /** The highest entry here. */
  get last(): number {
    return this.entries.peek().at(-1)?.seq ?? 0;
  }

  /** Reads the end of the timeline; `highest` is the chat's highest entry where it is known. */
  async open(highest: number | undefined): Promise<void> {
    if (this.progress.peek() === "loading") return;
    if (this.progress.peek() === "ready") return this.refreshPending();
    this.progress.value = "loading";
    try {
      this.floor = Math.max(0, (highest ?? 0) - ENTRIES_PER_PAGE);
      this.settled = this.floor;
      const [detail] = await Promise.all([this.readDetail(), this.readForward(MAX_ENTRIES_PER_PAGE)]);
      batch(() => {
        this.detail.value = detail;
        this.hasOlder.value = this.floor > 0;
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
    this.running ??= this.readForward(MAX_ENTRIES_PER_PAGE).finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  /** As `refresh`, and again every entry whose delivery is still on its way. */
  async refreshPending(): Promise<void> {
    const pending = this.entries.peek().find((entry) => isPending(entry));
    if (pending !== undefined && pending.seq <= this.settled) this.settled = Math.max(this.floor, pending.seq - 1);
    await this.refresh();
  }

  private async readForward(limit: number): Promise<void> {
    for (;;) {
      const after = this.settled;
      const { messages } = await this.api.get("/agent/chats/{chat_id}/messages", {
        path: { chat_id: this.chatId },
        query: { after, limit },
      });
      const last = messages.at(-1);
      if (last === undefined) return;
      batch(() => this.merge(messages));
      this.settled = Math.max(this.settled, last.seq);
      if (messages.length < limit) return;
    }
  }

  /** Reads the page before the first entry. */
  async loadOlder(): Promise<void> {
    if (this.isLoadingOlder.peek() || this.floor === 0) return;
    this.isLoadingOlder.value = true;
    try {
      const after = Math.max(0, this.floor - ENTRIES_PER_PAGE);
      const { messages } = await this.api.get("/agent/chats/{chat_id}/messages", {
        path: { chat_id: this.chatId },
        query: { after, limit: this.floor - after },
      });
      const floor = this.floor;
      batch(() => {
        this.merge(messages.filter((entry) => entry.seq <= floor));
        this.floor = after;
        this.hasOlder.value = after > 0;
      });
    } finally {
      this.isLoadingOlder.value = false;
    }
  }

  /** An entry of a push, or of an answer. Whether it is new here. */
  apply(entry: Entry): boolean {
    const isNew = !this.entries.peek().some((known) => known.seq === entry.seq);
    this.merge([entry]);
    if (this.progress.peek() !== "ready") return isNew;
    if (entry.seq === this.settled + 1) this.settled = entry.seq;
    if (this.last > this.settled) this.fillGap();
    return isNew;
  }

  /** Reads what is missing before the last entry, for as long as a number may still appear. */
  private fillGap(tries = 0): void {
    if (this.gapTimer !== undefined && tries === 0) return;
    const target = this.last;
    const again = () => {
      if (this.settled >= target) return;
      if (tries >= GAP_RETRIES) this.settled = target;
      else this.gapTimer = setTimeout(() => ((this.gapTimer = undefined), this.fillGap(tries + 1)), GAP_RETRY_MS);
    };
    this.refresh().then(again, again);
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
    const known = this.entries.peek();
    const last = known.at(-1)?.seq ?? 0;
    if (added.every((entry, index) => entry.seq > (added[index - 1]?.seq ?? last))) {
      this.entries.value = [...known, ...added];
      return;
    }
    const bySeq = new Map(known.map((entry) => [entry.seq, entry]));
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

export function isPending(entry: Entry): boolean {
  return [entry.delivery, entry.webhook_delivery, entry.bot_delivery].some((delivery) => delivery?.state === "pending");
}

/** The timelines of the chats that were opened; the least recently used ones are dropped. */
export class Timelines {
  private readonly kept = new Map<number, Timeline>();

  constructor(
    private readonly api: Api,
    private readonly limit = 40,
  ) {}

  of(chatId: number): Timeline {
    const timeline = this.kept.get(chatId) ?? new Timeline(this.api, chatId);
    this.kept.delete(chatId);
    this.kept.set(chatId, timeline);
    for (const [oldest] of this.kept) {
      if (this.kept.size <= this.limit) break;
      this.kept.delete(oldest);
    }
    return timeline;
  }

  known(chatId: number): Timeline | undefined {
    return this.kept.get(chatId);
  }

  all(): Timeline[] {
    return [...this.kept.values()];
  }

  forget(chatId: number): void {
    this.kept.delete(chatId);
  }
}
