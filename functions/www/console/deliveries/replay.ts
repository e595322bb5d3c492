/* Sends deliveries again. */

import type { ApiClient } from "../../api/client";
import type { Delivery, ReplayRequest } from "../../api/types";

export interface ReplayProgress {
  replayed: number;
  /** Calls, and events to which a bot should have reacted. They are not sent again. */
  skipped: number;
  /** Where the replay continues. Null if it is complete. */
  cursor: string | null;
}

/** The progress before the first request. */
export const NOTHING_REPLAYED: ReplayProgress = { replayed: 0, skipped: 0, cursor: "" };

/** Says what was sent again. */
export function replayText({ replayed, skipped, cursor }: ReplayProgress): string {
  const counts = `${replayed} sent again${skipped > 0 ? `, ${skipped} left out` : ""}.`;
  if (cursor !== null || replayed === 0) return counts;
  return `${counts} ${replayed === 1 ? "It is" : "They are"} on the way.`;
}

/** Sends failed deliveries again, a hundred with each request, until none are left or `isStopped` returns true. `start`
 * is the progress after which a stopped replay continues. */
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
/** Nine seconds after a delivery was sent again, it has either failed or succeeded. */
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
