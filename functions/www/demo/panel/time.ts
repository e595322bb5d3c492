const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** Formats a time in milliseconds since 1970 as a time of day. */
export const formatTime = (at: number): string => clock.format(at);
