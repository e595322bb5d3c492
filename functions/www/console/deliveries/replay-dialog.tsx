/* Sends all failed deliveries of a filter again, with progress and a way to stop. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { ReplayRequest } from "../../api/types";
import { Dialog } from "../../ui/dialog";
import { fullTime } from "../../ui/time";
import { errorText } from "../state/page/error-text";
import { useWorkspace } from "../workspace-context";
import type { LogFilter, Receivers } from "./log-filter";
import { NOTHING_REPLAYED, replayAll, replayText } from "./replay";

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
    <Dialog title="Send failed deliveries again" onClose={close}>
      <form class="body" onSubmit={(event) => void start(event)}>
        {phase === "question" ? (
          <p>
            {scopeText(filter, scope, loadedCount, channels)} The oldest is sent first, with the same id and three new
            attempts. Phone calls are left out, and events to which a bot should have reacted, because agents have these
            chats now.
          </p>
        ) : (
          <div class="task-progress" aria-live="polite">
            <progress aria-label="Progress" max={loadedCount} {...progressValue(phase, progress, loadedCount)} />
            <p>
              {replayText(progress)} {phase === "stopping" && "Stops after the current request."}
              {phase === "stopped" && problem === undefined && "Stopped. The others have not been sent."}
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
              Stop
            </button>
          ) : (
            <button type="button" class={phase === "done" ? "btn primary" : "btn line"} onClick={close}>
              {phase === "question" ? "Cancel" : "Close"}
            </button>
          )}
          {(phase === "question" || phase === "stopped") && (
            <button type="submit" class="btn primary" data-autofocus>
              {phase === "question" ? "Send again" : "Continue"}
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
  const count = loadedCount === undefined ? "All failed deliveries" : plural(loadedCount);
  if (typeof scope.chat_id === "number") return `All failed deliveries of chat #${scope.chat_id} are sent again.`;
  const receiver = target === "" ? "" : ` to ${target}s`;
  const channel = channels.find(({ channel_id }) => channel_id === channelId);
  const place = channel === undefined ? "" : ` of ${channel.name}`;
  const since = "from" in scope && scope.from > 0 ? ` since ${fullTime(scope.from)}` : "";
  return `${count}${receiver}${place}${since} ${loadedCount === 1 ? "is" : "are"} sent again.`;
}

const plural = (count: number) => (count === 1 ? "One failed delivery" : `${count} failed deliveries`);
