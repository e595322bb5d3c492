import type { Attempt } from "../../api/types";
import { clockTimeWithSeconds, formatDuration } from "../../ui/time";
import { CodeBlock } from "../admin/code-block";
import { attemptText } from "./log-filter";
import { moreAttemptsText } from "../conversation/delivery-attempts";
import { t } from "../../texts/translate";

interface AttemptListProps {
  attempts: readonly Attempt[];
  /** The number of attempts that the service does not keep. */
  leftOut: number | undefined;
}

/** The attempts of a delivery, each with its time, result and duration, and the body of a response that refused it. */
export function AttemptList({ attempts, leftOut }: AttemptListProps) {
  if (attempts.length === 0) return <p class="quiet-text">{t`No attempt has been made yet.`}</p>;
  return (
    <>
      <ol class="attempt-list">
        {attempts.map((attempt, index) => (
          <li key={index}>
            <time dateTime={new Date(attempt.at).toISOString()}>{clockTimeWithSeconds(attempt.at)}</time>
            <span class={attempt.error === undefined ? undefined : "bad"} dir="auto">
              {attemptText(attempt)}
            </span>
            <b class="num">{formatDuration(attempt.ms)}</b>
            {attempt.answer !== undefined && (
              <figure>
                <figcaption>{t`The receiver’s words`}</figcaption>
                <CodeBlock label={t`The receiver’s words, attempt ${index + 1}`} text={attempt.answer} />
              </figure>
            )}
          </li>
        ))}
      </ol>
      {leftOut !== undefined && <p class="quiet-text">{moreAttemptsText(leftOut)}</p>}
    </>
  );
}
