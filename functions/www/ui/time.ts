import { signal } from "@preact/signals";

/** Unix seconds now; ticks once a second while the page is visible. */
export const currentSecond = signal(Math.floor(Date.now() / 1000));
/** As `now`, once a minute. */
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

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

/** A running time: 0:48, 4:12, 1 h 05, 3 d. */
export function formatElapsed(seconds: number): string {
  const s = Math.max(0, Math.floor(seconds));
  if (s < HOUR) return `${Math.floor(s / MINUTE)}:${String(s % MINUTE).padStart(2, "0")}`;
  if (s < DAY) return `${Math.floor(s / HOUR)} h ${String(Math.floor((s % HOUR) / MINUTE)).padStart(2, "0")}`;
  return `${Math.floor(s / DAY)} d`;
}

/** A running time for a screen reader. */
export function formatElapsedSpoken(seconds: number): string {
  const s = Math.max(0, Math.floor(seconds));
  const plural = (count: number, word: string) => `${count} ${word}${count === 1 ? "" : "s"}`;
  if (s < MINUTE) return plural(s, "second");
  if (s < HOUR) return plural(Math.floor(s / MINUTE), "minute");
  if (s < DAY) return plural(Math.floor(s / HOUR), "hour");
  return plural(Math.floor(s / DAY), "day");
}

/** How long ago: now, 2 min, 3 h, then the day. */
export function formatAgo(at: number, current: number): string {
  const s = current - at;
  if (s < MINUTE) return "now";
  if (s < HOUR) return `${Math.floor(s / MINUTE)} min`;
  if (s < 12 * HOUR) return `${Math.floor(s / HOUR)} h`;
  return shortDay(at, current);
}

const clock = new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" });
const weekday = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long" });
const dayMonth = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const dayMonthYear = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });

export const clockTime = (at: number) => clock.format(at * 1000);
export const fullTime = (at: number) => full.format(at * 1000);

/** Identifies the local day. */
export function localDay(at: number): string {
  const date = new Date(at * 1000);
  return `${date.getFullYear()}-${date.getMonth()}-${date.getDate()}`;
}

export function dayLabel(at: number, current: number): string {
  if (localDay(at) === localDay(current)) return "Today";
  if (localDay(at) === localDay(current - DAY)) return "Yesterday";
  const isThisYear = new Date(at * 1000).getFullYear() === new Date(current * 1000).getFullYear();
  return isThisYear ? weekday.format(at * 1000) : dayMonthYear.format(at * 1000);
}

export function shortDay(at: number, current: number): string {
  if (localDay(at) === localDay(current)) return clockTime(at);
  if (localDay(at) === localDay(current - DAY)) return "Yesterday";
  const isThisYear = new Date(at * 1000).getFullYear() === new Date(current * 1000).getFullYear();
  return (isThisYear ? dayMonth : dayMonthYear).format(at * 1000);
}

/** 84 ms, 3.0 s. */
export const formatDuration = (ms: number) => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`);
