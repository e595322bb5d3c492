import type { PagedState } from "./use-paged";

type MoreRowsProps = PagedState<unknown> & { loadMore: () => void };

/** The button below the rows of a list that is loaded page by page. */
export function MoreRows({ rows, next, isLoading, problem, moreProblem, loadMore }: MoreRowsProps) {
  if (rows === undefined || problem !== undefined || next === null) return null;
  return (
    <div class="more">
      {moreProblem !== undefined && (
        <p class="notice bad" role="alert">
          The next rows could not be loaded. {moreProblem}
        </p>
      )}
      <button type="button" class="btn line" aria-disabled={isLoading} onClick={loadMore}>
        {isLoading ? "Loading…" : moreProblem === undefined ? "Show more" : "Try again"}
      </button>
    </div>
  );
}
