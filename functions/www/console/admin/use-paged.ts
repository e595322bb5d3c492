import { useEffect, useRef, useState } from "preact/hooks";
import { errorText } from "../state/page/error-text";

/** How long typing must have paused before a request is sent. */
const TYPING_DELAY_MS = 200;

export interface Page<Row> {
  rows: readonly Row[];
  next: string | null;
}
/** Reads a page. The cursor is null for the first one. */
export type ReadPage<Query, Row> = (query: Query, cursor: string | null, signal: AbortSignal) => Promise<Page<Row>>;

/** Reads pages until one contains rows. A page may be empty although rows follow. */
export async function readNextRows<Query, Row>(
  read: ReadPage<Query, Row>,
  query: Query,
  cursor: string | null,
  signal: AbortSignal,
): Promise<Page<Row>> {
  for (let after = cursor; ;) {
    const page = await read(query, after, signal);
    if (page.rows.length > 0 || page.next === null) return page;
    after = page.next;
  }
}

export interface PagedState<Row> {
  /** The key of the query whose rows are shown. Undefined until the first page has been loaded. */
  loadedKey: string | undefined;
  /** Undefined until the first page has been loaded. */
  rows: readonly Row[] | undefined;
  next: string | null;
  isLoading: boolean;
  /** Why the first page could not be loaded. */
  problem: string | undefined;
  /** Why further rows could not be loaded. The rows before them are shown. */
  moreProblem: string | undefined;
}

/** Returns the state with the rows of another page appended. Skips rows that are already shown, because rows may have
 * moved during the request. */
export function withNextPage<Row>(
  shown: PagedState<Row>,
  page: Page<Row>,
  keyOf: (row: Row) => string,
): PagedState<Row> {
  const before = shown.rows ?? [];
  const known = new Set(before.map(keyOf));
  const added = page.rows.filter((row) => !known.has(keyOf(row)));
  return { ...shown, rows: [...before, ...added], next: page.next, isLoading: false };
}

interface PagedOptions<Query, Row> {
  /** Identifies the query. The query itself cannot be compared, because its times depend on the clock. */
  key: string;
  /** Returns the query, or undefined to load nothing. */
  createQuery: () => Query | undefined;
  read: ReadPage<Query, Row>;
  keyOf: (row: Row) => string;
}

/** Loads the rows of a query, page by page. Until they are loaded, the rows of the previous query are shown. */
export function usePaged<Query, Row>({ key, createQuery, read, keyOf }: PagedOptions<Query, Row>) {
  const nothingLoaded: PagedState<Row> = {
    loadedKey: undefined,
    rows: undefined,
    next: null,
    isLoading: true,
    problem: undefined,
    moreProblem: undefined,
  };
  const [state, setState] = useState(nothingLoaded);
  const request = useRef<AbortController | undefined>(undefined);
  const query = useRef<Query | undefined>(undefined);
  const queryKey = useRef(key);

  /** Loads the page after the cursor, or the first page. */
  const load = async (cursor: string | null) => {
    request.current?.abort();
    const { signal } = (request.current = new AbortController());
    if (query.current === undefined) return setState({ ...nothingLoaded, rows: [], isLoading: false });
    setState((shown) => ({ ...shown, isLoading: true, problem: undefined, moreProblem: undefined }));
    try {
      const page = await readNextRows(read, query.current, cursor, signal);
      const loadedKey = queryKey.current;
      if (!signal.aborted)
        setState((shown) => withNextPage(cursor === null ? { ...nothingLoaded, loadedKey } : shown, page, keyOf));
    } catch (error) {
      const problem = cursor === null ? { problem: errorText(error) } : { moreProblem: errorText(error) };
      if (!signal.aborted) setState((shown) => ({ ...shown, ...problem, isLoading: false }));
    }
  };
  const reload = () => {
    query.current = createQuery();
    queryKey.current = key;
    void load(null);
  };
  const loadMore = () => {
    if (state.next !== null && !state.isLoading) void load(state.next);
  };
  const hasLoaded = useRef(false);
  useEffect(() => {
    const timer = setTimeout(reload, hasLoaded.current ? TYPING_DELAY_MS : 0);
    hasLoaded.current = true;
    return () => clearTimeout(timer);
  }, [key]);
  useEffect(() => () => request.current?.abort(), []);

  /** Replaces each row that is shown with the result of `update`. */
  const updateRows = (update: (row: Row) => Row) =>
    setState((shown) => (shown.rows === undefined ? shown : { ...shown, rows: shown.rows.map(update) }));
  return { ...state, reload, loadMore, updateRows };
}
