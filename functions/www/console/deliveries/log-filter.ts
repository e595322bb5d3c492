/* What the delivery log shows: its filter, and the words for its rows. */

import type {
  Attempt,
  Bot,
  Channel,
  DeliveryLogEntry,
  DeliveryQuery,
  DeliveryState,
  DeliveryTarget,
  ReplayRequest,
  Webhook,
} from "../../api/types";
import type { Cell } from "../../ui/csv";
import { capitalized } from "../../ui/words";
import { chatNumber } from "../admin/chat-number";
import { isWebhookTarget, TARGET_NAMES, TARGETS } from "../admin/delivery-targets";
import { t, tIn } from "../../texts/translate";

export type Period = "any" | "hour" | "day" | "week" | "range";

export interface LogFilter {
  state: DeliveryState | "all";
  target: DeliveryTarget | "";
  /** The public id of a channel. Empty for all channels. */
  channelId: string;
  /** The number of a chat as it is typed. Empty for all chats. */
  chat: string;
  period: Period;
  /** The limits of the period "range", as values of `datetime-local` fields. Either may be empty. */
  from: string;
  to: string;
}

export const INITIAL_FILTER: LogFilter = {
  state: "failed",
  target: "",
  channelId: "",
  chat: "",
  period: "any",
  from: "",
  to: "",
};

const PERIOD_SECONDS = { hour: 3600, day: 86_400, week: 604_800 } as const;

/** Converts the local time of a field to Unix seconds. Returns undefined if the field is empty or invalid. */
function seconds(text: string): number | undefined {
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.floor(at / 1000);
}

/** Returns the limits of the filter's period in Unix seconds. The fields show minutes, so the whole last minute is
 * included. */
export function timeRange({ period, from, to }: LogFilter, now: number): { from?: number; to?: number } {
  if (period === "any") return {};
  if (period !== "range") return { from: now - PERIOD_SECONDS[period] };
  const [start, end] = [seconds(from), seconds(to)];
  return { ...(start === undefined ? {} : { from: start }), ...(end === undefined ? {} : { to: end + 59 }) };
}

/** What is wrong with a field of the filter. */
export interface FilterProblem {
  field: "chat" | "to";
  text: string;
}

/** Returns what is wrong with a filter, or undefined. */
export function filterProblem(filter: LogFilter): FilterProblem | undefined {
  if (filter.chat.trim() !== "" && chatNumber(filter.chat) === undefined)
    return { field: "chat", text: t`Enter the number of a chat.` };
  const { from, to } = timeRange(filter, 0);
  if (filter.period === "range" && from !== undefined && to !== undefined && from > to)
    return { field: "to", text: t`The end of the period must not be before its start.` };
  return undefined;
}

const TEXT_FIELDS = ["channelId", "chat", "from", "to"] as const;

/** Returns a filter as the query of the page's address. What the page shows at first is left out. */
export function addressOf(filter: LogFilter): string {
  const changed = Object.entries(filter).filter(([name, value]) => value !== INITIAL_FILTER[name as keyof LogFilter]);
  return new URLSearchParams(changed).toString();
}

/** Reads a filter from the page's address. Unknown values are ignored. */
export function filterOf(query: string | undefined): LogFilter {
  const wanted = new URLSearchParams(query);
  const oneOf = <Value extends string>(name: string, values: readonly Value[], initial: Value) =>
    values.find((value) => value === wanted.get(name)) ?? initial;
  return {
    ...INITIAL_FILTER,
    ...Object.fromEntries(TEXT_FIELDS.map((name) => [name, wanted.get(name) ?? ""])),
    state: oneOf("state", [...STATES, "all"] as const, INITIAL_FILTER.state),
    target: oneOf("target", TARGET_NAMES, INITIAL_FILTER.target),
    period: oneOf("period", ["any", "hour", "day", "week", "range"] as const, INITIAL_FILTER.period),
  };
}

export function queryOf(filter: LogFilter, now: number): DeliveryQuery {
  const chat = chatNumber(filter.chat);
  return {
    ...(filter.state === "all" ? {} : { state: filter.state }),
    ...(filter.target === "" ? {} : { target: filter.target }),
    ...(filter.channelId === "" ? {} : { channel_id: filter.channelId }),
    ...(chat === undefined ? {} : { chat_id: chat }),
    ...timeRange(filter, now),
  };
}

/** Returns the body of the request that sends all failed deliveries of a filter again. If the filter names a chat, all
 * failed deliveries of this chat are sent again. Returns undefined for a filter of calls, because calls are never
 * ordered again. Also returns undefined for an invalid filter: without the invalid field, the request would send more
 * deliveries. */
export function replayScope(filter: LogFilter, now: number): ReplayRequest | undefined {
  const { target, channelId } = filter;
  if (target === "call" || filterProblem(filter) !== undefined) return undefined;
  const chat = chatNumber(filter.chat);
  if (chat !== undefined) return { chat_id: chat };
  const { from = 0, to = now } = timeRange(filter, now);
  return {
    from,
    to,
    ...(target === "" ? {} : { target }),
    ...(channelId === "" ? {} : { channel_id: channelId }),
  };
}

/** Whether a replay of all listed deliveries includes the row. A phone call is never ordered again. */
export const isReplayable = ({ state, target }: Pick<DeliveryLogEntry, "state" | "target">) =>
  state === "failed" && target !== "call";

export const STATES = ["failed", "pending", "delivered", "superseded"] as const;
export const STATE_NAMES: Record<DeliveryState, string> = {
  failed: t`Failed`,
  pending: t`Pending`,
  delivered: t`Delivered`,
  superseded: t`Superseded`,
};

export const rowKey = ({ chat_id, seq }: Pick<DeliveryLogEntry, "chat_id" | "seq">) => `${chat_id}-${seq}`;

const BOT_EVENTS: Record<string, string> = {
  agent_joined: "AGENT_JOINED",
  agent_unavailable: "AGENT_UNAVAILABLE",
  chat_closed: "CHAT_CLOSED",
  chat_returned: "CHAT_RETURNED",
  callback_requested: "CLIENT_MESSAGE",
};

/** Returns what was sent: the name of an event, or the type of a message. */
export function sentName({ target, type }: { target: DeliveryTarget; type: string }): string {
  if (isWebhookTarget(target)) return type;
  if (target === "bot") return BOT_EVENTS[type] ?? "CLIENT_MESSAGE";
  return type === "text" ? t`Message` : capitalized(type);
}

/** The account's channels, webhooks and bots, to which deliveries are sent. */
export interface Receivers {
  channels: readonly Channel[];
  webhooks: readonly Webhook[];
  bots: readonly Bot[];
}

/** Returns the receiver of a delivery: its address without the scheme, or the name of the bot. `receivers` is undefined
 * until it is loaded. */
export function receiverName(row: DeliveryLogEntry, receivers: Receivers | undefined): string {
  if (receivers === undefined || row.target === "call") return TARGETS[row.target].one;
  const { channels, webhooks, bots } = receivers;
  if (isWebhookTarget(row.target)) {
    const webhook = webhooks.find(({ webhook_id }) => webhook_id === row.webhook_id);
    return webhook === undefined ? t`A deleted webhook` : webhookName(webhook);
  }
  if (row.target === "bot")
    return bots.find(({ channel_ids }) => channel_ids.includes(row.channel_id))?.name ?? t`A disconnected bot`;
  const channel = channels.find(({ channel_id }) => channel_id === row.channel_id);
  if (channel === undefined) return t`A deleted channel`;
  return channel.kind === "api" && channel.integrator_url !== null
    ? withoutScheme(channel.integrator_url)
    : channel.name;
}

/** The name of a webhook: its address without the scheme, or its id if a program fetches the events. */
export const webhookName = ({ webhook_id, url }: Pick<Webhook, "webhook_id" | "url">) =>
  url === null ? t`Fetched by a program (${webhook_id})` : withoutScheme(url);

export const withoutScheme = (url: string) => url.replace(/^https?:\/\//i, "").replace(/\/$/, "");

/** Returns what came of an attempt in words. The service's own words may contain the status already. */
export function attemptText({ status, error }: Pick<Attempt, "status" | "error">): string {
  if (status === undefined) return error ?? t`No response`;
  if (error === undefined) return String(status);
  return error.includes(String(status)) ? error : `${status} ${error}`;
}

/** Returns the result of the last attempt in words. */
export function resultText({ state, error, attempts }: Pick<DeliveryLogEntry, "state" | "error" | "attempts">): string {
  const last = attempts.at(-1);
  const result = error?.message ?? last?.error ?? (last?.status === undefined ? undefined : String(last.status));
  if (state === "superseded") return result ?? t`No longer needed`;
  if (state === "pending") return result === undefined ? t`Not sent yet` : t`${result}, sent again soon`;
  return result ?? t`No attempt`;
}

export const CSV_COLUMNS = [
  t`State`,
  t`What`,
  tIn("receiver", "To"),
  t`Chat`,
  t`Attempts`,
  t`Result`,
  t`Milliseconds`,
  t`Since`,
  "webhook-id",
];

/** Returns a delivery as a line of a CSV file. */
export function csvRow(row: DeliveryLogEntry, receivers: Receivers | undefined): Cell[] {
  const { state, chat_id, attempts, attempts_left_out: leftOut = 0, since, id } = row;
  return [
    STATE_NAMES[state],
    sentName(row),
    receiverName(row, receivers),
    chat_id,
    attempts.length + leftOut,
    resultText(row),
    attempts.at(-1)?.ms ?? null,
    new Date(since * 1000).toISOString(),
    id,
  ];
}
