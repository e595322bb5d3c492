import "./inbox.css";
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ChatRow } from "../../api/types";
import { Icon } from "../../ui/icons";
import { lazyComponent } from "../../ui/lazy-component";
import { FilterBar } from "../organizing/filter-bar";
import { activeFilter, isFiltered, selects, serviceFilter, setFilter } from "../state/list/chat-filter";
import { useWorkspace } from "../workspace-context";
import { appendNewRows, filterRows, numberSearched, SEARCH_DELAY_MS, searchChats } from "../state/list/chat-search";
import { TABS, type ChatStore, type LoadState, type Tab, visitorName } from "../state/list/chats";
import { openChat, route } from "../state/page/route";
import { searchQuery, activeTab } from "../state/list/view-state";
import { errorText } from "../state/page/error-text";
import { extendSelection } from "../chat-actions";
import type { Workspace } from "../state/workspace";
import { ChatListRow, RowSkeletons } from "./chat-list-row";
import { RowCheckbox } from "./row-checkbox";
import { plural, t, tIn } from "../../texts/translate";

/** Loaded when a chat is first selected, so that the first page does not wait for it. */
const SelectionBar = lazyComponent(() =>
  import("../organizing/selection-bar").then(({ SelectionBar }) => SelectionBar),
);

const TAB_LABELS: Record<Tab, string> = {
  waiting: t`Waiting`,
  mine: t`Mine`,
  snoozed: t`Snoozed`,
  bot: t`Bot`,
  all: t`All`,
  closed: tIn("chats", "Closed"),
};

interface SearchResult {
  searchText: string;
  rows: readonly ChatRow[];
  next: string | null;
  state: "searching" | "done" | "failed";
  problem?: string;
}

const searchResult = signal<SearchResult | undefined>(undefined);

async function search(workspace: Workspace, searchText: string, cursor?: string): Promise<void> {
  const previousRows = cursor === undefined ? [] : (searchResult.peek()?.rows ?? []);
  try {
    const { rows, next } = await searchChats(workspace.api, searchText, cursor);
    if (searchQuery.peek().trim() !== searchText) return;
    searchResult.value = { searchText, rows: [...previousRows, ...rows], next, state: "done" };
  } catch (error) {
    if (searchQuery.peek().trim() !== searchText) return;
    const problem = errorText(error);
    searchResult.value = { searchText, rows: previousRows, next: cursor ?? null, state: "failed", problem };
  }
}

/** Returns the chats in the visible list, in display order. The shortcuts j and k move through them. */
export function visibleChats(chats: ChatStore): ChatRow[] {
  const searchText = searchQuery.value.trim();
  if (searchText !== "") {
    const local = filterRows(chats.rows.value.values(), searchText);
    const remote = searchResult.value?.searchText === searchText ? searchResult.value.rows : [];
    return appendNewRows(local, remote);
  }
  if (isLoading(activeTab.value, chats.loadState.value, 0) && activeTab.value !== "closed") return [];
  if (activeTab.value !== "waiting") return filtered(chats, chats.list(activeTab.value));
  return filtered(chats, [...chats.mineOnTop.value, ...chats.waiting.value, ...chats.mineBelow.value]);
}

/** Returns the rows that the filter of the current tab selects. */
function filtered(chats: ChatStore, rows: ChatRow[]): ChatRow[] {
  const filter = activeFilter.value;
  return isFiltered(filter) ? rows.filter((row) => selects(filter, row, chats.isUnread(row), chats.me)) : rows;
}

const loadClosed = (chats: ChatStore) => void chats.loadClosed(serviceFilter(activeFilter.peek()));

export const SEARCH_INPUT_ID = "search-chats";

export function Inbox() {
  const workspace = useWorkspace();
  const { chats } = workspace;
  const searchText = searchQuery.value.trim();

  useEffect(() => {
    if (searchText === "") {
      searchResult.value = undefined;
      return;
    }
    searchResult.value = { searchText, rows: [], next: null, state: "searching" };
    const timer = setTimeout(() => void search(workspace, searchText), SEARCH_DELAY_MS);
    return () => clearTimeout(timer);
  }, [searchText]);

  const isSelecting = workspace.selection.chatIds.value.size > 0 || workspace.bulk.progress.value !== undefined;
  // Other chats are shown now, and only chats that are shown can be changed.
  const shownChats = `${activeTab.value} ${searchText} ${JSON.stringify(activeFilter.value)}`;
  useEffect(() => workspace.selection.clear(), [shownChats]);

  return (
    <section class="list" aria-label={t`Chats`}>
      <header>
        <h2>{t`Inbox`}</h2>
        <label class="search">
          <Icon name="search" />
          <input
            id={SEARCH_INPUT_ID}
            type="search"
            placeholder={t`Search`}
            aria-label={t`Search by number, name, e-mail or phone`}
            autocomplete="off"
            spellcheck={false}
            value={searchQuery.value}
            onInput={(event) => (searchQuery.value = event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Escape") {
                searchQuery.value = "";
                event.currentTarget.blur();
              } else if (event.key === "Enter" && !event.isComposing) {
                const found = numberSearched(searchText) ?? visibleChats(chats)[0]?.chat_id;
                if (found === undefined) return;
                openChat(found);
                // Single keys are shortcuts of the chat from now on.
                event.currentTarget.blur();
              } else if (event.key === "ArrowDown") {
                event.preventDefault();
                document.querySelector<HTMLElement>(".rows .row")?.focus();
              }
            }}
          />
          {searchQuery.value === "" ? (
            <kbd aria-hidden="true">/</kbd>
          ) : (
            <button type="button" aria-label={t`Clear search`} onClick={() => (searchQuery.value = "")}>
              <Icon name="x" />
            </button>
          )}
        </label>
      </header>
      <div>
        {searchText === "" ? (
          <>
            <Tabs />
            {!isSelecting && <FilterBar />}
          </>
        ) : (
          <p class="sr" role="status">
            {plural(visibleChats(chats).length, "{count} chat found", "{count} chats found")}
          </p>
        )}
        {isSelecting && <SelectionBar />}
      </div>
      <ChatList />
    </section>
  );
}

function Tabs() {
  const { chats } = useWorkspace();
  const counts: Partial<Record<Tab, number>> = {
    waiting: chats.waiting.value.length,
    mine: chats.mine.value.length,
    snoozed: chats.snoozed.value.length,
    bot: chats.bot.value.length,
    all: chats.open.value.length,
  };
  // Most agents put no chat aside, so its tab is there only when it is needed.
  const tabs = TABS.filter((name) => name !== "snoozed" || counts.snoozed !== 0 || activeTab.value === name);
  const move = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : undefined;
    const at = tabs.indexOf(activeTab.peek());
    const to =
      event.key === "Home"
        ? 0
        : event.key === "End"
          ? tabs.length - 1
          : step === undefined
            ? undefined
            : (at + step + tabs.length) % tabs.length;
    if (to === undefined) return;
    event.preventDefault();
    activeTab.value = tabs[to] ?? "waiting";
    document.getElementById(`tab-${tabs[to]}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={t`Chat lists`} onKeyDown={move}>
      {tabs.map((name) => {
        return (
          <button
            key={name}
            id={`tab-${name}`}
            type="button"
            role="tab"
            aria-selected={activeTab.value === name}
            aria-controls="chat-list"
            tabIndex={activeTab.value === name ? 0 : -1}
            onClick={() => (activeTab.value = name)}
          >
            {TAB_LABELS[name]}
            {name === "all" && <span class="sr"> {t`open`}</span>}
            <TabCount
              name={name}
              count={counts[name] ?? 0}
              unread={name === "mine" ? chats.unreadMine.value.length : 0}
            />
          </button>
        );
      })}
    </div>
  );
}

/** The number beside a tab's name: how many of its chats are unread or, if none is, how many chats it has. */
function TabCount({ name, count, unread }: { name: Tab; count: number; unread: number }) {
  const { chats } = useWorkspace();
  if (unread > 0)
    return (
      <>
        {" "}
        <span class="count new">{unread}</span>
        <span class="sr"> {t`with unread messages`}</span>
      </>
    );
  if (count === 0) return null;
  return (
    <span class={name === "waiting" ? "count hot" : "count"}>
      {" "}
      {count}
      {chats.nextOpenCursor.value === null ? "" : "+"}
    </span>
  );
}

function ChatList() {
  const workspace = useWorkspace();
  const { chats } = workspace;
  const selected = route.value.id;
  const searchText = searchQuery.value.trim();
  const listName = searchText === "" ? activeTab.value : "search";
  const loadState = listName === "closed" ? chats.closedLoadState.value : chats.loadState.value;

  const closedQuery = listName === "closed" ? JSON.stringify(serviceFilter(activeFilter.value)) : "";
  useEffect(() => {
    if (listName === "closed") void chats.openClosed(serviceFilter(activeFilter.peek()));
  }, [listName, closedQuery]);

  const list = visibleChats(chats);
  const tabStop = list.some((row) => row.chat_id === selected) ? selected : list[0]?.chat_id;
  const rows = (list: readonly ChatRow[]) =>
    list.map((row) => (
      <li key={row.chat_id}>
        <ChatListRow
          row={row}
          isSelected={row.chat_id === selected}
          isTabStop={row.chat_id === tabStop}
          tab={listName}
        />
        <RowCheckbox chatId={row.chat_id} name={visitorName(row)} />
      </li>
    ));
  let body;
  if (listName !== "search" && loadState === "failed" && list.length === 0) {
    body = (
      <div class="blank bad" role="alert">
        <Icon name="wifi-off" />
        <h2>{t`The chats cannot be loaded`}</h2>
        <p>{errorText(chats.problem.value)}</p>
        <button
          type="button"
          class="btn line"
          onClick={() => (listName === "closed" ? loadClosed(chats) : workspace.sync.reconnectNow())}
        >
          {t`Try again`}
        </button>
      </div>
    );
  } else if (isLoading(listName, loadState, list.length)) {
    body = <RowSkeletons />;
  } else if (list.length === 0) {
    body = <EmptyList listName={listName} />;
  } else if (listName === "waiting") {
    const mineOnTop = filtered(chats, chats.mineOnTop.value);
    const waiting = filtered(chats, chats.waiting.value);
    const mineBelow = filtered(chats, chats.mineBelow.value);
    body = (
      <ul>
        {mineOnTop.length > 0 && <li class="cut">{t`Mine, to answer`}</li>}
        {rows(mineOnTop)}
        {mineOnTop.length > 0 && waiting.length > 0 && <li class="cut">{t`Waiting`}</li>}
        {waiting.length === 0 && <li class="empty-line">{t`Nobody is waiting.`}</li>}
        {rows(waiting)}
        {mineBelow.length > 0 && <li class="cut">{t`Mine`}</li>}
        {rows(mineBelow)}
      </ul>
    );
  } else {
    body = <ul>{rows(list)}</ul>;
  }
  return (
    <div
      id="chat-list"
      class="rows scroll"
      role={listName === "search" ? undefined : "tabpanel"}
      aria-labelledby={listName === "search" ? undefined : `tab-${listName}`}
      tabIndex={-1}
      onKeyDown={moveFocusInList}
      onClickCapture={(event) => extendByClick(workspace, event)}
    >
      {body}
      <NextPageLoader listName={listName} />
    </div>
  );
}

/** Whether a list must not be shown yet. Rows that are pushed before all open chats are loaded are not shown, because
 * the rows that are loaded later stand before them. */
function isLoading(listName: Tab | "search", loadState: LoadState, count: number): boolean {
  if (listName === "search" || (loadState !== "loading" && loadState !== "idle")) return false;
  return listName !== "closed" || count === 0;
}

/** Selects the chats up to the one that was clicked with the Shift key, which would otherwise open a window. */
function extendByClick(workspace: Workspace, event: MouseEvent): void {
  const row = (event.target as HTMLElement).closest("li")?.querySelector<HTMLElement>("[data-chat]");
  if (!event.shiftKey || row?.dataset["chat"] === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  extendSelection(workspace, Number(row.dataset["chat"]));
}

function moveFocusInList(event: KeyboardEvent): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : undefined;
  if (step === undefined) return;
  const rows = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>(".row")];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const next = rows[at + step];
  if (at < 0 || next === undefined) return;
  event.preventDefault();
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

/** Loads the next page when the end of the list becomes visible. After a failure, shows a button to try again. */
function NextPageLoader({ listName }: { listName: Tab | "search" }) {
  const workspace = useWorkspace();
  const { chats } = workspace;
  const sentinel = useRef<HTMLDivElement>(null);
  const [openProblem, setOpenProblem] = useState<string>();
  const result = searchResult.value;
  const load = () => {
    setOpenProblem(undefined);
    if (listName === "closed") loadClosed(chats);
    else if (listName === "search") {
      const current = searchResult.peek();
      if (current !== undefined) void search(workspace, current.searchText, current.next ?? undefined);
    } else chats.loadMoreOpen().catch((error: unknown) => setOpenProblem(errorText(error)));
  };
  let hasMore = chats.nextOpenCursor.value !== null && (listName === "bot" || listName === "all");
  let problem = hasMore ? openProblem : undefined;
  if (listName === "closed") {
    hasMore = typeof chats.nextClosedCursor.value === "number";
    problem = hasMore && chats.closedLoadState.value === "failed" ? errorText(chats.problem.value) : undefined;
  } else if (listName === "search") {
    hasMore = result?.state === "done" && result.next !== null;
    problem = result?.state === "failed" ? result.problem : undefined;
  }
  useEffect(() => {
    const element = sentinel.current;
    if (element === null || !hasMore) return;
    const observer = new IntersectionObserver(
      (intersections) => {
        if (intersections.some((entry) => entry.isIntersecting)) load();
      },
      { root: element.parentElement, rootMargin: "400px" },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [listName, hasMore, problem, chats.nextClosedCursor.value, chats.nextOpenCursor.value, result?.next]);
  if (problem !== undefined)
    return (
      <div class="more" role="alert">
        <p>{problem}</p>
        <button type="button" class="btn line" onClick={load}>
          {t`Try again`}
        </button>
      </div>
    );
  return (
    <div ref={sentinel} class={hasMore ? "more" : undefined}>
      {hasMore && <span class="appear-late">{t`Loading…`}</span>}
    </div>
  );
}

const EMPTY_LIST_TEXTS: Record<
  Tab,
  { icon: "inbox" | "message-square" | "clock" | "bot" | "circle-check"; title: string; text: string }
> = {
  waiting: {
    icon: "circle-check",
    title: t`Nobody is waiting`,
    text: t`Chats that wait for an agent appear here, with their waiting time.`,
  },
  mine: {
    icon: "message-square",
    title: t`You have no chats`,
    text: t`Chats that you accept stay here until they are closed.`,
  },
  snoozed: {
    icon: "clock",
    title: t`No snoozed chats`,
    text: t`Chats that you put aside wait here until their time, or until the visitor writes.`,
  },
  bot: {
    icon: "bot",
    title: t`No chats with a bot`,
    text: t`Chats that a bot answers appear here. You can take one over.`,
  },
  all: { icon: "inbox", title: t`No open chats`, text: t`Every chat that is not closed appears here.` },
  closed: {
    icon: "inbox",
    title: t`No closed chats`,
    text: t`Closed chats stay here for the account's retention.`,
  },
};

function EmptyList({ listName }: { listName: Tab | "search" }) {
  if (listName === "search") {
    const state = searchResult.value?.state;
    if (state === "searching" || state === undefined) return <RowSkeletons count={3} />;
    return (
      <div class="blank">
        <Icon name="search" />
        <h2>{t`Nothing found`}</h2>
        <p>{t`Numbers, names, e-mail addresses, phone numbers and last messages are searched.`}</p>
      </div>
    );
  }
  if (isFiltered(activeFilter.value))
    return (
      <div class="blank">
        <Icon name="list-filter" />
        <h2>{t`No chat meets the filter`}</h2>
        <button type="button" class="btn line" onClick={() => setFilter(activeTab.peek(), {})}>
          {t`Show all`}
        </button>
      </div>
    );
  const { icon, title, text } = EMPTY_LIST_TEXTS[listName];
  return (
    <div class="blank">
      <Icon name={icon} />
      <h2>{title}</h2>
      <p>{text}</p>
    </div>
  );
}
