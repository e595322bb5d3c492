/* What the page on which a visitor is merged shows of the visitor, and of those with whom the visitor is merged. */

import type { ApiClient } from "../../api/client";
import type { ChatRow, ChatVisitor, Visitor } from "../../api/types";
import { BLOCKED_LINK } from "../../ui/linked-text";
import { findNewestChat, latestChatPerVisitor } from "./latest-chats";

export interface MergeSubject {
  visitor: ChatVisitor;
  /** The names of the channels of the visitors whose chats were read, by the visitor's number. */
  channels: ReadonlyMap<number, string>;
}

/** Reads a visitor from the visitor's newest chat, because only admins can read visitors by their number. Returns
 * undefined if the agent sees no chat of the visitor. */
export async function readMergeSubject(api: ApiClient, number: number): Promise<MergeSubject | undefined> {
  const { newest, rows } = await findNewestChat(api, number);
  if (newest === undefined) return undefined;
  const { visitor } = await api.get("/agent/chats/{chat_id}", { path: { chat_id: newest.chat_id } });
  return { visitor, channels: channelsOf(rows) };
}

const channelsOf = (rows: readonly ChatRow[]) =>
  new Map(rows.map(({ visitor, channel }) => [visitor.number, channel.name]));

/** Returns the subject after the visitor was merged or separated. `others` are the chats of visitors who were not known
 * before. */
export function withChanges(
  { visitor: { merged_with: _, ...before }, channels }: MergeSubject,
  changed: Visitor,
  others: readonly ChatRow[] = [],
): MergeSubject {
  return { visitor: { ...before, ...changed }, channels: new Map([...channels, ...channelsOf(others)]) };
}

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
