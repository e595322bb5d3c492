/* What a row shows of automatic assignment: the offer of a waiting chat, and the time limit of the next answer. */

import type { ChatRow } from "../../api/types";
import { currentSecond, formatElapsed, fullTime } from "../../ui/time";
import { useWorkspace } from "../workspace-context";
import { t } from "../../texts/translate";

/** Returns the offer of the chat that nobody else can accept yet. */
export const currentOffer = ({ offer }: ChatRow, now: number): ChatRow["offer"] =>
  offer !== undefined && offer.until > now ? offer : undefined;

export function OfferChip({ row }: { row: ChatRow }) {
  const { me, roster } = useWorkspace();
  const now = currentSecond.value;
  const offer = currentOffer(row, now);
  if (offer === undefined) return null;
  if (offer.agent_id === me.id) return <span class="chip bad">{t`For you: ${formatElapsed(offer.until - now)}`}</span>;
  const name = roster.people.value?.agents.find(({ id }) => id === offer.agent_id)?.name;
  return <span class="chip">{t`Offered to ${name ?? t`another agent`}`}</span>;
}

export function AnswerChip({ row }: { row: ChatRow }) {
  const due = row.answer_due;
  if (due === undefined) return null;
  const now = currentSecond.value;
  if (now < due.soon_at) return null;
  const isLate = now >= due.at;
  return (
    <span class={isLate ? "chip bad" : "chip bot"} title={t`Answer due at ${fullTime(due.at)}`}>
      {isLate ? t`Answer overdue` : t`Answer due in ${formatElapsed(due.at - now)}`}
    </span>
  );
}
