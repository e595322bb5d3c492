import { useState } from "preact/hooks";
import { ApiError, hasStatus } from "../../api/client";
import type { ChatRow, Visitor } from "../../api/types";
import { Avatar } from "../../ui/avatar";
import { Icon } from "../../ui/icons";
import { currentMinute, formatAgo, fullTime } from "../../ui/time";
import { toast } from "../../ui/toast";
import { useMounted } from "../../ui/use-mounted";
import { FormProblem } from "../admin/detail-header";
import { isAnonymous, lastActivityAt, visitorName } from "../state/list/chats";
import { errorText } from "../state/page/error-text";
import { chatHref } from "../state/page/route";
import { useChatSearch } from "../use-chat-search";
import { useWorkspace } from "../workspace-context";
import { duplicateSearch, mergeableVisitors } from "./mergeable-visitors";
import { plural, t } from "../../texts/translate";

interface MergeFormProps {
  visitor: Visitor;
  /** Called with the merged visitor. */
  onMerged: (visitor: Visitor) => void;
}

/** Finds another visitor, and merges the visitor with them. */
export function MergeForm({ visitor, onMerged }: MergeFormProps) {
  const [searchText, setSearchText] = useState(() => duplicateSearch(visitor));
  const [chosen, setChosen] = useState<number>();
  const search = useChatSearch(searchText.trim(), (rows) => mergeableVisitors(rows, visitor).length > 0);
  const found = mergeableVisitors(search.rows, visitor);
  const other = found.find((row) => row.visitor.number === chosen);
  const { isBusy, problem, merge, forgetProblem } = useMerge(visitor.number, onMerged);
  const submit = (event: Event) => {
    event.preventDefault();
    if (other !== undefined) void merge(other.visitor.number);
  };
  const choose = (number: number) => {
    setChosen(number);
    forgetProblem();
  };
  return (
    <form class="form-section" onSubmit={submit}>
      <h3>{t`Merge with another visitor`}</h3>
      <SearchField text={searchText} onInput={setSearchText} />
      {search.problem === undefined ? (
        <p class="quiet-text" role="status">
          {search.isSearching ? t`Searching…` : foundText(searchText.trim(), found.length)}
        </p>
      ) : (
        <FormProblem text={search.problem} />
      )}
      {found.length > 0 && <FoundVisitors rows={found} chosen={chosen} onChoose={choose} />}
      {search.loadMore !== undefined && (
        <div>
          <button type="button" class="btn line" onClick={search.loadMore}>
            {t`Show more`}
          </button>
        </div>
      )}
      {other !== undefined && <MergeEffects number={visitor.number} other={other.visitor.number} />}
      <FormProblem text={problem} />
      {other !== undefined && (
        <div>
          <button type="submit" class="btn primary" aria-describedby="merge-effects" aria-disabled={isBusy}>
            <Icon name="users-round" />
            {isBusy ? t`Merging…` : t`Merge with visitor ${other.visitor.number}`}
          </button>
        </div>
      )}
    </form>
  );
}

/** The request that merges the visitor with another one. */
function useMerge(number: number, onMerged: MergeFormProps["onMerged"]) {
  const { visitors } = useWorkspace();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const isOpen = useMounted();
  const merge = async (other: number) => {
    if (isBusy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      const merged = await visitors.merge(number, other);
      toast(t`Visitor ${number} is merged with visitor ${other}.`);
      onMerged(merged);
    } catch (error) {
      if (!isOpen.current) toast(t`The visitors are not merged. ${mergeProblem(error)}`, { isBad: true });
      setProblem(mergeProblem(error));
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, problem, merge, forgetProblem: () => setProblem(undefined) };
}

const mergeProblem = (error: unknown) =>
  error instanceof ApiError && error.field === "merge_with"
    ? t`The other visitor does not exist any more.`
    : hasStatus(error, 409)
      ? t`At most ten visitors can be merged.`
      : errorText(error);

function SearchField({ text, onInput }: { text: string; onInput: (text: string) => void }) {
  return (
    <div class="field">
      <label for="merge-search">{t`Find the other visitor`}</label>
      <input
        id="merge-search"
        class="input"
        type="search"
        placeholder={t`Name, e-mail, phone or number`}
        autocomplete="off"
        spellcheck={false}
        dir="auto"
        value={text}
        onInput={(event) => onInput(event.currentTarget.value)}
        // The form must not be submitted.
        onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
      />
    </div>
  );
}

const foundText = (searchTerm: string, count: number) =>
  searchTerm === ""
    ? `${t`The person may have written in another channel or browser.`} ${t`Search by name, e-mail, phone or number.`}`
    : count === 0
      ? t`Nobody found`
      : plural(count, "{count} visitor found", "{count} visitors found");

interface FoundVisitorsProps {
  /** The latest chats of the visitors. */
  rows: readonly ChatRow[];
  chosen: number | undefined;
  onChoose: (number: number) => void;
}

const FoundVisitors = ({ rows, chosen, onChoose }: FoundVisitorsProps) => (
  <fieldset class="field choices found-visitors">
    <legend class="sr">{t`Found visitors`}</legend>
    <div class="scroll">
      {rows.map((row) => (
        <label key={row.visitor.number}>
          <input
            type="radio"
            name="merge-with"
            checked={row.visitor.number === chosen}
            onChange={() => onChoose(row.visitor.number)}
          />
          <FoundVisitor row={row} />
        </label>
      ))}
    </div>
  </fieldset>
);

function FoundVisitor({ row }: { row: ChatRow }) {
  const { visitor, channel, chat_id: chatId } = row;
  const activeAt = lastActivityAt(row);
  return (
    <>
      <Avatar id={visitor.number} name={visitor.name} isAnonymous={isAnonymous(visitor.name)} />
      <span class="words">
        <span class="clip" dir="auto">
          {visitorName(row)}
        </span>
        <small>
          <span class="clip">
            {t`Visitor ${visitor.number}`} · <span dir="auto">{channel.name}</span> ·
          </span>
          <a class="link" href={chatHref(chatId)}>
            {t`Chat #${chatId}`}
          </a>
        </small>
      </span>
      <time title={fullTime(activeAt)}>{formatAgo(activeAt, currentMinute.value)}</time>
    </>
  );
}

const MergeEffects = ({ number, other }: { number: number; other: number }) => (
  <ul id="merge-effects" class="bullets">
    <li>{t`Visitors ${number} and ${other} become one person, together with those merged with one of them.`}</li>
    <li>
      {t`What is not known of one is shown from the other.`} {t`Whoever blacklists one blacklists all.`}
    </li>
    <li>
      {t`Each visitor keeps their own number, profile and chats, and no visitor sees anything of the other.`}{" "}
      {t`You can undo the merge at any time.`}
    </li>
  </ul>
);
