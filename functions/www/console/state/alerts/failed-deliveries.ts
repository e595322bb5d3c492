/* How many deliveries have failed recently, for admins. */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ApiClient } from "../../../api/client";
import type { CappedCount } from "../../../api/types";

const DAY_SECONDS = 86_400;
const REFRESH_MS = 300_000;
/** How long to wait after a failure before the failures are counted. The index that is read is up to date by then. */
const RECOUNT_DELAY_MS = 3_000;

/** The number of failed deliveries in the last 24 hours. Undefined until they are counted. */
const failedDeliveries = signal<CappedCount | undefined>(undefined);

/** Counts the failed deliveries again. A count that fails changes nothing. */
export async function countFailedDeliveries(api: ApiClient): Promise<void> {
  const from = Math.floor(Date.now() / 1000) - DAY_SECONDS;
  try {
    const { failed } = await api.get("/admin/deliveries/counts", { query: { state: "failed", from } });
    failedDeliveries.value = failed ?? undefined;
  } catch {
    // The next count may succeed.
  }
}

let soonTimer: ReturnType<typeof setTimeout> | undefined;

/** Counts the failed deliveries again in a moment, once for all failures until then. */
export function countFailedDeliveriesSoon(api: ApiClient): void {
  soonTimer ??= setTimeout(() => {
    soonTimer = undefined;
    void countFailedDeliveries(api);
  }, RECOUNT_DELAY_MS);
}

/** Returns the number of failed deliveries in the last 24 hours. For admins, it is counted every five minutes while the
 * page is visible. */
export function useFailedDeliveries(api: ApiClient, isAdmin: boolean): CappedCount | undefined {
  useEffect(() => {
    if (!isAdmin) return;
    const count = () => void countFailedDeliveries(api);
    count();
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") count();
    }, REFRESH_MS);
    return () => {
      clearInterval(timer);
      clearTimeout(soonTimer);
      soonTimer = undefined;
      failedDeliveries.value = undefined;
    };
  }, [api, isAdmin]);
  return failedDeliveries.value;
}

/** Formats a count that stops at a limit, for example 100+. */
export const cappedText = ({ count, has_more }: CappedCount) => (has_more ? `${count}+` : String(count));
