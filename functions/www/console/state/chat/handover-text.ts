/* What a bot tells the agents when it hands over a chat, in words. */

import type { ChatRow, Entry } from "../../../api/types";

type Handover = NonNullable<ChatRow["handover"]>;
type Reason = NonNullable<Handover["reason"]>;
type Priority = NonNullable<Handover["priority"]>;

export const REASON_LABELS: Record<Reason, string> = {
  requested: "Asked for a person",
  unknown_answer: "The bot has no answer",
  sensitive: "Sensitive",
  complaint: "Complaint",
  sales: "Sales",
  out_of_scope: "Not for the bot",
  error: "Error of the bot",
  other: "Other",
};

/** Chats of normal priority are not marked. */
export const PRIORITY_LABELS: Record<Priority, string | undefined> = {
  low: "Low priority",
  normal: undefined,
  high: "High priority",
  urgent: "Urgent",
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
