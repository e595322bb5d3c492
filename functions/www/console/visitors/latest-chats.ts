import type { ApiClient } from "../../api/client";
import type { ChatRow } from "../../api/types";

/** The maximum number of pages of a visitor's chats to read. */
const MAX_PAGES = 20;

/** Returns the row of each visitor's latest chat, in the order in which the visitors first occur in the rows. */
export function latestChatPerVisitor(rows: Iterable<ChatRow>): ChatRow[] {
  const latest = new Map<number, ChatRow>();
  for (const row of rows) {
    const other = latest.get(row.visitor.number);
    if (other === undefined || row.chat_id > other.chat_id) latest.set(row.visitor.number, row);
  }
  return [...latest.values()];
}

interface NewestChat {
  /** The visitor's newest chat. Undefined if the agent sees none. */
  newest: ChatRow | undefined;
  /** All rows that were read. */
  rows: ChatRow[];
}

/** Finds a visitor's newest chat. The list also contains the chats of the visitors with whom the visitor is merged, so
 * the first pages may contain only theirs. */
export async function findNewestChat(api: ApiClient, number: number): Promise<NewestChat> {
  const rows: ChatRow[] = [];
  let query: { cursor?: string } = {};
  for (let page = 0; page < MAX_PAGES; page++) {
    const { chats, next } = await api.get("/agent/visitors/{number}/chats", { path: { number }, query });
    rows.push(...chats);
    const newest = chats.find(({ visitor }) => visitor.number === number);
    if (newest !== undefined || next === null) return { newest, rows };
    query = { cursor: next };
  }
  return { newest: undefined, rows };
}
