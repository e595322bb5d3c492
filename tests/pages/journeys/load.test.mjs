/* Forty open chats while two hundred messages come in: nothing jumps, and no frame takes longer than 100 ms. */

import assert from "node:assert/strict";
import {
  bubble,
  journey,
  openChat,
  scrollUp,
  useBrowser,
} from "../support/console.mjs";
import { measureFrames } from "../support/frames.mjs";

useBrowser();

const CHATS = 40;
const MESSAGES = 200;
const MAX_FRAME_MS = 100;

/** Opens the chats. The first one has enough messages to scroll. */
async function openChats(account) {
  const visitors = [];
  for (let number = 1; number <= CHATS; number++)
    visitors.push(await account.openChat(`Visitor no ${number}.`));
  for (let number = 1; number <= 40; number++)
    await visitors[0].say(
      `Line ${number} ${"of a long story ".repeat(number % 7)}`,
    );
  return visitors;
}

/** Requests animation frames without end, so that each frame of the page is measured. */
const animate = () => {
  const tick = () => requestAnimationFrame(tick);
  tick();
};

/** Sets `window.measured`: `positions()` returns the positions of a row of the list and of a message on the screen, the
    order of the rows, and the scroll position of the log. `shift` is the sum of the layout shifts. */
const observePositions = () => {
  const measured = { shift: 0 };
  window.measured = measured;
  new PerformanceObserver((entries) =>
    entries.getEntries().forEach(({ value }) => (measured.shift += value)),
  ).observe({ type: "layout-shift", buffered: false });
  const list = document.querySelector("#chat-list");
  const log = document.querySelector(".log");
  // Observe a visible row: a row above the visible part of the list may change its height, but no visible row may move.
  const { top } = list.getBoundingClientRect();
  const row = [...list.querySelectorAll(".row")].find(
    (row) => row.getBoundingClientRect().top > top,
  );
  const message = document.querySelectorAll(".bubble")[20];
  measured.positions = () => ({
    row: row.getBoundingClientRect().top,
    order: [...list.querySelectorAll(".who")].map((who) => who.textContent),
    message: message.getBoundingClientRect().top,
    log: log.scrollTop,
  });
};

const positions = (page) => page.evaluate(() => window.measured.positions());

const waitForUnread = (page, count) =>
  page.waitForFunction(
    (count) =>
      [...document.querySelectorAll(".row .unread")].reduce(
        (sum, unread) => sum + (parseInt(unread.textContent) || 0),
        0,
      ) >= count,
    count,
  );

journey(
  "forty chats take 200 messages without a jump or a long frame",
  async ({ account, open }) => {
    const visitors = await openChats(account);
    const page = await open();
    await page
      .locator(".row")
      .nth(CHATS - 1)
      .waitFor();
    await openChat(page, visitors[0].name);
    await bubble(page, "Line 40 ").waitFor();

    // Scroll to the middle of the list and of the conversation.
    await page.evaluate(() => {
      document.querySelector("#chat-list").scrollTop = 500;
    });
    await scrollUp(page, 600);
    await page.evaluate(observePositions);
    await page.evaluate(animate);
    const before = await positions(page);
    const frames = await measureFrames(page, async () => {
      for (let number = 0; number < MESSAGES; number++)
        await visitors[number % CHATS].say(`Message ${number} of the burst`);
      await waitForUnread(page, MESSAGES);
    });
    const after = await positions(page);
    const shift = await page.evaluate(() => window.measured.shift);

    const longest = (name) => Math.max(...frames.map((frame) => frame[name]));
    console.log(
      `${frames.length} frames, at most ${longest("workMs").toFixed(0)} ms of work and ${longest("clockMs").toFixed(0)} ms on the clock; layout shift ${shift.toFixed(4)}`,
    );
    assert.deepEqual(after.order, before.order);
    for (const name of ["row", "log", "message"]) {
      const moved = Math.abs(after[name] - before[name]);
      assert.ok(moved < 1, `${name}: moved by ${moved} px`);
    }
    // The floating button that counts new messages becomes wider: 0.0005 each time that it does so in a frame of its
    // own. If two rows changed places once, the shift would be 0.004.
    assert.ok(shift < 0.002, `layout shift ${shift}`);
    assert.ok(frames.length > MESSAGES / 2, `${frames.length} frames`);
    assert.ok(longest("workMs") < MAX_FRAME_MS, `${longest("workMs")} ms`);
  },
  { settings: { limits: { visitor_messages: 1000 } } },
);

journey("long frame is noticed", async ({ open }) => {
  const page = await open();
  await page.evaluate(animate);
  const frames = await measureFrames(page, () =>
    page.evaluate(
      () =>
        new Promise((done) => {
          requestAnimationFrame(() => {
            // A fixed amount of work, because the processor may work on something else meanwhile.
            let sum = 0;
            for (let step = 0; step < 1e8; step++) sum += Math.sqrt(sum + 1);
            window.sum = sum;
            requestAnimationFrame(() => requestAnimationFrame(done));
          });
        }),
    ),
  );
  const longest = Math.max(...frames.map(({ workMs }) => workMs));
  assert.ok(longest > MAX_FRAME_MS, `${longest} ms`);
});
