/* Lost networks, lost sockets, lost pushes and lost responses. */

import assert from "node:assert/strict";
import {
  bubble,
  chatRow,
  journey,
  line,
  openChat,
  sendMessage,
  stopClock,
  useBrowser,
  waitForDelivered,
  waitUntilLive,
} from "../support/console.mjs";
import { Network } from "../support/network.mjs";
import { waitFor } from "../support/wait.mjs";

useBrowser();

const banner = (page) => page.locator(".connection-banner");
const shownTexts = (page) => page.locator(".log .bubble").allInnerTexts();

/** Restores the network and reconnects. */
async function reconnect(page, network) {
  network.restore();
  // Playwright's click would wait in vain if the page reconnects by itself first, because the button then disappears.
  await page.evaluate(() =>
    document.querySelector(".connection-banner button")?.click(),
  );
  await waitUntilLive(page);
}

/** Runs a test whose pages reach the local host through a network that the test can cut. */
function networkJourney(name, run) {
  journey(name, async ({ account, openWithChat }) => {
    const network = await Network.start();
    const openOnNetwork = async (visitorName, options) => {
      const opened = await openWithChat(visitorName, {
        ...options,
        ...network.contextOptions,
      });
      // A chat that is still loading when the network is cut would not be shown.
      await opened.page.waitForLoadState("networkidle");
      return opened;
    };
    try {
      await run({ account, network, openWithChat: openOnNetwork });
    } finally {
      network.close();
    }
  });
}

networkJourney(
  "cut network loses no message and repeats none",
  async ({ account, network, openWithChat }) => {
    const { page, visitor: thanh } = await openWithChat("Thanh Nguyễn", {
      text: "Before",
    });
    network.cut();
    for (const text of ["One", "Two", "Three"]) await thanh.say(text);
    await account.openChat("Amara Kone");
    await account.admin.send(thanh.chatId, "From another computer");
    await banner(page).waitFor();
    await reconnect(page, network);
    await thanh.say("After");
    await bubble(page, "After").waitFor();
    assert.deepEqual(await shownTexts(page), [
      "Before",
      "One",
      "Two",
      "Three",
      "From another computer",
      "After",
    ]);
    await page.getByRole("tab", { name: /Waiting/ }).click();
    await chatRow(page, "Amara Kone").waitFor();
    assert.equal(await page.locator(".row").count(), 2);
  },
);

networkJourney(
  "broken socket is opened again and misses nothing",
  async ({ network, openWithChat }) => {
    const { page, visitor: thanh } = await openWithChat("Thanh Nguyễn");
    for (let round = 1; round <= 3; round++) {
      network.breakSockets();
      await thanh.say(`Round ${round}`);
      await bubble(page, `Round ${round}`).waitFor();
      await waitUntilLive(page);
    }
    assert.deepEqual(await shownTexts(page), [
      "Hello",
      "Round 1",
      "Round 2",
      "Round 3",
    ]);
  },
);

networkJourney(
  "console without a socket polls and says so",
  async ({ network, openWithChat }) => {
    const { page, visitor: thanh } = await openWithChat("Thanh Nguyễn");
    network.cutSockets();
    await page.getByText("The live connection is interrupted.").waitFor();
    await page.getByText(/Next attempt in \d+ s|Trying/).waitFor();
    await thanh.say("Read by polling");
    await bubble(page, "Read by polling").waitFor();
    await sendMessage(page, "Answered by polling");
    await waitForDelivered(page, "Answered by polling");
    await reconnect(page, network);
    await banner(page).waitFor({ state: "detached" });
  },
);

networkJourney(
  "messages written offline arrive once and in order",
  async ({ account, network, openWithChat }) => {
    const { page, visitor: thanh } = await openWithChat("Thanh Nguyễn");
    await page.clock.install();
    network.cut();
    await sendMessage(page, "Offline one");
    await sendMessage(page, "Offline two");
    await page.locator(".connection-banner.bad").waitFor();
    // Stop the clock, so that the page is reloaded before it retries the messages.
    await stopClock(page);
    network.restore();
    await page.reload();
    await page.clock.resume();
    await waitForDelivered(page, "Offline two");
    assert.deepEqual(await account.admin.texts(thanh.chatId), [
      "Hello",
      "Offline one",
      "Offline two",
    ]);
    const sent = account.channel.integrator.received
      .map(({ message }) => message.text)
      .filter((text) => /^Offline/.test(text));
    assert.deepEqual(sent, ["Offline one", "Offline two"]);
  },
);

networkJourney(
  "message that the service refuses later says why",
  async ({ account, network, openWithChat }) => {
    const { page, visitor: thanh } = await openWithChat("Thanh Nguyễn");
    network.cut();
    await sendMessage(page, "Too late");
    await account.admin.close(thanh.chatId);
    network.restore();
    const failure = page.locator(".fail", { hasText: "Not sent." });
    await failure.waitFor();
    await failure.getByRole("button", { name: "Discard" }).click();
    await line(page, "Too late").waitFor({ state: "detached" });
    await page.getByText("This chat is closed").waitFor();
    assert.deepEqual(await account.admin.texts(thanh.chatId), ["Hello"]);
  },
);

journey(
  "message with a lost response is stored once",
  async ({ account, openWithChat }) => {
    const { page, visitor: thanh } = await openWithChat("Thanh Nguyễn");
    let isResponseLost = false;
    await page.route("**/agent/chats/*/messages", async (route) => {
      if (isResponseLost || route.request().method() !== "POST")
        return route.continue();
      isResponseLost = true;
      await route.fetch();
      await route.abort("connectionreset");
    });
    await sendMessage(page, "Only once");
    await waitForDelivered(page, "Only once");
    await sendMessage(page, "Next");
    await waitForDelivered(page, "Next");
    const expected = ["Hello", "Only once", "Next"];
    assert.deepEqual(await account.admin.texts(thanh.chatId), expected);
    assert.deepEqual(await shownTexts(page), expected);
  },
);

journey("message appears at once and only once", async ({ openWithChat }) => {
  const { page } = await openWithChat("Thanh Nguyễn");
  let release;
  const isReleased = new Promise((done) => (release = done));
  await page.route("**/agent/chats/*/messages", async (route) => {
    if (route.request().method() !== "POST") return route.continue();
    const response = await route.fetch();
    await isReleased;
    await route.fulfill({ response });
  });
  // Records the maximum number of times that the message is shown in one frame.
  await page.evaluate(() => {
    window.maxShown = 0;
    const count = () => {
      const shown = [...document.querySelectorAll(".bubble")].filter(
        (element) => element.textContent === "Sent with care",
      );
      window.maxShown = Math.max(window.maxShown, shown.length);
      requestAnimationFrame(count);
    };
    count();
  });
  await sendMessage(page, "Sent with care");
  // The push arrives first, because the route holds the response to the POST until `release` is called.
  await waitForDelivered(page, "Sent with care");
  release();
  await sendMessage(page, "The next one");
  await waitForDelivered(page, "The next one");
  assert.equal(await page.evaluate(() => window.maxShown), 1);
});

journey("lost push is read again", async ({ account, open }) => {
  const thanh = await account.openAcceptedChat("Thanh Nguyễn");
  const page = await open();
  let isLosing = false;
  const lost = [];
  await page.routeWebSocket(/\/socket/, (client) => {
    const server = client.connectToServer();
    server.onMessage((frame) => {
      if (isLosing && /"type":"(message|chat)"/.test(frame)) lost.push(frame);
      else client.send(frame);
    });
  });
  await page.reload();
  await waitUntilLive(page);
  await openChat(page, "Thanh Nguyễn");
  await thanh.say("Pushed");
  await bubble(page, "Pushed").waitFor();
  isLosing = true;
  await thanh.say("Lost");
  await waitFor("the pushes of a message", () => lost.length >= 2);
  isLosing = false;
  await thanh.say("Pushed again");
  await bubble(page, "Lost").waitFor();
  assert.deepEqual(await shownTexts(page), [
    "Hello",
    "Pushed",
    "Lost",
    "Pushed again",
  ]);
});
