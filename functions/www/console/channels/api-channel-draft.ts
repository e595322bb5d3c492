/* The settings of a channel with the channel API while an admin edits them. */

import type { ApiChannel, ChannelChanges } from "../../api/types";
import { changedFields } from "../admin/form-changes";
import type { Problems } from "../admin/use-settings-form";

/** The settings that are edited as they are stored. */
type SameSettings = Pick<
  ApiChannel,
  | "name"
  | "enabled"
  | "agent_ids"
  | "department_ids"
  | "integrator_url"
  | "append_channel_id"
  | "chunked"
  | "validation"
  | "shows_markdown"
  | "shows_buttons"
  | "late_delivery"
  | "strict_order"
>;

export interface ApiDraft extends SameSettings {
  /** The codes of the errors whose text agents do not see: what the admin has typed, separated by commas or spaces. */
  hidden_error_codes: string;
}

function sameSettings(channel: SameSettings): SameSettings {
  const { name, enabled, agent_ids, department_ids, integrator_url } = channel;
  const { append_channel_id, chunked, validation, shows_markdown, shows_buttons } = channel;
  const { late_delivery, strict_order } = channel;
  const request = { integrator_url, append_channel_id, chunked, validation, shows_markdown, shows_buttons };
  return { name, enabled, agent_ids, department_ids, ...request, late_delivery, strict_order };
}

export const draftOf = (channel: ApiChannel): ApiDraft => ({
  ...sameSettings(channel),
  hidden_error_codes: channel.hidden_error_codes.join(", "),
});

const codesOf = (text: string) => text.split(/[\s,;]+/).filter((code) => code !== "");

/** Returns the body of the request that stores a draft. Undefined if nothing differs. */
export function changesOf(channel: ApiChannel, draft: ApiDraft): ChannelChanges | undefined {
  const after = {
    ...sameSettings(draft),
    name: draft.name.trim(),
    integrator_url: draft.integrator_url.trim(),
    hidden_error_codes: codesOf(draft.hidden_error_codes).map(Number),
  };
  return changedFields({ ...sameSettings(channel), hidden_error_codes: channel.hidden_error_codes }, after);
}

/** Returns what is wrong with a draft before it is sent. */
export function problemsOfDraft({ name, hidden_error_codes }: ApiDraft): Problems {
  return {
    ...(name.trim() === "" ? { name: "Give the channel a name." } : {}),
    ...(codesOf(hidden_error_codes).every((code) => /^-?\d{1,15}$/.test(code))
      ? {}
      : { hidden_error_codes: "Enter whole numbers, separated by commas." }),
  };
}
