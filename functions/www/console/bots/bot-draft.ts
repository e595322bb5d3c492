/* A bot's settings as they are typed. */

import type { Bot, AllowedVisitorData } from "../../api/types";
import { changedFields } from "../admin/form-changes";
import type { Problems } from "../admin/use-settings-form";
import { t } from "../../texts/translate";

export interface BotDraft {
  name: string;
  channel_ids: string[];
  /** The time limit for an answer in seconds, as it is typed. Undefined for no limit. */
  answer_within: string | undefined;
  /** How many seconds a chat waits for an agent, as it is typed. Undefined if it stays with the agents. */
  agent_wait_seconds: string | undefined;
  /** For how many seconds a visitor must be quiet, as it is typed. Undefined if each message is sent at once. */
  quiet_ms: string | undefined;
  /** The longest turn in seconds, as it is typed. */
  quiet_max_ms: string;
  visitor_data: AllowedVisitorData[];
  human_words: boolean;
  disclosure: boolean;
  standby: boolean;
}

export const DRAFT_FIELDS = [
  "name",
  "channel_ids",
  "answer_within",
  "agent_wait_seconds",
  "quiet_ms",
  "quiet_max_ms",
  "visitor_data",
  "human_words",
  "disclosure",
  "standby",
] as const;

const typed = (seconds: number | null) => (seconds === null ? undefined : String(seconds));
const numberOf = (typedSeconds: string | undefined) => (typedSeconds === undefined ? null : Number(typedSeconds));
const isWhole = (typedSeconds: string | undefined) =>
  typedSeconds === undefined || /^[1-9]\d*$/.test(typedSeconds.trim());

const isSeconds = (typedSeconds: string) => /^\d+([.,]\d{1,3})?$/.test(typedSeconds.trim());
const millisecondsOf = (typedSeconds: string) => Math.round(Number(typedSeconds.trim().replace(",", ".")) * 1000);

export function draftOf(bot: Bot): BotDraft {
  const { name, channel_ids, visitor_data, human_words, disclosure, standby } = bot;
  return {
    ...{ name, channel_ids, visitor_data, human_words, disclosure, standby },
    answer_within: typed(bot.answer_within),
    agent_wait_seconds: typed(bot.agent_wait_seconds),
    quiet_ms: bot.quiet_ms === 0 ? undefined : String(bot.quiet_ms / 1000),
    quiet_max_ms: String(bot.quiet_max_ms / 1000),
  };
}

export function changesOf(bot: Bot, draft: BotDraft) {
  const { name, channel_ids, answer_within, agent_wait_seconds, quiet_ms, quiet_max_ms } = bot;
  const { visitor_data, human_words, disclosure, standby } = bot;
  const after = {
    name: draft.name.trim(),
    channel_ids: draft.channel_ids,
    answer_within: numberOf(draft.answer_within),
    agent_wait_seconds: numberOf(draft.agent_wait_seconds),
    quiet_ms: draft.quiet_ms === undefined ? 0 : millisecondsOf(draft.quiet_ms),
    quiet_max_ms: draft.quiet_ms === undefined ? quiet_max_ms : millisecondsOf(draft.quiet_max_ms),
    visitor_data: draft.visitor_data,
    human_words: draft.human_words,
    disclosure: draft.disclosure,
    standby: draft.standby,
  };
  const before = { name, channel_ids, answer_within, agent_wait_seconds, quiet_ms, quiet_max_ms };
  return changedFields({ ...before, visitor_data, human_words, disclosure, standby }, after);
}

const NOT_WHOLE = t`Enter a whole number of seconds.`;
const NOT_SECONDS = t`Enter a number of seconds.`;

export function problemsOfDraft({
  name,
  answer_within,
  agent_wait_seconds,
  quiet_ms,
  quiet_max_ms,
}: BotDraft): Problems {
  return {
    ...(name.trim() === "" ? { name: t`Give the bot a name.` } : {}),
    ...(isWhole(answer_within) ? {} : { answer_within: NOT_WHOLE }),
    ...(isWhole(agent_wait_seconds) ? {} : { agent_wait_seconds: NOT_WHOLE }),
    ...(quiet_ms === undefined || isSeconds(quiet_ms) ? {} : { quiet_ms: NOT_SECONDS }),
    ...(quiet_ms === undefined || isSeconds(quiet_max_ms) ? {} : { quiet_max_ms: NOT_SECONDS }),
  };
}
