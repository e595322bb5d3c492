/* Forty chats are answered by keyboard alone. Prints how many keys this takes (docs/agents.md). A key that is held while
   another one is pressed counts too; the letters of an answer that is not prepared are counted separately. */

import assert from "node:assert/strict";
import {
  journey,
  textarea,
  useBrowser,
  waitForResponses,
} from "../support/console.mjs";
import { waitFor } from "../support/wait.mjs";

useBrowser();

const CHATS = 40;
const ANSWER = "Yes, until six o'clock.";
/** How many keys a chat may take at most. */
const MAX_KEYS_PER_CHAT = { solve: 5, escalate: 5, write: 8 };

/** What the agent does with the chats, in turns: every fourth chat needs an answer of its own. */
const TASKS = ["solve", "escalate", "solve", "write"];

class CountingKeyboard {
  keys = 0;
  letters = 0;

  constructor(page) {
    this.page = page;
  }

  async press(...combinations) {
    for (const combination of combinations) {
      this.keys += combination.split("+").length;
      await this.page.keyboard.press(combination);
    }
  }

  async write(text) {
    this.letters += text.length;
    await this.page.keyboard.type(text);
  }
}

async function prepare(account) {
  const [jonas] = account.agents;
  await jonas.setPresence("online");
  await account.admin.put("/admin/settings", {
    tags: [{ name: "Question", color: "green" }],
  });
  const { department_id } = await account.admin.post("/admin/departments", {
    name: "Finance",
    agent_ids: [jonas.id],
  });
  const replies = [
    ["done", "Done, {visitor}!", { add_tags: [1], close: true }],
    ["finance", "My colleagues will help.", { transfer_to: { department_id } }],
  ];
  for (const [shortcut, text, actions] of replies)
    await account.admin.post("/agent/canned-replies", {
      shortcut,
      text,
      actions,
    });
  for (let number = 1; number <= CHATS; number++)
    await account.openChat(`Visitor no ${number}.`);
}

/** Inserts and sends the macro whose shortcut begins with this letter. */
async function runMacro(page, keyboard, letter) {
  await keyboard.press("/", letter);
  await page.getByRole("option").first().waitFor();
  await keyboard.press("Enter", "Enter");
}

const DO = {
  solve: (page, keyboard) => runMacro(page, keyboard, "d"),
  escalate: (page, keyboard) => runMacro(page, keyboard, "f"),
  write: async (page, keyboard) => {
    await keyboard.write(ANSWER);
    await keyboard.press("Enter", "Escape", "l");
    await page.getByLabel("Find a tag").waitFor();
    await keyboard.press("Enter", "Escape");
    // A chat with an unsent message would not be closed without a question.
    await waitForResponses(page);
    await keyboard.press("e");
  },
};

journey(
  "forty chats are answered by keyboard alone",
  async ({ t, account, open }) => {
    await prepare(account);
    const page = await open();
    await page
      .locator(".row")
      .nth(CHATS - 1)
      .waitFor();
    const keyboard = new CountingKeyboard(page);
    const startedAt = Date.now();
    for (let index = 0; index < CHATS; index++) {
      const task = TASKS[index % TASKS.length];
      const keysBefore = keyboard.keys;
      await keyboard.press("a");
      await page.locator(".composer textarea:focus").waitFor();
      await DO[task](page, keyboard);
      // The next chat is shown, which nobody has yet, or none is left.
      await textarea(page).waitFor({ state: "detached" });
      assert.ok(keyboard.keys - keysBefore <= MAX_KEYS_PER_CHAT[task], task);
    }
    const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
    const perChat = (keyboard.keys / CHATS).toFixed(1);
    t.diagnostic(
      `${CHATS} chats: ${keyboard.keys} keys (${perChat} a chat), and ${keyboard.letters} letters of answers, in ${seconds} s`,
    );
    const closed = await waitFor("the closed chats", async () => {
      const closed = await account.admin.chats("closed");
      return closed.length === 30 ? closed : undefined;
    });
    assert.ok(closed.every(({ tag_ids }) => tag_ids?.join() === "1"));
    const given = await account.agents[0].chats("waiting");
    assert.equal(given.length, 10);
    const answers = [...closed, ...given].map(
      ({ last_message }) => last_message.from,
    );
    assert.deepEqual([...new Set(answers)], ["agent"]);
  },
);
