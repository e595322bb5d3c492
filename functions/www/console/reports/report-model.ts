/* What the reports say: figures with their comparison, and the tables below the charts. */

import type { DurationBuckets, Report, ReportTotals } from "../../api/types";
import type { Cell } from "../../ui/csv";
import { formatSeconds, LOCALE } from "../../ui/time";
import { TARGETS } from "../admin/delivery-targets";
import { language, plural, t } from "../../texts/translate";

/** The lengths of a report in days. The last day is today. */
export const PERIODS = [
  { value: "1", label: t`Today` },
  { value: "7", label: t`7 days` },
  { value: "30", label: t`30 days` },
  { value: "90", label: t`90 days` },
] as const;
export type Days = (typeof PERIODS)[number]["value"];

const number = new Intl.NumberFormat(language);
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

type Shown = { count: string };
/** What the reports count, with a number. */
const UNITS = {
  calls: (count: number, shown: Shown) => plural(count, "{count} call", "{count} calls", shown),
  chats: (count: number, shown: Shown) => plural(count, "{count} chat", "{count} chats", shown),
  failed: (count: number, shown: Shown) => plural(count, "{count} failed", "{count} failed", shown),
  ratings: (count: number, shown: Shown) => plural(count, "{count} rating", "{count} ratings", shown),
};
export type Unit = keyof typeof UNITS;
/** What has a distribution. */
export const UNIT_NAMES = { chats: t`chats`, calls: t`calls` };
export type CountedUnit = keyof typeof UNIT_NAMES;

export const formatCount = (count: number) => number.format(count);
/** Formats a number of what a chart counts, for example "1 chat" for the unit "chats". */
export const formatUnits = (count: number, unit: Unit) => UNITS[unit](count, { count: formatCount(count) });
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
const before = (days: number) => (days === 1 ? t`yesterday` : t`in the ${days} days before`);
const noneBefore = (days: number) => t`none ${before(days)}`;

function countNote(count: number, previous: number, days: number): string {
  if (previous === 0) return noneBefore(days);
  if (count === 0) return `${formatCount(previous)} ${before(days)}`;
  const change = Math.round((100 * (count - previous)) / previous);
  if (change === 0) return t`as many as ${before(days)}`;
  const percentage = formatCount(Math.abs(change));
  return change > 0 ? t`${percentage} % more than ${before(days)}` : t`${percentage} % fewer than ${before(days)}`;
}

/** How a shorter and a longer duration are described. */
interface Comparison {
  less: (difference: string) => string;
  more: (difference: string) => string;
  /** Whether shorter is better. */
  isQuality: boolean;
}
const SPEED: Comparison = {
  less: (difference) => t`${difference} quicker`,
  more: (difference) => t`${difference} slower`,
  isQuality: true,
};
const LENGTH: Comparison = {
  less: (difference) => t`${difference} shorter`,
  more: (difference) => t`${difference} longer`,
  isQuality: false,
};

/** Returns how a duration has changed, in words. Differences below the error of the percentiles are not shown as
 * changes. */
function durationNote(
  seconds: number | null,
  previous: number | null,
  { less, more, isQuality }: Comparison,
  { days, error }: { days: number; error: number },
): Pick<Figure, "note" | "tone"> {
  if (seconds === null) return { note: t`no chat yet` };
  if (previous === null) return { note: noneBefore(days) };
  const difference = seconds - previous;
  if (Math.abs(difference) <= error * Math.max(seconds, previous)) return { note: t`about as ${before(days)}` };
  return {
    note: (difference < 0 ? less : more)(formatSeconds(Math.abs(difference))),
    ...(isQuality ? { tone: difference < 0 ? "good" : "bad" } : {}),
  };
}

function shareNote(
  [part, whole]: [number, number],
  [previousPart, previousWhole]: [number, number],
): Pick<Figure, "note" | "tone"> {
  const [now, previous] = [percent(part, whole), percent(previousPart, previousWhole)];
  if (now === null || previous === null || now === previous) return { note: "" };
  const points = Math.abs(now - previous);
  const change =
    now > previous
      ? plural(points, "{count} point more", "{count} points more")
      : plural(points, "{count} point less", "{count} points less");
  return { note: `, ${change}` };
}

/** Returns the figures at the top of a report. */
export function figuresOf({ total, previous, days, percentile_error: error }: Report): Figure[] {
  const period = { days: days.length, error };
  const closed = closedOf(total);
  const rated = ratedOf(total);
  const ratings = shareNote([total.ratings.positive, rated], [previous.ratings.positive, ratedOf(previous)]).note;
  const bot = shareNote([total.settled_by.bot, closed], [previous.settled_by.bot, closedOf(previous)]).note;
  const failures = failuresOf(total);
  return [
    { name: t`Chats`, value: formatCount(total.opened), note: countNote(total.opened, previous.opened, days.length) },
    {
      name: t`First answer, median`,
      value: durationText(total.first_answer.median),
      ...durationNote(total.first_answer.median, previous.first_answer.median, SPEED, period),
    },
    {
      name: t`First answer, 90th percentile`,
      value: durationText(total.first_answer.percentile_90),
      ...durationNote(total.first_answer.percentile_90, previous.first_answer.percentile_90, SPEED, period),
    },
    {
      name: t`Length, median`,
      value: durationText(total.length.median),
      ...durationNote(total.length.median, previous.length.median, LENGTH, period),
    },
    {
      name: t`Length, 90th percentile`,
      value: durationText(total.length.percentile_90),
      ...durationNote(total.length.percentile_90, previous.length.percentile_90, LENGTH, period),
    },
    {
      name: t`Settled by the bot`,
      value: shareText(total.settled_by.bot, closed),
      note:
        plural(closed, "{settled} of {count} closed chat", "{settled} of {count} closed chats", {
          settled: formatCount(total.settled_by.bot),
          count: formatCount(closed),
        }) + bot,
    },
    {
      name: t`Rated positive`,
      value: shareText(total.ratings.positive, rated),
      note: plural(rated, "of {count} rating", "of {count} ratings", { count: formatCount(rated) }) + ratings,
    },
    {
      name: t`Failed deliveries`,
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
      name: t`Answered in time`,
      value: shareText(in_time, all),
      note: plural(all, "{late} of {count} answer late", "{late} of {count} answers late", {
        late,
        count: formatCount(all),
      }),
    },
  ];
}

/** What agents have made of the answers that bots on standby have suggested. Nothing without such bots. */
function suggestionFigures({ drafts: { suggested, taken, edited, ignored } }: ReportTotals): Figure[] {
  if (suggested === 0) return [];
  const note = plural(
    suggested,
    "of {count} suggestion: {taken} as they were, {edited} edited, {ignored} ignored",
    "of {count} suggestions: {taken} as they were, {edited} edited, {ignored} ignored",
    { count: formatCount(suggested), taken, edited, ignored },
  );
  return [{ name: t`Suggested answers used`, value: shareText(taken + edited, suggested), note }];
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
  perDay(report, t`Agents`, "accent", ({ settled_by }) => settled_by.agent),
  perDay(report, t`Bot`, "stripes", ({ settled_by }) => settled_by.bot),
  perDay(report, t`Nobody`, "dots", ({ settled_by }) => settled_by.nobody),
  perDay(report, t`Still open`, "rest", stillOpen),
];
export const ratingSeries = (report: Report): Series[] => [
  perDay(report, t`Positive`, "ok", ({ ratings }) => ratings.positive),
  perDay(report, t`Negative`, "danger-stripes", ({ ratings }) => ratings.negative),
];
export const failureSeries = (report: Report): Series[] =>
  shownReceivers(report).map(({ failed, fill, reportField }) =>
    perDay(report, failed, fill, ({ failed_deliveries }) => failed_deliveries[reportField]),
  );

const sumOfCalls = ({ calls: { callback, incoming, outgoing } }: ReportTotals, result: "answered" | "failed") =>
  callback[result] + incoming[result] + outgoing[result];
export const callSeries = (report: Report): Series[] => [
  perDay(report, t`Answered`, "accent", (totals) => sumOfCalls(totals, "answered")),
  perDay(report, t`Failed`, "danger-stripes", (totals) => sumOfCalls(totals, "failed")),
];

/** Returns the table of each day's calls by kind. */
export const callTable = ({ days }: Report): ReportTable => ({
  columns: [t`Day`, ...CALL_KINDS.flatMap(({ name }) => [t`${name} answered`, t`${name} failed`])],
  rows: days.map(({ day, totals: { calls } }) => [
    day,
    ...CALL_KINDS.flatMap(({ kind }) => [calls[kind].answered, calls[kind].failed]),
  ]),
});
const CALL_KINDS = [
  { kind: "callback", name: t`Callbacks` },
  { kind: "incoming", name: t`Incoming` },
  { kind: "outgoing", name: t`Outgoing` },
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
  const all = perDay(report, t`Others`, "rest", ({ opened }) => opened);
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
    columns: [t`Day`, ...series.map(({ name }) => name), ...(hasSum ? [t`All`] : [])],
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
  exponent < 0 ? t`under 1 s` : t`${formatSeconds(2 ** exponent)} to ${formatSeconds(2 ** (exponent + 1))}`;

/** Returns the table for a histogram, with the cumulative share up to the end of each range. */
export function durationTable(columns: readonly DurationColumn[], unit: CountedUnit): ReportTable {
  const whole = columns.reduce((sum, { count }) => sum + count, 0);
  let soFar = 0;
  return {
    columns: [t`Time`, t`Number of ${UNIT_NAMES[unit]}`, t`Share up to this time, %`],
    rows: columns.map((column) => {
      soFar += column.count;
      return [columnRange(column), column.count, percent(soFar, whole)];
    }),
  };
}

/** Returns the table of a comparison of channels. */
export const channelTable = ({ channels }: Report): ReportTable => ({
  columns: [
    t`Channel`,
    t`Chats`,
    t`Settled by agents`,
    t`Settled by the bot`,
    t`Settled by nobody`,
    t`First answer, median seconds`,
    t`First answer, 90th percentile seconds`,
    t`Length, median seconds`,
    t`Length, 90th percentile seconds`,
    t`Rated positive`,
    t`Rated negative`,
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
  columns: [t`Channel`, ...KINDS_OF_RECEIVERS.map(({ failed }) => failed), t`All`],
  rows: channels
    .filter(({ totals }) => failuresOf(totals) > 0)
    .map(({ name, totals }) => [
      name,
      ...KINDS_OF_RECEIVERS.map(({ reportField }) => totals.failed_deliveries[reportField]),
      failuresOf(totals),
    ]),
});

export const agentTable = ({ agents, total }: Report): ReportTable => ({
  columns: [t`Agent`, t`Chats`, t`Of the closed chats, %`],
  rows: [...agents]
    .sort((a, b) => b.chats - a.chats)
    .map(({ name, agent_id, chats }) => [name ?? t`Deleted agent ${agent_id}`, chats, percent(chats, closedOf(total))]),
});

export const tagTable = ({ tags = [], total }: Report): ReportTable => ({
  columns: [t`Tag`, t`Chats`, t`Of the closed chats, %`],
  rows: [...tags]
    .sort((a, b) => b.chats - a.chats)
    .map(({ name, tag_id, chats }) => [name ?? t`Deleted tag ${tag_id}`, chats, percent(chats, closedOf(total))]),
});
