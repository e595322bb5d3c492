/* The visitors page. It lists the visitors of all loaded chats and those found by the service's search. */

import "../table-page.css";
import { useEffect, useState } from "preact/hooks";
import { Avatar } from "../../ui/avatar";
import { Icon } from "../../ui/icons";
import { TableHead } from "../../ui/table-head";
import { formatAgo, currentMinute } from "../../ui/time";
import { useWorkspace } from "../workspace-context";
import { filterRows } from "../state/list/chat-search";
import { compareByActivity, lastActivityAt, isAnonymous, visitorName } from "../state/list/chats";
import { VISITORS_ROUTE } from "../state/page/page-routes";
import { chatHref, hrefOf, openChat, route } from "../state/page/route";
import { errorText } from "../state/page/error-text";
import { useChatSearch } from "../use-chat-search";
import { latestChatPerVisitor } from "./latest-chats";
import { visitorByNumber } from "./visitor-by-number";
import { t } from "../../texts/translate";

export function VisitorsPage() {
  const { id } = route.value;
  return id === undefined ? <VisitorList /> : <LatestChat key={id} number={id} />;
}

/** Opens the latest chat of a visitor, which shows the visitor's details. */
function LatestChat({ number }: { number: number }) {
  const { api } = useWorkspace();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    visitorByNumber(api, number).then(
      (visitor) => {
        if (visitor === undefined) setProblem(t`The number is wrong, or you cannot see the visitor.`);
        else if (visitor.last_chat_id === undefined) setProblem(t`The visitor has no chats.`);
        else openChat(visitor.last_chat_id, true);
      },
      (error: unknown) => setProblem(errorText(error)),
    );
  }, [number]);
  if (problem === undefined) return <p class="blank appear-late">{t`Loading…`}</p>;
  return (
    <div class="blank">
      <Icon name="user-round" />
      <h2>{t`Visitor ${number} cannot be shown`}</h2>
      <p>{problem}</p>
      <a class="btn line" href={hrefOf(VISITORS_ROUTE)}>
        {t`All visitors`}
      </a>
    </div>
  );
}

function VisitorList() {
  const { chats } = useWorkspace();
  const [searchText, setSearchText] = useState("");
  const searchTerm = searchText.trim();
  const { rows: remote, isSearching, problem } = useChatSearch(searchTerm);

  useEffect(() => {
    if (chats.closedLoadState.peek() === "idle") void chats.loadClosed();
  }, []);

  const loadedRows = [...chats.rows.value.values()];
  const found = searchTerm === "" ? loadedRows : [...filterRows(loadedRows, searchTerm), ...remote];
  const rows = latestChatPerVisitor(found).sort(compareByActivity);
  const isLoading = chats.loadState.value !== "ready" && rows.length === 0;
  return (
    <div class="table-page visitors">
      <header>
        <h2>{t`Visitors`}</h2>
        <label class="search">
          <Icon name="search" />
          <input
            type="search"
            placeholder={t`Name, e-mail, phone or number`}
            aria-label={t`Search visitors`}
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
            <TableHead
              columns={[
                t`Visitor`,
                [t`Number`, "wide-only"],
                [t`Channel`, "wide-only"],
                [t`Last message`, "wide-only"],
                t`Last active`,
              ]}
            />
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
                      <span class="names">
                        <span class="clip" dir="auto">
                          {visitorName(row)}
                        </span>
                        <small class="clip" dir="auto">
                          {row.last_message?.text || row.channel.name}
                        </small>
                      </span>
                    </a>
                  </td>
                  <td class="wide-only num">{row.visitor.number}</td>
                  <td class="wide-only channel">
                    <div class="clip" dir="auto">
                      {row.channel.name}
                    </div>
                  </td>
                  <td class="wide-only rest">
                    <div class="clip" dir="auto">
                      {row.last_message?.text}
                    </div>
                  </td>
                  <td class="num">{formatAgo(lastActivityAt(row), currentMinute.value)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        ) : (
          <div class={problem === undefined ? "blank" : "blank bad"}>
            <Icon name="users" />
            <h2>
              {isLoading
                ? t`Loading…`
                : isSearching
                  ? t`Searching…`
                  : searchTerm === ""
                    ? t`No visitor has written yet`
                    : t`Nobody found`}
            </h2>
            {problem !== undefined && <p>{problem}</p>}
          </div>
        )}
        {searchTerm === "" && typeof chats.nextClosedCursor.value === "number" && (
          <div class="more">
            <button type="button" class="btn line" onClick={() => void chats.loadClosed()}>
              {t`Show earlier visitors`}
            </button>
          </div>
        )}
      </div>
    </div>
  );
}
