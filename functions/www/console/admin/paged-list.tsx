import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { announce } from "../../ui/announcer";
import { Icon } from "../../ui/icons";
import { LoadFailure, Loading } from "./list-page";
import type { PagedState } from "./use-paged";
import { t } from "../../texts/translate";

interface PagedListProps<Row> {
  log: PagedState<Row> & { reload: () => void; loadMore: () => void };
  /** What cannot be loaded, such as "The audit log". */
  what: string;
  /** What screen readers are told if there are no rows, such as "No entries". */
  none: string;
  /** Returns the number of rows in words. `shown` is the number, or "100 or more". */
  countText: (count: number, shown: { count: string | number }) => string;
  /** Shown in place of a list without rows. */
  empty: ComponentChildren;
  children: (rows: readonly Row[]) => ComponentChildren;
}

/** A list that is loaded page by page. Screen readers are told how many rows there are. */
export function PagedList<Row>({ log, what, none, countText, empty, children }: PagedListProps<Row>) {
  const { rows, next, isLoading, problem } = log;
  useEffect(() => {
    if (rows === undefined || isLoading) return;
    if (rows.length === 0) announce(none);
    else announce(countText(rows.length, { count: next === null ? rows.length : t`${rows.length} or more` }));
  }, [rows?.length, isLoading]);
  if (problem !== undefined)
    return <LoadFailure title={t`${what} could not be loaded`} text={problem} onRetry={log.reload} />;
  if (rows === undefined) return <Loading />;
  return (
    <>
      {rows.length === 0 ? empty : children(rows)}
      {next !== null && <MoreRows {...log} />}
    </>
  );
}

type MoreRowsProps = Pick<PagedState<unknown>, "isLoading" | "moreProblem"> & { loadMore: () => void };

const MoreRows = ({ isLoading, moreProblem, loadMore }: MoreRowsProps) => (
  <div class="more">
    {moreProblem !== undefined && (
      <p class="notice bad" role="alert">
        {t`The next rows could not be loaded. ${moreProblem}`}
      </p>
    )}
    <button type="button" class="btn line" aria-disabled={isLoading} onClick={loadMore}>
      {isLoading ? t`Loading…` : moreProblem === undefined ? t`Show more` : t`Try again`}
    </button>
  </div>
);

export const RefreshButton = ({ onClick }: { onClick: () => void }) => (
  <button type="button" class="btn only-icon" aria-label={t`Refresh`} title={t`Refresh`} onClick={onClick}>
    <Icon name="refresh-cw" />
  </button>
);
