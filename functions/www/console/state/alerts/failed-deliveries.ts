/* How many deliveries have failed recently, for admins. */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ApiClient } from "../../../api/client";
import type { CappedCount } from "../../../api/types";
import { plural, t } from "../../../texts/translate";

const DAY_SECONDS = 86_400;
const REFRESH_MS = 300_000;
/** How long to wait after a failure before the failures are counted. The index that is read is up to date by then. */
const RECOUNT_DELAY_MS = 3_000;

/** The number of failed deliveries in the last 24 hours. Undefined until they are counted. */
const failedDeliveries = signal<CappedCount | undefined>(undefined);

/** The number of receivers that have failed for more than a day. */
const longOutages = signal(0);

/** Counts the failed deliveries again. A count that fails changes nothing. */
export async function countFailedDeliveries(api: ApiClient): Promise<void> {
  const from = Math.floor(Date.now() / 1000) - DAY_SECONDS;
  try {
    const [{ failed }, { outages }] = await Promise.all([
      api.get("/admin/deliveries/counts", { query: { state: "failed", from } }),
      api.get("/admin/outages"),
    ]);
    failedDeliveries.value = failed ?? undefined;
    longOutages.value = outages.filter(({ status }) => status !== "none").length;
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

/** Returns what has failed, in words: the deliveries of the last 24 hours and the receivers that have failed for more
 * than a day. Undefined if nothing has. For admins, it is counted every five minutes while the page is visible. */
export function useFailureText(api: ApiClient, isAdmin: boolean): string | undefined {
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
      longOutages.value = 0;
    };
  }, [api, isAdmin]);
  const [failed, failing] = [failedDeliveries.value, longOutages.value];
  const parts = [
    failed !== undefined && failed.count > 0 ? [t`${cappedText(failed)} failed in 24 hours`] : [],
    failing > 0
      ? [plural(failing, "{count} receiver fails for more than a day", "{count} receivers fail for more than a day")]
      : [],
  ].flat();
  return parts.length === 0 ? undefined : parts.join(", ");
}

/** Formats a count that stops at a limit, for example 100+. */
export const cappedText = ({ count, has_more }: CappedCount) => (has_more ? `${count}+` : String(count));
