/* Which channels and webhooks have failed recently, for the lists of the pages for admins. */

import { useEffect, useState } from "preact/hooks";
import type { ApiClient } from "../../../api/client";
import type { DeliveryLogEntry } from "../../../api/types";
import { isWebhookTarget } from "../../admin/delivery-targets";

const DAY_SECONDS = 86_400;
/** The number of failures that are read. With more failures, only the newest are counted. */
const MAX_FAILURES = 100;

/** The numbers of failed deliveries in the last 24 hours, by the id of the receiver's channel or webhook. */
export type FailureCounts = ReadonlyMap<string, number>;

/** Counts the failures of integrators by channel, and those of webhooks by webhook. */
export function countByReceiver(
  failures: readonly Pick<DeliveryLogEntry, "target" | "channel_id" | "webhook_id">[],
): FailureCounts {
  const counts = new Map<string, number>();
  for (const { target, channel_id, webhook_id } of failures) {
    const id = target === "channel" ? channel_id : isWebhookTarget(target) ? webhook_id : undefined;
    if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}

/** Returns the failures of the last 24 hours. Undefined until they are loaded, and if they cannot be loaded. */
export function useRecentFailures(api: ApiClient, target: "channel" | "webhook"): FailureCounts | undefined {
  const [counts, setCounts] = useState<FailureCounts>();
  useEffect(() => {
    let isCurrent = true;
    const from = Math.floor(Date.now() / 1000) - DAY_SECONDS;
    const query = { state: "failed" as const, target, from, limit: MAX_FAILURES };
    api.get("/admin/deliveries", { query }).then(
      ({ deliveries }) => isCurrent && setCounts(countByReceiver(deliveries)),
      () => {
        // The lists are complete without the failures, which the delivery log shows too.
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [api, target]);
  return counts;
}
