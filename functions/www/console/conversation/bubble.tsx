import type { Entry } from "../../api/types";
import { LinkedText, Markdown } from "../../ui/linked-text";
import { CallCard } from "../calls/call-card";
import { splitMentions } from "../state/chat/mentions";
import { Icon } from "../../ui/icons";
import { useWorkspace } from "../workspace-context";
import { handoverLabels } from "../state/chat/handover-text";
import { isMedia, Media } from "./media";
import { t } from "../../texts/translate";

const EMOJI_ONLY =
  /^(?:\p{Extended_Pictographic}(?:\uFE0F|\u200D|\p{Emoji_Modifier}|\p{Extended_Pictographic})*\s*){1,3}$/u;

interface BubbleProps {
  entry: Entry;
  /** Called with the text of a quick reply when it is pressed. Absent where nobody can answer with it. */
  /** `id` is that of the button, if it has one. */
  onReply?: ((text: string, id?: string | number) => void) | undefined;
}

/** A note with the names of the colleagues whom it mentions set off. */
function NoteWithMentions({ text, mentions }: { text: string; mentions: readonly number[] }) {
  const agents = useWorkspace().roster.people.value?.agents ?? [];
  const mentioned = agents.filter(({ id }) => mentions.includes(id));
  return (
    <div class="bubble" dir="auto">
      {splitMentions(text, mentioned).map((part, index) =>
        part.agentId === undefined ? (
          <LinkedText key={index} text={part.text} />
        ) : (
          <b key={index} class="mention">
            {part.text}
          </b>
        ),
      )}
    </div>
  );
}

/** What somebody has written, or what a bot tells the agents. */
export function Bubble({ entry, onReply }: BubbleProps) {
  if (entry.type === "deleted") {
    return (
      <div class="bubble deleted">
        <Icon name="trash-2" class="small" /> {t`Message deleted`}
      </div>
    );
  }
  if (isMedia(entry)) return <Media entry={entry} />;
  if (entry.call !== undefined) return <CallCard call={entry.call} since={entry.timestamp} />;
  if (entry.handover !== undefined) {
    const labels = handoverLabels(entry.handover);
    return (
      <div class="bubble" dir="auto">
        {labels.length > 0 && <b class="labels">{labels.join(" · ")}</b>}
        {entry.text !== undefined && <Markdown text={entry.text} />}
      </div>
    );
  }
  if (entry.type === "markdown") {
    return (
      <div class="bubble" dir="auto">
        <Markdown text={entry.content ?? entry.text ?? ""} />
      </div>
    );
  }
  if (entry.type === "buttons") {
    return (
      <div class="bubble" dir="auto">
        {entry.title ?? entry.text ?? ""}
        <ul class="buttons" aria-label={t`Quick replies`}>
          {entry.buttons?.map((button, index) => (
            <li key={index}>
              {onReply === undefined ? (
                button.text
              ) : (
                <button type="button" onClick={() => onReply(button.text, button.id)}>
                  {button.text}
                </button>
              )}
            </li>
          ))}
        </ul>
      </div>
    );
  }
  const text = entry.text ?? "";
  if (entry.mentions !== undefined) return <NoteWithMentions text={text} mentions={entry.mentions} />;
  return (
    <div class="bubble" dir="auto">
      {EMOJI_ONLY.test(text) ? <span class="emoji-only">{text}</span> : <LinkedText text={text} />}
    </div>
  );
}
