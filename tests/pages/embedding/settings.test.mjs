/* What a widget's settings change on the page of another origin: its theme and place, the page's own button, the
   questions of the account, and the typing preview. */

import assert from "node:assert/strict";
import { axeViolations } from "../support/browser.mjs";
import { line, openChat } from "../support/console.mjs";
import {
  addWidget,
  api,
  composer,
  embedding,
  html,
  label,
  openWindow,
  useEmbeddingBrowser,
  waitForSent,
  write,
} from "../support/embedding.mjs";
import { waitFor, waitForFocus } from "../support/wait.mjs";

useEmbeddingBrowser();

const LAUNCHER = { hidden: false, offset_x: 20, offset_y: 20, z_index: 9 };
const SHOP = "<main><h1>Shop</h1></main>";
/** Without animations, the window is at its place at once. */
const STILL = { reducedMotion: "reduce" };
const PHONE = { width: 390, height: 844, touch: true };

/** Returns the distances of an element from the edges of the page, and its size. */
const placeOf = (locator) =>
  locator.evaluate((element) => {
    const { left, right, top, bottom, width, height } =
      element.getBoundingClientRect();
    const { clientWidth, clientHeight } = document.documentElement;
    return {
      left,
      right: clientWidth - right,
      top,
      bottom: clientHeight - bottom,
      width,
      height,
    };
  });

const CONSENT = {
  key: "terms",
  label: "I agree that my data is used to answer me.",
  type: "consent",
  link: "https://shop.example/privacy",
  required: true,
};

embedding(
  "page's own button opens the window, and gets the focus back",
  async ({ account, widget }) => {
    await account.admin.setPresence("online");
    const own = `<main><h1>Shop</h1><button id="own" onclick="widget_api.open()">Help</button></main>`;
    const page = await widget.openOn(
      {
        pages: { "*": html({ body: own + widget.tag }) },
      },
      STILL,
    );
    await page.locator(".root").waitFor({ state: "attached" });
    assert.equal(await label(page).count(), 0);
    await page.getByRole("button", { name: "Help" }).click();
    const window = page.getByRole("dialog", { name: "Chat with Northlight" });
    await window.waitFor();
    assert.equal(await label(page).count(), 0);
    const { right, bottom } = await placeOf(page.locator(".window"));
    assert.deepEqual([right, bottom], [20, 20], "where the button would be");
    await composer(page).waitFor();
    await page.keyboard.press("Escape");
    await window.waitFor({ state: "detached" });
    await waitForFocus(page.locator("#own"));
    assert.deepEqual(await axeViolations(page), []);
  },
  { settings: { launcher: { ...LAUNCHER, hidden: true } } },
);

embedding(
  "side, distances and layer are those of the settings",
  async (context) => {
    for (const position of ["left", "right"]) {
      const widget = await addWidget(context, {
        position,
        launcher: { ...LAUNCHER, offset_x: 64, offset_y: 96, z_index: 41 },
      });
      const site = await widget.site({
        head: `<style>#bar{position:fixed;inset:auto 0 0;height:400px;z-index:42}</style>`,
        body: `<div id="bar"></div>`,
      });
      const page = await widget.open(site, STILL);
      await label(page).waitFor();
      const button = await placeOf(label(page));
      assert.deepEqual([button[position], button.bottom], [64, 96], position);
      const topmost = () =>
        page.evaluate(
          ([left, top]) => document.elementFromPoint(left, top).id,
          [button.left + 28, button.top + 28],
        );
      assert.equal(await topmost(), "bar", "z-index 42 is above 41");
      await page.evaluate(() => (bar.style.zIndex = "40"));
      assert.equal(await topmost(), "", "z-index 40 is below 41");
      await openWindow(page);
      const window = await placeOf(page.locator(".window"));
      assert.deepEqual([window[position], window.bottom], [64, 168], position);
      assert.ok(window.top >= 20, "the window fits on the page");

      // On a phone, the button keeps its place, and the window fills the screen.
      const phone = await widget.open(site, { ...PHONE, ...STILL });
      await label(phone).waitFor();
      const small = await placeOf(label(phone));
      assert.deepEqual([small[position], small.bottom], [64, 96], "phone");
      await phone.evaluate(() => widget_api.open());
      await phone.locator(".window").waitFor();
      const { left, top, width, height } = await placeOf(
        phone.locator(".window"),
      );
      assert.deepEqual([left, top, width, height], [0, 0, 390, 844]);
    }
  },
);

embedding(
  "button with large distances stays on a small page",
  async (context) => {
    const widget = await addWidget(context, {
      launcher: { ...LAUNCHER, offset_x: 400, offset_y: 400 },
    });
    const page = await widget.openOn({}, { width: 360, height: 400 });
    await label(page).waitFor();
    const { left, top } = await placeOf(label(page));
    assert.ok(left >= 20 && top >= 20, `${left}, ${top}`);
  },
);

embedding(
  "light theme stays light on a dark device",
  async ({ account, widget }) => {
    await account.admin.setPresence("online");
    const page = await widget.openOn({ body: SHOP }, { scheme: "dark" });
    await openWindow(page);
    await composer(page).waitFor();
    const colors = await page.locator(".window").evaluate((element) => {
      const { backgroundColor, color, colorScheme } = getComputedStyle(element);
      return [backgroundColor, color, colorScheme];
    });
    assert.deepEqual(colors, [
      "rgb(255, 255, 255)",
      "rgb(29, 34, 43)",
      "light",
    ]);
    assert.deepEqual(await axeViolations(page), []);
  },
  { settings: { theme: "light" } },
);

embedding(
  "visitor agrees before the first message, and the agent sees it",
  async ({ account, widget, open }) => {
    await account.admin.setPresence("online");
    const page = await widget.openOn({ body: SHOP });
    await api(page, "setContactInfo", { name: "Amara Kone" });
    await openWindow(page);
    const start = page.getByRole("button", { name: "Start chat" });
    await start.click();
    await page.getByText("Please tick this box to continue.").waitFor();
    assert.equal(await composer(page).count(), 0);
    await waitForFocus(page.getByRole("checkbox", { name: CONSENT.label }));
    assert.deepEqual(await axeViolations(page), []);
    await page.getByLabel("What is it about?").selectOption("Returns");
    await page.getByRole("checkbox", { name: CONSENT.label }).check();
    await start.click();
    await composer(page).waitFor();
    await write(page, "Hello");
    await waitForSent(page, "Hello");

    const desk = await open();
    await openChat(desk, "Amara Kone");
    await line(desk, "Hello").first().waitFor();
    await desk.getByText(CONSENT.label).waitFor();
    await desk.getByText("What is it about?").waitFor();
    await desk.getByText("Returns", { exact: true }).waitFor();
    await page.reload();
    await api(page, "open");
    await composer(page).waitFor();
  },
  {
    settings: {
      contacts_form: {
        when: "before_first_message",
        fields: ["name"],
        required: [],
        custom_fields: [
          {
            key: "topic",
            label: "What is it about?",
            type: "select",
            options: ["Delivery", "Returns"],
          },
          CONSENT,
        ],
      },
    },
  },
);

/** Returns the notices of typing that the console gets by its socket, as they come. */
async function typingNotices(desk) {
  const notices = [];
  desk.on("websocket", (socket) =>
    socket.on("framereceived", ({ payload }) => {
      const frame = JSON.parse(payload);
      if (frame.type === "typing") notices.push(frame);
    }),
  );
  await desk.reload();
  return notices;
}

for (const typing_preview of [true, false])
  embedding(
    `agent ${typing_preview ? "sees what" : "sees only that"} the visitor is typing`,
    async ({ account, widget, open }) => {
      await account.admin.setPresence("online");
      const page = await widget.openOn();
      await api(page, "setContactInfo", { name: "Amara Kone" });
      await openWindow(page);
      await write(page, "Hello");
      await waitForSent(page, "Hello");
      const desk = await open();
      const notices = await typingNotices(desk);
      await openChat(desk, "Amara Kone");
      await composer(page).pressSequentially("My card is 4711");
      // A notice of typing is lost until both sockets are open.
      const waitForNotice = (description, matches) =>
        waitFor(description, async () => {
          await composer(page).press("!");
          return notices.some(matches);
        });
      await waitForNotice("the notice", ({ typing }) => typing);
      if (typing_preview)
        await waitForNotice("the text", ({ text }) =>
          text?.startsWith("My card"),
        );
      await composer(page).fill("");
      await waitFor("the end", () => notices.some(({ typing }) => !typing));
      const texts = notices.map(({ text }) => text).filter(Boolean);
      assert.equal(texts.length > 0, typing_preview, texts.join());
    },
    { settings: { typing_preview } },
  );

embedding(
  "first screen says who answers and how fast",
  async ({ account, widget }) => {
    await account.admin.setPresence("online");
    const page = await widget.openOn();
    await openWindow(page);
    const intro = page.locator("header");
    await intro.getByText("Marta Lindholm").waitFor();
    await intro.getByText("Usually answers in a few minutes").waitFor();
    await page.locator(".bubble", { hasText: "Ask us anything." }).waitFor();
    assert.deepEqual(await page.locator(".by b").allTextContents(), [
      "Northlight",
    ]);
  },
  { settings: { reply_time: "minutes", greeting: "Ask us anything." } },
);
