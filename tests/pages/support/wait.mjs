/* Waits for conditions outside the page, and for the focus. For all else inside the page, tests use the waiting
   functions of Playwright. */

const POLL_INTERVAL_MS = 25;
/** Only ends a test that hangs. */
const TIMEOUT_MS = 40_000;

/** Calls `condition` until it returns a value other than undefined, null and false, and returns this value. The
    description is part of the error message after a timeout. */
export async function waitFor(description, condition, timeoutMs = TIMEOUT_MS) {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== null && value !== false) return value;
    if (Date.now() > deadline)
      throw new Error(`waited ${timeoutMs} ms for ${description}`);
    await new Promise((done) => setTimeout(done, POLL_INTERVAL_MS));
  }
}

/** Waits until the element has the focus, which may move after the page has drawn it. */
export const waitForFocus = (locator) =>
  locator.and(locator.page().locator(":focus")).waitFor();
