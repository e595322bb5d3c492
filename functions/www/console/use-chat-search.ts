import { useEffect, useRef, useState } from "preact/hooks";
import type { ApiClient } from "../api/client";
import type { ChatRow } from "../api/types";
import { SEARCH_DELAY_MS, appendNewRows, searchChats } from "./state/list/chat-search";
import { errorText } from "./state/page/error-text";
import { useWorkspace } from "./workspace-context";

/** The maximum number of pages that are read at once to find enough. */
const MAX_PAGES_PER_SEARCH = 5;

interface FoundChats {
  rows: readonly ChatRow[];
  /** The cursor of the next page. Null if there is none. */
  next: string | null;
}

interface ChatSearch {
  rows: readonly ChatRow[];
  isSearching: boolean;
  /** Why the service could not search. */
  problem?: string;
  /** Reads the next page. Undefined if there is none. */
  loadMore: (() => void) | undefined;
}

const NOTHING: FoundChats = { rows: [], next: null };

/** Reads the next pages of results until the rows are enough, at most `MAX_PAGES_PER_SEARCH` pages. */
export async function searchUntil(
  isEnough: (rows: readonly ChatRow[]) => boolean,
  api: ApiClient,
  searchText: string,
  before: FoundChats = NOTHING,
): Promise<FoundChats> {
  let found = before;
  for (let page = 0; page < MAX_PAGES_PER_SEARCH; page++) {
    const { rows, next } = await searchChats(api, searchText, found.next ?? undefined);
    found = { rows: appendNewRows(found.rows, rows), next };
    if (next === null || isEnough(rows)) break;
  }
  return found;
}

/** Returns the first page of chats that the service finds, once the search text has not changed for a moment. Reads
 * further pages while those that were read are not enough. */
export function useChatSearch(
  searchText: string,
  isEnough: (rows: readonly ChatRow[]) => boolean = () => true,
): ChatSearch {
  const { api } = useWorkspace();
  const [found, setFound] = useState(NOTHING);
  const [isSearching, setSearching] = useState(false);
  const [problem, setProblem] = useState<string>();
  /** The search whose results are shown. */
  const current = useRef<object | null>(null);
  const read = (before: FoundChats) => {
    const search = current.current;
    const finish = (state: () => void) => {
      if (current.current !== search) return;
      setSearching(false);
      state();
    };
    setSearching(true);
    setProblem(undefined);
    searchUntil(isEnough, api, searchText, before).then(
      (result) => finish(() => setFound(result)),
      (error: unknown) => finish(() => setProblem(errorText(error))),
    );
  };
  useEffect(() => {
    current.current = {};
    setFound(NOTHING);
    setProblem(undefined);
    setSearching(searchText !== "");
    if (searchText === "") return;
    const timer = setTimeout(() => read(NOTHING), SEARCH_DELAY_MS);
    return () => {
      current.current = null;
      clearTimeout(timer);
    };
  }, [searchText]);
  return {
    rows: found.rows,
    isSearching,
    ...(problem === undefined ? {} : { problem }),
    loadMore: found.next === null ? undefined : () => !isSearching && read(found),
  };
}
