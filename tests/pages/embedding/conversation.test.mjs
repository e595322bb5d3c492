/* The conversation on a page of another origin, while nobody is online and without sockets. */

import assert from "node:assert/strict";
import { host } from "../support/account.mjs";
import {
  api,
  called,
  composer,
  embedding,
  label,
  openWindow,
  strictPolicy,
  useEmbeddingBrowser,
  waitForSent,
  write,
} from "../support/embedding.mjs";
import { openChat } from "../support/console.mjs";
import { Network } from "../support/network.mjs";
import { waitFor } from "../support/wait.mjs";

useEmbeddingBrowser();

const LATER = "Messages may arrive a little later.";

/** Writes a first message. Returns the visitor's chat, which the admin has accepted. */
async function startChat(page, { admin }, text = "Do you have size 45?") {
  await api(page, "setContactInfo", { name: "Amara Kone" });
  await openWindow(page);
  await write(page, text);
  await waitForSent(page, text);
  const { chat_id } = await waitFor("the chat", () =>
    admin.chatOf("Amara Kone"),
  );
  await admin.accept(chat_id);
  return chat_id;
}

embedding(
  "answer can be read after everybody has left",
  async ({ account, widget }) => {
    const { admin } = account;
    await admin.setPresence("online");
    const page = await widget.openOn();
    const chatId = await startChat(page, account);
    await page.keyboard.press("Escape");
    await admin.send(chatId, "Yes, since today.");
    await admin.close(chatId);
    await admin.setPresence("offline");
    await page.reload();
    await page.getByRole("button", { name: "Open chat, 1 unread" }).click();
    await page.getByText("Yes, since today.").waitFor();
    assert.equal(await api(page, "chatMode"), "offline");
    assert.equal(await api(page, "getUnreadMessagesCount"), 0);
    const states = (await called(page)).filter((call) =>
      call.startsWith("onChangeState"),
    );
    assert.deepEqual(states, ["onChangeState chat"]);

    await page.getByRole("button", { name: "Leave a message" }).click();
    await page.getByText("Yes, since today.").waitFor();
    await page.getByLabel("E-mail").fill("amara@shop.example");
    await page.getByRole("textbox", { name: "Message" }).fill("Keep one");
    await page.getByRole("button", { name: "Send message" }).click();
    await page.getByText("Thank you", { exact: true }).waitFor();
    await page.keyboard.press("Escape");
    await label(page).click();
    await page.getByText("Yes, since today.").waitFor();
    await page.getByText("Keep one").waitFor();
  },
);

/** Checks that an answer arrives without a socket, and that the visitor is told. */
async function checkPolling(page, account) {
  const chatId = await startChat(page, account);
  await page.getByText(LATER).waitFor();
  await account.admin.send(chatId, "By request");
  await page.getByText("By request").waitFor();
  await page.getByText("Marta Lindholm joined the chat").waitFor();
  return chatId;
}

embedding(
  "answers arrive if the page's policy blocks the socket",
  async ({ account, widget, expectProblems }) => {
    expectProblems(/Content Security Policy/);
    await account.admin.setPresence("online");
    const policy = strictPolicy(host.base_url, {
      "connect-src": `'self' ${host.base_url}`,
    });
    const page = await widget.openOn({
      headers: { "content-security-policy": policy },
    });
    const chatId = await checkPolling(page, account);
    await page.keyboard.press("Escape");
    await openWindow(page);
    await account.admin.send(chatId, "Still there?");
    await page.getByText("Still there?").waitFor();
  },
);

embedding(
  "answers arrive through a proxy without sockets, and then with them",
  async ({ t, account, widget }) => {
    await account.admin.setPresence("online");
    const network = await Network.start();
    t.after(() => network.close());
    network.cutSockets();
    const page = await widget.openOn({}, network.contextOptions);
    const chatId = await checkPolling(page, account);
    const second = await page.context().newPage();
    await second.goto(page.url());
    await second.getByText(LATER).waitFor();
    await account.admin.send(chatId, "To both tabs");
    for (const tab of [page, second])
      await tab.getByText("To both tabs").waitFor();

    network.restore();
    await page.evaluate(() => dispatchEvent(new Event("online")));
    for (const tab of [page, second])
      await tab.getByText(LATER).waitFor({ state: "detached" });
    await account.admin.send(chatId, "By socket");
    for (const tab of [page, second])
      await tab.getByText("By socket").waitFor();
  },
);

embedding(
  "joined line stands before the answer whatever the visitor's clock",
  async ({ account, widget }) => {
    await account.admin.setPresence("online");
    for (const hours of [-1, 1]) {
      const page = await widget.openOn();
      await page.addInitScript((offset) => {
        const { now } = Date;
        Date.now = () => now() + offset;
      }, hours * 3_600_000);
      await page.reload();
      const chatId = await startChat(page, account);
      await account.admin.send(chatId, "Good day");
      await page.getByText("Good day").waitFor();
      await page.getByText("Marta Lindholm joined the chat").waitFor();
      await write(page, "Thank you");
      await waitForSent(page, "Thank you");
      const lines = page.locator(".event, .bubble");
      assert.deepEqual(
        await lines.allTextContents(),
        [
          "Do you have size 45?",
          "Marta Lindholm joined the chat",
          "Good day",
          "Thank you",
        ],
        `${hours} h`,
      );
      await account.admin.close(chatId);
      await page.context().close();
    }
  },
);

embedding(
  "waiting visitor hears that the last agent has left",
  async ({ account, widget }) => {
    const { admin } = account;
    await admin.setPresence("online");
    const page = await widget.openOn();
    await openWindow(page);
    await write(page, "Is somebody there?");
    await waitForSent(page, "Is somebody there?");
    assert.equal(await api(page, "chatMode"), "online");
    await admin.setPresence("offline");
    await page.getByText("Nobody is here at the moment.").waitFor();
    assert.equal(await api(page, "chatMode"), "offline");
    await page.getByLabel("E-mail").fill("amara@shop.example");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByLabel("E-mail").waitFor({ state: "detached" });
    const [{ chat_id }] = (await admin.get("/agent/chats?state=waiting")).chats;
    const { visitor } = await admin.get(`/agent/chats/${chat_id}`);
    assert.equal(visitor.email, "amara@shop.example");
    await admin.setPresence("online");
    await page.locator("header").getByText("We are online").waitFor();
  },
);

embedding(
  "visitor scrolls through earlier chats",
  async ({ account, widget }) => {
    const { admin } = account;
    await admin.setPresence("online");
    const page = await widget.openOn();
    const chatId = await startChat(page, account, "First question");
    for (let number = 1; number <= 60; number++)
      await admin.send(chatId, `Answer ${number}`);
    await page.getByText("Answer 60", { exact: true }).waitFor();
    await admin.close(chatId);
    await page.getByText("The chat has ended").waitFor();
    await write(page, "Second question");
    await waitForSent(page, "Second question");
    await page.reload();
    await page.getByText("Second question").waitFor();
    await page.getByRole("button", { name: "Earlier messages" }).press("Enter");
    await page.getByText("Answer 60", { exact: true }).waitFor();
    // The button has its name again when the log loads more messages.
    const earlier = page.getByRole("button", { name: "Earlier messages" });
    await earlier.waitFor();
    await page.getByRole("log").evaluate((log) => (log.scrollTop = 0));
    await page.getByText("First question").waitFor();
    await earlier.waitFor({ state: "detached" });
    const texts = await page.locator(".bubble").allTextContents();
    assert.equal(texts.length, 62);
    assert.deepEqual(
      [texts[0], texts.at(-1)],
      ["First question", "Second question"],
    );

    await api(page, "clearHistory");
    await page.reload();
    await openWindow(page);
    await composer(page).waitFor();
    assert.equal(await page.locator(".bubble").count(), 0);
  },
);

embedding(
  "visitor sees that the agent has seen a message",
  async ({ account, widget, open }) => {
    await account.admin.setPresence("online");
    const page = await widget.openOn();
    await startChat(page, account);
    const turn = page.locator(".turn", { hasText: "size 45" });
    await turn.getByText("Sent").waitFor();
    const desk = await open();
    await openChat(desk, "Amara Kone");
    await turn.getByText("Seen").waitFor();
  },
);
