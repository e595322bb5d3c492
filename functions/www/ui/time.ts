import { signal } from "@preact/signals";
import { formatDecimal } from "./words";
import { language, plural, t } from "../texts/translate";

/** The current Unix time in seconds, updated every second while the page is visible. */
export const currentSecond = signal(Math.floor(Date.now() / 1000));
/** The current Unix time in seconds, updated every 15 seconds while the page is visible. */
export const currentMinute = signal(currentSecond.peek());

export function startClock(): () => void {
  const tick = () => {
    const seconds = Math.floor(Date.now() / 1000);
    currentSecond.value = seconds;
    if (seconds - currentMinute.peek() >= 15) currentMinute.value = seconds;
  };
  const timer = setInterval(() => {
    if (document.visibilityState === "visible") tick();
  }, 1000);
  document.addEventListener("visibilitychange", tick);
  return () => {
    clearInterval(timer);
    document.removeEventListener("visibilitychange", tick);
  };
}

const SECONDS_PER_MINUTE = 60;
const SECONDS_PER_HOUR = 3600;
const SECONDS_PER_DAY = 86_400;

/** Formats an elapsed time, for example 0:48, 4:12, 1 h 05 or 3 d. */
export function formatElapsed(seconds: number): string {
  const s = Math.max(0, Math.floor(seconds));
  if (s < SECONDS_PER_HOUR)
    return `${Math.floor(s / SECONDS_PER_MINUTE)}:${String(s % SECONDS_PER_MINUTE).padStart(2, "0")}`;
  if (s < SECONDS_PER_DAY)
    return t`${Math.floor(s / SECONDS_PER_HOUR)} h ${String(Math.floor((s % SECONDS_PER_HOUR) / SECONDS_PER_MINUTE)).padStart(2, "0")}`;
  return t`${Math.floor(s / SECONDS_PER_DAY)} d`;
}

/** Formats an elapsed time for screen readers. */
export function formatElapsedSpoken(seconds: number): string {
  const s = Math.max(0, Math.floor(seconds));
  if (s < SECONDS_PER_MINUTE) return plural(s, "{count} second", "{count} seconds");
  if (s < SECONDS_PER_HOUR) return plural(Math.floor(s / SECONDS_PER_MINUTE), "{count} minute", "{count} minutes");
  if (s < SECONDS_PER_DAY) return plural(Math.floor(s / SECONDS_PER_HOUR), "{count} hour", "{count} hours");
  return plural(Math.floor(s / SECONDS_PER_DAY), "{count} day", "{count} days");
}

/** Formats how long ago a time was: "now", "2 min" or "3 h". For earlier times, returns the day. */
export function formatAgo(at: number, current: number): string {
  const s = current - at;
  if (s < SECONDS_PER_MINUTE) return t`now`;
  if (s < SECONDS_PER_HOUR) return t`${Math.floor(s / SECONDS_PER_MINUTE)} min`;
  if (s < 12 * SECONDS_PER_HOUR) return t`${Math.floor(s / SECONDS_PER_HOUR)} h`;
  return shortDay(at, current);
}

/** Returns the locale for English dates and times: English words, like the rest of the console, in the order and with the clock
 * of the browser's country. */
export function englishLocale(browserLanguage: string): string {
  try {
    const { region } = new Intl.Locale(browserLanguage).maximize();
    return region === undefined ? "en" : `en-${region}`;
  } catch {
    return "en";
  }
}

/** The locale for dates and times. Other languages than English have the format of the first wanted variant. */
export const LOCALE =
  typeof navigator === "undefined"
    ? "en-GB"
    : language === "en"
      ? englishLocale(navigator.language)
      : (navigator.languages.find((tag) => tag.split("-")[0] === language) ?? language);

const clock = new Intl.DateTimeFormat(LOCALE, { hour: "2-digit", minute: "2-digit" });
const clockWithSeconds = new Intl.DateTimeFormat(LOCALE, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const full = new Intl.DateTimeFormat(LOCALE, { dateStyle: "full", timeStyle: "medium" });
const weekday = new Intl.DateTimeFormat(LOCALE, { weekday: "long", day: "numeric", month: "long" });
const dayMonth = new Intl.DateTimeFormat(LOCALE, { day: "numeric", month: "short" });
const dayMonthYear = new Intl.DateTimeFormat(LOCALE, { day: "numeric", month: "short", year: "numeric" });

export const clockTime = (at: number) => clock.format(at * 1000);
/** Formats the clock time of a time in milliseconds, with seconds. */
export const clockTimeWithSeconds = (ms: number) => clockWithSeconds.format(ms);
export const fullTime = (at: number) => full.format(at * 1000);

/** Returns a string that identifies the day of a time in the local time zone. */
export function localDay(at: number): string {
  const date = new Date(at * 1000);
  return `${date.getFullYear()}-${date.getMonth()}-${date.getDate()}`;
}

export function dayLabel(at: number, current: number): string {
  if (localDay(at) === localDay(current)) return t`Today`;
  if (localDay(at) === localDay(current - SECONDS_PER_DAY)) return t`Yesterday`;
  const isThisYear = new Date(at * 1000).getFullYear() === new Date(current * 1000).getFullYear();
  return isThisYear ? weekday.format(at * 1000) : dayMonthYear.format(at * 1000);
}

export function shortDay(at: number, current: number): string {
  if (localDay(at) === localDay(current)) return clockTime(at);
  if (localDay(at) === localDay(current - SECONDS_PER_DAY)) return t`Yesterday`;
  const isThisYear = new Date(at * 1000).getFullYear() === new Date(current * 1000).getFullYear();
  return (isThisYear ? dayMonth : dayMonthYear).format(at * 1000);
}

/** Formats seconds with at most two units, for example 41 s, 3 min 20 s or 2 h 5 min. */
export function formatSeconds(seconds: number): string {
  if (seconds < 1) return t`under 1 s`;
  if (seconds < 10) return t`${Number(seconds.toFixed(1)).toLocaleString(language)} s`;
  const s = Math.round(seconds);
  const pair = (large: string, rest: number, small: string) => (rest === 0 ? large : `${large} ${small}`);
  const minutesOf = (minutes: number) => t`${minutes} min`;
  const hoursOf = (hours: number) => t`${hours} h`;
  if (s < SECONDS_PER_MINUTE) return t`${s} s`;
  if (s < SECONDS_PER_HOUR)
    return pair(minutesOf(Math.floor(s / SECONDS_PER_MINUTE)), s % SECONDS_PER_MINUTE, t`${s % SECONDS_PER_MINUTE} s`);
  const minutes = Math.round(s / SECONDS_PER_MINUTE);
  if (s < SECONDS_PER_DAY && minutes < 1440)
    return pair(hoursOf(Math.floor(minutes / 60)), minutes % 60, minutesOf(minutes % 60));
  const hours = Math.round(s / SECONDS_PER_HOUR);
  return pair(t`${Math.floor(hours / 24)} d`, hours % 24, hoursOf(hours % 24));
}

/** Formats a duration, for example 84 ms or 3.0 s. */
export const formatDuration = (ms: number) => (ms < 1000 ? `${ms} ms` : t`${formatDecimal(ms / 1000)} s`);
