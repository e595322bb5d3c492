import type { CannedReply } from "../../api/types";
import { describeActions } from "../state/chat/reply-actions";
import { overlay } from "../state/list/view-state";
import { useWorkspace } from "../workspace-context";
import type { Suggestions } from "./use-suggestions";
import { t } from "../../texts/translate";

interface SuggestionListProps {
  suggestions: Suggestions;
  /** Whether the agent has no keyboard, which needs no hints. */
  isTouch: boolean;
  onChoose: (reply: CannedReply) => void;
}

/** The canned replies above the composer. */
export function SuggestionList({ suggestions, isTouch, onChoose }: SuggestionListProps) {
  const { isAdmin, roster } = useWorkspace();
  const { replies, items, selectedIndex, select } = suggestions;
  const hint = items.length === 0 ? t`There are no canned replies yet.` : isTouch ? "" : t`Enter inserts, Esc closes`;
  return (
    <div class="suggestions scroll">
      {replies !== undefined && (
        <ul id="canned" role="listbox" aria-label={t`Canned replies`}>
          {items.map((reply, index) => (
            <li
              key={reply.id}
              id={`canned-${index}`}
              role="option"
              aria-selected={index === selectedIndex}
              onMouseDown={(event) => {
                event.preventDefault();
                onChoose(reply);
              }}
              onMouseMove={() => select(index)}
            >
              <b>/{reply.shortcut.replace(/^\//, "")}</b>
              <span dir="auto">
                {reply.text}
                {reply.actions !== undefined && (
                  <small>{describeActions(reply.actions, roster.people.value).join(", ")}</small>
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
      <div class="foot">
        <span>{replies === undefined ? t`Loading…` : hint}</span>
        {isAdmin && (
          <button type="button" onClick={() => (overlay.value = { kind: "canned" })}>
            {t`Manage replies`}
          </button>
        )}
      </div>
    </div>
  );
}
