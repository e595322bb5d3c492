import type { Chat, Entry } from "../../api/types";
import { LinkedText, Markdown } from "../../ui/linked-text";
import { handoverEntry, handoverLabels } from "../state/chat/handover-text";
import { t } from "../../texts/translate";

/** What the bot told the agents when it handed over the chat. The timeline's entry contains it as a whole, even if the
 * chat's details were loaded before the handover. */
export function HandoverCard({ detail, entries }: { detail: Chat; entries: readonly Entry[] }) {
  const { handover } = detail;
  if (handover === null || detail.state === "closed") return null;
  const entry = handoverEntry(entries, handover);
  const summary = entry?.text ?? handover.summary;
  const data = Object.entries(entry?.handover?.data ?? handover.data ?? {});
  const labels = handoverLabels(handover);
  if (summary === null && labels.length === 0 && data.length === 0) return null;
  return (
    <section class="card" aria-label={t`From the bot`}>
      <h3>{t`From the bot`}</h3>
      {labels.length > 0 && <p class="hint">{labels.join(" · ")}</p>}
      {summary !== null && (
        <p class="summary" dir="auto">
          <Markdown text={summary} />
        </p>
      )}
      {data.length > 0 && (
        <div class="custom">
          {data.map(([key, value]) => (
            <p key={key} dir="auto">
              <b>{key}: </b>
              <LinkedText text={typeof value === "string" ? value : JSON.stringify(value)} />
            </p>
          ))}
        </div>
      )}
    </section>
  );
}
