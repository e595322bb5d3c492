/* The settings of a widget while an admin edits them. */

import type { Channel, ChannelChanges, WidgetChannel, WidgetSettings } from "../../api/types";
import { hoursDraftOf, hoursProblems, type HoursDraft } from "../admin/business-hours-draft";
import { differences } from "../admin/form-changes";
import { parseSites } from "../admin/parse-sites";
import type { Problems } from "../admin/use-settings-form";
import { customFieldProblems, storedCustomFields } from "./custom-field-draft";
import { t } from "../../texts/translate";

/** The numbers that the launcher's settings can have. */
export const LAUNCHER_RANGES = { offset_x: [0, 400], offset_y: [0, 400], z_index: [1, 2_147_483_647] } as const;

export type ContactField = WidgetSettings["contacts_form"]["fields"][number];

export const CONTACT_FIELDS: readonly ContactField[] = ["name", "email", "phone"];

/** The agents and departments that receive the chats of a channel. */
export type Audience = Pick<WidgetChannel, "agent_ids" | "department_ids">;

export interface WidgetDraft {
  name: string;
  enabled: boolean;
  audience: Audience;
  /** The allowed sites as they are typed, one on each line. */
  sites: string;
  business_hours: HoursDraft;
  settings: Omit<WidgetSettings, "allowed_sites">;
}

/** Changes some of the settings of a draft. */
export type SettingsChange = (changes: Partial<WidgetDraft["settings"]>) => void;

/** What the sections of a widget's form need. */
export interface SectionProps {
  settings: WidgetDraft["settings"];
  problems: Problems;
  change: SettingsChange;
}

export function draftOf({ name, enabled, agent_ids, department_ids, ...channel }: WidgetChannel): WidgetDraft {
  const { allowed_sites, ...settings } = channel.widget;
  const business_hours = hoursDraftOf(channel.business_hours);
  const audience = { agent_ids, department_ids };
  return { name, enabled, audience, sites: allowed_sites.join("\n"), business_hours, settings };
}

/** Returns the body of the request that stores a draft: only what differs from the stored channel, so that concurrent
 * changes to other settings are preserved. Returns undefined if nothing differs. */
export function changesOf(stored: WidgetChannel, draft: WidgetDraft): ChannelChanges | undefined {
  const { allowed_sites, ...before } = stored.widget;
  const after = { ...draft.settings, allowed_sites: parseSites(draft.sites) };
  after.title = after.title.trim();
  after.greeting = blankToNull(after.greeting);
  after.avatar = blankToNull(after.avatar);
  after.color2 = blankToNull(after.color2);
  after.contacts_form = {
    ...after.contacts_form,
    custom_fields: storedCustomFields(after.contacts_form.custom_fields),
  };
  after.texts = Object.fromEntries(Object.entries(after.texts).filter(([, text]) => text.trim() !== ""));
  const widget = differences({ ...before, allowed_sites }, after);
  const changes: ChannelChanges = {
    ...commonChanges(stored, draft),
    ...(Object.keys(widget).length === 0 ? {} : { widget }),
  };
  return Object.keys(changes).length === 0 ? undefined : changes;
}

/** Returns the changes to the settings that channels of both kinds have. */
export function commonChanges(
  { name, enabled, agent_ids, department_ids, business_hours }: Channel,
  draft: Pick<WidgetDraft, "name" | "enabled" | "audience" | "business_hours">,
): ChannelChanges {
  const before = { name, enabled, agent_ids, department_ids, business_hours: hoursDraftOf(business_hours) };
  const { audience, ...rest } = draft;
  const after = { name: rest.name.trim(), enabled: rest.enabled, ...audience, business_hours: rest.business_hours };
  return differences(before, after);
}

const blankToNull = (text: string | null | undefined): string | null =>
  text === null || text === undefined || text.trim() === "" ? null : text.trim();

/** Returns the contacts form after a field has been added or removed. Only fields of the form can be required. */
export function withField(
  form: WidgetSettings["contacts_form"],
  list: "fields" | "required",
  field: ContactField,
  isIncluded: boolean,
): WidgetSettings["contacts_form"] {
  const inOrder = (fields: readonly ContactField[]) => CONTACT_FIELDS.filter((name) => fields.includes(name));
  const changed = inOrder(isIncluded ? [...form[list], field] : form[list].filter((name) => name !== field));
  const after = { ...form, [list]: changed };
  return { ...after, required: after.required.filter((name) => after.fields.includes(name)) };
}

/** Returns the problems of a draft by the name of the field: values that the service would accept although they make no
 * sense, or that it would store as something else. */
export function draftProblems({ name, settings, business_hours }: WidgetDraft): Record<string, string> {
  const { when, fields, custom_fields } = settings.contacts_form;
  const isEmpty = fields.length + custom_fields.length === 0;
  return {
    ...(name.trim() === "" ? { name: t`Give the channel a name.` } : {}),
    ...(settings.title.trim() === "" ? { "widget.title": t`Give the window a title.` } : {}),
    ...(when !== "never" && isEmpty
      ? { "widget.contacts_form.fields": t`Choose at least one field, or never show the form.` }
      : {}),
    ...hoursProblems(business_hours),
    ...launcherProblems(settings.launcher),
    ...customFieldProblems(custom_fields),
  };
}

function launcherProblems(launcher: WidgetSettings["launcher"]): Record<string, string> {
  const names = Object.keys(LAUNCHER_RANGES) as (keyof typeof LAUNCHER_RANGES)[];
  const wrong = names.filter((name) => !isInRange(launcher[name], LAUNCHER_RANGES[name]));
  const textOf = ([min, max]: readonly [number, number]) => t`Give a whole number from ${min} to ${max}.`;
  return Object.fromEntries(wrong.map((name) => [`widget.launcher.${name}`, textOf(LAUNCHER_RANGES[name])]));
}

const isInRange = (value: number, [min, max]: readonly [number, number]) => value >= min && value <= max;

/** Returns the draft's numbers as far as they are complete, otherwise the stored ones. */
export function completeLauncher(
  launcher: WidgetSettings["launcher"],
  stored: WidgetSettings["launcher"],
): WidgetSettings["launcher"] {
  const complete = { ...launcher };
  for (const name of ["offset_x", "offset_y", "z_index"] as const)
    if (!isInRange(launcher[name], LAUNCHER_RANGES[name])) complete[name] = stored[name];
  return complete;
}

/** Returns the draft's colour if it is complete or empty, otherwise the stored one, so that a colour that is being
 * typed is not shown. */
export const completeColor = <Color extends string | null | undefined>(color: Color, stored: Color): Color =>
  color === null || color === "" || (color !== undefined && /^#[\da-f]{6}$/i.test(color)) ? color : stored;
