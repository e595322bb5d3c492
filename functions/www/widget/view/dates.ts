const DAY_MS = 86_400_000;

const startOfDay = (at: number) => new Date(at).setHours(0, 0, 0, 0);

export const isSameDay = (one: number, other: number): boolean => startOfDay(one) === startOfDay(other);

/** Returns the text of a date line, for example "Today, 10:19". Dates and times have the format of the browser's region
 * if the browser's language is `language`. */
export function dateLine(at: number, now: number, language: string): string {
  const locale = navigator.language.startsWith(language) ? navigator.language : language;
  const format = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, options).format(at);
  const daysAgo = Math.round((startOfDay(now) - startOfDay(at)) / DAY_MS);
  if (daysAgo > 1) return format({ dateStyle: "long", timeStyle: "short" });
  const word = new Intl.RelativeTimeFormat(language, { numeric: "auto" }).format(-daysAgo, "day");
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}, ${format({ timeStyle: "short" })}`;
}
