import "./inbox.css";
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { isStatus } from "../../api/client";
import type { ChatRow } from "../../api/types";
import { Icon } from "../../ui/icons";
import { useWorkspace } from "../context";
import { TABS, type ChatStore, type Tab } from "../state/chats";
import { openChat, route } from "../state/route";
import { query, tab } from "../state/view";
import { nameOf, wordsOf, type Workspace } from "../state/workspace";
import { Row, RowSkeletons } from "./row";

const TAB_NAMES: Record<Tab, string> = { waiting: "Waiting", mine: "Mine", bot: "Bot", all: "All", closed: "Closed" };
const SEARCH_DELAY_MS = 200;

interface Found {
  words: string;
  rows: readonly ChatRow[];
  next: string | number | null;
  state: "searching" | "done" | "failed" | "local";
  problem?: string;
}

const found = signal<Found | undefined>(undefined);

/** Known chats that match, at once. */
export function matchRows(rows: Iterable<ChatRow>, words: string): ChatRow[] {
  const wanted = words.trim().toLowerCase().replace(/^#/, "").split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return [];
  const matches = (row: ChatRow) => {
    const text =
      `${row.chat_id} ${row.visitor.number} ${nameOf(row)} ${row.channel.name} ${row.last_message?.text ?? ""}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  };
  const time = (row: ChatRow) => row.last_message?.timestamp ?? row.updated_at;
  return [...rows].filter(matches).sort((a, b) => time(b) - time(a));
}

async function search(workspace: Workspace, words: string, cursor?: string | number): Promise<void> {
  const before = cursor === undefined ? [] : (found.peek()?.rows ?? []);
  try {
    const options = { query: { q: words, ...(cursor === undefined ? {} : { cursor: String(cursor) }) } };
    const { chats, next } = await workspace.api.get("/agent/search", options);
    if (query.peek().trim() !== words) return;
    found.value = { words, rows: [...before, ...chats], next, state: "done" };
  } catch (error) {
    if (query.peek().trim() !== words) return;
    const isMissing = isStatus(error, 404, 405);
    found.value = {
      words,
      rows: before,
      next: null,
      state: isMissing ? "local" : "failed",
      ...(isMissing ? {} : { problem: wordsOf(error) }),
    };
  }
}

/** The chats that the list shows now, in its order: what j and k go through. */
export function listedChats(chats: ChatStore): ChatRow[] {
  const words = query.value.trim();
  if (words !== "") {
    const local = matchRows(chats.rows.value.values(), words);
    const remote = found.value?.words === words ? found.value.rows : [];
    const ids = new Set(local.map((row) => row.chat_id));
    return [...local, ...remote.filter((row) => !ids.has(row.chat_id))];
  }
  return tab.value === "waiting" ? [...chats.waiting.value, ...chats.mine.value] : chats.list(tab.value);
}

export const searchInputId = "search-chats";

export function Inbox() {
  const workspace = useWorkspace();
  const { chats } = workspace;
  const words = query.value.trim();

  useEffect(() => {
    if (words === "") {
      found.value = undefined;
      return;
    }
    found.value = { words, rows: [], next: null, state: "searching" };
    const timer = setTimeout(() => void search(workspace, words), SEARCH_DELAY_MS);
    return () => clearTimeout(timer);
  }, [words]);

  return (
    <section class="list" aria-label="Chats">
      <header>
        <h2>Inbox</h2>
        <label class="search">
          <Icon name="search" />
          <input
            id={searchInputId}
            type="search"
            placeholder="Search"
            aria-label="Search by number, name, e-mail or phone"
            autocomplete="off"
            spellcheck={false}
            value={query.value}
            onInput={(event) => (query.value = event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Escape") {
                query.value = "";
                event.currentTarget.blur();
              } else if (event.key === "Enter" && !event.isComposing) {
                const first = listedChats(chats)[0];
                if (first !== undefined) openChat(first.chat_id);
              } else if (event.key === "ArrowDown") {
                event.preventDefault();
                document.querySelector<HTMLElement>(".rows .row")?.focus();
              }
            }}
          />
          {query.value === "" ? (
            <kbd aria-hidden="true">/</kbd>
          ) : (
            <button type="button" aria-label="Clear search" onClick={() => (query.value = "")}>
              <Icon name="x" />
            </button>
          )}
        </label>
      </header>
      {words === "" ? <Tabs /> : <p class="sr" role="status">{`${listedChats(chats).length} chats found`}</p>}
      <List />
    </section>
  );
}

function Tabs() {
  const { chats } = useWorkspace();
  const more = chats.openNext.value === null ? "" : "+";
  const counts: Partial<Record<Tab, number>> = {
    waiting: chats.waiting.value.length,
    mine: chats.mine.value.length,
    bot: chats.bot.value.length,
    all: chats.open.value.length,
  };
  const move = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : undefined;
    const at = TABS.indexOf(tab.peek());
    const to =
      event.key === "Home"
        ? 0
        : event.key === "End"
          ? TABS.length - 1
          : step === undefined
            ? undefined
            : (at + step + TABS.length) % TABS.length;
    if (to === undefined) return;
    event.preventDefault();
    tab.value = TABS[to] ?? "waiting";
    document.getElementById(`tab-${TABS[to]}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label="Which chats" onKeyDown={move}>
      {TABS.map((name) => {
        const count = counts[name];
        return (
          <button
            key={name}
            id={`tab-${name}`}
            type="button"
            role="tab"
            aria-selected={tab.value === name}
            aria-controls="chat-list"
            tabIndex={tab.value === name ? 0 : -1}
            onClick={() => (tab.value = name)}
          >
            {TAB_NAMES[name]}
            {name === "all" && <span class="sr"> open</span>}
            {count !== undefined && count > 0 && (
              <span class={name === "waiting" ? "count hot" : "count"}>
                {" "}
                {count}
                {more}
              </span>
            )}
          </button>
        );
      })}
    </div>
  );
}

function List() {
  const workspace = useWorkspace();
  const { chats } = workspace;
  const selected = route.value.id;
  const words = query.value.trim();
  const which = words === "" ? tab.value : "search";
  const progress = which === "closed" ? chats.closedProgress.value : chats.progress.value;

  useEffect(() => {
    if (which === "closed" && chats.closedProgress.peek() === "idle") void chats.loadClosed();
  }, [which]);

  const list = listedChats(chats);
  const tabStop = list.some((row) => row.chat_id === selected) ? selected : list[0]?.chat_id;
  const rows = (list: readonly ChatRow[]) =>
    list.map((row) => (
      <li key={row.chat_id}>
        <Row row={row} isSelected={row.chat_id === selected} isTabStop={row.chat_id === tabStop} tab={which} />
      </li>
    ));
  let body;
  if (which !== "search" && progress === "failed" && list.length === 0) {
    body = (
      <div class="blank bad" role="alert">
        <Icon name="wifi-off" />
        <h2>The chats cannot be read</h2>
        <p>{wordsOf(chats.problem.value)}</p>
        <button
          type="button"
          class="btn line"
          onClick={() => (which === "closed" ? void chats.loadClosed() : workspace.sync.hurry())}
        >
          Try again
        </button>
      </div>
    );
  } else if (which !== "search" && list.length === 0 && (progress === "loading" || progress === "idle")) {
    body = <RowSkeletons />;
  } else if (list.length === 0) {
    body = <Empty which={which} />;
  } else if (which === "waiting") {
    const { waiting, mine } = chats;
    body = (
      <ul>
        {waiting.value.length === 0 && <li class="nobody">Nobody is waiting.</li>}
        {rows(waiting.value)}
        {mine.value.length > 0 && <li class="cut">Mine</li>}
        {rows(mine.value)}
      </ul>
    );
  } else {
    body = <ul>{rows(list)}</ul>;
  }
  return (
    <div
      id="chat-list"
      class="rows scroll"
      role={which === "search" ? undefined : "tabpanel"}
      aria-labelledby={which === "search" ? undefined : `tab-${which}`}
      tabIndex={-1}
      onKeyDown={moveInList}
    >
      {body}
      <Tail which={which} />
    </div>
  );
}

function moveInList(event: KeyboardEvent): void {
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

/** Reads the next page when the end of the list comes near. */
function Tail({ which }: { which: Tab | "search" }) {
  const workspace = useWorkspace();
  const { chats } = workspace;
  const mark = useRef<HTMLDivElement>(null);
  const result = found.value;
  const hasMore =
    which === "closed"
      ? typeof chats.closedNext.value === "number"
      : which === "search"
        ? result?.state === "done" && result.next !== null
        : chats.openNext.value !== null && (which === "bot" || which === "all");
  useEffect(() => {
    const element = mark.current;
    if (element === null || !hasMore) return;
    const observer = new IntersectionObserver(
      (seen) => {
        if (!seen.some((entry) => entry.isIntersecting)) return;
        if (which === "closed") void chats.loadClosed();
        else if (which === "search") {
          const current = found.peek();
          if (current?.next != null) void search(workspace, current.words, current.next);
        } else void chats.loadMoreOpen().catch(() => {});
      },
      { root: element.parentElement, rootMargin: "400px" },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [which, hasMore, chats.closedNext.value, chats.openNext.value, result?.next]);
  if (which === "search" && result?.state === "local" && listedChats(chats).length > 0)
    return <p class="more">Only chats that are loaded were searched.</p>;
  if (which === "search" && result?.state === "failed") return <p class="more">{result.problem}</p>;
  return (
    <div ref={mark} class={hasMore ? "more" : undefined}>
      {hasMore && <span class="appear-late">Loading…</span>}
    </div>
  );
}

const EMPTY: Record<Tab, { icon: "inbox" | "message-square" | "bot" | "circle-check"; title: string; text: string }> = {
  waiting: {
    icon: "circle-check",
    title: "Nobody is waiting",
    text: "Chats that want an agent appear here, with the time running.",
  },
  mine: {
    icon: "message-square",
    title: "You have no chats",
    text: "Chats that you accept stay here until they are closed.",
  },
  bot: {
    icon: "bot",
    title: "No bot is talking",
    text: "Chats that a bot answers appear here. You can take one over.",
  },
  all: { icon: "inbox", title: "No open chats", text: "Every chat that is not closed appears here." },
  closed: {
    icon: "inbox",
    title: "No closed chats",
    text: "Closed chats stay here for as long as the account keeps them.",
  },
};

function Empty({ which }: { which: Tab | "search" }) {
  if (which === "search") {
    const state = found.value?.state;
    if (state === "searching" || state === undefined) return <RowSkeletons count={3} />;
    return (
      <div class="blank">
        <Icon name="search" />
        <h2>Nothing found</h2>
        <p>
          Numbers, names, e-mail addresses, phone numbers and last messages are searched
          {state === "local" ? ", in the chats that are loaded" : ""}.
        </p>
      </div>
    );
  }
  const { icon, title, text } = EMPTY[which];
  return (
    <div class="blank">
      <Icon name={icon} />
      <h2>{title}</h2>
      <p>{text}</p>
    </div>
  );
}
