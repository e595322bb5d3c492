/* What an agent sees of the others: who accepts a chat, who is online, and what an admin changes. */

import assert from "node:assert/strict";
import {
  chatRow,
  journey,
  openChat,
  pressShortcut,
  searchInPalette,
  textarea,
  useBrowser,
  waitForChat,
} from "../support/console.mjs";
import { waitFor } from "../support/wait.mjs";

useBrowser();

journey(
  "two agents race for a chat and one wins",
  async ({ account, open }) => {
    const agents = [account.admin, account.agents[0]];
    const pages = await Promise.all(agents.map((agent) => open(agent)));
    const { chatId } = await account.openChat("João Ferreira");
    for (const page of pages) await openChat(page, "João Ferreira");
    await Promise.all(pages.map((page) => pressShortcut(page, "a")));
    const owner = await waitFor(
      "the agent of the chat",
      async () => (await account.admin.chatOf("João Ferreira")).agent,
    );
    const winner = agents.findIndex(({ id }) => id === owner.id);
    const loser = 1 - winner;
    await textarea(pages[winner]).waitFor();
    await pages[loser]
      .getByText(`${agents[winner].name} is answering this chat.`)
      .waitFor();
    await textarea(pages[loser]).waitFor({ state: "detached" });
    const accepted = (await account.admin.timeline(chatId)).filter(
      ({ type }) => type === "agent_joined" || type === "chat_accepted",
    );
    assert.ok(accepted.every(({ agent }) => !agent || agent.id === owner.id));
  },
);

journey(
  "agents who have the same chat open see each other",
  async ({ account, open }) => {
    await account.openChat("Elif Andersen");
    const [jonas] = account.agents;
    const [page, other] = [await open(), await open(jonas)];
    await openChat(page, "Elif Andersen");
    await openChat(other, "Elif Andersen");
    const looking = (name) =>
      page
        .locator(".viewers", { hasText: `${name} is looking at this chat` })
        .first();
    await looking(jonas.name).waitFor();
    await other.locator(".viewers", { hasText: account.admin.name }).waitFor();
    await other.close();
    await looking(jonas.name).waitFor({ state: "detached" });
  },
);

journey(
  "chat leaves the list of an agent who may not see it any more",
  async ({ account, open }) => {
    const [jonas, ada] = account.agents;
    const { department_id } = await account.admin.post("/admin/departments", {
      name: "Billing",
      agent_ids: [jonas.id],
    });
    await jonas.setPresence("online");
    const visitor = await account.openChat("Elif Andersen");
    const [jonasPage, adaPage] = await Promise.all([open(jonas), open(ada)]);
    await adaPage.getByRole("tab", { name: /^All/ }).click();
    await chatRow(adaPage, "Elif Andersen").waitFor();
    await account.admin.accept(visitor.chatId);
    await account.admin.transfer(visitor.chatId, { department_id });
    await chatRow(adaPage, "Elif Andersen").waitFor({ state: "detached" });
    await chatRow(jonasPage, "Elif Andersen").getByText("Billing").waitFor();
  },
  { agents: ["Jonas Weber", "Ada Berg"] },
);

journey(
  "transfer offers who is online and follows their status",
  async ({ account, openWithChat }) => {
    const [jonas] = account.agents;
    const { page } = await openWithChat("Elif Andersen");
    await pressShortcut(page, "t");
    const option = (status) =>
      page.getByRole("option", {
        name: new RegExp(`Jonas Weber\\s*${status}`),
      });
    await option("Offline").waitFor();
    await page.keyboard.press("Enter");
    await page.getByText("The agent is not online.").waitFor();
    await jonas.setPresence("online");
    await option("Online").waitFor();
    await page.keyboard.press("Enter");
    await page.getByText("Elif Andersen is with Jonas Weber now.").waitFor();
    assert.equal(
      (await jonas.chatOf("Elif Andersen")).agent.name,
      "Jonas Weber",
    );
  },
);

journey(
  "erased visitor disappears from the screens of other agents",
  async ({ account, open }) => {
    const [jonas] = account.agents;
    const visitor = await account.openAcceptedChat("Elif Andersen", {
      agent: jonas,
      text: "My card number is 12",
    });
    const page = await open(jonas);
    await openChat(page, "Elif Andersen");
    await textarea(page).fill("Dear Elif");
    await page.getByRole("region", { name: "Visitor" }).waitFor();
    await account.admin.delete(`/admin/visitors/${visitor.number}`);
    await page.getByText("This chat was erased").waitFor();
    for (const text of ["Elif Andersen", "My card number is 12", "Dear Elif"])
      assert.equal(await page.getByText(text).count(), 0, text);
    await page.reload();
    await page.getByText("This chat does not exist").waitFor();
    assert.ok(
      !(await page.evaluate(() => JSON.stringify(localStorage))).includes(
        "Dear Elif",
      ),
    );
  },
);

journey(
  "canned replies of an admin reach the other consoles",
  async ({ account, open, openWithChat }) => {
    const [jonas] = account.agents;
    const { page } = await openWithChat("Thanh Nguyễn", { agent: jonas });
    const adminPage = await open();
    await searchInPalette(adminPage, "canned");
    await adminPage.keyboard.press("Enter");
    await adminPage.getByRole("button", { name: "Add a reply" }).click();
    await adminPage.getByLabel("Shortcut").fill("hello");
    await adminPage
      .getByLabel("Reply", { exact: true })
      .fill("Hello {visitor}, this is {agent}.");
    await adminPage.getByRole("button", { name: "Save" }).click();
    await adminPage.getByRole("button", { name: "Edit /hello" }).waitFor();
    await textarea(page).focus();
    await page.keyboard.type("/hel");
    await page.getByRole("option", { name: /hello/ }).waitFor();
    await page.keyboard.press("Enter");
    assert.equal(
      await textarea(page).inputValue(),
      "Hello Thanh Nguyễn, this is Jonas Weber.",
    );
    await page.keyboard.type(" and/or https://x");
    assert.equal(await page.locator(".suggestions").count(), 0);
    await adminPage.getByRole("button", { name: "Delete /hello" }).click();
    await adminPage.getByText("There are no canned replies yet.").waitFor();
    await textarea(page).fill("/");
    await page.getByText("There are no canned replies yet.").waitFor();
  },
);

journey(
  "colleague sees that the agent of a chat is replying",
  async ({ account, open }) => {
    const [jonas] = account.agents;
    await account.openAcceptedChat("Thanh Nguyễn");
    const [page, colleague] = await Promise.all([open(), open(jonas)]);
    await page.getByRole("tab", { name: /Mine/ }).click();
    await openChat(page, "Thanh Nguyễn");
    await colleague.getByRole("tab", { name: /All/ }).click();
    await openChat(colleague, "Thanh Nguyễn");
    const notice = colleague.getByText(`${account.admin.name} is replying…`);
    // The colleague's subscription to the chat can come after the first notice.
    await waitFor("the notice", async () => {
      await textarea(page).fill("");
      await textarea(page).fill("One moment, please");
      return notice.waitFor({ timeout: 2000 }).then(
        () => true,
        () => false,
      );
    });
    await page.keyboard.press("Enter");
    await colleague
      .locator(".turn", { hasText: "One moment, please" })
      .waitFor();
    await notice.waitFor({ state: "detached" });
    assert.equal(await page.getByText("is replying…").count(), 0);
  },
);

journey(
  "colleagues see a private note, visitors do not",
  async ({ account, open }) => {
    const [jonas] = account.agents;
    const visitor = await account.openAcceptedChat("Thanh Nguyễn");
    const [page, colleague] = await Promise.all([open(), open(jonas)]);
    await page.getByRole("tab", { name: /Mine/ }).click();
    await openChat(page, "Thanh Nguyễn");
    await colleague.getByRole("tab", { name: /All/ }).click();
    await openChat(colleague, "Thanh Nguyễn");
    await pressShortcut(page, "n");
    await page.keyboard.type("Only for us");
    await page.keyboard.press("Enter");
    for (const log of [page, colleague])
      await log.locator(".turn.is-note", { hasText: "Only for us" }).waitFor();
    const reply = page.getByRole("radio", { name: "Reply" });
    assert.equal(await reply.getAttribute("aria-checked"), "true");
    await account.admin.send(visitor.chatId, "For the visitor");
    const { integrator } = account.channel;
    await integrator.waitFor(
      "the message after the note",
      ({ message }) => message.text === "For the visitor",
    );
    assert.ok(!JSON.stringify(integrator.received).includes("Only for us"));
    await waitForChat(colleague, "Thanh Nguyễn");
  },
);
