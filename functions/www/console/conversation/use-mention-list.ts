import { useState } from "preact/hooks";
import type { Colleague } from "../../api/types";
import { findMentionQuery, matchAgents } from "../state/chat/mentions";
import { useWorkspace } from "../workspace-context";

const MAX_LISTED = 8;

/** The colleagues whose name is being typed after an at sign in a note. */
export interface MentionList {
  items: readonly Colleague[];
  selectedIndex: number;
  /** Where the at sign stands in the text. */
  from: number | undefined;
  select: (index: number) => void;
  /** Closes the list until another at sign is typed. */
  dismiss: () => void;
}

export function useMentionList(text: string, caret: number, isNote: boolean): MentionList {
  const { roster, me } = useWorkspace();
  const [selected, setSelected] = useState(0);
  const [dismissedAt, setDismissedAt] = useState<number>();
  const query = isNote ? findMentionQuery(text, caret) : undefined;
  const isOpen = query !== undefined && query.from !== dismissedAt;
  const colleagues = (roster.people.value?.agents ?? []).filter(({ id }) => id !== me.id);
  const items = isOpen ? matchAgents(colleagues, query.searchText).slice(0, MAX_LISTED) : [];
  return {
    items,
    selectedIndex: Math.min(selected, Math.max(0, items.length - 1)),
    from: query?.from,
    select: setSelected,
    dismiss: () => setDismissedAt(query?.from),
  };
}
