/* Macros: canned replies that also tag, transfer or close the chat. */

import assert from "node:assert/strict";
import {
  journey,
  searchInPalette,
  textarea,
  useBrowser,
} from "../support/console.mjs";
import { waitFor } from "../support/wait.mjs";

useBrowser();

const TAGS = [
  { name: "VIP", color: "red" },
  { name: "Refund", color: "blue" },
];

const addMacro = (account, shortcut, actions) =>
  account.admin.post("/agent/canned-replies", {
    shortcut,
    text: "Your money is on its way, {visitor}.",
    actions,
  });

/** Writes the shortcut, inserts the macro and sends it. */
async function runMacro(page, shortcut) {
  await textarea(page).pressSequentially(`/${shortcut}`);
  await page.getByRole("option").first().waitFor();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
}

journey(
  "macro answers, tags and closes the chat",
  async ({ account, openWithChat }) => {
    await account.admin.put("/admin/settings", { tags: TAGS });
    await addMacro(account, "refund", { add_tags: [2], close: true });
    const { page, visitor } = await openWithChat("Amara Kone");
    await textarea(page).pressSequentially("/ref");
    await page.getByText("Tag Refund, Close").waitFor();
    await page.keyboard.press("Enter");
    await page.locator(".macro-actions").getByText("Tag Refund").waitFor();
    await page.keyboard.press("Enter");
    await page.getByText("Chat with Amara Kone closed.").waitFor();
    const chat = await waitFor("the closed chat", async () => {
      const chat = await account.admin.get(`/agent/chats/${visitor.chatId}`);
      return chat.state === "closed" ? chat : undefined;
    });
    assert.deepEqual(chat.tag_ids, [2]);
    const texts = await account.admin.texts(visitor.chatId);
    assert.ok(texts.includes("Your money is on its way, Amara Kone."));
  },
);

journey(
  "macro transfers the chat to a department",
  async ({ account, openWithChat }) => {
    const [jonas] = account.agents;
    await jonas.setPresence("online");
    const { department_id } = await account.admin.post("/admin/departments", {
      name: "Finance",
      agent_ids: [jonas.id],
    });
    await addMacro(account, "finance", { transfer_to: { department_id } });
    const { page, visitor } = await openWithChat("Amara Kone");
    await runMacro(page, "fin");
    await page.getByText("Amara Kone is with Finance now.").waitFor();
    const chat = await account.admin.get(`/agent/chats/${visitor.chatId}`);
    assert.deepEqual(
      [chat.state, chat.department.name],
      ["waiting", "Finance"],
    );
  },
);

journey(
  "agent sends only the text of a macro",
  async ({ account, openWithChat }) => {
    await addMacro(account, "bye", { close: true });
    const { page, visitor } = await openWithChat("Amara Kone");
    await textarea(page).pressSequentially("/bye");
    await page.getByRole("option").first().waitFor();
    await page.keyboard.press("Enter");
    // The draft keeps the actions while another page is shown.
    await page.reload();
    await page.getByText("Then:").waitFor();
    await page.getByRole("button", { name: "Send only the text" }).click();
    await page.keyboard.press("Enter");
    await waitFor("the message", async () =>
      (await account.admin.texts(visitor.chatId)).some((text) =>
        text.startsWith("Your money"),
      ),
    );
    assert.equal(
      (await account.admin.get(`/agent/chats/${visitor.chatId}`)).state,
      "active",
    );
  },
);

journey("admin adds actions to a reply", async ({ account, open }) => {
  await account.admin.put("/admin/settings", { tags: TAGS });
  const page = await open();
  await searchInPalette(page, "manage canned");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Add a reply" }).click();
  await page.getByLabel("Shortcut").fill("vip");
  await page.getByLabel("Reply", { exact: true }).fill("At once!");
  await page.getByRole("checkbox", { name: "VIP" }).check();
  await page.getByLabel("Then", { exact: true }).selectOption("Close the chat");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Tag VIP, Close").waitFor();
  const [reply] = (await account.admin.get("/agent/canned-replies"))
    .canned_replies;
  assert.deepEqual(reply.actions, { add_tags: [1], close: true });
  await page.getByRole("button", { name: "Edit /vip" }).click();
  await page.getByRole("checkbox", { name: "VIP" }).uncheck();
  await page.getByLabel("Then", { exact: true }).selectOption("Keep the chat");
  await page.getByRole("button", { name: "Save" }).click();
  await waitFor("the reply without actions", async () => {
    const { canned_replies } = await account.admin.get("/agent/canned-replies");
    return canned_replies[0].actions === undefined;
  });
});
