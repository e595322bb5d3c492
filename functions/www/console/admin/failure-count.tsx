import type { FailureCounts } from "../state/alerts/recent-failures";
import { t } from "../../texts/translate";

/** Says how many deliveries to a receiver have failed in the last 24 hours. Shows nothing if none has. */
export function FailureCount({ counts, id }: { counts: FailureCounts | undefined; id: string }) {
  const count = counts?.get(id) ?? 0;
  if (count === 0) return null;
  return (
    <b class="failure-count" title={t`Deliveries that failed in the last 24 hours`}>
      {t`${count >= 100 ? "100+" : count} failed`}
      <span class="sr"> {t`in 24 hours`}</span>
    </b>
  );
}
