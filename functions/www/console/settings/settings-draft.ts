/* The settings of the account while an admin edits them. */

import type { AccountSettings, AccountSettingsChanges } from "../../api/types";
import {
  answerTimesDraftOf,
  answerTimesOf,
  answerTimesProblems,
  assignmentDraftOf,
  assignmentOf,
  assignmentProblems,
  type AnswerTimesDraft,
  type AssignmentDraft,
} from "../admin/assignment-draft";
import { hoursDraftOf, hoursProblems, type HoursDraft } from "../admin/business-hours-draft";
import { differences } from "../admin/form-changes";
import { parseSites } from "../admin/parse-sites";
import { emailDraftOf, emailOf, emailProblems, type EmailDraft } from "./email-draft";
import { plural, t } from "../../texts/translate";

export interface SettingsDraft {
  /** The allowed domains as they are typed, one on each line. */
  safe_urls: string;
  /** Numbers as they are typed. */
  limits: Record<keyof AccountSettings["limits"], string>;
  /** The idle time in minutes after which chats are closed, as it is typed. Undefined for never. */
  idle_close: string | undefined;
  /** The retention period in days, as it is typed. Undefined for no limit. */
  retention_days: string | undefined;
  /** Whether the retention period is typed rather than chosen from the list. */
  hasOwnRetention: boolean;
  /** The IANA name of the time zone of the account. */
  time_zone: string;
  callback: AccountSettings["callback"];
  tags: TagDraft[];
  business_hours: HoursDraft;
  files: FilesDraft;
  assignment: AssignmentDraft | null;
  answer_times: AnswerTimesDraft;
  email: EmailDraft;
}

/** Numbers as they are typed. */
export interface FilesDraft {
  enabled: boolean;
  megabytes: string;
  link_days: string;
}

const MEBIBYTE = 1024 ** 2;

/** A tag as it is typed. New tags have no number. */
export type TagDraft = NonNullable<AccountSettingsChanges["tags"]>[number];

export const RETENTION_TIMES = [
  { days: "30", label: t`30 days` },
  { days: "90", label: t`90 days` },
  { days: "365", label: t`One year` },
  { days: "1095", label: t`Three years` },
] as const;

const textOf = (value: number | null) => (value === null ? undefined : String(value));

export function draftOf(settings: AccountSettings): SettingsDraft {
  const { safe_urls, limits, idle_close, retention_days, time_zone, callback, business_hours } = settings;
  return {
    safe_urls: safe_urls.join("\n"),
    limits: {
      visitor_messages: String(limits.visitor_messages),
      bot_requests: String(limits.bot_requests),
      channel_chats: String(limits.channel_chats),
    },
    idle_close: textOf(idle_close),
    retention_days: textOf(retention_days),
    hasOwnRetention: retention_days !== null && RETENTION_TIMES.every(({ days }) => days !== String(retention_days)),
    time_zone,
    callback,
    tags: settings.tags ?? [],
    business_hours: hoursDraftOf(business_hours),
    files: {
      enabled: settings.files.enabled,
      megabytes: String(Math.max(1, Math.round(settings.files.max_size_bytes / MEBIBYTE))),
      link_days: String(settings.files.link_days),
    },
    assignment: assignmentDraftOf(settings.assignment),
    answer_times: answerTimesDraftOf(settings.answer_times),
    email: emailDraftOf(settings.email),
  };
}

const numberOf = (text: string | undefined) => (text === undefined ? null : Number(text));

/** Returns the body of the request that stores a draft: only what differs from the stored settings, so that concurrent
 * changes to other settings are preserved. Returns undefined if nothing differs. */
export function changesOf(stored: AccountSettings, draft: SettingsDraft): AccountSettingsChanges | undefined {
  const { safe_urls, idle_close, retention_days, time_zone } = stored;
  const changes: AccountSettingsChanges = differences<AccountSettingsChanges>(
    {
      safe_urls,
      idle_close,
      retention_days,
      time_zone,
      tags: stored.tags ?? [],
      business_hours: hoursDraftOf(stored.business_hours),
      // In the order of keys that the draft gives too.
      assignment: assignmentOf(assignmentDraftOf(stored.assignment)),
      answer_times: answerTimesOf(answerTimesDraftOf(stored.answer_times)),
      email: emailOf(emailDraftOf(stored.email), stored.email),
    },
    {
      safe_urls: parseSites(draft.safe_urls),
      idle_close: numberOf(draft.idle_close),
      retention_days: numberOf(draft.retention_days),
      time_zone: draft.time_zone,
      tags: draft.tags,
      business_hours: draft.business_hours,
      assignment: assignmentOf(draft.assignment),
      answer_times: answerTimesOf(draft.answer_times),
      email: emailOf(draft.email, stored.email),
    },
  );
  const { visitor_messages, bot_requests, channel_chats } = draft.limits;
  const limits = differences(stored.limits, {
    visitor_messages: Number(visitor_messages),
    bot_requests: Number(bot_requests),
    channel_chats: Number(channel_chats),
  });
  if (Object.keys(limits).length > 0) changes.limits = limits;
  const callback = differences(stored.callback, draft.callback);
  if (Object.keys(callback).length > 0) changes.callback = callback;
  const files = filesChanges(stored, draft.files);
  if (Object.keys(files).length > 0) changes.files = files;
  return Object.keys(changes).length === 0 ? undefined : changes;
}

/** A size that is not a whole number of megabytes stays as it is until the number is edited. */
function filesChanges(stored: AccountSettings, { enabled, megabytes, link_days }: FilesDraft) {
  const isSameSize = megabytes === draftOf(stored).files.megabytes;
  const max_size_bytes = isSameSize ? stored.files.max_size_bytes : Number(megabytes) * MEBIBYTE;
  const { enabled: wasEnabled, max_size_bytes: before, link_days: daysBefore } = stored.files;
  return differences(
    { enabled: wasEnabled, max_size_bytes: before, link_days: daysBefore },
    { enabled, max_size_bytes, link_days: Number(link_days) },
  );
}

/** Returns the problems of a draft by the name of the field: numbers that are not whole, and settings that make no
 * sense. */
export function draftProblems(draft: SettingsDraft): Record<string, string> {
  const { limits, idle_close, retention_days, callback, tags } = draft;
  const numbers = {
    "limits.visitor_messages": limits.visitor_messages,
    "limits.bot_requests": limits.bot_requests,
    "limits.channel_chats": limits.channel_chats,
    idle_close,
    retention_days,
    "files.max_size_bytes": draft.files.megabytes,
    "files.link_days": draft.files.link_days,
  };
  const problems: Record<string, string> = {
    ...hoursProblems(draft.business_hours),
    ...assignmentProblems(draft.assignment),
    ...answerTimesProblems(draft.answer_times),
    ...emailProblems(draft.email),
  };
  for (const [name, text] of Object.entries(numbers))
    if (text !== undefined && !/^[1-9]\d{0,8}$/.test(text.trim()))
      problems[name] = /^0+$/.test(text.trim()) ? t`Enter 1 or more.` : t`Enter a whole number.`;
  if (callback.enabled && callback.days.length === 0) problems["callback.days"] = t`Choose at least one day.`;
  if (tags.some(({ name }) => name.trim() === "")) problems["tags"] = t`Enter a name for each tag.`;
  return problems;
}

const MINUTES_PER_HOUR = 60;
const MINUTES_PER_DAY = 1440;

const daysText = (days: number) => (days === 1 ? t`one day` : plural(days, "{count} day", "{count} days"));

/** Returns minutes in words, for example "one day" or "90 minutes". */
export function minutesText(minutes: number): string {
  if (minutes % MINUTES_PER_DAY === 0) return daysText(minutes / MINUTES_PER_DAY);
  const hours = minutes / MINUTES_PER_HOUR;
  if (hours === 1) return t`one hour`;
  if (Number.isInteger(hours)) return plural(hours, "{count} hour", "{count} hours");
  return minutes === 1 ? t`one minute` : plural(minutes, "{count} minute", "{count} minutes");
}

/** Returns a sentence that says when idle chats are closed, or an empty text for an invalid number. */
export function idleCloseText(text: string | undefined): string {
  if (text === undefined) return t`Open chats stay open until an agent closes them.`;
  const minutes = Number(text);
  if (!Number.isInteger(minutes) || minutes < 1) return "";
  return t`An open chat is closed after ${minutesText(minutes)} without a message, with all notifications of a close. A change applies to open chats within an hour.`;
}

/** Returns a text that says what is deleted, and when, or an empty text for an invalid number. */
export function retentionText(text: string | undefined): string {
  if (text === undefined) return t`Messages, chats and visitors are kept until a visitor is erased.`;
  const days = Number(text);
  if (!Number.isInteger(days) || days < 1) return "";
  const duration = daysText(days);
  return (
    t`Messages disappear ${duration} after they were written, and chats ${duration} after they ended.` +
    " " +
    t`A visitor is kept as long as any of their chats. A shorter time also applies to earlier chats, and what has disappeared cannot be restored.`
  );
}

/** The only time zone of an account for which the offset of the callback hours applies. */
export const UTC = "UTC";

/** Returns an offset from UTC in minutes as text, for example UTC+05:30. */
export function offsetText(minutes: number): string {
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const twoDigits = (number: number) => String(number).padStart(2, "0");
  return `UTC${minutes < 0 ? "−" : "+"}${twoDigits(hours)}:${twoDigits(rest)}`;
}
