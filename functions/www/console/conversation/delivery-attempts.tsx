import type { Delivery } from "../../api/types";
import { TableHead } from "../../ui/table-head";
import { clockTimeWithSeconds, formatDuration } from "../../ui/time";
import { plural, t } from "../../texts/translate";

/** Says how many older attempts a delivery has had. */
export const moreAttemptsText = (count: number) =>
  plural(count, "{count} more attempt is not listed.", "{count} more attempts are not listed.");

const STATE_LABELS: Record<Delivery["state"], string> = {
  pending: t`Pending`,
  delivered: t`Delivered`,
  failed: t`Not delivered`,
  superseded: t`No longer needed`,
};

/** Shows the attempts to deliver a message, each with its time, HTTP status and duration. */
export function AttemptsPopover({ delivery }: { delivery: Delivery }) {
  return (
    <>
      <h3 tabIndex={-1} data-autofocus>
        {delivery.late === true ? t`Delivered late` : STATE_LABELS[delivery.state]}
      </h3>
      {delivery.attempts.length === 0 ? (
        <p>{t`No attempt has been made yet.`}</p>
      ) : (
        <table>
          <TableHead columns={[t`Time`, t`Status`, t`Duration`, t`Response`]} />
          <tbody>
            {delivery.attempts.map(({ at, status, ms, error }, index) => {
              const isSuccess = error === undefined && status !== undefined;
              return (
                <tr key={index}>
                  <td>{clockTimeWithSeconds(at)}</td>
                  <td class={isSuccess ? "good" : "bad"}>{status ?? t`none`}</td>
                  <td>{formatDuration(ms)}</td>
                  <td dir="auto">{error ?? (isSuccess ? t`ok` : "")}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
      {delivery.attempts_left_out !== undefined && <p>{moreAttemptsText(delivery.attempts_left_out)}</p>}
    </>
  );
}
