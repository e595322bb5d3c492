/* Deliveries in every state, newest first. The service lists one state at a time, so the lists are merged here. */

import type { DeliveryLogEntry, DeliveryState } from "../../api/types";
import type { Page } from "../admin/use-paged";
import { STATES } from "./log-filter";

type ReadState = (state: DeliveryState, cursor: string | null, signal: AbortSignal) => Promise<Page<DeliveryLogEntry>>;

interface StateList {
  state: DeliveryState;
  /** Rows that have been read but not shown, newest first. */
  rows: readonly DeliveryLogEntry[];
  /** The cursor of the next page. Null before the first page and undefined after the last one. */
  next: string | null | undefined;
}

/** Returns a function that reads the next page of all states. Rows that are older than the oldest row of a state with
 * further rows are kept for a later page. */
export function readAllStates(read: ReadState) {
  let lists: StateList[] = [];
  const fill = async (list: StateList, signal: AbortSignal): Promise<StateList> => {
    if (list.rows.length > 0 || list.next === undefined) return list;
    const page = await read(list.state, list.next, signal);
    return fill({ ...list, rows: page.rows, next: page.next ?? undefined }, signal);
  };
  return async (cursor: string | null, signal: AbortSignal): Promise<Page<DeliveryLogEntry>> => {
    if (cursor === null) lists = STATES.map((state) => ({ state, rows: [], next: null }));
    const filled = await Promise.all(lists.map((list) => fill(list, signal)));
    const limit = Math.max(
      0,
      ...filled.flatMap(({ rows, next }) => (next === undefined ? [] : (rows.at(-1)?.since ?? []))),
    );
    const shown = filled.flatMap(({ rows }) => rows.filter(({ since }) => since >= limit));
    lists = filled.map((list) => ({ ...list, rows: list.rows.filter(({ since }) => since < limit) }));
    const hasMore = lists.some(({ rows, next }) => rows.length > 0 || next !== undefined);
    return { rows: shown.sort((a, b) => b.since - a.since), next: hasMore ? "more" : null };
  };
}
