/* What an erasure of a visitor deletes. */

import { hasStatus, type ApiClient } from "../../api/client";
import type { ChatRow, Visitor, VisitorData } from "../../api/types";

export interface ErasureSubject {
  visitor: Visitor;
  /** The visitors with whom the visitor is merged. They are erased, too. */
  merged: readonly Visitor[];
  /** The number of chats of all of these visitors. */
  chatsCount: number;
  entries: number;
  /** Whether all chats were counted. */
  isComplete: boolean;
  /** The newest chats. */
  chats: readonly ChatRow[];
}

/** Reads what an erasure deletes. Returns undefined if there is no visitor with this number. */
export async function readErasureSubject(api: ApiClient, number: number): Promise<ErasureSubject | undefined> {
  const named = await visitorData(api, number);
  if (named === undefined) return undefined;
  const read = await Promise.all((named.visitor.merged_with ?? []).map((other) => visitorData(api, other)));
  // A number can remain in the list after its visitor was erased.
  const merged = read.filter((data) => data?.visitor.merged_with?.includes(number) === true) as VisitorData[];
  const all = [named, ...merged];
  const sum = (count: (data: VisitorData) => number) => all.reduce((total, data) => total + count(data), 0);
  const chatsCount = sum(({ chats_count: count }) => count);
  return {
    visitor: named.visitor,
    merged: merged.map(({ visitor }) => visitor),
    chatsCount,
    entries: sum(({ entries }) => entries),
    isComplete: all.every(({ is_complete: isComplete }) => isComplete),
    chats: chatsCount === 0 ? [] : await newestChats(api, number),
  };
}

async function visitorData(api: ApiClient, number: number): Promise<VisitorData | undefined> {
  try {
    return await api.get("/admin/visitors/{number}", { path: { number } });
  } catch (error) {
    if (hasStatus(error, 404)) return undefined;
    throw error;
  }
}

const newestChats = async (api: ApiClient, number: number) =>
  (await api.get("/agent/visitors/{number}/chats", { path: { number } })).chats;
