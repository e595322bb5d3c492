/* The answer that a bot on standby suggests to the agent. It is sent only if the agent uses it. */

import type { SuggestedAnswer as Suggestion } from "../../api/types";
import { Icon } from "../../ui/icons";
import { t } from "../../texts/translate";

interface SuggestedAnswerProps {
  suggestion: Suggestion;
  /** Whether the visitor has written since. */
  isOutdated: boolean;
  onUse: () => void;
  onDismiss: () => void;
}

export function SuggestedAnswer({ suggestion, isOutdated, onUse, onDismiss }: SuggestedAnswerProps) {
  const { bot, text } = suggestion;
  return (
    <section class={isOutdated ? "suggested outdated" : "suggested"} aria-label={t`Suggested by ${bot} (bot)`}>
      <header>
        <Icon name="bot" />
        <span dir="auto">{t`Suggested by ${bot} (bot)`}</span>
        {isOutdated && <span>{t`· the visitor has written since`}</span>}
      </header>
      <p dir="auto">{text}</p>
      <footer>
        <button type="button" class="btn line" onClick={onUse}>
          {t`Use`}
        </button>
        <button type="button" class="btn only-icon" aria-label={t`Dismiss the suggestion`} onClick={onDismiss}>
          <Icon name="x" />
        </button>
      </footer>
    </section>
  );
}
