import type { ChatRow } from "../../api/types";

/** Returns the row of each visitor's latest chat, in the order in which the visitors first occur in the rows. */
export function latestChatPerVisitor(rows: Iterable<ChatRow>): ChatRow[] {
  const latest = new Map<number, ChatRow>();
  for (const row of rows) {
    const other = latest.get(row.visitor.number);
    if (other === undefined || row.chat_id > other.chat_id) latest.set(row.visitor.number, row);
  }
  return [...latest.values()];
}
