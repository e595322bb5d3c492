import { useEffect, useRef, useState } from "preact/hooks";
import type { SuggestedAnswer } from "../../api/types";
import { announce } from "../../ui/announcer";
import { useWorkspace } from "../workspace-context";
import { t } from "../../texts/translate";

/** What a message has made of a suggested answer. */
type DraftUse = "taken" | "edited";

/** The answer that a bot suggests in a chat, and what becomes of it. */
export function useSuggestedAnswer(chatId: number) {
  const { timelines } = useWorkspace();
  const timeline = timelines.open(chatId);
  const [dismissed, setDismissed] = useState<number>();
  /** The suggestion from which the agent's text was made. */
  const used = useRef<SuggestedAnswer | undefined>(undefined);
  const suggestion = timeline.chatDetails.value?.panel.draft ?? undefined;
  const later = timeline.entries.value.filter(({ seq }) => suggestion !== undefined && seq > suggestion.after_seq);
  const isAnswered = later.some(({ from, type }) => from === "agent" && type !== "note");
  const isShown = suggestion !== undefined && !isAnswered && suggestion.at !== dismissed;
  useEffect(() => {
    if (isShown) announce(t`${suggestion.bot} suggests an answer`);
  }, [isShown, suggestion?.at]);
  const dismiss = () => setDismissed(suggestion?.at);
  const use = () => {
    used.current = suggestion;
    dismiss();
  };
  const forget = () => {
    used.current = undefined;
  };
  /** Returns what a text that is sent has made of the suggestion. */
  const useOf = (text: string): DraftUse | undefined => {
    const original = used.current?.text.trim();
    forget();
    return original === undefined ? undefined : original === text ? "taken" : "edited";
  };
  const isOutdated = later.some(({ from }) => from === "visitor");
  return { suggestion: isShown ? suggestion : undefined, isOutdated, dismiss, use, forget, useOf };
}
