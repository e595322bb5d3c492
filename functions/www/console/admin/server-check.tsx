/* A check of a server: its clauses are tested one after the other. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { ReceiverTestResult, ServerClause } from "../../api/types";
import { Dialog } from "../../ui/dialog";
import { Icon } from "../../ui/icons";
import { errorText } from "../state/page/error-text";
import { FormProblem } from "./detail-header";
import { Exchange } from "./exchange";
import { ALL_CLAUSES, checkClauses, CLAUSES, differenceText, summaryText, type ClauseResults } from "./server-clauses";
import { t } from "../../texts/translate";

interface ServerCheckProps {
  /** Sends the request that tests a clause. */
  send: (clause: ServerClause) => Promise<ReceiverTestResult>;
}

/** A button that opens the check. */
export function ServerCheck({ send }: ServerCheckProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="btn line" onClick={() => setOpen(true)}>
        <Icon name="check-check" />
        {t`Check the server…`}
      </button>
      {isOpen && <ServerCheckDialog send={send} onClose={() => setOpen(false)} />}
    </>
  );
}

type Phase = "question" | "running" | "stopping" | "stopped" | "done";

/** Runs the check, which ends when the component is unmounted. */
function useServerCheck(send: ServerCheckProps["send"]) {
  const [phase, setPhase] = useState<Phase>("question");
  const [results, setResults] = useState<ClauseResults>(new Map());
  const [problem, setProblem] = useState<string>();
  const isStopped = useRef(false);
  useEffect(
    () => () => {
      isStopped.current = true;
    },
    [],
  );
  const start = async () => {
    let known: ClauseResults = phase === "done" ? new Map() : results;
    isStopped.current = false;
    setPhase("running");
    setResults(known);
    setProblem(undefined);
    try {
      await checkClauses(
        known,
        send,
        (after) => {
          known = after;
          setResults(after);
        },
        () => isStopped.current,
      );
      setPhase(known.size === ALL_CLAUSES.length ? "done" : "stopped");
    } catch (error) {
      setProblem(errorText(error));
      setPhase("stopped");
    }
  };
  const stop = () => {
    isStopped.current = true;
    setPhase("stopping");
  };
  return { phase, results, problem, start, stop };
}

function ServerCheckDialog({ send, onClose }: ServerCheckProps & { onClose: () => void }) {
  const { phase, results, problem, start, stop } = useServerCheck(send);
  const isRunning = phase === "running" || phase === "stopping";
  const footer = useRef<HTMLElement>(null);
  // Move the focus to a button of the new phase, because the button that had it is gone.
  useEffect(() => {
    if (phase !== "question") footer.current?.querySelector("button")?.focus();
  }, [isRunning]);
  return (
    <Dialog title={t`Check the server`} class="server-check" onClose={onClose}>
      <div class="body">
        <p class="quiet-text">
          {t`Signed requests about a chat that does not exist are sent to your server one after the other, and others that it must refuse. Do not check a server that would act on them.`}
        </p>
        <ol class="clauses" aria-label={t`Clauses`}>
          {ALL_CLAUSES.map((clause, index) => (
            <Clause
              key={clause}
              clause={clause}
              result={results.get(clause)}
              isRunning={isRunning && index === results.size}
            />
          ))}
        </ol>
        <div class="task-progress">
          {phase !== "question" && <progress aria-label={t`Progress`} max={ALL_CLAUSES.length} value={results.size} />}
          <p role="status">{statusText(phase, results)}</p>
        </div>
        <FormProblem text={problem} />
        <footer ref={footer}>
          {isRunning ? (
            <button type="button" class="btn line" aria-disabled={phase === "stopping"} onClick={stop}>
              {t`Stop`}
            </button>
          ) : (
            <>
              <button type="button" class="btn line" onClick={onClose}>
                {phase === "question" ? t`Cancel` : t`Close`}
              </button>
              <button type="button" class="btn primary" data-autofocus onClick={() => void start()}>
                {START_LABELS[phase]}
              </button>
            </>
          )}
        </footer>
      </div>
    </Dialog>
  );
}

const START_LABELS = { question: t`Start`, stopped: t`Continue`, done: t`Check again` };

function statusText(phase: Phase, results: ClauseResults): string {
  switch (phase) {
    case "question":
      return "";
    case "running":
      return t`Checking clause ${Math.min(results.size + 1, ALL_CLAUSES.length)} of ${ALL_CLAUSES.length}…`;
    case "stopping":
      return t`Stops after the current request.`;
    case "stopped":
      return results.size === 0 ? t`Stopped.` : t`Stopped. ${summaryText(results)}`;
    case "done":
      return summaryText(results);
  }
}

interface ClauseProps {
  clause: ServerClause;
  result: ReceiverTestResult | undefined;
  /** Whether the clause is being tested. */
  isRunning: boolean;
}

function Clause({ clause, result, isRunning }: ClauseProps) {
  const name = CLAUSES[clause];
  if (result === undefined) {
    return (
      <li class="open" aria-current={isRunning ? "step" : undefined}>
        <Icon name="clock" label={isRunning ? t`Running` : t`Not checked`} />
        <span>{isRunning ? `${name}…` : name}</span>
      </li>
    );
  }
  if (result.kept) {
    return (
      <li class="good">
        <Icon name="circle-check" label={t`Kept`} />
        <span>{name}</span>
      </li>
    );
  }
  return (
    <li class="bad">
      <Icon name="circle-alert" label={t`Not kept`} />
      <div>
        <span>{name}</span>
        <p>{differenceText(result)}</p>
        <details>
          <summary>{t`Request and response`}</summary>
          <Exchange heading="h3" request={result.request} response={result.response} />
        </details>
      </div>
    </li>
  );
}
