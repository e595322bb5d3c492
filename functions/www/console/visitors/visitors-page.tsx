/* The visitors page. It lists the visitors of all loaded chats and those found by the service's search. */

import "./visitors-page.css";
import { useEffect, useState } from "preact/hooks";
import { hasStatus } from "../../api/client";
import type { ChatRow } from "../../api/types";
import { Avatar } from "../../ui/avatar";
import { Icon } from "../../ui/icons";
import { formatAgo, currentMinute } from "../../ui/time";
import { useWorkspace } from "../workspace-context";
import { filterRows } from "../inbox/inbox";
import { chatHref } from "../state/route";
import { isAnonymous, visitorName, errorText } from "../state/workspace";

/** Returns the row of each visitor's latest chat, sorted by last activity. */
export function latestChatPerVisitor(rows: Iterable<ChatRow>): ChatRow[] {
  const last = new Map<number, ChatRow>();
  for (const row of rows) {
    const latest = last.get(row.visitor.number);
    if (latest === undefined || row.chat_id > latest.chat_id) last.set(row.visitor.number, row);
  }
  const time = (row: ChatRow) => row.last_message?.timestamp ?? row.updated_at;
  return [...last.values()].sort((a, b) => time(b) - time(a));
}

export function VisitorsPage() {
  const { api, chats } = useWorkspace();
  const [searchText, setSearchText] = useState("");
  const [remote, setRemote] = useState<readonly ChatRow[]>([]);
  const [problem, setProblem] = useState<string>();
  const searchTerm = searchText.trim();

  useEffect(() => {
    if (chats.closedLoadState.peek() === "idle") void chats.loadClosed();
  }, []);
  useEffect(() => {
    setRemote([]);
    setProblem(undefined);
    if (searchTerm === "") return;
    let isCurrent = true;
    const timer = setTimeout(() => {
      api.get("/agent/search", { query: { q: searchTerm } }).then(
        ({ chats }) => isCurrent && setRemote(chats),
        (error: unknown) => isCurrent && !hasStatus(error, 404, 405) && setProblem(errorText(error)),
      );
    }, 200);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [searchTerm]);

  const latest = chats.rows.value;
  const rows = latestChatPerVisitor(
    searchTerm === "" ? latest.values() : [...filterRows(latest.values(), searchTerm), ...remote],
  );
  const isLoading = chats.loadState.value !== "ready" && rows.length === 0;
  return (
    <div class="visitors">
      <header>
        <h2>Visitors</h2>
        <label class="search">
          <Icon name="search" />
          <input
            type="search"
            placeholder="Name, e-mail, phone or number"
            aria-label="Search visitors"
            autocomplete="off"
            spellcheck={false}
            value={searchText}
            onInput={(event) => setSearchText(event.currentTarget.value)}
          />
        </label>
      </header>
      <div class="scroll">
        {rows.length > 0 ? (
          <table>
            <thead>
              <tr>
                <th scope="col">Visitor</th>
                <th scope="col" class="wide-only">
                  Number
                </th>
                <th scope="col" class="wide-only">
                  Channel
                </th>
                <th scope="col" class="wide-only">
                  Last message
                </th>
                <th scope="col">Last active</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.visitor.number}>
                  <td>
                    <a class="person" href={chatHref(row.chat_id)}>
                      <Avatar
                        id={row.visitor.number}
                        name={row.visitor.name}
                        isAnonymous={isAnonymous(row.visitor.name)}
                      />
                      <span class="clip" dir="auto">
                        {visitorName(row)}
                      </span>
                    </a>
                  </td>
                  <td class="wide-only num">{row.visitor.number}</td>
                  <td class="wide-only">{row.channel.name}</td>
                  <td class="wide-only last">
                    <div class="clip" dir="auto">
                      {row.last_message?.text}
                    </div>
                  </td>
                  <td class="num">{formatAgo(row.last_message?.timestamp ?? row.updated_at, currentMinute.value)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        ) : (
          <div class={problem === undefined ? "blank" : "blank bad"}>
            <Icon name="users" />
            <h2>{isLoading ? "Loading…" : searchTerm === "" ? "No visitor has written yet" : "Nobody found"}</h2>
            {problem !== undefined && <p>{problem}</p>}
          </div>
        )}
        {searchTerm === "" && typeof chats.nextClosedCursor.value === "number" && (
          <div class="more">
            <button type="button" class="btn line" onClick={() => void chats.loadClosed()}>
              Show earlier visitors
            </button>
          </div>
        )}
      </div>
    </div>
  );
}
