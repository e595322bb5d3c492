/* The page on which an agent merges visitors who are the same person, and separates them again. */

import assert from "node:assert/strict";
import { request } from "../support/account.mjs";
import { axeViolations } from "../support/browser.mjs";
import {
  journey,
  openChat,
  searchInPalette,
  useBrowser,
} from "../support/console.mjs";
import { fail } from "../support/failures.mjs";

useBrowser();

const EMAIL = "amara@example.com";
const PHONE = "+225 27 20 00 00 00";
const INVOICE = "Where is my invoice?";

/** Opens a chat of the same person in each of two channels. Returns the two visitors: only the second one, of the
    partner portal, has a phone number. */
async function openBothChats(account, agent = account.admin) {
  const portal = await account.addChannel("Partner portal");
  const amara = await account.openAcceptedChat("Amara Kone", {
    agent,
    sender: { email: EMAIL },
  });
  const other = await account.openAcceptedChat("A. Kone", {
    agent,
    channel: portal,
    text: INVOICE,
    sender: { email: EMAIL, phone: PHONE },
  });
  return { amara, other };
}

const pane = (page) => page.locator(".visitor");
const otherChats = (page) => page.getByRole("region", { name: "Other chats" });
const searchField = (page) => page.getByLabel("Find the other visitor");
const heading = (page, name) => page.getByRole("heading", { name });
const mergeButton = (page) =>
  page.getByRole("button", { name: /^Merge with visitor \d+$/ });
const separateButton = (page) =>
  page.getByRole("button", { name: /^Separate visitor \d+$/ });

/** Chooses the only visitor who is found, with the keyboard. */
async function chooseFoundVisitor(page) {
  const found = page.getByRole("radio");
  await found.waitFor();
  assert.equal(await found.count(), 1, "the visitor itself is not offered");
  await searchField(page).focus();
  await page.keyboard.press("Tab");
  await page.locator("input[type=radio]:focus").waitFor();
  await page.keyboard.press("Space");
  await mergeButton(page).waitFor();
}

const mergedVisitor = (page, { number }) =>
  page.getByRole("listitem").filter({ hasText: `Visitor ${number}` });

const waitForMergedHeading = (page) =>
  page.locator("h3:focus", { hasText: "Merged with" }).waitFor();

journey(
  "visitors are merged with the keyboard, and separated again",
  async ({ account, open }) => {
    const { amara, other } = await openBothChats(account);
    const page = await open();
    await openChat(page, "Amara Kone");
    await pane(page).getByTitle("Edit phone").getByText("Add").waitFor();
    await pane(page).getByRole("link", { name: "Merge…" }).press("Enter");
    await heading(page, "Merge Amara Kone").waitFor();
    assert.equal(await searchField(page).inputValue(), EMAIL);
    await chooseFoundVisitor(page);
    await page
      .getByText(`Visitors ${amara.number} and ${other.number} become one`)
      .waitFor();
    assert.deepEqual(await axeViolations(page), []);
    await page.keyboard.press("Enter");
    await waitForMergedHeading(page);
    await mergedVisitor(page, other)
      .getByRole("link", { name: "A. Kone" })
      .waitFor();
    await page.getByText(PHONE).waitFor();
    await page.getByText("Nobody found").waitFor();
    assert.deepEqual(await axeViolations(page), []);

    await page.goBack();
    await pane(page).getByTitle("Edit phone").getByText(PHONE).waitFor();
    await otherChats(page).getByText(`Partner portal: ${INVOICE}`).waitFor();
    const merged = `Merged with visitor ${other.number}`;
    assert.deepEqual(await axeViolations(page), []);
    await pane(page).getByRole("link", { name: merged }).press("Enter");
    await separateButton(page).press("Enter");
    await waitForMergedHeading(page);
    await page.getByText("This visitor is not merged").waitFor();
    await page.getByRole("radio").waitFor();

    await page.goBack();
    await pane(page).getByTitle("Edit phone").getByText("Add").waitFor();
    await otherChats(page).waitFor({ state: "detached" });
    assert.equal(await pane(page).getByText("Merged with").count(), 0);
  },
);

journey(
  "merge and separation that failed can be tried again",
  async ({ account, open }) => {
    const { amara } = await openBothChats(account);
    const page = await open(account.admin, {
      hash: `#/visitors/${amara.number}/merge`,
    });
    const problem = page
      .getByRole("alert")
      .filter({ hasText: "The service failed (status 503)." });
    const failure = { method: "PATCH", times: 1 };
    await chooseFoundVisitor(page);
    await fail(page, "**/agent/visitors/*", failure);
    await mergeButton(page).click();
    await problem.waitFor();
    assert.deepEqual(await axeViolations(page), []);
    await mergeButton(page).click();
    await waitForMergedHeading(page);
    await problem.waitFor({ state: "detached" });
    await fail(page, "**/agent/visitors/*", failure);
    await separateButton(page).click();
    await problem.waitFor();
    await separateButton(page).click();
    await waitForMergedHeading(page);
    await separateButton(page).waitFor({ state: "detached" });
  },
);

journey(
  "chat of a found visitor can be read first",
  async ({ account, open }) => {
    const { amara, other } = await openBothChats(account);
    const page = await open(account.admin, {
      hash: `#/visitors/${amara.number}/merge`,
    });
    const chat = page.getByRole("link", { name: `Chat #${other.chatId}` });
    await chat.evaluate((link) =>
      link.addEventListener("click", (event) => event.preventDefault(), {
        once: true,
      }),
    );
    await chat.click();
    assert.equal(await page.getByRole("radio").isChecked(), false);
    await chat.click();
    await page.waitForURL(new RegExp(`#/chat/${other.chatId}$`));
    await heading(page, "A. Kone").first().waitFor();
  },
);

journey(
  "visitor is found by name by an agent who is no admin",
  async ({ account, open }) => {
    const [jonas] = account.agents;
    const { amara, other } = await openBothChats(account, jonas);
    const page = await open(jonas);
    await openChat(page, "A. Kone");
    await searchInPalette(page, "merge the visitor");
    // The palette has the command once the chat is loaded.
    await page.getByRole("option", { name: "Merge the visitor…" }).waitFor();
    await page.keyboard.press("Enter");
    await heading(page, "Merge A. Kone").waitFor();
    await searchField(page).fill("nobody has this name");
    await page.getByText("Nobody found").waitFor();
    await searchField(page).fill("Amara");
    await page.getByText("1 visitor found").waitFor();
    await page.getByRole("radio", { name: /Amara Kone/ }).check();
    await mergeButton(page).click();
    await waitForMergedHeading(page);
    const { visitor } = await jonas.get(`/agent/chats/${amara.chatId}`);
    assert.deepEqual(visitor.merged_with, [other.number]);
    assert.equal(visitor.phone, PHONE);
    await page.goto(`${page.url().split("#")[0]}#/visitors/999999/merge`);
    await page.getByText("Visitor 999999 cannot be shown").waitFor();
    assert.deepEqual(await axeViolations(page), []);
  },
);

journey(
  "audit log names a merge, and a merged visitor's own chat is opened",
  async ({ account, open }) => {
    const { amara, other } = await openBothChats(account);
    const { admin } = account;
    await admin.patch(`/agent/visitors/${amara.number}`, {
      merge_with: other.number,
    });
    const page = await open(admin, { hash: "#/settings/audit" });
    await page.getByText("Visitor merged").first().waitFor();
    await page.goto(`${page.url().split("#")[0]}#/visitors/${other.number}`);
    await heading(page, "A. Kone").first().waitFor();
    await page.waitForURL(new RegExp(`#/chat/${other.chatId}$`));
  },
);

journey(
  "erasure of a merged visitor names both, and erases both",
  async ({ account, open }) => {
    const { amara, other } = await openBothChats(account);
    const { admin } = account;
    await admin.patch(`/agent/visitors/${amara.number}`, {
      merge_with: other.number,
    });
    const page = await open(admin, {
      hash: `#/visitors/${amara.number}/erase`,
    });
    await page
      .getByText(`visitor ${other.number} as well, who is merged`)
      .waitFor();
    await page
      .getByText(`all 2 chats of visitors ${amara.number} and ${other.number}`)
      .waitFor();
    await page.getByText("A. Kone", { exact: true }).waitFor();
    await page.getByText(PHONE).waitFor();
    assert.deepEqual(await axeViolations(page), []);
    await page.getByLabel("Type Amara Kone").fill("Amara Kone");
    await page.keyboard.press("Enter");
    await heading(page, "Amara Kone is erased").last().waitFor();
    await page.getByText(/^2 chats with \d+ entries$/).waitFor();
    for (const { number } of [amara, other]) {
      const path = `/admin/visitors/${number}`;
      const { status } = await request("GET", path, undefined, admin.token);
      assert.equal(status, 404);
    }
  },
);
