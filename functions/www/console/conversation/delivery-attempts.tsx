import type { Delivery } from "../../api/types";
import { TableHead } from "../../ui/table-head";
import { countText } from "../../ui/words";
import { clockTimeWithSeconds, formatDuration } from "../../ui/time";

const STATE_LABELS: Record<Delivery["state"], string> = {
  pending: "Pending",
  delivered: "Delivered",
  failed: "Not delivered",
  superseded: "No longer needed",
};

/** Shows the attempts to deliver a message, each with its time, HTTP status and duration. */
export function AttemptsPopover({ delivery }: { delivery: Delivery }) {
  return (
    <>
      <h3 tabIndex={-1} data-autofocus>
        {delivery.late === true ? "Delivered late" : STATE_LABELS[delivery.state]}
      </h3>
      {delivery.attempts.length === 0 ? (
        <p>No attempt has been made yet.</p>
      ) : (
        <table>
          <TableHead columns={["Time", "Status", "Duration", "Response"]} />
          <tbody>
            {delivery.attempts.map(({ at, status, ms, error }, index) => {
              const isSuccess = error === undefined && status !== undefined;
              return (
                <tr key={index}>
                  <td>{clockTimeWithSeconds(at)}</td>
                  <td class={isSuccess ? "good" : "bad"}>{status ?? "none"}</td>
                  <td>{formatDuration(ms)}</td>
                  <td dir="auto">{error ?? (isSuccess ? "ok" : "")}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
      {delivery.attempts_left_out !== undefined && (
        <p>{countText(delivery.attempts_left_out, "more attempt is", "more attempts are")} not listed.</p>
      )}
    </>
  );
}
