const INITIAL_DELAY_MS = 1000;
const MAX_DELAY_MS = 30_000;

/** Returns the delay before the next attempt after this many failures: 1, 2, 4, ... up to `maxDelayMs`. A random part of up to
 * 25 % is subtracted, so that clients that lost their connections at the same moment do not all reconnect at once. */
export function backoffDelayMs(failures: number, random = Math.random, maxDelayMs = MAX_DELAY_MS): number {
  const maxDelay = Math.min(maxDelayMs, INITIAL_DELAY_MS * 2 ** Math.max(0, failures - 1));
  return Math.round(maxDelay * (1 - random() * 0.25));
}
