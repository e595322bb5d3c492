import { useEffect, useState } from "preact/hooks";
import type { ChatRow } from "../api/types";
import { SEARCH_DELAY_MS, searchChats } from "./state/list/chat-search";
import { errorText } from "./state/page/error-text";
import { useWorkspace } from "./workspace-context";

interface FoundChats {
  rows: readonly ChatRow[];
  isSearching: boolean;
  /** Why the service could not search. */
  problem?: string;
}

const NOTHING: FoundChats = { rows: [], isSearching: false };

/** Returns the first page of chats that the service finds, once the search text has not changed for a moment. */
export function useChatSearch(searchText: string): FoundChats {
  const { api } = useWorkspace();
  const [found, setFound] = useState(NOTHING);
  useEffect(() => {
    setFound({ rows: [], isSearching: searchText !== "" });
    if (searchText === "") return;
    let isCurrent = true;
    const timer = setTimeout(() => {
      searchChats(api, searchText).then(
        ({ rows }) => isCurrent && setFound({ rows, isSearching: false }),
        (error: unknown) => isCurrent && setFound({ ...NOTHING, problem: errorText(error) }),
      );
    }, SEARCH_DELAY_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [searchText]);
  return found;
}
