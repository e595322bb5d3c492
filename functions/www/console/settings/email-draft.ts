/* What the account sends by e-mail, while an admin edits it. */

import type { AccountSettings, AccountSettingsChanges } from "../../api/types";
import type { Problems } from "../admin/use-settings-form";
import { t } from "../../texts/translate";

/** Null: the account sends no e-mails. */
export type EmailDraft = {
  sender_name: string;
  /** Addresses as they are typed, one on each line. */
  transcript_to: string;
  transcript_to_visitor: boolean;
  answers_to_visitor: boolean;
  /** A number as it is typed. */
  away_minutes: string;
} | null;

const MAX_RECIPIENTS = 5;
const DEFAULT_AWAY_MINUTES = 5;

/** The names of the fields in the service's errors, which are the ids of the controls. */
export const EMAIL_FIELDS = ["email.sender_name", "email.transcript_to", "email.away_minutes"];

export const emailDraftOf = (stored: AccountSettings["email"]): EmailDraft =>
  stored && { ...stored, transcript_to: stored.transcript_to.join("\n"), away_minutes: String(stored.away_minutes) };

export const newEmailDraft = (): NonNullable<EmailDraft> => ({
  sender_name: "",
  transcript_to: "",
  transcript_to_visitor: false,
  answers_to_visitor: true,
  away_minutes: String(DEFAULT_AWAY_MINUTES),
});

const linesOf = (text: string) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** Returns the setting in the order of keys in which differences compare it. The minutes stay as they are stored while
 * no answers are sent, because their field is not shown then. */
export const emailOf = (
  draft: EmailDraft,
  stored: AccountSettings["email"],
): NonNullable<AccountSettingsChanges["email"]> | null =>
  draft && {
    sender_name: draft.sender_name.trim(),
    transcript_to: linesOf(draft.transcript_to),
    transcript_to_visitor: draft.transcript_to_visitor,
    answers_to_visitor: draft.answers_to_visitor,
    away_minutes: draft.answers_to_visitor
      ? Number(draft.away_minutes)
      : (stored?.away_minutes ?? DEFAULT_AWAY_MINUTES),
  };

export function emailProblems(draft: EmailDraft): Problems {
  if (draft === null) return {};
  const problems: Record<string, string> = {};
  const minutes = Number(draft.away_minutes);
  const recipients = linesOf(draft.transcript_to);
  if (draft.sender_name.trim() === "") problems["email.sender_name"] = t`Enter a name.`;
  if (recipients.length > MAX_RECIPIENTS) problems["email.transcript_to"] = t`Enter at most five addresses.`;
  else if (!recipients.every((address) => /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(address)))
    problems["email.transcript_to"] = t`Enter one address on each line.`;
  const isWhole = /^\d+$/.test(draft.away_minutes.trim());
  if (draft.answers_to_visitor && (!isWhole || minutes < 1 || minutes > 15))
    problems["email.away_minutes"] = t`Enter a whole number from ${1} to ${15}.`;
  return problems;
}
