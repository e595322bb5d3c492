/* Sends deliveries again. */

import type { ApiClient } from "../../api/client";
import type { Delivery, ReplayRequest } from "../../api/types";
import { t } from "../../texts/translate";

export interface ReplayProgress {
  replayed: number;
  /** The number of deliveries that are not sent again: calls, and events to which a bot should have reacted. */
  skipped: number;
  /** The cursor at which the replay continues. Empty before the first request, null if the replay is complete. */
  cursor: string | null;
}

/** The progress before the first request. */
export const NOTHING_REPLAYED: ReplayProgress = { replayed: 0, skipped: 0, cursor: "" };

/** Returns in words how many deliveries have been sent again. */
export function replayText({ replayed, skipped, cursor }: ReplayProgress): string {
  const counts = skipped > 0 ? t`${replayed} sent again, ${skipped} left out.` : t`${replayed} sent again.`;
  if (cursor !== null || replayed === 0) return counts;
  return `${counts} ${replayed === 1 ? t`It is on the way.` : t`They are on the way.`}`;
}

/** Sends failed deliveries again, a hundred with each request, until none are left or `isStopped` returns true. `start`
 * is the progress from which a stopped replay continues. */
export async function replayAll(
  api: ApiClient,
  scope: ReplayRequest,
  start: ReplayProgress,
  onProgress: (progress: ReplayProgress) => void,
  isStopped: () => boolean,
): Promise<void> {
  let progress = start;
  while (progress.cursor !== null && !isStopped()) {
    const body = progress.cursor === "" ? scope : { ...scope, cursor: progress.cursor };
    const { replayed, skipped, next } = await api.post("/admin/deliveries/replay", { body });
    progress = { replayed: progress.replayed + replayed, skipped: progress.skipped + skipped, cursor: next };
    onProgress(progress);
  }
}

const POLL_INTERVAL_MS = 1000;
/** The maximum number of times to read a delivery that was sent again. The delivery succeeds or fails within nine
 * seconds. */
const MAX_POLLS = 20;

/** Reads a delivery until it is no longer pending. Calls `onRead` with each state. */
export async function followDelivery(
  api: ApiClient,
  { chat_id, seq }: { chat_id: number; seq: number },
  signal: AbortSignal,
  onRead: (delivery: Delivery) => void,
): Promise<void> {
  for (let poll = 0; poll < MAX_POLLS; poll++) {
    await new Promise((done) => setTimeout(done, POLL_INTERVAL_MS));
    if (signal.aborted) return;
    const entry = await api.get("/admin/deliveries/{chat_id}/{seq}", { path: { chat_id, seq }, signal });
    const { state, attempts, error, attempts_left_out } = entry;
    onRead({
      state,
      attempts,
      ...(error === undefined ? {} : { error }),
      ...(attempts_left_out === undefined ? {} : { attempts_left_out }),
    });
    if (state !== "pending") return;
  }
}
