/* Forms for admins: what is kept, refused, corrected and asked before it is lost. */

import assert from "node:assert/strict";
import { bot, changes } from "../seed/data-sets.mjs";
import { host } from "../support/account.mjs";
import { fail, heldRequest, holdRequests } from "../support/failures.mjs";
import {
  searchInPalette,
  waitForHeadingFocus,
} from "../support/console-page.mjs";
import { consoleUrl, pageJourney, useBrowser } from "../support/console.mjs";
import { waitForFocus } from "../support/wait.mjs";

useBrowser();

const RULE = {
  name: "Help",
  enabled: true,
  type: "all",
  conditions: [],
  commands: [{ command: "proactive", params: { message: "Help?" } }],
};

pageJourney(
  "audit log is filtered, and shows more",
  { seed: changes },
  async (page) => {
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("link", { name: "Audit log" }).click();
    const rows = page.locator("tbody tr");
    await rows.nth(49).waitFor();
    await fail(page, /\/admin\/audit/, { times: 1 });
    await page.getByRole("button", { name: "Show more" }).click();
    await page.getByText("The next rows could not be loaded.").waitFor();
    assert.equal(await rows.count(), 50, "the rows before stay");
    await page.getByRole("button", { name: "Try again" }).click();
    await rows.nth(59).waitFor();
    await page.getByLabel("What").selectOption("Webhook");
    await rows.filter({ hasText: "Webhook secret replaced" }).waitFor();
    await rows.nth(2).waitFor({ state: "detached" });
    await page.getByLabel("Who").selectOption("Jonas Weber");
    await page.getByText("Nothing found").waitFor();
    await page.getByLabel("What").selectOption("Everything");
    await page.getByText("Canned reply created").waitFor();
    for (const text of await rows.allInnerTexts()) assert.match(text, /Jonas/);
  },
);

pageJourney("changes are left only after a question", {}, async (page) => {
  await page.goto(`${consoleUrl}#/settings`);
  const domains = page.getByLabel("Allowed domains");
  await domains.fill("northlight.example");
  await page.getByRole("link", { name: "Trigger rules" }).click();
  const question = page.getByRole("dialog", { name: "Discard the changes?" });
  await question.getByRole("button", { name: "Keep editing" }).click();
  assert.equal(await domains.inputValue(), "northlight.example");
  await page.goBack();
  await question.waitFor();
  await page.keyboard.press("Escape");
  assert.equal(new URL(page.url()).hash, "#/settings");
  assert.equal(await domains.inputValue(), "northlight.example");
  await page.getByRole("link", { name: "Trigger rules" }).click();
  await question.getByRole("button", { name: "Discard and leave" }).click();
  await page.getByLabel("The rules as JSON").waitFor();
});

pageJourney("sign-out asks about changes", {}, async (page) => {
  await page.goto(`${consoleUrl}#/settings`);
  const domains = page.getByLabel("Allowed domains");
  await domains.fill("northlight.example");
  const signOut = async (answer) => {
    await searchInPalette(page, "sign out");
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Sign out?" });
    await dialog.locator(".btn.primary").click();
    await page
      .getByRole("dialog", { name: "Discard the changes?" })
      .getByRole("button", { name: answer })
      .click();
    return dialog;
  };
  const dialog = await signOut("Keep editing");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  assert.equal(await domains.inputValue(), "northlight.example");
  await signOut("Discard and leave");
  await page.getByRole("button", { name: "Sign in" }).waitFor();
});

pageJourney(
  "dialog creating a secret asks before it is left",
  {},
  async (page) => {
    await page.goto(`${consoleUrl}#/deliveries/webhooks`);
    await page.getByRole("button", { name: "Add a webhook" }).click();
    const path = "**/admin/settings/webhooks";
    const held = heldRequest(page, path);
    await page.getByLabel("Address of your server").fill(host.base_url);
    await page.keyboard.press("Enter");
    const request = await held;
    await page.goBack();
    await page
      .getByRole("dialog", { name: "Leave before the response?" })
      .getByRole("button", { name: "Stay here" })
      .click();
    await request.continue();
    await page.getByText(/^whsec_/).waitFor();
    await page.getByRole("button", { name: "Done" }).click();
    await page
      .getByRole("heading", { name: new URL(host.base_url).host })
      .waitFor();
    // A new widget has no secret to show, so its page opens at once.
    await page.goto(`${consoleUrl}#/channels`);
    await page.getByRole("button", { name: "Add a channel" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Second shop");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Second shop" }).waitFor();
  },
);

pageJourney(
  "thing without a visible name is deleted by its id",
  {},
  async (page) => {
    await page.goto(`${consoleUrl}#/team/departments`);
    await page.getByRole("button", { name: "Add a department" }).click();
    await page.getByLabel("Name", { exact: true }).fill("\u3164");
    await page.keyboard.press("Enter");
    await page.waitForURL(/departments\/\d+$/);
    const id = page.url().split("/").at(-1);
    await page.getByRole("button", { name: "Delete the department" }).click();
    await page.getByLabel(`Type ${id} to confirm`).fill(id);
    await page.getByRole("button", { name: "Delete permanently" }).click();
    await page.waitForURL(/departments$/);
  },
);

pageJourney(
  "password dialog focuses its field",
  {},
  async (page, { agents: [jonas] }) => {
    await page.goto(`${consoleUrl}#/team/${jonas.id}`);
    await page.getByRole("button", { name: "Set a new password" }).click();
    const field = page.getByLabel("Password", { exact: true });
    await field.waitFor();
    await waitForFocus(field);
  },
);

pageJourney("what is typed during a save is kept", {}, async (page) => {
  await page.goto(`${consoleUrl}#/settings`);
  const limit = page.getByLabel("Messages of one visitor");
  await limit.fill("31");
  const release = await holdRequests(page, /\/admin\/settings$/);
  await page.getByRole("button", { name: "Save" }).click();
  const domains = page.getByLabel("Allowed domains");
  await domains.fill("typed.example");
  release();
  await page.getByText("Saved.").waitFor();
  assert.equal(await domains.inputValue(), "typed.example");
  assert.equal(await limit.inputValue(), "31");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Discard" }).waitFor({
    state: "detached",
  });
});

pageJourney(
  "discarded retention is shown as it is stored",
  {},
  async (page) => {
    await page.goto(`${consoleUrl}#/settings`);
    const choice = page.getByLabel("Keep messages and chats");
    const stored = await choice.inputValue();
    await choice.selectOption("Another time");
    await page.getByLabel("Days", { exact: true }).fill("45");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    assert.equal(await choice.inputValue(), "other");
    await choice.selectOption("30 days");
    await page.getByRole("button", { name: "Discard" }).click();
    assert.equal(await choice.inputValue(), "other");
    assert.notEqual(stored, "other");
  },
);

pageJourney(
  "refusal of rules disappears once they change",
  { account: { settings: { rules: [RULE] } } },
  async (page) => {
    await page.goto(`${consoleUrl}#/settings/rules`);
    const json = page.getByLabel("The rules as JSON");
    await json.fill("[]");
    await fail(page, /\/admin\/settings$/, {
      method: "PUT",
      status: 400,
      times: 1,
      message: "rules are refused",
    });
    await page.getByRole("button", { name: "Save" }).click();
    const refusal = page.getByRole("alert");
    await refusal.waitFor();
    await json.fill("[ ]");
    await refusal.waitFor({ state: "detached" });
  },
);

pageJourney("broken rules are reported and not saved", {}, async (page) => {
  await page.goto(`${consoleUrl}#/settings/rules`);
  const json = page.getByLabel("The rules as JSON");
  await json.fill("[{");
  const save = page.getByRole("button", { name: "Save" });
  await save.click();
  await waitForFocus(json);
  await page.getByText("This is not JSON").waitFor();
  await page.getByRole("button", { name: "Discard" }).click();
  const before = await json.inputValue();
  await page.getByLabel("File with rules").setInputFiles({
    name: "rules.json",
    mimeType: "application/json",
    buffer: Buffer.from("{}"),
  });
  await page.getByText("rules.json was not imported.").waitFor();
  assert.equal(await json.inputValue(), before);
});

pageJourney(
  "a corrected field is no longer marked",
  {},
  async (page, { agents: [jonas] }) => {
    await page.goto(`${consoleUrl}#/team/${jonas.id}`);
    await waitForHeadingFocus(page);
    const phone = page.getByLabel("Phone (optional)");
    await phone.fill("123");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Enter a phone number").waitFor();
    assert.equal(await phone.getAttribute("aria-invalid"), "true");
    await phone.fill("+31 20 123 4567");
    await page.getByText("Enter a phone number").waitFor({ state: "detached" });
    assert.equal(await phone.getAttribute("aria-invalid"), "false");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();

    await page.goto(`${consoleUrl}#/settings/rules`);
    await page.getByRole("button", { name: "Add a rule" }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Enter the text of command 1.").waitFor();
  },
);

for (const scheme of ["light", "dark"])
  pageJourney(
    `switch that is off stands out, ${scheme}`,
    { scheme },
    async (page) => {
      await page.goto(`${consoleUrl}#/settings`);
      const off = page.getByRole("switch").first();
      await off.uncheck();
      const contrast = await off.evaluate((element) => {
        const context = document.createElement("canvas").getContext("2d");
        const luminance = (colour) => {
          context.fillStyle = colour;
          context.fillRect(0, 0, 1, 1);
          const [red, green, blue] = [
            ...context.getImageData(0, 0, 1, 1).data,
          ].map((value) => {
            const part = value / 255;
            return part <= 0.04045
              ? part / 12.92
              : ((part + 0.055) / 1.055) ** 2.4;
          });
          return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
        };
        const page = element.closest(".page");
        const [a, b] = [element, page]
          .map((it) => luminance(getComputedStyle(it).backgroundColor))
          .sort((a, b) => b - a);
        return (a + 0.05) / (b + 0.05);
      });
      assert.ok(contrast >= 3, String(contrast));
    },
  );

pageJourney(
  "names are shown in place of ids, in natural order",
  { seed: bot },
  async (page, account) => {
    await page.goto(`${consoleUrl}#/bots`);
    const bot = page.locator("tbody tr").first();
    await bot.getByText("Parcel bots").waitFor();
    await bot.locator("a").click();
    await page.locator(".facts").getByText("Parcel bots").waitFor();
    await page.goto(`${consoleUrl}#/settings/audit`);
    await page
      .locator("tr", { hasText: "Webhook secret replaced" })
      .getByRole("link", { name: "127.0.0.1" })
      .waitFor();

    await page.goto(`${consoleUrl}#/team`);
    await page.locator("tbody tr").first().waitFor();
    for (const number of [10, 9, 2, 1, 8, 3, 7, 40, 41, 42]) {
      await account.addAgent(`Agent ${number}`);
    }
    await page.reload();
    const names = page.locator("tbody a .clip");
    await names.nth(11).waitFor();
    assert.deepEqual(
      (await names.allInnerTexts()).slice(0, 7),
      [1, 2, 3, 7, 8, 9, 10].map((number) => `Agent ${number}`),
    );
    await page.getByRole("link", { name: "Departments" }).click();
    await page.getByRole("link", { name: "Returns" }).click();
    const search = page.getByLabel("Search agents");
    await search.fill("agent 1");
    const choices = page.locator(".choices label:has([type=checkbox])");
    assert.deepEqual(await choices.allInnerTexts(), ["Agent 1", "Agent 10"]);
    await choices.first().click();
    await search.fill("");
    assert.ok(await page.getByLabel("Agent 1", { exact: true }).isChecked());
  },
);

pageJourney(
  "bot and integrator are tested",
  { seed: bot },
  async (page, account) => {
    await page.goto(`${consoleUrl}#/bots/${account.bot.id}`);
    await page.getByText("Chats handed over because it failed").waitFor();
    await page.getByLabel("Event").selectOption("CHAT_CLOSED");
    await page.getByRole("button", { name: "Send the event" }).click();
    await page.getByRole("region", { name: "Request" }).waitFor();
    await page.getByText('"event": "CHAT_CLOSED"').waitFor();
    await page.getByRole("button", { name: "Create a new secret…" }).click();
    await page
      .getByRole("button", { name: "Create a new secret", exact: true })
      .click();
    await page.getByText(/^whsec_/).waitFor();
    await page.getByRole("button", { name: "Done" }).click();

    await page.goto(`${consoleUrl}#/channels/${account.channel.id}`);
    await page.getByText("Old addresses that are still valid").waitFor();
    await page
      .getByRole("button", { name: "Send a message to your server" })
      .click();
    await page.getByText("Status 200").waitFor();
    await page.getByRole("region", { name: "Body of the response" }).waitFor();
  },
);
