/* What the visitor notices of a new message while the window is closed: the bubble beside the label, the announcement,
   the sound, and the number in the tab's title. */

import assert from "node:assert/strict";
import { stopClock } from "../support/console-page.mjs";
import {
  api,
  closeWindow,
  invite,
  openWindow,
  setHidden,
  shopJourney,
  unreadLabel,
  useEmbeddingBrowser,
  waitForSent,
  write,
} from "../support/shop.mjs";
import { waitFor } from "../support/wait.mjs";

useEmbeddingBrowser();

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
/** Starts a chat with an agent, and closes the window. */
async function startChat(shop, page) {
  await shop.startChat(page);
  await closeWindow(page);
}

shopJourney(
  "last answer appears beside the closed window, and opens it",
  async (shop) => {
    const page = await shop.open();
    await startChat(shop, page);
    await shop.answer("first");
    await shop.answer("second");
    await preview(page).getByText("second", { exact: true }).waitFor();
    assert.equal(await preview(page).count(), 1);
    assert.match(
      await preview(page).innerText(),
      /\bMarta Lindholm \d\d:\d\d\n/,
    );
    await preview(page).getByText("second").click();
    await page.getByRole("log").getByText("second").waitFor();
    assert.equal(await preview(page).count(), 0);
  },
);

shopJourney(
  "answer of a bot beside the window is text without marks",
  async (shop) => {
    const bot = await shop.account.addBot(shop.widget, () => []);
    const page = await shop.open();
    await openWindow(page);
    await write(page, "Hello");
    await waitForSent(page, "Hello");
    await closeWindow(page);
    const [{ chat_id }] = await shop.admin.chats("bot");
    const content = "See **[the parcel](https://parcels.example)**";
    const message = { type: "MARKDOWN", content };
    await bot.post({ event: "BOT_MESSAGE", chat_id, message });
    await preview(page).getByText("See the parcel", { exact: true }).waitFor();
  },
);

shopJourney(
  "dismissed message stays unread, also after a reload",
  async (shop) => {
    const page = await shop.open();
    await startChat(shop, page);
    await shop.answer("first");
    await page.getByRole("button", { name: "Dismiss" }).click();
    await preview(page).waitFor({ state: "detached" });
    await page.reload();
    await unreadLabel(page, 1).waitFor();
    assert.equal(await preview(page).count(), 0);
    await shop.answer("second");
    await preview(page).getByText("second").waitFor();
  },
);

shopJourney("unread answer of an earlier page is shown again", async (shop) => {
  const page = await shop.open();
  await startChat(shop, page);
  await shop.answer("Your parcel has been found");
  await preview(page).waitFor();
  await page.reload();
  await preview(page).getByText("Your parcel has been found").waitFor();
});

shopJourney(
  "Escape dismisses the message, and leaves the focus on the page",
  async (shop) => {
    const page = await shop.open();
    await startChat(shop, page);
    await page.evaluate(() => document.activeElement.blur());
    await shop.answer("first");
    await preview(page).waitFor();
    await page.keyboard.press("Escape");
    await preview(page).waitFor({ state: "detached" });
    assert.equal(
      await page.evaluate(() => document.activeElement.tagName),
      "BODY",
    );
  },
);

shopJourney(
  "Escape dismisses an invitation and returns the focus to the label",
  async (shop) => {
    const page = await shop.open();
    await api(page, "setRules", [invite("Help?")]);
    await page.locator(".invitation .body").focus();
    await page.keyboard.press("Escape");
    await page.locator(".invitation").waitFor({ state: "detached" });
    await page.locator(".label:focus").waitFor();
  },
);

shopJourney(
  "focus returns to the button of the page that opened the window",
  async (shop) => {
    const page = await shop.open();
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
  },
);

shopJourney("message is not shown over a dialog of the page", async (shop) => {
  const page = await shop.open();
  await startChat(shop, page);
  await page.evaluate(() => {
    const dialog = document.createElement("div");
    dialog.setAttribute("role", "dialog");
    dialog.setAttribute("aria-modal", "true");
    dialog.textContent = "Your cart";
    document.body.append(dialog);
  });
  await shop.answer("first");
  await unreadLabel(page, 1).waitFor();
  assert.equal(await preview(page).count(), 0);
  await page.evaluate(() => document.querySelector("div[role]").remove());
  await preview(page).waitFor();
});

shopJourney("message is announced while the window is closed", async (shop) => {
  const page = await shop.open();
  await page.clock.install();
  await startChat(shop, page);
  const status = page.locator("aside > [role=status]");
  assert.equal(await status.textContent(), "");
  // The announcement disappears after five seconds.
  await stopClock(page);
  await shop.answer("first");
  await status.getByText("Marta Lindholm: first").waitFor();
});

shopJourney(
  "messages beside the closed window make one sound",
  async (shop) => {
    const page = await shop.open({ prepare: countTones });
    await page.clock.install();
    await startChat(shop, page);
    await stopClock(page);
    await shop.answer("first");
    await shop.answer("second");
    await unreadLabel(page, 2).waitFor();
    await page.clock.runFor(1000);
    await waitFor("a tone", async () => (await tones(page)) > 0);
    await page.clock.runFor(1000);
    assert.equal(await tones(page), 1);
  },
);

shopJourney("message in the open window makes no sound", async (shop) => {
  const page = await shop.open({ prepare: countTones });
  await page.clock.install();
  await shop.startChat(page);
  await shop.answer("first");
  await page.getByText("first").waitFor();
  await page.clock.runFor(1000);
  assert.equal(await tones(page), 0);
});

shopJourney(
  "message makes no sound without the setting",
  async (shop) => {
    const page = await shop.open({ prepare: countTones });
    await page.clock.install();
    await startChat(shop, page);
    await shop.answer("first");
    await preview(page).waitFor();
    await page.clock.runFor(1000);
    assert.equal(await tones(page), 0);
  },
  { settings: { sound: false } },
);

shopJourney(
  "page that the visitor has not used makes no sound",
  async (shop) => {
    const page = await shop.open({
      visitor: await shop.addChat("Hello"),
      prepare: async (page) => {
        await countTones(page);
        // The commands of the test count as actions of the visitor.
        await page.addInitScript(() =>
          Object.defineProperty(navigator, "userActivation", {
            get: () => ({ hasBeenActive: false }),
          }),
        );
      },
    });
    await page.clock.install();
    await shop.answer("first");
    await preview(page).waitFor();
    await page.clock.runFor(1000);
    assert.equal(await tones(page), 0);
  },
);

shopJourney(
  "title counts unread messages while the tab is hidden",
  async (shop) => {
    const page = await shop.open();
    await startChat(shop, page);
    await setHidden(page, true);
    await shop.answer("first");
    await waitFor("one", async () => (await page.title()) === "(1) Shop");
    await shop.answer("second");
    await waitFor("two", async () => (await page.title()) === "(2) Shop");
    await setHidden(page, false);
    await waitFor("the title", async () => (await page.title()) === "Shop");
    await unreadLabel(page, 2).waitFor();
  },
);

shopJourney(
  "title that the page changes in the meantime is kept",
  async (shop) => {
    const page = await shop.open();
    await startChat(shop, page);
    await setHidden(page, true);
    await shop.answer("first");
    await waitFor("one", async () => (await page.title()) === "(1) Shop");
    await page.evaluate(() => (document.title = "Sale ends!"));
    await shop.answer("second");
    await waitFor("two", async () => (await page.title()) === "(2) Sale ends!");
    await page.evaluate(() => (document.title = "Shop again"));
    await setHidden(page, false);
    await unreadLabel(page, 2).waitFor();
    assert.equal(await page.title(), "Shop again");
  },
);

shopJourney("agents see the page's title without the number", async (shop) => {
  const network = await shop.addNetwork();
  const page = await shop.open(network.contextOptions);
  await startChat(shop, page);
  await setHidden(page, true);
  await shop.answer("first");
  await waitFor("one", async () => (await page.title()) === "(1) Shop");
  shop.requests.length = 0;
  network.breakSockets();
  await waitFor("a session", () => shop.requestsTo("session").length > 0);
  assert.equal(shop.requestsTo("session")[0].body.page.title, "Shop");
});
