/* Locators and actions that tests use on a page of the console. */

export const chatRow = (page, name) =>
  page.locator(".row", { hasText: name }).first();
export const bubble = (page, text) =>
  page.locator(".bubble", { hasText: text });
export const line = (page, text) => page.locator(".line", { hasText: text });
export const textarea = (page) => page.locator(".composer textarea");
export const searchField = (page) => page.locator("#search-chats");

export async function openChat(page, name) {
  await chatRow(page, name).click();
  await waitForChat(page, name);
}

export async function waitForChat(page, name) {
  await page.locator(".conversation header h2", { hasText: name }).waitFor();
  await page.locator(".turn").first().waitFor();
}

export async function sendMessage(page, text) {
  await textarea(page).fill(text);
  await textarea(page).press("Enter");
}

export const waitForDelivered = (page, text) =>
  line(page, text).locator(".mark.ok").waitFor();

/** Waits until the service has responded to all messages of the agent. The push that shows a message as sent can come
    before the response, and until then the console asks before it closes the chat. */
export const waitForResponses = (page) =>
  page.waitForFunction(
    () => !Object.keys(localStorage).some((key) => key.includes(".outbox.")),
  );

/** Moves the focus to the page itself, so that keys are shortcuts. */
export const blur = (page) =>
  page.evaluate(() => document.activeElement?.blur());

/** Moves the focus to the page itself, and then presses the key of a shortcut. */
export async function pressShortcut(page, key) {
  await blur(page);
  await page.keyboard.press(key);
}

/** Stops the page's clock, which the test must have installed: timers and animation frames run only in `clock.runFor`,
    so that a test on a slow machine cannot miss what is shown for only a few seconds. */
export async function stopClock(page) {
  const now = await page.evaluate(() => Date.now());
  await page.clock.pauseAt(now + 10_000);
}

/** Scrolls the message log until it is `px` pixels from its end. Repeats the scrolling until the button below the log
    appears, because the log returns to its end until it has noticed the scrolling. */
export const scrollUp = (page, px) =>
  page.waitForFunction((px) => {
    const log = document.querySelector(".log");
    if (document.querySelector(".news") !== null) return true;
    log.scrollTop = log.scrollHeight - log.clientHeight - px;
    return false;
  }, px);

/** Waits until the socket is open and all earlier changes have been loaded. */
export const waitUntilLive = (page) =>
  page.locator(".app[data-connection=live]").waitFor();

/** Waits until the page of one thing has given the focus to its heading. This happens after the page has appeared, and
    would take the focus from a field that the test already fills. */
export const waitForHeadingFocus = (page) => page.locator("h2:focus").waitFor();

/** Waits until the sign-in page has given the focus to a field, for the same reason. */
export const waitForSignIn = (page) =>
  page.locator(".sign-in input:focus").waitFor();

/** Waits until the browser has gone back from the visitor's details to the chat, which happens after they are hidden. */
export const waitForPaneClosed = (page) =>
  page.waitForFunction(() => history.state === null);

/** Opens a section, which a phone lists in a menu. */
export async function openSection(page, name) {
  const link = page.getByRole("link", { name, exact: true });
  if (await link.isVisible()) return link.click();
  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name, exact: true }).click();
}

/** Waits until the preview of a widget has been rendered, even if a narrow page hides it. */
export const waitForPreview = (context) =>
  (context.page ?? context)
    .locator("switchboard-widget .root")
    .waitFor({ state: "attached" });

/** Shows a moment in the preview of a widget, which a narrow page hides behind the settings. */
export async function showPreview(page, moment) {
  const preview = page.getByRole("radio", { name: "Preview" });
  if (await preview.isVisible()) await preview.check();
  await page.getByRole("radio", { name: moment, exact: true }).check();
}

/** Opens the command palette and searches for a text. */
export async function searchInPalette(page, text) {
  await pressShortcut(page, "Control+k");
  await page
    .getByRole("combobox", { name: "Find a chat or an action" })
    .fill(text);
}
