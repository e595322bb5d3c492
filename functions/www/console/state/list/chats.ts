/* The store for all loaded chat rows. It is updated by lists, by requests for changes, and by pushes. */

import { batch, computed, signal } from "@preact/signals";
import type { ApiClient } from "../../../api/client";
import type { ChatRow, Visitor } from "../../../api/types";
import { shownName } from "../../../ui/confirm-name";
import type { PrefixedStorage } from "../../../ui/storage";
import { t } from "../../../texts/translate";

export type Tab = "waiting" | "mine" | "snoozed" | "bot" | "all" | "closed";
export const TABS: readonly Tab[] = ["waiting", "mine", "snoozed", "bot", "all", "closed"];

/** The maximum number of pages of open chats to load at first. Scrolling loads more. */
const MAX_OPEN_CHAT_PAGES = 10;
const OPEN_CHATS_PER_PAGE = 100;
const CLOSED_CHATS_PER_PAGE = 50;
const MAX_READ_MARKS = 2000;

/** How far the agent has read a chat, and the chat's last message at that time. */
interface ReadMark {
  seq: number;
  lastMessageKey: string;
  at: number;
}

/** The parameters with which the service filters closed chats. */
type ClosedFilter = Readonly<Record<string, string | number | boolean>>;

export type LoadState = "idle" | "loading" | "ready" | "failed";

const isOpen = (row: ChatRow) => row.state !== "closed";
const lastMessageKey = (row: ChatRow) =>
  row.last_message
    ? `${row.last_message.timestamp} ${row.last_message.from} ${row.last_message.text.slice(0, 60)}`
    : "";
/** Returns when the chat was last active, as Unix time in seconds. */
export const lastActivityAt = (row: ChatRow): number => row.last_message?.timestamp ?? row.updated_at;
/** Sorts rows by their last activity, the latest first. */
export const compareByActivity = (a: ChatRow, b: ChatRow): number =>
  lastActivityAt(b) - lastActivityAt(a) || b.chat_id - a.chat_id;

export class ChatStore {
  readonly rows = signal<ReadonlyMap<number, ChatRow>>(new Map());
  readonly loadState = signal<LoadState>("idle");
  readonly problem = signal<unknown>(undefined);
  /** The cursor for the next page of open chats; null if all pages are loaded. */
  readonly nextOpenCursor = signal<number | null>(null);
  readonly nextClosedCursor = signal<number | null | undefined>(undefined);
  /** The filter of the closed chats that are being loaded, as text. */
  private closedFilter = "{}";
  readonly closedLoadState = signal<LoadState>("idle");
  /** For each chat, the number of visitor messages that have been pushed since the agent last read the chat. */
  readonly unreadCounts = signal<ReadonlyMap<number, number>>(new Map());
  /** The chat whose newest messages are on the agent's screen. All of its messages count as read. */
  readonly readingChatId = signal<number | undefined>(undefined);
  /** The agent's own chats that somebody else has given to the agent, until the agent reads them. */
  readonly givenChatIds = signal<ReadonlySet<number>>(new Set());
  /** The open chat, if it was unread or waiting when the agent opened it. It stays above the queue until the agent
   * leaves it. */
  readonly keptOnTopId = signal<number | undefined>(undefined);
  /** Chats that will be closed unless the agent chooses Undo. The lists do not show them. */
  readonly closingChatIds = signal<ReadonlySet<number>>(new Set());

  /** The time, in Unix seconds, up to which snoozes have ended. */
  private readonly snoozesEndedUntil = signal(Math.floor(Date.now() / 1000));
  private readonly waitStarts = new Map<number, { kind: "waiting" | "reply"; waitingSince: number }>();
  private readonly readMarks = signal<Readonly<Record<string, ReadMark>>>({});
  private readonly lastChangedAt = new Map<number, number>();
  private revision = 0;

  constructor(
    private readonly api: ApiClient,
    readonly me: number,
    private readonly storage: PrefixedStorage,
  ) {
    this.readMarks.value = storage.read<Record<string, ReadMark>>("read") ?? {};
    this.givenChatIds.value = new Set(storage.read<number[]>("given"));
  }

  readonly open = computed(() =>
    [...this.rows.value.values()].filter((row) => isOpen(row) && !this.closingChatIds.value.has(row.chat_id)),
  );
  readonly waiting = computed(() =>
    this.open.value
      .filter((row) => row.state === "waiting")
      .sort(
        (a, b) =>
          this.offerRank(a) - this.offerRank(b) || this.waitingSince(a) - this.waitingSince(b) || a.chat_id - b.chat_id,
      ),
  );
  readonly mine = computed(() =>
    this.open.value.filter((row) => this.isMine(row) && !this.isSnoozed(row)).sort((a, b) => this.compareMine(a, b)),
  );
  /** The agent's own chats that are put aside, in the order in which they come back. */
  readonly snoozed = computed(() =>
    this.open.value
      .filter((row) => this.isSnoozed(row))
      .sort((a, b) => (a.snoozed_until ?? 0) - (b.snoozed_until ?? 0) || a.chat_id - b.chat_id),
  );
  readonly unreadMine = computed(() => this.mine.value.filter((row) => this.isUnread(row)));
  /** The agent's own chats that are listed above the queue: those with unread messages, and the one that stays there
   * while it is open. */
  readonly mineOnTop = computed(() =>
    this.mine.value.filter((row) => row.chat_id === this.keptOnTopId.value || this.isUnread(row)),
  );
  readonly mineBelow = computed(() => this.mine.value.filter((row) => !this.mineOnTop.value.includes(row)));
  readonly bot = computed(() => this.open.value.filter((row) => row.state === "bot").sort(compareByActivity));
  readonly all = computed(() => [...this.open.value].sort(compareByActivity));
  readonly closed = computed(() =>
    [...this.rows.value.values()]
      .filter((row) => !isOpen(row))
      .sort((a, b) => b.updated_at - a.updated_at || b.chat_id - a.chat_id),
  );

  /** The number of chats that need attention: waiting chats, plus the agent's own chats with unread messages. */
  readonly attentionCount = computed(() => this.waiting.value.length + this.unreadMine.value.length);

  /** Chats that are offered to the agent come first, and those that are offered to others last. */
  private offerRank({ offer }: ChatRow): number {
    if (offer === undefined || offer.until * 1000 <= Date.now()) return 1;
    return offer.agent_id === this.me ? 0 : 2;
  }

  isMine(row: ChatRow): boolean {
    return row.state === "active" && row.agent?.id === this.me;
  }

  isSnoozed(row: ChatRow): boolean {
    return this.isMine(row) && (row.snoozed_until ?? 0) > this.snoozesEndedUntil.value;
  }

  /** Whether the snooze of an own chat is over, and nobody has written since. */
  isBackFromSnooze(row: ChatRow): boolean {
    const until = row.snoozed_until;
    return until !== undefined && this.isMine(row) && !this.isSnoozed(row) && lastActivityAt(row) < until;
  }

  /** Lets chats return whose snooze has ended by this time, in Unix seconds. They count as unread, like chats that the
   * agent has been given. Returns them. */
  endSnoozes(time: number): ChatRow[] {
    const ended = this.snoozed.peek().filter((row) => (row.snoozed_until ?? 0) <= time);
    batch(() => {
      this.snoozesEndedUntil.value = time;
      for (const row of ended) if (this.readingChatId.peek() !== row.chat_id) this.setGiven(row.chat_id, true);
    });
    return ended;
  }

  /** Determines the sort order of two of the agent's own chats. Unanswered chats come first, starting with the one
   * whose answer is due first, then the one that has waited longest. The others are sorted by last activity. */
  private compareMine(a: ChatRow, b: ChatRow): number {
    const [left, right] = [this.awaitsReply(a), this.awaitsReply(b)];
    if (left && right) {
      const byDue = (a.answer_due?.at ?? Infinity) - (b.answer_due?.at ?? Infinity);
      return byDue || this.waitingSince(a) - this.waitingSince(b) || a.chat_id - b.chat_id;
    }
    if (left !== right) return left ? -1 : 1;
    return compareByActivity(a, b);
  }

  /** Whether a note mentions the agent that the agent has not read. */
  hasUnreadMention(row: ChatRow): boolean {
    const mention = row.mentions?.find(({ agent_id }) => agent_id === this.me);
    if (mention === undefined || this.readingChatId.value === row.chat_id) return false;
    return mention.seq > (this.readMarks.value[row.chat_id]?.seq ?? 0);
  }

  awaitsReply(row: ChatRow): boolean {
    return row.state === "active" && row.last_message?.from === "visitor";
  }

  /** Returns when the visitor started waiting for an agent or for a reply, as Unix time in seconds. */
  waitingSince(row: ChatRow): number {
    return this.waitStarts.get(row.chat_id)?.waitingSince ?? lastActivityAt(row);
  }

  isUnread(row: ChatRow): boolean {
    const isMine = this.isMine(row);
    if (!(isMine || row.state === "waiting") || this.readingChatId.value === row.chat_id) return false;
    if (isMine && this.givenChatIds.value.has(row.chat_id)) return true;
    if (row.last_message?.from !== "visitor") return false;
    if ((this.unreadCounts.value.get(row.chat_id) ?? 0) > 0) return true;
    const mark = this.readMarks.value[row.chat_id];
    if (mark === undefined) return true;
    return lastMessageKey(row) !== mark.lastMessageKey && row.last_message.timestamp >= mark.at;
  }

  /** Returns the `seq` of the last entry that the agent has read, or undefined if it is not stored. */
  lastReadSeq(chatId: number): number | undefined {
    return this.readMarks.peek()[chatId]?.seq;
  }

  markRead(chatId: number, seq: number): void {
    const row = this.rows.peek().get(chatId);
    const before = this.readMarks.peek()[chatId];
    const mark: ReadMark = {
      seq: Math.max(seq, before?.seq ?? 0),
      lastMessageKey: row ? lastMessageKey(row) : (before?.lastMessageKey ?? ""),
      at: row ? lastActivityAt(row) : (before?.at ?? 0),
    };
    const isNew = before?.seq !== mark.seq || before.lastMessageKey !== mark.lastMessageKey;
    batch(() => {
      if ((this.unreadCounts.peek().get(chatId) ?? 0) > 0)
        this.unreadCounts.value = new Map(this.unreadCounts.peek()).set(chatId, 0);
      this.setGiven(chatId, false);
      if (!isNew) return;
      let readMarks: Record<string, ReadMark> = { ...this.readMarks.peek(), [chatId]: mark };
      const names = Object.keys(readMarks);
      if (names.length > MAX_READ_MARKS) {
        const oldest = names
          .map(Number)
          .sort((a, b) => a - b)
          .slice(0, names.length - MAX_READ_MARKS);
        readMarks = { ...readMarks };
        for (const name of oldest) delete readMarks[name];
      }
      this.readMarks.value = readMarks;
      this.storage.write("read", readMarks);
    });
  }

  /** Loads the read marks that another tab has stored. */
  reloadReadMarks(): void {
    this.readMarks.value = this.storage.read<Record<string, ReadMark>>("read") ?? this.readMarks.peek();
    this.givenChatIds.value = new Set(this.storage.read<number[]>("given"));
  }

  /** Marks a chat as given to the agent by somebody else, until the agent reads it. */
  setGiven(chatId: number, isGiven: boolean): void {
    if (this.givenChatIds.peek().has(chatId) === isGiven) return;
    const given = new Set(this.givenChatIds.peek());
    if (isGiven) given.add(chatId);
    else given.delete(chatId);
    this.givenChatIds.value = given;
    // Chats that the agent no longer has are forgotten.
    this.storage.write(
      "given",
      [...given].filter((id) => this.isMineById(id)),
    );
  }

  private isMineById(chatId: number): boolean {
    const row = this.rows.peek().get(chatId);
    return row !== undefined && this.isMine(row);
  }

  incrementUnread(chatId: number): void {
    if (this.readingChatId.peek() === chatId) return;
    const counts = this.unreadCounts.peek();
    this.unreadCounts.value = new Map(counts).set(chatId, (counts.get(chatId) ?? 0) + 1);
  }

  /** Adds or replaces rows. `rows` are current: from a push, a request for changes, or the response to an action. */
  applyRows(rows: readonly ChatRow[]): void {
    this.revision++;
    for (const row of rows) this.lastChangedAt.set(row.chat_id, this.revision);
    this.mergeRows(rows);
  }

  remove(ids: readonly number[]): void {
    this.revision++;
    for (const id of ids) this.lastChangedAt.set(id, this.revision);
    const rows = new Map(this.rows.peek());
    let isChanged = false;
    for (const id of ids) {
      isChanged = rows.delete(id) || isChanged;
      this.waitStarts.delete(id);
    }
    if (isChanged) this.rows.value = rows;
  }

  private mergeRows(rows: readonly ChatRow[]): void {
    if (rows.length === 0) return;
    const all = new Map(this.rows.peek());
    let isChanged = false;
    for (const row of rows) {
      const before = all.get(row.chat_id);
      const seq = Math.max(row.seq ?? 0, before?.seq ?? 0);
      const merged = seq > 0 ? { ...row, seq } : row;
      this.recordWait(merged, before);
      if (before !== undefined && JSON.stringify(before) === JSON.stringify(merged)) continue;
      all.set(row.chat_id, merged);
      isChanged = true;
    }
    if (isChanged) this.rows.value = all;
  }

  private recordWait(row: ChatRow, before: ChatRow | undefined): void {
    const kind = row.state === "waiting" ? "waiting" : this.awaitsReply(row) ? "reply" : undefined;
    const wait = this.waitStarts.get(row.chat_id);
    if (kind === undefined) {
      this.waitStarts.delete(row.chat_id);
    } else if (row.waiting_since !== null) {
      this.waitStarts.set(row.chat_id, { kind, waitingSince: row.waiting_since });
    } else if (before === undefined || wait?.kind !== kind) {
      this.waitStarts.set(row.chat_id, { kind, waitingSince: lastActivityAt(row) });
    }
  }

  /** Loads the open chats. Does not overwrite rows that were updated during the request. The first time, the lists get
   * all pages at once: the service returns the newest chats first, so the chat that has waited longest comes last, and
   * each page would move the rows. */
  async loadOpen(): Promise<void> {
    if (this.loadState.peek() !== "ready") this.loadState.value = "loading";
    const startRevision = this.revision;
    try {
      const isUnchanged = (row: ChatRow) => (this.lastChangedAt.get(row.chat_id) ?? 0) <= startRevision;
      const listedIds = new Set<number>();
      const rows: ChatRow[] = [];
      let before: number | undefined;
      let next: number | null = null;
      for (let page = 0; page < MAX_OPEN_CHAT_PAGES; page++) {
        const query = {
          state: "open" as const,
          limit: OPEN_CHATS_PER_PAGE,
          ...(before === undefined ? {} : { before }),
        };
        const page = await this.api.get("/agent/chats", { query });
        for (const row of page.chats) listedIds.add(row.chat_id);
        rows.push(...page.chats);
        if (this.loadState.peek() === "ready") this.mergeRows(page.chats.filter(isUnchanged));
        next = page.next;
        if (next === null) break;
        before = next;
      }
      const lowestListedId = next ?? 0;
      const isMissing = (row: ChatRow) =>
        isOpen(row) && row.chat_id >= lowestListedId && !listedIds.has(row.chat_id) && isUnchanged(row);
      batch(() => {
        this.mergeRows(rows.filter(isUnchanged));
        const missingIds = [...this.rows.peek().values()].filter(isMissing).map((row) => row.chat_id);
        if (missingIds.length > 0) this.remove(missingIds);
        this.nextOpenCursor.value = next;
        this.problem.value = undefined;
        this.loadState.value = "ready";
      });
    } catch (error) {
      batch(() => {
        this.problem.value = error;
        if (this.loadState.peek() !== "ready") this.loadState.value = "failed";
      });
      throw error;
    }
  }

  async loadMoreOpen(): Promise<void> {
    const before = this.nextOpenCursor.peek();
    if (before === null) return;
    const { chats, next } = await this.api.get("/agent/chats", {
      query: { state: "open", limit: OPEN_CHATS_PER_PAGE, before },
    });
    this.mergeRows(chats);
    this.nextOpenCursor.value = next;
  }

  /** Loads the first page of closed chats that the service's filter selects, unless it is loaded. */
  async openClosed(filter: ClosedFilter): Promise<void> {
    const isLoaded = this.closedLoadState.peek() !== "idle" && JSON.stringify(filter) === this.closedFilter;
    if (!isLoaded) await this.loadClosed(filter);
  }

  /** Loads the next page of closed chats that the service's filter selects; the first page for another filter. */
  async loadClosed(filter: ClosedFilter = {}): Promise<void> {
    const filterText = JSON.stringify(filter);
    if (filterText !== this.closedFilter) {
      this.closedFilter = filterText;
      this.nextClosedCursor.value = undefined;
      this.closedLoadState.value = "idle";
    }
    if (this.closedLoadState.peek() === "loading" || this.nextClosedCursor.peek() === null) return;
    this.closedLoadState.value = "loading";
    try {
      const before = this.nextClosedCursor.peek();
      const query = {
        state: "closed" as const,
        limit: CLOSED_CHATS_PER_PAGE,
        ...filter,
        ...(before === undefined || before === null ? {} : { before }),
      };
      const { chats, next } = await this.api.get("/agent/chats", { query });
      batch(() => {
        this.mergeRows(chats);
        if (filterText !== this.closedFilter) return;
        this.nextClosedCursor.value = next;
        this.closedLoadState.value = "ready";
      });
    } catch (error) {
      batch(() => {
        if (filterText !== this.closedFilter) return;
        this.problem.value = error;
        this.closedLoadState.value = "failed";
      });
    }
  }

  setClosing(chatId: number, isClosing: boolean): void {
    const closingChatIds = new Set(this.closingChatIds.peek());
    if (isClosing) closingChatIds.add(chatId);
    else closingChatIds.delete(chatId);
    this.closingChatIds.value = closingChatIds;
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

export const isAnonymous = (name: string) => name === "Anonymous" || shownName(name) === "";

/** Returns the visitor's name, or "Visitor" and the visitor's number if the name is unknown. */
export const visitorName = ({ visitor: { name, number } }: { visitor: Pick<Visitor, "name" | "number"> }): string =>
  isAnonymous(name) ? t`Visitor ${number}` : name;
