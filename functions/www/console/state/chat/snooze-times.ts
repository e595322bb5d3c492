/* The times until which an agent can put a chat aside. */

import { t } from "../../../texts/translate";

const MINUTE_MS = 60_000;
const MORNING_HOUR = 9;
const EVENING_HOUR = 18;
const MONDAY = 1;
const DAYS_PER_WEEK = 7;

export interface SnoozeTime {
  label: string;
  at: Date;
}

/** Returns the day that many days after a time, at this hour, in the agent's time zone. */
function dayAt(now: Date, days: number, hour: number): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hour);
}

/** Returns the times to choose from. The evening is offered until half an hour before it. */
export function snoozeTimes(now: Date): SnoozeTime[] {
  const evening = dayAt(now, 0, EVENING_HOUR);
  const daysToMonday = ((MONDAY - now.getDay() + DAYS_PER_WEEK - 1) % DAYS_PER_WEEK) + 1;
  return [
    { label: t`In an hour`, at: new Date(now.getTime() + 60 * MINUTE_MS) },
    ...(now.getTime() < evening.getTime() - 30 * MINUTE_MS ? [{ label: t`This evening`, at: evening }] : []),
    { label: t`Tomorrow morning`, at: dayAt(now, 1, MORNING_HOUR) },
    { label: t`Next week`, at: dayAt(now, daysToMonday, MORNING_HOUR) },
  ];
}

/** Returns a time as the value of a field for a date and a time, in the agent's time zone. */
export function fieldValueOf(at: Date): string {
  const twoDigits = (number: number) => String(number).padStart(2, "0");
  const date = [at.getFullYear(), twoDigits(at.getMonth() + 1), twoDigits(at.getDate())].join("-");
  return `${date}T${twoDigits(at.getHours())}:${twoDigits(at.getMinutes())}`;
}

/** Returns a time in Unix seconds. */
export const unixSeconds = (at: Date): number => Math.floor(at.getTime() / 1000);
