const INITIAL_DELAY_MS = 1000;
const MAX_DELAY_MS = 30_000;

/** How long to wait before the attempt after `failures` failures: 1, 2, 4 ... 30 s, each up to a quarter shorter, so that
 * clients that were cut off together do not come back together. */
export function backoffDelayMs(failures: number, random: () => number = Math.random): number {
  const maxDelay = Math.min(MAX_DELAY_MS, INITIAL_DELAY_MS * 2 ** Math.max(0, failures - 1));
  return Math.round(maxDelay * (1 - random() * 0.25));
}
