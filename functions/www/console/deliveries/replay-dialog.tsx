/* Sends all failed deliveries of a filter again, with progress and a way to stop. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { ReplayRequest } from "../../api/types";
import { Dialog } from "../../ui/dialog";
import { fullTime } from "../../ui/time";
import { errorText } from "../state/page/error-text";
import { useWorkspace } from "../workspace-context";
import type { LogFilter, Receivers } from "./log-filter";
import { NOTHING_REPLAYED, replayAll, replayText } from "./replay";
import { TARGETS } from "../admin/delivery-targets";
import { plural, t } from "../../texts/translate";

interface ReplayDialogProps {
  filter: LogFilter;
  /** The deliveries to send again. Without a chat, the scope ends at the end of the filter's period or, if the period
   * has no end, at the time when the dialog was opened. */
  scope: ReplayRequest;
  /** The number of failed deliveries, if all of them have been listed. */
  loadedCount: number | undefined;
  channels: Receivers["channels"];
  onClose: (hasReplayed: boolean) => void;
}

type Phase = "question" | "running" | "stopping" | "stopped" | "done";

export function ReplayDialog({ filter, scope, loadedCount, channels, onClose }: ReplayDialogProps) {
  const { api } = useWorkspace();
  const [phase, setPhase] = useState<Phase>("question");
  const [progress, setProgress] = useState(NOTHING_REPLAYED);
  const [problem, setProblem] = useState<string>();
  const isStopped = useRef(false);
  useEffect(
    () => () => {
      isStopped.current = true;
    },
    [],
  );

  const start = async (event: Event) => {
    event.preventDefault();
    isStopped.current = false;
    setPhase("running");
    setProblem(undefined);
    let isComplete = progress.cursor === null;
    try {
      await replayAll(
        api,
        scope,
        progress,
        (after) => {
          isComplete = after.cursor === null;
          setProgress(after);
        },
        () => isStopped.current,
      );
      setPhase(isComplete ? "done" : "stopped");
    } catch (error) {
      setProblem(errorText(error));
      setPhase("stopped");
    }
  };
  const stop = () => {
    isStopped.current = true;
    setPhase("stopping");
  };
  const footer = useRef<HTMLElement>(null);
  // Move the focus to a button of the new phase, because the button that had it is gone.
  useEffect(() => {
    const buttons = [...(footer.current?.querySelectorAll("button") ?? [])];
    if (phase !== "question") (buttons.find(({ type }) => type === "submit") ?? buttons[0])?.focus();
  }, [phase]);
  const isRunning = phase === "running" || phase === "stopping";
  const close = () => (isRunning ? stop() : onClose(phase !== "question"));
  return (
    <Dialog title={t`Send failed deliveries again`} onClose={close}>
      <form class="body" onSubmit={(event) => void start(event)}>
        {phase === "question" ? (
          <p>
            {scopeText(filter, scope, loadedCount, channels)}{" "}
            {t`The oldest is sent first, with the same id and three new attempts. Phone calls are left out, and events to which a bot should have reacted, because agents have these chats now.`}
          </p>
        ) : (
          <div class="task-progress" aria-live="polite">
            <progress aria-label={t`Progress`} max={loadedCount} {...progressValue(phase, progress, loadedCount)} />
            <p>
              {replayText(progress)} {phase === "stopping" && t`Stops after the current request.`}
              {phase === "stopped" && problem === undefined && t`Stopped. The others have not been sent.`}
            </p>
          </div>
        )}
        {problem !== undefined && (
          <p class="notice bad" role="alert">
            {problem}
          </p>
        )}
        <footer ref={footer}>
          {isRunning ? (
            <button type="button" class="btn line" aria-disabled={phase === "stopping"} onClick={stop}>
              {t`Stop`}
            </button>
          ) : (
            <button type="button" class={phase === "done" ? "btn primary" : "btn line"} onClick={close}>
              {phase === "question" ? t`Cancel` : t`Close`}
            </button>
          )}
          {(phase === "question" || phase === "stopped") && (
            <button type="submit" class="btn primary" data-autofocus>
              {phase === "question" ? t`Send again` : t`Continue`}
            </button>
          )}
        </footer>
      </form>
    </Dialog>
  );
}

/** Returns the attributes of the progress bar. Without a value, the bar shows that the number of deliveries is
 * unknown. */
function progressValue(phase: Phase, { replayed, skipped }: typeof NOTHING_REPLAYED, total: number | undefined) {
  if (phase === "done") return { value: total ?? 1 };
  return total === undefined ? {} : { value: Math.min(total, replayed + skipped) };
}

function scopeText(
  { target, channelId }: LogFilter,
  scope: ReplayRequest,
  loadedCount: number | undefined,
  channels: Receivers["channels"],
): string {
  if (typeof scope.chat_id === "number") return t`All failed deliveries of chat #${scope.chat_id} are sent again.`;
  const channel = channels.find(({ channel_id }) => channel_id === channelId);
  const where = [
    target === "" ? [] : [TARGETS[target].to],
    channel === undefined ? [] : [t`of ${channel.name}`],
    "from" in scope && scope.from > 0 ? [t`since ${fullTime(scope.from)}`] : [],
  ]
    .flat()
    .map((part) => ` ${part}`)
    .join("");
  if (loadedCount === undefined) return t`All failed deliveries${where} are sent again.`;
  return loadedCount === 1
    ? t`One failed delivery${where} is sent again.`
    : plural(
        loadedCount,
        "{count} failed delivery{where} is sent again.",
        "{count} failed deliveries{where} are sent again.",
        { where },
      );
}
