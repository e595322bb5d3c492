/* The settings of a channel with the channel API while an admin edits them. */

import type { ApiChannel, ChannelChanges } from "../../api/types";
import { hoursDraftOf, hoursProblems, type HoursDraft } from "../admin/business-hours-draft";
import { changedFields } from "../admin/form-changes";
import type { Problems } from "../admin/use-settings-form";
import { t } from "../../texts/translate";

/** The settings that are edited as they are stored. */
type SameSettings = Pick<
  ApiChannel,
  | "name"
  | "enabled"
  | "agent_ids"
  | "department_ids"
  | "pull"
  | "append_channel_id"
  | "chunked"
  | "validation"
  | "shows_markdown"
  | "shows_buttons"
  | "late_delivery"
  | "strict_order"
>;

export interface ApiDraft extends SameSettings {
  /** Empty if the channel's messages are fetched. */
  integrator_url: string;
  /** The codes of the errors whose text agents do not see: what the admin has typed, separated by commas or spaces. */
  hidden_error_codes: string;
  rehearsal_percent: string;
  business_hours: HoursDraft;
}

function sameSettings(channel: SameSettings): SameSettings {
  const { name, enabled, agent_ids, department_ids, pull } = channel;
  const { append_channel_id, chunked, validation, shows_markdown, shows_buttons } = channel;
  const { late_delivery, strict_order } = channel;
  const request = { pull, append_channel_id, chunked, validation, shows_markdown, shows_buttons };
  return { name, enabled, agent_ids, department_ids, ...request, late_delivery, strict_order };
}

export const draftOf = (channel: ApiChannel): ApiDraft => ({
  ...sameSettings(channel),
  integrator_url: channel.integrator_url ?? "",
  hidden_error_codes: channel.hidden_error_codes.join(", "),
  rehearsal_percent: String(channel.rehearsal_percent),
  business_hours: hoursDraftOf(channel.business_hours),
});

const codesOf = (text: string) => text.split(/[\s,;]+/).filter((code) => code !== "");

/** Returns the body of the request that stores a draft. Undefined if nothing differs. */
export function changesOf(channel: ApiChannel, draft: ApiDraft): ChannelChanges | undefined {
  const { integrator_url, hidden_error_codes, rehearsal_percent } = channel;
  const after = {
    ...sameSettings(draft),
    name: draft.name.trim(),
    integrator_url: draft.pull ? integrator_url : draft.integrator_url.trim(),
    hidden_error_codes: codesOf(draft.hidden_error_codes).map(Number),
    rehearsal_percent: Number(draft.rehearsal_percent),
    business_hours: draft.business_hours,
  };
  const business_hours = hoursDraftOf(channel.business_hours);
  const before = { ...sameSettings(channel), integrator_url, hidden_error_codes, rehearsal_percent, business_hours };
  const changes = changedFields(before, after);
  // A channel has an address unless its messages are fetched.
  return changes as ChannelChanges | undefined;
}

/** Returns what is wrong with a draft before it is sent. */
export function problemsOfDraft(draft: ApiDraft): Problems {
  const { name, pull, integrator_url, hidden_error_codes, rehearsal_percent } = draft;
  return {
    ...hoursProblems(draft.business_hours),
    ...(/^([1-9]?\d|100)$/.test(rehearsal_percent.trim())
      ? {}
      : { rehearsal_percent: t`Enter a number from 0 to 100.` }),
    ...(name.trim() === "" ? { name: t`Give the channel a name.` } : {}),
    ...(pull || integrator_url.trim() !== "" ? {} : { integrator_url: t`Enter the address of your server.` }),
    ...(codesOf(hidden_error_codes).every((code) => /^-?\d{1,15}$/.test(code))
      ? {}
      : { hidden_error_codes: t`Enter whole numbers, separated by commas.` }),
  };
}
