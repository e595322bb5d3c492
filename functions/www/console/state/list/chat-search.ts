/* The search for chats: in the loaded rows, and with the service. */

import type { ApiClient } from "../../../api/client";
import type { ChatRow } from "../../../api/types";
import { compareByActivity, visitorName } from "./chats";

/** How long to wait after a key press before the search request is sent. */
export const SEARCH_DELAY_MS = 200;
/** The maximum number of empty pages to skip. The service examines a limited number of chats for a page, so a page can
 * be empty although more pages follow. */
const MAX_EMPTY_PAGES = 20;

/** Returns the number of the chat that a search text such as "#42" names; undefined for any other text. */
export function numberSearched(searchText: string): number | undefined {
  const digits = /^#(\d{1,15})$/.exec(searchText.trim())?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Returns the rows that contain every word of the search text. The chat with the searched number comes first, the
 * others are sorted by last activity. */
export function filterRows(rows: Iterable<ChatRow>, searchText: string): ChatRow[] {
  const searchTerms = searchText.trim().toLowerCase().replace(/^#/, "").split(/\s+/).filter(Boolean);
  if (searchTerms.length === 0) return [];
  const matches = (row: ChatRow) => {
    const text =
      `${row.chat_id} ${row.visitor.number} ${visitorName(row)} ${row.channel.name} ${row.last_message?.text ?? ""}`.toLowerCase();
    return searchTerms.every((word) => text.includes(word));
  };
  const isNumbered = (row: ChatRow) => (String(row.chat_id) === searchTerms[0] ? 1 : 0);
  return [...rows].filter(matches).sort((a, b) => isNumbered(b) - isNumbered(a) || compareByActivity(a, b));
}

/** Appends the rows of chats that are not in the list yet. */
export function appendNewRows(list: readonly ChatRow[], rows: readonly ChatRow[]): ChatRow[] {
  const ids = new Set(list.map((row) => row.chat_id));
  return [...list, ...rows.filter((row) => !ids.has(row.chat_id))];
}

/** Returns the next page of results that is not empty. Returns an empty page only at the end of the results, or after
 * `MAX_EMPTY_PAGES` empty ones. `next` is the cursor of the page after it; null at the end. */
export async function searchChats(
  api: ApiClient,
  searchText: string,
  cursor?: string,
): Promise<{ rows: readonly ChatRow[]; next: string | null }> {
  let next = cursor;
  for (let page = 0; ; page++) {
    const query = { q: searchText, ...(next === undefined ? {} : { cursor: next }) };
    const result = await api.get("/agent/search", { query });
    if (result.chats.length > 0 || result.next === null || page === MAX_EMPTY_PAGES)
      return { rows: result.chats, next: result.next };
    next = result.next;
  }
}
