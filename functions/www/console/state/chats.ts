/* Every chat row that the console knows, fed by lists, changes and pushes. */

import { batch, computed, signal } from "@preact/signals";
import type { Api } from "../../api/client";
import type { ChatRow } from "../../api/types";
import type { Shelf } from "../../ui/storage";

export type Tab = "waiting" | "mine" | "bot" | "all" | "closed";
export const TABS: readonly Tab[] = ["waiting", "mine", "bot", "all", "closed"];

/** Pages of open chats that are read at once; further ones come by scrolling. */
const MAX_OPEN_PAGES = 10;
const CHATS_PER_PAGE = 100;
const CLOSED_PER_PAGE = 50;
const MAX_READ_MARKS = 2000;

/** Up to where the agent has read a chat: the last message as it was then. */
interface ReadMark {
  seq: number;
  last: string;
  at: number;
}

export type Progress = "idle" | "loading" | "ready" | "failed";

const isOpen = (row: ChatRow) => row.state !== "closed";
const lastOf = (row: ChatRow) =>
  row.last_message
    ? `${row.last_message.timestamp} ${row.last_message.from} ${row.last_message.text.slice(0, 60)}`
    : "";
const activity = (row: ChatRow) => row.last_message?.timestamp ?? row.updated_at;

export class ChatStore {
  readonly rows = signal<ReadonlyMap<number, ChatRow>>(new Map());
  readonly progress = signal<Progress>("idle");
  readonly problem = signal<unknown>(undefined);
  /** Whether there are more open chats than were read. */
  readonly openNext = signal<number | null>(null);
  readonly closedNext = signal<number | null | undefined>(undefined);
  readonly closedProgress = signal<Progress>("idle");
  /** Messages of visitors since the agent last read the chat, as counted from pushes. */
  readonly unreadCounts = signal<ReadonlyMap<number, number>>(new Map());
  /** The chat whose end the agent sees now: nothing in it is unread. */
  readonly reading = signal<number | undefined>(undefined);
  /** Chats that are about to be closed; not listed while Undo is offered. */
  readonly closing = signal<ReadonlySet<number>>(new Set());

  private readonly waits = new Map<number, { kind: "waiting" | "reply"; since: number }>();
  private readonly marks = signal<Readonly<Record<string, ReadMark>>>({});
  private readonly touched = new Map<number, number>();
  private tick = 0;

  constructor(
    private readonly api: Api,
    private readonly me: number,
    private readonly shelf: Shelf,
  ) {
    this.marks.value = shelf.read<Record<string, ReadMark>>("read") ?? {};
  }

  readonly open = computed(() =>
    [...this.rows.value.values()].filter((row) => isOpen(row) && !this.closing.value.has(row.chat_id)),
  );
  readonly waiting = computed(() =>
    this.open.value
      .filter((row) => row.state === "waiting")
      .sort((a, b) => this.since(a) - this.since(b) || a.chat_id - b.chat_id),
  );
  readonly mine = computed(() =>
    this.open.value.filter((row) => this.isMine(row)).sort((a, b) => this.compareMine(a, b)),
  );
  readonly bot = computed(() =>
    this.open.value
      .filter((row) => row.state === "bot")
      .sort((a, b) => activity(b) - activity(a) || b.chat_id - a.chat_id),
  );
  readonly all = computed(() =>
    [...this.open.value].sort((a, b) => activity(b) - activity(a) || b.chat_id - a.chat_id),
  );
  readonly closed = computed(() =>
    [...this.rows.value.values()]
      .filter((row) => !isOpen(row))
      .sort((a, b) => b.updated_at - a.updated_at || b.chat_id - a.chat_id),
  );

  /** Chats that want the agent: those that wait and their own with something new. */
  readonly attention = computed(
    () => this.waiting.value.length + this.mine.value.filter((row) => this.isUnread(row)).length,
  );

  isMine(row: ChatRow): boolean {
    return row.state === "active" && row.agent?.id === this.me;
  }

  /** Their own chats: who waits for an answer stands first, longest first; then the last active. */
  private compareMine(a: ChatRow, b: ChatRow): number {
    const [left, right] = [this.awaitsReply(a), this.awaitsReply(b)];
    if (left && right) return this.since(a) - this.since(b) || a.chat_id - b.chat_id;
    if (left !== right) return left ? -1 : 1;
    return activity(b) - activity(a) || b.chat_id - a.chat_id;
  }

  awaitsReply(row: ChatRow): boolean {
    return row.state === "active" && row.last_message?.from === "visitor";
  }

  /** Unix seconds since when somebody waits: for an agent, or for an answer. */
  since(row: ChatRow): number {
    return this.waits.get(row.chat_id)?.since ?? activity(row);
  }

  isUnread(row: ChatRow): boolean {
    if (row.last_message?.from !== "visitor" || !(this.isMine(row) || row.state === "waiting")) return false;
    if (this.reading.value === row.chat_id) return false;
    if ((this.unreadCounts.value.get(row.chat_id) ?? 0) > 0) return true;
    const mark = this.marks.value[row.chat_id];
    if (mark === undefined) return true;
    return lastOf(row) !== mark.last && row.last_message.timestamp >= mark.at;
  }

  /** The last entry that the agent has read; undefined when they never opened the chat. */
  readUpTo(chatId: number): number | undefined {
    return this.marks.peek()[chatId]?.seq;
  }

  markRead(chatId: number, seq: number): void {
    const row = this.rows.peek().get(chatId);
    const before = this.marks.peek()[chatId];
    const mark: ReadMark = {
      seq: Math.max(seq, before?.seq ?? 0),
      last: row ? lastOf(row) : (before?.last ?? ""),
      at: row ? activity(row) : (before?.at ?? 0),
    };
    const isNew = before?.seq !== mark.seq || before.last !== mark.last;
    batch(() => {
      if ((this.unreadCounts.peek().get(chatId) ?? 0) > 0)
        this.unreadCounts.value = new Map(this.unreadCounts.peek()).set(chatId, 0);
      if (!isNew) return;
      let marks: Record<string, ReadMark> = { ...this.marks.peek(), [chatId]: mark };
      const names = Object.keys(marks);
      if (names.length > MAX_READ_MARKS) {
        const oldest = names
          .map(Number)
          .sort((a, b) => a - b)
          .slice(0, names.length - MAX_READ_MARKS);
        marks = { ...marks };
        for (const name of oldest) delete marks[name];
      }
      this.marks.value = marks;
      this.shelf.write("read", marks);
    });
  }

  /** Another tab has read something. */
  reloadMarks(): void {
    this.marks.value = this.shelf.read<Record<string, ReadMark>>("read") ?? this.marks.peek();
  }

  countUnread(chatId: number): void {
    if (this.reading.peek() === chatId) return;
    const counts = this.unreadCounts.peek();
    this.unreadCounts.value = new Map(counts).set(chatId, (counts.get(chatId) ?? 0) + 1);
  }

  /** Rows as they are now: of a push, of changes, or of an answer to an action. */
  upsert(rows: readonly ChatRow[]): void {
    this.tick++;
    for (const row of rows) this.touched.set(row.chat_id, this.tick);
    this.merge(rows);
  }

  remove(ids: readonly number[]): void {
    this.tick++;
    for (const id of ids) this.touched.set(id, this.tick);
    const rows = new Map(this.rows.peek());
    let isChanged = false;
    for (const id of ids) {
      isChanged = rows.delete(id) || isChanged;
      this.waits.delete(id);
    }
    if (isChanged) this.rows.value = rows;
  }

  private merge(rows: readonly ChatRow[]): void {
    if (rows.length === 0) return;
    const all = new Map(this.rows.peek());
    let isChanged = false;
    for (const row of rows) {
      const before = all.get(row.chat_id);
      const seq = Math.max(row.seq ?? 0, before?.seq ?? 0);
      const merged = seq > 0 ? { ...row, seq } : row;
      this.noteWait(merged, before);
      if (before !== undefined && JSON.stringify(before) === JSON.stringify(merged)) continue;
      all.set(row.chat_id, merged);
      isChanged = true;
    }
    if (isChanged) this.rows.value = all;
  }

  private noteWait(row: ChatRow, before: ChatRow | undefined): void {
    const kind = row.state === "waiting" ? "waiting" : this.awaitsReply(row) ? "reply" : undefined;
    const wait = this.waits.get(row.chat_id);
    if (kind === undefined) {
      this.waits.delete(row.chat_id);
    } else if (row.waiting_since !== undefined) {
      this.waits.set(row.chat_id, { kind, since: row.waiting_since });
    } else if (before === undefined || wait?.kind !== kind) {
      this.waits.set(row.chat_id, { kind, since: activity(row) });
    }
  }

  /** Reads every open chat. What a push said meanwhile wins over the list. */
  async loadOpen(): Promise<void> {
    if (this.progress.peek() !== "ready") this.progress.value = "loading";
    const started = this.tick;
    try {
      const seen = new Set<number>();
      let before: number | undefined;
      let next: number | null = null;
      for (let page = 0; page < MAX_OPEN_PAGES; page++) {
        const query = { state: "open" as const, limit: CHATS_PER_PAGE, ...(before === undefined ? {} : { before }) };
        const answer = await this.api.get("/agent/chats", { query });
        const isFresh = (row: ChatRow) => (this.touched.get(row.chat_id) ?? 0) <= started;
        for (const row of answer.chats) seen.add(row.chat_id);
        this.merge(answer.chats.filter(isFresh));
        next = answer.next;
        if (next === null) break;
        before = next;
      }
      const lowest = next ?? 0;
      const isGone = (row: ChatRow) =>
        isOpen(row) &&
        row.chat_id >= lowest &&
        !seen.has(row.chat_id) &&
        (this.touched.get(row.chat_id) ?? 0) <= started;
      batch(() => {
        const gone = [...this.rows.peek().values()].filter(isGone).map((row) => row.chat_id);
        if (gone.length > 0) this.remove(gone);
        this.openNext.value = next;
        this.problem.value = undefined;
        this.progress.value = "ready";
      });
    } catch (error) {
      batch(() => {
        this.problem.value = error;
        if (this.progress.peek() !== "ready") this.progress.value = "failed";
      });
      throw error;
    }
  }

  async loadMoreOpen(): Promise<void> {
    const before = this.openNext.peek();
    if (before === null) return;
    const { chats, next } = await this.api.get("/agent/chats", {
      query: { state: "open", limit: CHATS_PER_PAGE, before },
    });
    this.merge(chats);
    this.openNext.value = next;
  }

  /** The next page of closed chats. */
  async loadClosed(): Promise<void> {
    if (this.closedProgress.peek() === "loading" || this.closedNext.peek() === null) return;
    this.closedProgress.value = "loading";
    try {
      const before = this.closedNext.peek();
      const query = {
        state: "closed" as const,
        limit: CLOSED_PER_PAGE,
        ...(before === undefined || before === null ? {} : { before }),
      };
      const { chats, next } = await this.api.get("/agent/chats", { query });
      batch(() => {
        this.merge(chats);
        this.closedNext.value = next;
        this.closedProgress.value = "ready";
      });
    } catch (error) {
      batch(() => {
        this.problem.value = error;
        this.closedProgress.value = "failed";
      });
    }
  }

  hide(chatId: number, isHidden: boolean): void {
    const closing = new Set(this.closing.peek());
    if (isHidden) closing.add(chatId);
    else closing.delete(chatId);
    this.closing.value = closing;
  }

  row(chatId: number): ChatRow | undefined {
    return this.rows.value.get(chatId);
  }

  peek(chatId: number): ChatRow | undefined {
    return this.rows.peek().get(chatId);
  }

  list(tab: Tab): ChatRow[] {
    return this[tab].value;
  }
}
