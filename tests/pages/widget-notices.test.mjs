/* What the visitor notices of a new message while the window is closed: the bubble beside the label, the announcement,
   the sound, and the number in the tab's title. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CHAT_ID, SETTINGS } from "./support/mock-widget.mjs";
import {
  openWindow,
  setHidden,
  startChat,
  widgetSite,
} from "./support/mocked-widget.mjs";
import { waitFor } from "./support/wait.mjs";

const openSite = widgetSite();
/** The session of a known visitor with an open chat. */
const OPEN_CHAT = {
  visitor: { number: 42, contact_info: {}, custom_data: [] },
  chat: { chat_id: CHAT_ID, state: "active", agent: { name: "Marta" } },
};
const answer = (mock, text, fields = {}) =>
  mock.pushMessage({
    from: "agent",
    type: "text",
    name: "Marta",
    text,
    ...fields,
  });
const preview = (page) => page.locator(".preview");
const countTones = (page) =>
  page.addInitScript(() => {
    window.tones = 0;
    const create = AudioContext.prototype.createOscillator;
    AudioContext.prototype.createOscillator = function () {
      window.tones++;
      return create.call(this);
    };
  });
const tones = (page) => page.evaluate(() => window.tones);
const invite = (page) =>
  page.evaluate(() =>
    widget_api.setRules([
      {
        enabled: true,
        type: "all",
        conditions: [],
        commands: [{ command: "proactive", params: { message: "Help?" } }],
      },
    ]),
  );

test("answer appears beside the closed window, and opens it", async () => {
  const { page, context, mock } = await openSite();
  await startChat(page, mock);
  answer(mock, "first");
  answer(mock, "", {
    type: "markdown",
    content: "See **[the parcel](https://parcels.example)**",
  });
  await preview(page).getByText("See the parcel", { exact: true }).waitFor();
  assert.equal(await preview(page).count(), 1);
  assert.match(await preview(page).innerText(), /\bMarta \d\d:\d\d\n/);
  await preview(page).getByText("See the parcel").click();
  await page.getByRole("log").getByText("See the parcel").waitFor();
  assert.equal(await preview(page).count(), 0);
  await context.close();
});

test("dismissed message stays unread, also after a reload", async () => {
  const { page, context, mock } = await openSite();
  await startChat(page, mock);
  answer(mock, "first");
  await page.getByRole("button", { name: "Dismiss" }).click();
  await preview(page).waitFor({ state: "detached" });
  await page.reload();
  await page.getByRole("button", { name: "Open chat, 1 unread" }).waitFor();
  assert.equal(await preview(page).count(), 0);
  await waitFor("a socket", () => mock.socketCount === 1);
  answer(mock, "second");
  await preview(page).getByText("second").waitFor();
  await context.close();
});

test("unread answer of an earlier page is shown again", async () => {
  const { page, context, mock } = await openSite();
  await startChat(page, mock);
  answer(mock, "Your parcel has been found");
  await preview(page).waitFor();
  await page.reload();
  await preview(page).getByText("Your parcel has been found").waitFor();
  await context.close();
});

test("Escape dismisses the message, and leaves the focus on the page", async () => {
  const { page, context, mock } = await openSite();
  await startChat(page, mock);
  await page.evaluate(() => document.activeElement.blur());
  answer(mock, "first");
  await preview(page).waitFor();
  await page.keyboard.press("Escape");
  await preview(page).waitFor({ state: "detached" });
  assert.equal(
    await page.evaluate(() => document.activeElement.tagName),
    "BODY",
  );
  await context.close();
});

test("Escape dismisses an invitation and returns the focus to the label", async () => {
  const { page, context } = await openSite();
  await invite(page);
  await page.locator(".invitation .body").focus();
  await page.keyboard.press("Escape");
  await page.locator(".invitation").waitFor({ state: "detached" });
  await page.locator(".label:focus").waitFor();
  await context.close();
});

test("focus returns to the button of the page that opened the window", async () => {
  const { page, context } = await openSite();
  await page.evaluate(() => {
    const button = document.createElement("button");
    button.textContent = "Ask us";
    button.onclick = () => widget_api.open();
    document.body.append(button);
  });
  await page.getByRole("button", { name: "Ask us" }).click();
  await page.locator("textarea:focus").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("button:focus", { hasText: "Ask us" }).waitFor();
  await context.close();
});

test("message is not shown over a dialog of the page", async () => {
  const { page, context, mock } = await openSite();
  await startChat(page, mock);
  await page.evaluate(() => {
    const dialog = document.createElement("div");
    dialog.setAttribute("role", "dialog");
    dialog.setAttribute("aria-modal", "true");
    dialog.textContent = "Your cart";
    document.body.append(dialog);
  });
  answer(mock, "first");
  await page.getByRole("button", { name: "Open chat, 1 unread" }).waitFor();
  assert.equal(await preview(page).count(), 0);
  await page.evaluate(() => document.querySelector("div[role]").remove());
  await preview(page).waitFor();
  await context.close();
});

test("message is announced while the window is closed", async () => {
  const { page, context, mock } = await openSite();
  await startChat(page, mock);
  const status = page.locator("aside > [role=status]");
  assert.equal(await status.textContent(), "");
  answer(mock, "first");
  await status.getByText("Marta: first").waitFor();
  await context.close();
});

test("message beside the closed window makes a sound once", async () => {
  const { page, context, mock } = await openSite({}, { prepare: countTones });
  await startChat(page, mock);
  answer(mock, "first");
  answer(mock, "second");
  await waitFor("a tone", async () => (await tones(page)) > 0);
  assert.equal(await tones(page), 1);
  await context.close();
});

test("message in the open window makes no sound, and none without the setting", async () => {
  const { page, context, mock } = await openSite({}, { prepare: countTones });
  await page.clock.install();
  await startChat(page, mock);
  await openWindow(page);
  answer(mock, "first");
  await page.getByText("first").waitFor();
  await page.clock.runFor(1000);
  assert.equal(await tones(page), 0);
  await context.close();

  const silent = await openSite(
    { session: { widget: { ...SETTINGS, sound: false } } },
    { prepare: countTones },
  );
  await silent.page.clock.install();
  await startChat(silent.page, silent.mock);
  answer(silent.mock, "first");
  await preview(silent.page).waitFor();
  await silent.page.clock.runFor(1000);
  assert.equal(await tones(silent.page), 0);
  await silent.context.close();
});

test("page that the visitor has not used makes no sound", async () => {
  const { page, context, mock } = await openSite(
    { session: OPEN_CHAT },
    {
      prepare: async (page) => {
        await countTones(page);
        // The commands of the test count as actions of the visitor.
        await page.addInitScript(() =>
          Object.defineProperty(navigator, "userActivation", {
            get: () => ({ hasBeenActive: false }),
          }),
        );
      },
    },
  );
  await page.clock.install();
  await waitFor("a socket", () => mock.socketCount === 1);
  answer(mock, "first");
  await preview(page).waitFor();
  await page.clock.runFor(1000);
  assert.equal(await tones(page), 0);
  await context.close();
});

test("title counts unread messages while the tab is hidden", async () => {
  const { page, context, mock } = await openSite();
  await startChat(page, mock);
  await setHidden(page, true);
  answer(mock, "first");
  await waitFor("one", async () => (await page.title()) === "(1) Shop");
  answer(mock, "second");
  await waitFor("two", async () => (await page.title()) === "(2) Shop");
  await setHidden(page, false);
  await waitFor("the title", async () => (await page.title()) === "Shop");
  await page.getByRole("button", { name: "Open chat, 2 unread" }).waitFor();
  await context.close();
});

test("title that the page changes in the meantime is kept", async () => {
  const { page, context, mock } = await openSite();
  await startChat(page, mock);
  await setHidden(page, true);
  answer(mock, "first");
  await waitFor("one", async () => (await page.title()) === "(1) Shop");
  await page.evaluate(() => (document.title = "Sale ends!"));
  answer(mock, "second");
  await waitFor("two", async () => (await page.title()) === "(2) Sale ends!");
  await page.evaluate(() => (document.title = "Shop again"));
  await setHidden(page, false);
  await page.getByRole("button", { name: "Open chat, 2 unread" }).waitFor();
  assert.equal(await page.title(), "Shop again");
  await context.close();
});

test("agents see the page's title without the number", async () => {
  const { page, context, mock } = await openSite();
  await startChat(page, mock);
  await setHidden(page, true);
  answer(mock, "first");
  await waitFor("one", async () => (await page.title()) === "(1) Shop");
  mock.requests.length = 0;
  mock.dropSockets();
  const session = () =>
    mock.requests.find(({ endpoint }) => endpoint === "session");
  await waitFor("a session", session);
  assert.equal(session().body.page.title, "Shop");
  await context.close();
});
