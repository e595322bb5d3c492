import { clockTime, currentMinute, dayLabel, fullTime, localDay } from "../../ui/time";
import { useWorkspace } from "../workspace-context";
import { callStatus, callTitle } from "../state/calls/call-text";
import { t } from "../../texts/translate";

/** The calls of the open chat in the visitor pane, the latest first. */
export function CallsCard({ chatId }: { chatId: number }) {
  const { timelines, me } = useWorkspace();
  const entries = timelines.open(chatId).entries.value.filter(({ call }) => call !== undefined);
  if (entries.length === 0) return null;
  return (
    <section class="card" aria-label={t`Calls`}>
      <h3>
        {t`Calls`} <b>{entries.length}</b>
      </h3>
      <ul class="past calls">
        {[...entries].reverse().map(({ id, call, timestamp }) => {
          const now = currentMinute.value;
          const isToday = localDay(timestamp) === localDay(now);
          return (
            call !== undefined && (
              <li key={id}>
                <span class="clip">
                  {callTitle(call)}
                  <small class={call.status === "error" ? "clip bad" : "clip"}>{callStatus(call, me.id)}</small>
                </span>
                <time title={fullTime(timestamp)}>{isToday ? clockTime(timestamp) : dayLabel(timestamp, now)}</time>
              </li>
            )
          );
        })}
      </ul>
    </section>
  );
}
