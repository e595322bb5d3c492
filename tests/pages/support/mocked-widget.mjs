/* Opens pages with the widget and a mock of its endpoints. */

import { after, before } from "node:test";
import { MockWidget } from "./mock-widget.mjs";
import { launch, openPage } from "./browser.mjs";
import { waitFor } from "./wait.mjs";

/** Starts Chromium, with the options of `launch`, before the tests of a file, and stops it after them. Returns a
    function that opens the site with a new mock and waits until the widget is ready, unless `isEmpty` is set. */
export function widgetSite(launchOptions) {
  let browser, mock;
  before(async () => {
    browser = await launch(launchOptions);
  });
  after(async () => {
    await browser?.close();
    await mock?.close();
  });
  return async (fields = {}, options = {}) => {
    // A page that has been closed may still send requests to its mock.
    await mock?.close();
    mock = await MockWidget.start();
    mock.reset(fields);
    const {
      prepare = () => {},
      path = "",
      isEmpty = false,
      ...others
    } = options;
    const opened = await openPage(browser, {
      width: 1100,
      height: 800,
      ...others,
    });
    await prepare(opened.page);
    await opened.page.goto(mock.siteUrl + path);
    if (!isEmpty)
      await opened.page.locator(".root").waitFor({ state: "attached" });
    return { ...opened, mock };
  };
}

export const openWindow = (page) =>
  page.getByRole("button", { name: "Open chat" }).click();

/** Sends a message, so that there is a chat with a socket, and closes the window. */
export async function startChat(page, mock) {
  await openWindow(page);
  await page.getByRole("textbox").fill("Hello");
  await page.keyboard.press("Enter");
  await page.getByText("Sent", { exact: true }).waitFor();
  await waitFor("a socket", () => mock.socketCount === 1);
  mock.setState("active");
  await page.getByText("Marta joined the chat").waitFor();
  await page.getByRole("button", { name: "Close chat" }).first().click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
}

/** Makes the page believe that its tab is hidden or visible. */
export const setHidden = (page, isHidden) =>
  page.evaluate((isHidden) => {
    Object.defineProperty(document, "hidden", {
      configurable: true,
      get: () => isHidden,
    });
    document.dispatchEvent(new Event("visibilitychange"));
  }, isHidden);
