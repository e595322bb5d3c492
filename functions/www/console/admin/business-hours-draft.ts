/* The business hours of an account, a department or a channel while an admin edits them. */

import type { BusinessHours } from "../../api/types";
import type { Problems } from "./use-settings-form";
import { t } from "../../texts/translate";

/** Null: no hours of its own. */
export type HoursDraft = Pick<BusinessHours, "time_zone" | "weekly" | "exceptions"> | null;
export type DayInterval = BusinessHours["exceptions"][number]["hours"][number];
export type HoursException = BusinessHours["exceptions"][number];

export const WEEKDAYS = [t`Monday`, t`Tuesday`, t`Wednesday`, t`Thursday`, t`Friday`, t`Saturday`, t`Sunday`] as const;
/** The fields that show their own problems. */
export const HOURS_FIELDS = ["business_hours.time_zone", "business_hours.weekly", "business_hours.exceptions"] as const;
const OFFICE_HOURS: DayInterval = { from: "09:00", to: "17:00" };
const OFFICE_DAYS = [1, 2, 3, 4, 5];

/** Returns the hours without their state, which the service computes. */
export function hoursDraftOf(hours: BusinessHours | null): HoursDraft {
  if (hours === null) return null;
  const { time_zone, weekly, exceptions } = hours;
  return { time_zone, weekly, exceptions };
}

export const newHours = (timeZone: string): NonNullable<HoursDraft> => ({
  time_zone: timeZone,
  weekly: OFFICE_DAYS.map((day) => ({ day, ...OFFICE_HOURS })),
  exceptions: [],
});

export const newException = (today: string): HoursException => ({
  name: "",
  first_day: today,
  last_day: today,
  hours: [],
});

/** Returns the intervals of a day of the week, 1 for Monday. */
export const intervalsOf = ({ weekly }: NonNullable<HoursDraft>, day: number): DayInterval[] =>
  weekly.filter((interval) => interval.day === day).map(({ from, to }) => ({ from, to }));

/** Returns the hours with other intervals on a day of the week. */
export function withIntervals(
  hours: NonNullable<HoursDraft>,
  day: number,
  intervals: readonly DayInterval[],
): NonNullable<HoursDraft> {
  const others = hours.weekly.filter((interval) => interval.day !== day);
  const weekly = [...others, ...intervals.map((interval) => ({ day, ...interval }))];
  // The sort is stable, so that an interval stays in its place while its times are typed.
  return { ...hours, weekly: weekly.sort((a, b) => a.day - b.day) };
}

/** Returns an interval after the last one, of at least an hour if the day is long enough. */
export function nextInterval(intervals: readonly DayInterval[]): DayInterval {
  const last = intervals.at(-1);
  const hour = last === undefined ? 24 : Number(last.to.slice(0, 2)) + 1;
  if (hour >= 24) return OFFICE_HOURS;
  const text = (of: number) => `${String(of).padStart(2, "0")}:00`;
  return { from: text(hour), to: text(Math.min(hour + 4, 24)) };
}

const isStart = (text: string) => /^([01]\d|2[0-3]):[0-5]\d$/.test(text);
const isEnd = (text: string) => isStart(text) || text === "24:00";

function intervalProblem({ from, to }: DayInterval): string | undefined {
  if (!isStart(from) || !isEnd(to)) return t`enter times from 00:00 to 24:00, such as 09:00.`;
  return from === to ? t`the end must differ from the start.` : undefined;
}

const firstOf = <Item>(
  items: readonly Item[],
  problemOf: (item: Item, index: number, all: readonly Item[]) => string | undefined,
) => items.map(problemOf).find((problem) => problem !== undefined);

function exceptionProblem(exception: HoursException, index: number, all: readonly HoursException[]) {
  const { name, first_day, last_day, hours } = exception;
  if (name.trim() === "") return t`Give each exception a name.`;
  if (first_day === "" || last_day === "") return t`${name}: choose the days.`;
  if (last_day < first_day) return t`${name}: the last day is before the first.`;
  const other = all.slice(0, index).find((other) => other.first_day <= last_day && first_day <= other.last_day);
  if (other !== undefined) return t`${name}: ${other.name} has one of the days too.`;
  const problem = firstOf(hours, intervalProblem);
  return problem === undefined ? undefined : `${name}: ${problem}`;
}

/** Returns what is wrong with hours before they are sent. The service finds overlaps. */
export function hoursProblems(hours: HoursDraft): Problems {
  if (hours === null) return {};
  const week = firstOf(hours.weekly, (interval) => {
    const problem = intervalProblem(interval);
    return problem === undefined ? undefined : `${WEEKDAYS[interval.day - 1] ?? ""}: ${problem}`;
  });
  const exceptions = firstOf(hours.exceptions, exceptionProblem);
  return {
    ...(week === undefined ? {} : { "business_hours.weekly": week }),
    ...(exceptions === undefined ? {} : { "business_hours.exceptions": exceptions }),
  };
}

/** Says whether it is open now, and until when. `format` formats a time in Unix seconds. */
export function stateText({ is_open, changes_at }: BusinessHours, format: (at: number) => string): string {
  if (changes_at === null) return is_open ? t`Always open.` : t`Closed for a year or longer.`;
  return is_open ? t`Open now, until ${format(changes_at)}.` : t`Closed now. Opens ${format(changes_at)}.`;
}
