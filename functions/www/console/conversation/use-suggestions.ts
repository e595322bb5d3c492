import { useEffect, useState } from "preact/hooks";
import type { CannedReply } from "../../api/types";
import { useWorkspace } from "../workspace-context";
import { findCannedQuery, matchCannedReplies } from "./composer-text";

const MAX_SUGGESTIONS = 30;

/** The canned replies that match the shortcut at the caret. */
export interface Suggestions {
  /** All replies of the account. Undefined until they are loaded. */
  replies: readonly CannedReply[] | undefined;
  items: readonly CannedReply[];
  isOpen: boolean;
  selectedIndex: number;
  /** Where the shortcut begins in the text. Undefined if there is none at the caret. */
  from: number | undefined;
  select: (index: number) => void;
  /** Adapts the list to a changed text. */
  follow: (text: string, caret: number) => void;
  /** Closes the list until another slash is typed. */
  dismiss: () => void;
  reopen: () => void;
}

export function useSuggestions(text: string, caret: number, isNote: boolean): Suggestions {
  const { cannedReplies } = useWorkspace();
  const [dismissedAt, setDismissedAt] = useState<number>();
  const [selected, setSelected] = useState(0);
  const replies = cannedReplies.items.value;
  const query = findCannedQuery(text, caret);
  const isSuggesting = query !== undefined && query.from !== dismissedAt && !isNote;
  const items = isSuggesting ? matchCannedReplies(replies ?? [], query.searchText).slice(0, MAX_SUGGESTIONS) : [];
  const isOpen = isSuggesting && (replies === undefined || items.length > 0 || query.searchText === "");

  // Load the canned replies again if the first request failed.
  const areRepliesMissing = isOpen && replies === undefined;
  useEffect(() => {
    if (areRepliesMissing) void cannedReplies.load().catch(() => {});
  }, [areRepliesMissing]);

  return {
    replies,
    items,
    isOpen,
    selectedIndex: Math.min(selected, Math.max(0, items.length - 1)),
    from: query?.from,
    select: setSelected,
    follow: (text, caret) => {
      setSelected(0);
      // Esc closes the replies only for the slash at the caret. Another slash opens them again.
      if (findCannedQuery(text, caret)?.from !== dismissedAt) setDismissedAt(undefined);
    },
    dismiss: () => setDismissedAt(query?.from),
    reopen: () => setDismissedAt(undefined),
  };
}
