const DAY_MS = 86_400_000;

const startOfDay = (at: number) => new Date(at).setHours(0, 0, 0, 0);
const daysBetween = (at: number, now: number) => Math.round((startOfDay(now) - startOfDay(at)) / DAY_MS);

export const isSameDay = (one: number, other: number): boolean => startOfDay(one) === startOfDay(other);

/** Returns the time of day, for example "10:19". Dates and times have the format of the browser's region if the
 * browser's language is `language`. */
export const timeOfDay = (at: number, language: string): string => format(at, language, { timeStyle: "short" });

/** Returns the day of a date line, for example "Today". */
export function day(at: number, now: number, language: string): string {
  const daysAgo = daysBetween(at, now);
  if (daysAgo > 1) return format(at, language, { dateStyle: "long" });
  const word = new Intl.RelativeTimeFormat(language, { numeric: "auto" }).format(-daysAgo, "day");
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** Returns the time of day if it is today's, and otherwise the day. */
export const shortTime = (at: number, now: number, language: string): string =>
  daysBetween(at, now) === 0 ? timeOfDay(at, language) : day(at, now, language);

function format(at: number, language: string, options: Intl.DateTimeFormatOptions): string {
  const regional = navigator.language.startsWith(language) ? [navigator.language] : [];
  try {
    return new Intl.DateTimeFormat([...regional, language], options).format(at);
  } catch {
    // The browser's language can be a name that Intl does not accept, for example "en-US@posix".
    return new Intl.DateTimeFormat(language, options).format(at);
  }
}
