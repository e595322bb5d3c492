const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** Formats a Unix time in milliseconds as a time of day. */
export const formatTime = (at: number): string => clock.format(at);
