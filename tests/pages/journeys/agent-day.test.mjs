/* The working day of one agent, from the sign-in to the end of the last chat. */

import assert from "node:assert/strict";
import {
  bubble,
  chatRow,
  consoleUrl,
  journey,
  line,
  openChat,
  pressShortcut,
  sendMessage,
  textarea,
  useBrowser,
  waitForChat,
  waitForDelivered,
  waitForResponses,
  waitForSignIn,
  waitUntilLive,
} from "../support/console.mjs";
import { CRM_CARD, ok, rejection } from "../support/receiver.mjs";
import { waitFor } from "../support/wait.mjs";

useBrowser();

const respondToEvent = ({ event_name }) =>
  event_name === "chat_accepted" ? ok(CRM_CARD) : ok();

async function postEachMediaType(visitor, serverUrl) {
  const file = (name) => ({
    file: `${serverUrl}/${name}`,
    file_name: name,
    file_size: 1200,
  });
  const song = { performer: "Nina", title: "Home" };
  for (const message of [
    { type: "photo", ...file("door.png"), width: 640, height: 480 },
    { type: "sticker", ...file("smile.png") },
    { type: "video", ...file("film.mp4"), width: 320, height: 180 },
    { type: "audio", ...file("song.mp3"), ...song },
    { type: "voice", ...file("v.ogg"), duration: 7 },
    { type: "document", ...file("claim.pdf") },
    { type: "location", latitude: 59.91, longitude: 10.74 },
  ])
    await visitor.post(message);
}

async function assertMediaShown(page) {
  for (const name of ["door.png", "smile.png"])
    await page.locator(`.log img[src$="${name}"]`).waitFor();
  await page.locator('.log video[src$="film.mp4"]').waitFor();
  for (const name of ["song.mp3", "v.ogg"])
    await page
      .locator(`.log audio[src$="${name}"]`)
      .waitFor({ state: "attached" });
  await page.locator(".info", { hasText: "Nina – Home" }).waitFor();
  await page
    .locator(".info", { hasText: "Voice message" })
    .getByText("0:07 · 1.2 kB")
    .waitFor();
  await page.locator(".file", { hasText: "claim.pdf" }).waitFor();
  const map = page.locator(".file", { hasText: "59.91000, 10.74000" });
  assert.match(
    await map.getAttribute("href"),
    /^https:\/\/www\.openstreetmap\.org\//,
  );
}

journey(
  "day of an agent",
  async ({ t, account, openSignedOut }) => {
    const [jonas, ada] = account.agents;
    const { integrator } = account.channel;
    const page = await openSignedOut();
    // Later steps depend on earlier ones, so the first failure ends the test.
    const run = async (name, action) => {
      let failure;
      await t.test(name, () =>
        action().catch((error) => {
          failure = error;
          throw error;
        }),
      );
      if (failure) throw new Error(`step failed: ${name}`);
    };
    await page.addInitScript(() => {
      window.tones = 0;
      const create = AudioContext.prototype.createOscillator;
      AudioContext.prototype.createOscillator = function () {
        window.tones++;
        return create.call(this);
      };
    });

    await run("signs in and is online", async () => {
      await page.goto(consoleUrl);
      await waitForSignIn(page);
      await page.getByLabel("E-mail").fill(jonas.email);
      await page.getByLabel("Password", { exact: true }).fill(jonas.password);
      await page.keyboard.press("Enter");
      await page.locator(".rail .me .presence.online").waitFor();
      await waitUntilLive(page);
      const { online } = await jonas.get("/agent/presence");
      assert.equal(online, true);
    });

    const amara = account.channel.visitor("Amara Kone", {
      email: "amara@example.com",
    });
    let chatId;
    await run("a new chat rings", async () => {
      await amara.say("My parcel says delivered, but it is not here.");
      await chatRow(page, "Amara Kone").waitFor();
      await page.waitForFunction(() => window.tones > 0);
      assert.match(await page.title(), /^\(1\) /);
      chatId = (await jonas.chatOf("Amara Kone")).chat_id;
    });

    await run("accepts and answers with two keys", async () => {
      await page.keyboard.press("a");
      await waitForChat(page, "Amara Kone");
      await page.locator(".composer textarea:focus").waitFor();
      await page.keyboard.type("I look it up.");
      await page.keyboard.press("Enter");
      await waitForDelivered(page, "I look it up.");
      const delivered = integrator.received.filter(
        ({ message }) => message.text === "I look it up.",
      );
      assert.equal(delivered.length, 1);
      assert.equal(delivered[0].recipient.id, amara.sender.id);
      assert.equal(delivered[0].sender.name, "Jonas Weber");
    });

    await run("each type of media is shown", async () => {
      await postEachMediaType(amara, integrator.url);
      await assertMediaShown(page);
    });

    await run("link to a file is sent as its type", async () => {
      await page.getByRole("button", { name: "Send a link to a file" }).click();
      await page
        .getByLabel("Address of the file")
        .fill("https://files.example.com/Invoice%2088.pdf");
      await page.getByLabel("Size").fill("1.2 MB");
      await page
        .locator("dialog")
        .getByRole("button", { name: "Send" })
        .click();
      const { message } = await integrator.waitFor(
        "the document",
        ({ message }) => message.type === "document",
      );
      assert.deepEqual(
        [message.file_name, message.file_size],
        ["Invoice 88.pdf", 1_200_000],
      );
    });

    await run("both sides see that the other one types", async () => {
      await amara.post({ type: "typein" });
      await page.locator(".typing", { hasText: "Amara is typing" }).waitFor();
      await amara.post({ type: "typeout" });
      await page.locator(".typing").waitFor({ state: "detached" });
      const notices = () =>
        integrator.received.filter(({ message }) => /^type/.test(message.type))
          .length;
      const before = notices();
      await textarea(page).pressSequentially("One mo");
      await waitFor("a typing notice", () => notices() > before);
      await textarea(page).fill("");
      await integrator.waitFor(
        "the end of typing",
        ({ message }) => message.type === "typeout",
      );
    });

    await run("failed message shows its attempts and Retry", async () => {
      integrator.respond = () => ({
        status: 503,
        body: { error: { code: 1, message: "The app server restarts" } },
      });
      await sendMessage(page, "I opened case 5512.");
      const failure = page.locator(".fail", {
        hasText: "Not delivered: HTTP 503",
      });
      await failure.waitFor();
      await failure.getByRole("button", { name: /3 attempts/ }).click();
      const attempts = page.locator(".attempts tbody tr");
      await attempts.nth(2).waitFor();
      assert.match(await attempts.first().innerText(), /503/);
      await page.keyboard.press("Escape");
      await chatRow(page, "Amara Kone").getByText("1 not delivered").waitFor();
      integrator.respond = () => rejection("The visitor has left");
      await failure.getByRole("button", { name: "Retry" }).click();
      await page
        .locator(".fail q", { hasText: "The visitor has left" })
        .waitFor();
      integrator.respond = () => ok();
      await page
        .locator(".fail")
        .getByRole("button", { name: "Retry" })
        .click();
      await waitForDelivered(page, "I opened case 5512.");
    });

    await run("CRM card is shown and assigned", async () => {
      const card = page.getByRole("region", { name: "From your CRM" });
      await card.getByText("Gold, since 2023").waitFor();
      await card.getByRole("link", { name: "AK-20931" }).waitFor();
      await card.getByRole("button", { name: "Assign to a card" }).click();
      await card.getByText("Assigned to the CRM card").waitFor();
      await account.webhook.waitFor(
        "chat_assigned",
        ({ event_name }) => event_name === "chat_assigned",
      );
    });

    await run("contact is corrected and the CRM is told", async () => {
      await page.getByTitle("Edit e-mail").click();
      await page.keyboard.press("Control+a");
      await page.keyboard.type("amara@new.example");
      await page.keyboard.press("Enter");
      await page
        .getByTitle("Edit e-mail")
        .locator(".source", { hasText: "agent" })
        .waitFor();
      const { visitor } = await account.webhook.waitFor(
        "chat_updated",
        ({ event_name }) => event_name === "chat_updated",
      );
      assert.equal(visitor.email, "amara@new.example");
    });

    await run("blacklisted visitor is not heard", async () => {
      const troll = await account.openAcceptedChat("Trevor", {
        agent: jonas,
      });
      await openChat(page, "Trevor");
      await page
        .locator(".visitor")
        .getByRole("button", { name: "Blacklist" })
        .click();
      await page.getByText("Blacklisted: new messages are dropped").waitFor();
      await troll.say("Let me in");
      assert.deepEqual(await jonas.texts(troll.chatId), ["Hello"]);
    });

    await run("chat is transferred and comes back", async () => {
      await ada.setPresence("online");
      await openChat(page, "Amara Kone");
      await pressShortcut(page, "t");
      await page.getByRole("option", { name: /Ada Berg\s*Online/ }).waitFor();
      await page.keyboard.type("ada");
      await page.keyboard.press("Enter");
      await page.getByText("Amara Kone is with Ada Berg now.").waitFor();
      await page.getByText("Ada Berg is answering this chat.").waitFor();
      await ada.send(chatId, "Over to Jonas again.");
      await bubble(page, "Over to Jonas again.").waitFor();
      await ada.transfer(chatId, { agent_id: jonas.id });
      await textarea(page).waitFor();
    });

    await run("chat is closed and opened again by the visitor", async () => {
      await sendMessage(page, "A replacement is on its way.");
      await waitForDelivered(page, "A replacement is on its way.");
      await waitForResponses(page);
      await pressShortcut(page, "e");
      await page.locator(".toast", { hasText: "closed" }).waitFor();
      await account.webhook.waitFor(
        "chat_finished",
        ({ event_name }) => event_name === "chat_finished",
      );
      await amara.say("One more question");
      await page.getByRole("tab", { name: /Waiting/ }).click();
      const row = page.locator(".row", { hasText: "One more question" });
      await row.click();
      await waitForChat(page, "Amara Kone");
      const earlier = page
        .getByRole("region", { name: "Other chats" })
        .getByRole("link");
      await earlier.first().waitFor();
      assert.equal(await earlier.count(), 1);
      await earlier.click();
      await line(page, "A replacement is on its way.").waitFor();
      await page.getByText("This chat is closed").waitFor();
    });
  },
  { agents: ["Jonas Weber", "Ada Berg"], respondToEvent },
);
