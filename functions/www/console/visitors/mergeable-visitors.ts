/* Which visitors the page offers for a merge. */

import type { ChatRow, Visitor } from "../../api/types";
import { BLOCKED_LINK } from "../../ui/linked-text";
import { latestChatPerVisitor } from "./latest-chats";

/** Returns the text that finds the likely duplicates of a visitor. */
export const duplicateSearch = ({ email, phone }: Pick<Visitor, "email" | "phone">): string =>
  [email, phone].find((value) => value !== null && value !== "" && value !== BLOCKED_LINK) ?? "";

/** Returns the latest chat of each visitor who can be merged with this one. */
export function mergeableVisitors(
  rows: readonly ChatRow[],
  { number, merged_with: mergedWith = [] }: Pick<Visitor, "number" | "merged_with">,
): ChatRow[] {
  return latestChatPerVisitor(rows.filter(({ visitor }) => ![number, ...mergedWith].includes(visitor.number)));
}
