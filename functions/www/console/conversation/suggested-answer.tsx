/* The answer that a bot on standby suggests to the agent. It is sent only if the agent uses it. */

import type { SuggestedAnswer as Suggestion } from "../../api/types";
import { Icon } from "../../ui/icons";

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
    <section class={isOutdated ? "suggested outdated" : "suggested"} aria-label={`Suggested by ${bot} (bot)`}>
      <header>
        <Icon name="bot" />
        <span dir="auto">Suggested by {bot} (bot)</span>
        {isOutdated && <span>· the visitor has written since</span>}
      </header>
      <p dir="auto">{text}</p>
      <footer>
        <button type="button" class="btn line" onClick={onUse}>
          Use
        </button>
        <button type="button" class="btn only-icon" aria-label="Dismiss the suggestion" onClick={onDismiss}>
          <Icon name="x" />
        </button>
      </footer>
    </section>
  );
}
