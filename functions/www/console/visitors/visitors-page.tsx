/* Who has written, by visitor: from the chats that are loaded, and from the search of the service. */

import "./visitors.css";
import { useEffect, useState } from "preact/hooks";
import { isStatus } from "../../api/client";
import type { ChatRow } from "../../api/types";
import { Face } from "../../ui/face";
import { Icon } from "../../ui/icons";
import { ago, minute } from "../../ui/time";
import { useWorkspace } from "../context";
import { matchRows } from "../inbox/inbox";
import { chatHref } from "../state/route";
import { isAnonymous, nameOf, wordsOf } from "../state/workspace";

/** One row for each visitor: that of their last chat. */
export function lastOfEach(rows: Iterable<ChatRow>): ChatRow[] {
  const last = new Map<number, ChatRow>();
  for (const row of rows) {
    const known = last.get(row.visitor.number);
    if (known === undefined || row.chat_id > known.chat_id) last.set(row.visitor.number, row);
  }
  const time = (row: ChatRow) => row.last_message?.timestamp ?? row.updated_at;
  return [...last.values()].sort((a, b) => time(b) - time(a));
}

export function VisitorsPage() {
  const { api, chats } = useWorkspace();
  const [words, setWords] = useState("");
  const [remote, setRemote] = useState<readonly ChatRow[]>([]);
  const [problem, setProblem] = useState<string>();
  const wanted = words.trim();

  useEffect(() => {
    if (chats.closedProgress.peek() === "idle") void chats.loadClosed();
  }, []);
  useEffect(() => {
    setRemote([]);
    setProblem(undefined);
    if (wanted === "") return;
    let isCurrent = true;
    const timer = setTimeout(() => {
      api.get("/agent/search", { query: { q: wanted } }).then(
        ({ chats }) => isCurrent && setRemote(chats),
        (error: unknown) => isCurrent && !isStatus(error, 404, 405) && setProblem(wordsOf(error)),
      );
    }, 200);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [wanted]);

  const known = chats.rows.value;
  const rows = lastOfEach(wanted === "" ? known.values() : [...matchRows(known.values(), wanted), ...remote]);
  const isLoading = chats.progress.value !== "ready" && rows.length === 0;
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
            value={words}
            onInput={(event) => setWords(event.currentTarget.value)}
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
                      <Face
                        id={row.visitor.number}
                        name={row.visitor.name}
                        isAnonymous={isAnonymous(row.visitor.name)}
                      />
                      <span class="clip" dir="auto">
                        {nameOf(row)}
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
                  <td class="num">{ago(row.last_message?.timestamp ?? row.updated_at, minute.value)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        ) : (
          <div class={problem === undefined ? "blank" : "blank bad"}>
            <Icon name="users" />
            <h2>{isLoading ? "Loading…" : wanted === "" ? "No visitor has written yet" : "Nobody found"}</h2>
            {problem !== undefined && <p>{problem}</p>}
          </div>
        )}
        {wanted === "" && typeof chats.closedNext.value === "number" && (
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
