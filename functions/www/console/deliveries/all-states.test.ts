import assert from "node:assert/strict";
import { test } from "node:test";
import type { DeliveryLogEntry, DeliveryState } from "../../api/types";
import { readAllStates } from "./all-states";

const LISTS: Record<DeliveryState, number[][]> = {
  failed: [[90, 60], [], [30]],
  pending: [],
  delivered: [
    [95, 94],
    [70, 10],
  ],
  superseded: [[5]],
};

test("deliveries of all states are merged, newest first, page by page", async () => {
  const read = readAllStates(async (state, cursor) => {
    const index = Number(cursor ?? 0);
    const rows = (LISTS[state][index] ?? []).map((since) => ({ state, since }) as DeliveryLogEntry);
    return { rows, next: index + 1 < LISTS[state].length ? String(index + 1) : null };
  });
  const times: number[][] = [];
  for (let cursor: string | null = null; ;) {
    const page = await read(cursor, new AbortController().signal);
    times.push(page.rows.map(({ since }) => since));
    if (page.next === null) break;
    cursor = page.next;
  }
  assert.deepEqual(times.flat(), [95, 94, 90, 70, 60, 30, 10, 5]);
  assert.ok(times.length > 1);
});
