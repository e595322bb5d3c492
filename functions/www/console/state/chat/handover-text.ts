/* What a bot tells the agents when it hands over a chat, in words. */

import type { ChatRow, Entry } from "../../../api/types";
import { t } from "../../../texts/translate";

type Handover = NonNullable<ChatRow["handover"]>;
type Reason = NonNullable<Handover["reason"]>;
type Priority = NonNullable<Handover["priority"]>;

export const REASON_LABELS: Record<Reason, string> = {
  requested: t`Asked for a person`,
  unknown_answer: t`The bot has no answer`,
  sensitive: t`Sensitive`,
  complaint: t`Complaint`,
  sales: t`Sales`,
  out_of_scope: t`Not for the bot`,
  error: t`Error of the bot`,
  other: t`Other`,
};

/** Chats of normal priority are not marked. */
export const PRIORITY_LABELS: Record<Priority, string | undefined> = {
  low: t`Low priority`,
  normal: undefined,
  high: t`High priority`,
  urgent: t`Urgent`,
};

export const isPressing = (priority: Priority | null) => priority === "high" || priority === "urgent";

/** The reason and the priority, as far as the bot has given them. */
export const handoverLabels = ({ reason, priority }: Pick<Handover, "reason" | "priority">): string[] =>
  [priority && PRIORITY_LABELS[priority], reason && REASON_LABELS[reason]].filter(
    (label) => label !== null && label !== undefined,
  );

/** Returns the last entry in which a bot told the agents something, if it belongs to this handover. */
export const handoverEntry = (entries: readonly Entry[], handover: Handover): Entry | undefined =>
  entries.findLast((entry) => entry.type === "handover" && entry.timestamp >= handover.at);
