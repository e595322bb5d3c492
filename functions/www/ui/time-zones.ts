/** Returns the names of the time zones that the browser knows, with UTC and the stored one. */
export const timeZoneNames = (stored: string): string[] =>
  [...new Set([...Intl.supportedValuesOf("timeZone"), "UTC", stored])].sort();
