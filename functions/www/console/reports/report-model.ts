/* What the reports say: figures with their comparison, and the tables below the charts. */

import type { DurationBuckets, Report, ReportTotals } from "../../api/types";
import type { Cell } from "../../ui/csv";
import { formatSeconds, LOCALE } from "../../ui/time";
import { countText } from "../../ui/words";
import { TARGETS } from "../admin/delivery-targets";

/** The lengths of a report in days. The last day is today. */
export const PERIODS = [
  { value: "1", label: "Today" },
  { value: "7", label: "7 days" },
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
] as const;
export type Days = (typeof PERIODS)[number]["value"];

const number = new Intl.NumberFormat("en");
const dayMonth = new Intl.DateTimeFormat(LOCALE, { day: "numeric", month: "short", timeZone: "UTC" });
const weekdayAndDay = new Intl.DateTimeFormat(LOCALE, {
  weekday: "short",
  day: "numeric",
  month: "short",
  timeZone: "UTC",
});
const dayMonthYear = new Intl.DateTimeFormat(LOCALE, {
  day: "numeric",
  month: "short",
  year: "numeric",
  timeZone: "UTC",
});

export const formatCount = (count: number) => number.format(count);
/** Formats a number of what a chart counts, for example "1 chat" for the unit "chats". */
export const formatUnits = (count: number, unit: string) =>
  countText(count, unit.replace(/s$/, ""), unit, formatCount(count));
/** Formats a day such as 2026-11-20 as 20 Nov. */
export const shortDate = (day: string) => dayMonth.format(Date.parse(day));
/** Formats a day as Fri 20 Nov. */
export const longDate = (day: string) => weekdayAndDay.format(Date.parse(day)).replace(",", "");

/** Formats the first and the last day of a report. */
export function dateRange(days: Report["days"]): string {
  const [first, last] = [days[0]?.day ?? "", days.at(-1)?.day ?? ""];
  const end = dayMonthYear.format(Date.parse(last));
  return first === last ? end : `${shortDate(first)} – ${end}`;
}

export const percent = (part: number, whole: number) => (whole === 0 ? null : Math.round((100 * part) / whole));
export const shareText = (part: number, whole: number) => {
  const rounded = percent(part, whole);
  return rounded === null ? "–" : `${rounded} %`;
};

const KINDS_OF_RECEIVERS = Object.values(TARGETS);
/** Returns the kinds of receivers that the report shows. */
export const shownReceivers = ({ total }: Report) =>
  KINDS_OF_RECEIVERS.filter(({ isRare, reportField }) => isRare !== true || total.failed_deliveries[reportField] > 0);
export const failuresOf = ({ failed_deliveries: failed }: ReportTotals) =>
  KINDS_OF_RECEIVERS.reduce((sum, { reportField }) => sum + failed[reportField], 0);
export const closedOf = ({ settled_by: { agent, bot, nobody } }: ReportTotals) => agent + bot + nobody;
/** Returns the number of chats that are open, or were erased while they were open. */
export const stillOpen = (totals: ReportTotals) => Math.max(0, totals.opened - closedOf(totals));
const ratedOf = ({ ratings: { positive, negative } }: ReportTotals) => positive + negative;
export const durationText = (seconds: number | null) => (seconds === null ? "–" : formatSeconds(seconds));

/** A number at the top of a report, with a note. */
export interface Figure {
  name: string;
  value: string;
  /** The comparison, or what the number is about. */
  note: string;
  tone?: "good" | "bad";
}

/** Returns the period with which a report is compared, in words. */
const before = (days: number) => (days === 1 ? "yesterday" : `in the ${days} days before`);
const noneBefore = (days: number) => `none ${before(days)}`;

function countNote(count: number, previous: number, days: number): string {
  if (previous === 0) return noneBefore(days);
  if (count === 0) return `${formatCount(previous)} ${before(days)}`;
  const change = Math.round((100 * (count - previous)) / previous);
  if (change === 0) return `as many as ${before(days)}`;
  return `${formatCount(Math.abs(change))} % ${change > 0 ? "more" : "fewer"} than ${before(days)}`;
}

/** Returns how a duration has changed, in words. Differences below the error of the percentiles are not shown as
 * changes. */
function durationNote(
  seconds: number | null,
  previous: number | null,
  words: { less: string; more: string },
  { days, error }: { days: number; error: number },
): Pick<Figure, "note" | "tone"> {
  if (seconds === null) return { note: "no chat yet" };
  if (previous === null) return { note: noneBefore(days) };
  const difference = seconds - previous;
  if (Math.abs(difference) <= error * Math.max(seconds, previous)) return { note: `about as ${before(days)}` };
  return {
    note: `${formatSeconds(Math.abs(difference))} ${difference < 0 ? words.less : words.more}`,
    ...(words.less === "quicker" ? { tone: difference < 0 ? "good" : "bad" } : {}),
  };
}

function shareNote(
  [part, whole]: [number, number],
  [previousPart, previousWhole]: [number, number],
): Pick<Figure, "note" | "tone"> {
  const [now, previous] = [percent(part, whole), percent(previousPart, previousWhole)];
  if (now === null || previous === null || now === previous) return { note: "" };
  const points = Math.abs(now - previous);
  return { note: `, ${countText(points, "point")} ${now > previous ? "more" : "less"}` };
}

/** Returns the figures at the top of a report. */
export function figuresOf({ total, previous, days, percentile_error: error }: Report): Figure[] {
  const period = { days: days.length, error };
  const quick = { less: "quicker", more: "slower" };
  const short = { less: "shorter", more: "longer" };
  const closed = closedOf(total);
  const rated = ratedOf(total);
  const ratings = shareNote([total.ratings.positive, rated], [previous.ratings.positive, ratedOf(previous)]).note;
  const bot = shareNote([total.settled_by.bot, closed], [previous.settled_by.bot, closedOf(previous)]).note;
  const failures = failuresOf(total);
  return [
    { name: "Chats", value: formatCount(total.opened), note: countNote(total.opened, previous.opened, days.length) },
    {
      name: "First answer, median",
      value: durationText(total.first_answer.median),
      ...durationNote(total.first_answer.median, previous.first_answer.median, quick, period),
    },
    {
      name: "First answer, 90th percentile",
      value: durationText(total.first_answer.percentile_90),
      ...durationNote(total.first_answer.percentile_90, previous.first_answer.percentile_90, quick, period),
    },
    {
      name: "Length, median",
      value: durationText(total.length.median),
      ...durationNote(total.length.median, previous.length.median, short, period),
    },
    {
      name: "Length, 90th percentile",
      value: durationText(total.length.percentile_90),
      ...durationNote(total.length.percentile_90, previous.length.percentile_90, short, period),
    },
    {
      name: "Settled by the bot",
      value: shareText(total.settled_by.bot, closed),
      note: `${formatCount(total.settled_by.bot)} of ${formatUnits(closed, "closed chats")}${bot}`,
    },
    {
      name: "Rated positive",
      value: shareText(total.ratings.positive, rated),
      note: `of ${formatUnits(rated, "ratings")}${ratings}`,
    },
    {
      name: "Failed deliveries",
      value: formatCount(failures),
      note: countNote(failures, failuresOf(previous), days.length),
      ...(failures > failuresOf(previous) && failuresOf(previous) > 0 ? { tone: "bad" as const } : {}),
    },
    ...answerFigures(total),
    ...suggestionFigures(total),
  ];
}

/** How many answers were given within the time limits. Nothing without time limits. */
function answerFigures({ answers: { in_time, late } }: ReportTotals): Figure[] {
  const all = in_time + late;
  if (all === 0) return [];
  return [
    {
      name: "Answered in time",
      value: shareText(in_time, all),
      note: `${late} of ${formatUnits(all, "answers")} late`,
    },
  ];
}

/** What agents have made of the answers that bots on standby have suggested. Nothing without such bots. */
function suggestionFigures({ drafts: { suggested, taken, edited, ignored } }: ReportTotals): Figure[] {
  if (suggested === 0) return [];
  const note = `of ${formatUnits(suggested, "suggestions")}: ${taken} as they were, ${edited} edited, ${ignored} ignored`;
  return [{ name: "Suggested answers used", value: shareText(taken + edited, suggested), note }];
}

/** How a series is drawn. The patterns differ in greyscale, too. */
export type Fill = "accent" | "stripes" | "dots" | "ok" | "rest" | "danger" | "danger-stripes";

/** A value for each day of a report. */
export interface Series {
  name: string;
  fill: Fill;
  values: readonly number[];
}

const perDay = ({ days }: Report, name: string, fill: Fill, valueOf: (totals: ReportTotals) => number): Series => ({
  name,
  fill,
  values: days.map(({ totals }) => valueOf(totals)),
});

export const settledSeries = (report: Report): Series[] => [
  perDay(report, "Agents", "accent", ({ settled_by }) => settled_by.agent),
  perDay(report, "Bot", "stripes", ({ settled_by }) => settled_by.bot),
  perDay(report, "Nobody", "dots", ({ settled_by }) => settled_by.nobody),
  perDay(report, "Still open", "rest", stillOpen),
];
export const ratingSeries = (report: Report): Series[] => [
  perDay(report, "Positive", "ok", ({ ratings }) => ratings.positive),
  perDay(report, "Negative", "danger-stripes", ({ ratings }) => ratings.negative),
];
export const failureSeries = (report: Report): Series[] =>
  shownReceivers(report).map(({ failed, fill, reportField }) =>
    perDay(report, failed, fill, ({ failed_deliveries }) => failed_deliveries[reportField]),
  );

const sumOfCalls = ({ calls: { callback, incoming, outgoing } }: ReportTotals, result: "answered" | "failed") =>
  callback[result] + incoming[result] + outgoing[result];
export const callSeries = (report: Report): Series[] => [
  perDay(report, "Answered", "accent", (totals) => sumOfCalls(totals, "answered")),
  perDay(report, "Failed", "danger-stripes", (totals) => sumOfCalls(totals, "failed")),
];

/** Returns the table of each day's calls by kind. */
export const callTable = ({ days }: Report): ReportTable => ({
  columns: ["Day", ...CALL_KINDS.flatMap(({ name }) => [`${name} answered`, `${name} failed`])],
  rows: days.map(({ day, totals: { calls } }) => [
    day,
    ...CALL_KINDS.flatMap(({ kind }) => [calls[kind].answered, calls[kind].failed]),
  ]),
});
const CALL_KINDS = [
  { kind: "callback", name: "Callbacks" },
  { kind: "incoming", name: "Incoming" },
  { kind: "outgoing", name: "Outgoing" },
] as const;

/** The fills of the channels with the most chats, each of which has its own series. */
const CHANNEL_FILLS = ["accent", "stripes", "dots", "ok"] as const;

/** Returns the channels with the most chats. */
export const largestChannels = ({ channels }: Report) =>
  [...channels].sort((a, b) => b.totals.opened - a.totals.opened).slice(0, CHANNEL_FILLS.length);

/** Returns one series for each report in `ofChannels`, and one for the chats of all other channels, which is left out
 * if there are none. */
export function channelSeries(report: Report, ofChannels: readonly { name: string; report: Report }[]): Series[] {
  const series = ofChannels.map(({ name, report }, index) =>
    perDay(report, name, CHANNEL_FILLS[index] ?? "rest", ({ opened }) => opened),
  );
  const all = perDay(report, "Others", "rest", ({ opened }) => opened);
  const others = all.values.map((count, day) =>
    // A chat that was opened between the requests appears in only some of the reports.
    Math.max(0, count - series.reduce((sum, { values }) => sum + (values[day] ?? 0), 0)),
  );
  return others.every((count) => count === 0) ? series : [...series, { ...all, values: others }];
}

export const totalOf = ({ values }: Series) => values.reduce((sum, value) => sum + value, 0);

/** A table below a chart. */
export interface ReportTable {
  columns: readonly string[];
  rows: readonly (readonly Cell[])[];
}

/** Returns the table of a chart of days. */
export function dayTable({ days }: Report, series: readonly Series[]): ReportTable {
  const hasSum = series.length > 1;
  return {
    columns: ["Day", ...series.map(({ name }) => name), ...(hasSum ? ["All"] : [])],
    rows: days.map(({ day }, index) => {
      const values = series.map(({ values }) => values[index] ?? 0);
      return [day, ...values, ...(hasSum ? [values.reduce((sum, value) => sum + value, 0)] : [])];
    }),
  };
}

/** A column of a histogram: a range of durations that starts at `2 ** exponent` seconds and ends at twice that. */
export interface DurationColumn {
  exponent: number;
  count: number;
}

/** Joins the ranges of a distribution into columns, each of which ends at twice its start. Everything below a second is
 * one column. */
export function durationColumns(buckets: DurationBuckets): DurationColumn[] {
  const counts = new Map<number, number>();
  for (const { from, count } of buckets) {
    // The limits are powers of the fourth root of two, with rounding errors.
    const exponent = from < 1 - 1e-6 ? -1 : Math.floor(Math.log2(from) + 1e-6);
    counts.set(exponent, (counts.get(exponent) ?? 0) + count);
  }
  const exponents = [...counts.keys()];
  if (exponents.length === 0) return [];
  const [first, last] = [Math.min(...exponents), Math.max(...exponents)];
  return Array.from({ length: last - first + 1 }, (_, index) => ({
    exponent: first + index,
    count: counts.get(first + index) ?? 0,
  }));
}

/** Formats the range of a column, for example 16 s to 32 s. */
export const columnRange = ({ exponent }: DurationColumn) =>
  exponent < 0 ? "under 1 s" : `${formatSeconds(2 ** exponent)} to ${formatSeconds(2 ** (exponent + 1))}`;

/** Returns the table for a histogram, with the cumulative share up to the end of each range. */
export function durationTable(columns: readonly DurationColumn[], unit: string): ReportTable {
  const whole = columns.reduce((sum, { count }) => sum + count, 0);
  let soFar = 0;
  return {
    columns: ["Time", `Number of ${unit}`, "Share up to this time, %"],
    rows: columns.map((column) => {
      soFar += column.count;
      return [columnRange(column), column.count, percent(soFar, whole)];
    }),
  };
}

/** Returns the table of a comparison of channels. */
export const channelTable = ({ channels }: Report): ReportTable => ({
  columns: [
    "Channel",
    "Chats",
    "Settled by agents",
    "Settled by the bot",
    "Settled by nobody",
    "First answer, median seconds",
    "First answer, 90th percentile seconds",
    "Length, median seconds",
    "Length, 90th percentile seconds",
    "Rated positive",
    "Rated negative",
  ],
  rows: channels.map(({ name, totals: { opened, settled_by, first_answer, length, ratings } }) => [
    name,
    opened,
    settled_by.agent,
    settled_by.bot,
    settled_by.nobody,
    first_answer.median,
    first_answer.percentile_90,
    length.median,
    length.percentile_90,
    ratings.positive,
    ratings.negative,
  ]),
});

export const failureTable = ({ channels }: Report): ReportTable => ({
  columns: ["Channel", ...KINDS_OF_RECEIVERS.map(({ failed }) => failed), "All"],
  rows: channels
    .filter(({ totals }) => failuresOf(totals) > 0)
    .map(({ name, totals }) => [
      name,
      ...KINDS_OF_RECEIVERS.map(({ reportField }) => totals.failed_deliveries[reportField]),
      failuresOf(totals),
    ]),
});

export const agentTable = ({ agents, total }: Report): ReportTable => ({
  columns: ["Agent", "Chats", "Of the closed chats, %"],
  rows: [...agents]
    .sort((a, b) => b.chats - a.chats)
    .map(({ name, agent_id, chats }) => [name ?? `Deleted agent ${agent_id}`, chats, percent(chats, closedOf(total))]),
});

export const tagTable = ({ tags = [], total }: Report): ReportTable => ({
  columns: ["Tag", "Chats", "Of the closed chats, %"],
  rows: [...tags]
    .sort((a, b) => b.chats - a.chats)
    .map(({ name, tag_id, chats }) => [name ?? `Deleted tag ${tag_id}`, chats, percent(chats, closedOf(total))]),
});
