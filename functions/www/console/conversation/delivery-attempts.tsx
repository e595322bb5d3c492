import type { Delivery } from "../../api/types";
import { formatDuration } from "../../ui/time";

const timeWithSeconds = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });

const STATE_LABELS: Record<Delivery["state"], string> = {
  pending: "On its way",
  delivered: "Delivered",
  failed: "Not delivered",
  superseded: "Not needed any more",
};

/** Every request that tried to deliver a message: when, what came back, how long it took. */
export function AttemptsPopover({ delivery }: { delivery: Delivery }) {
  return (
    <>
      <h3 tabIndex={-1} data-autofocus>
        {STATE_LABELS[delivery.state]}
      </h3>
      {delivery.attempts.length === 0 ? (
        <p>Nothing was sent to the integrator yet.</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">Time</th>
              <th scope="col">Status</th>
              <th scope="col">Took</th>
              <th scope="col">Answer</th>
            </tr>
          </thead>
          <tbody>
            {delivery.attempts.map(({ at, status, ms, error }, index) => {
              const isSuccess = error === undefined && status !== undefined;
              return (
                <tr key={index}>
                  <td>{timeWithSeconds.format(at)}</td>
                  <td class={isSuccess ? "good" : "bad"}>{status ?? "none"}</td>
                  <td>{formatDuration(ms)}</td>
                  <td dir="auto">{error ?? (isSuccess ? "ok" : "")}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
    </>
  );
}
