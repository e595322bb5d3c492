/* The profile of an agent while an admin edits it. */

import type { Agent, AgentChanges } from "../../api/types";
import { changedFields } from "../admin/form-changes";
import type { Problems } from "../admin/use-settings-form";
import { t } from "../../texts/translate";

export type AgentDraft = Record<"name" | "email" | "phone" | "photo" | "capacity", string> & Pick<Agent, "role">;

export const draftOf = ({ name, email, phone, photo, role, capacity }: Agent): AgentDraft => ({
  name,
  email,
  phone: phone ?? "",
  photo: photo ?? "",
  role,
  capacity: capacity === undefined ? "" : String(capacity),
});
/** Returns a draft without spaces around its texts. */
const trimmed = ({ name, email, phone, photo, role, capacity }: AgentDraft) => ({
  name: name.trim(),
  email: email.trim(),
  phone: phone.trim(),
  photo: photo.trim(),
  role,
  capacity: capacity.trim() === "" ? null : Number(capacity),
});

/** Returns the body of the request that stores a draft. Undefined if nothing differs. */
export const changesOf = (stored: Agent, draft: AgentDraft): AgentChanges | undefined =>
  changedFields(trimmed(draftOf(stored)), trimmed(draft));

/** Returns what is wrong with a draft before it is sent. */
export function problemsOfDraft(draft: AgentDraft): Problems {
  const phone = phoneProblem(draft.phone);
  return {
    ...(draft.name.trim() === "" ? { name: t`Enter a name.` } : {}),
    ...(/^\S+@\S+$/.test(draft.email.trim()) ? {} : { email: t`Enter an e-mail address.` }),
    ...(phone === undefined ? {} : { phone }),
    ...(/^(|[1-9]\d{0,2}|1000)$/.test(draft.capacity.trim()) ? {} : { capacity: t`Enter a number from 1 to 1,000.` }),
  };
}

/** Returns what is wrong with the phone number of an agent, or undefined. The service also checks the country code. */
export function phoneProblem(text: string): string | undefined {
  const number = text.trim();
  if (number === "") return undefined;
  const digits = number.replace(/\D/g, "").length;
  return /^[+＋]?[\d\s\-./()]+$/.test(number) && digits >= 5 && digits <= 15
    ? undefined
    : t`Enter a phone number, for example +31 20 123 4567.`;
}
