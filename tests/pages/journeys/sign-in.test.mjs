/* Signing in and out, and the end of a session. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { request } from "../support/account.mjs";
import {
  chatRow,
  consoleUrl,
  journey,
  pressShortcut,
  searchField,
  textarea,
  useBrowser,
  waitForSignIn,
} from "../support/console.mjs";

useBrowser();

const fillIn = async (page, { email, password }) => {
  await waitForSignIn(page);
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.keyboard.press("Enter");
};

journey(
  "one-time link of the terminal signs in once",
  async ({ openSignedOut }) => {
    const output = await readFile(process.env.HOST_LOG, "utf8");
    const [, hash] = /\/console\/(#code=\S+)/.exec(output);
    const page = await openSignedOut();
    await page.goto(consoleUrl + hash);
    await page.locator(".app").waitFor();
    assert.doesNotMatch(page.url(), /code/);
    await page.locator(".rail .me").click();
    await page.getByRole("menu").getByText("Demo Agent").waitFor();

    const second = await openSignedOut();
    await second.goto(consoleUrl + hash);
    await second.getByText("has been used or is too old").waitFor();
    assert.doesNotMatch(second.url(), /code/);
  },
);

journey("wrong password shows an error", async ({ account, openSignedOut }) => {
  const page = await openSignedOut();
  await page.goto(consoleUrl);
  await fillIn(page, { ...account.admin, password: "wrong" });
  await page.getByText("E-mail or password is wrong.").waitFor();
  await fillIn(page, account.admin);
  await page.locator(".app").waitFor();
});

journey(
  "token is stored only in the session storage",
  async ({ account, open }) => {
    const page = await open();
    const stored = await page.evaluate(() => ({
      session: JSON.stringify({ ...sessionStorage }),
      other: JSON.stringify({ ...localStorage }) + document.cookie,
    }));
    const { token } = account.admin;
    assert.ok(stored.session.includes(token));
    assert.ok(!stored.other.includes(token) && !page.url().includes(token));
  },
);

journey(
  "ended session asks to sign in again and keeps the draft",
  async ({ account, openWithChat }) => {
    const [jonas] = account.agents;
    const { page } = await openWithChat("Thanh Nguyễn", { agent: jonas });
    await textarea(page).fill("Half a sentence");
    // A new password ends the agent's sessions.
    const password = "another long password";
    await account.admin.patch(`/admin/agents/${jonas.id}`, { password });
    await page.getByText("Your session has ended.").waitFor();
    await fillIn(page, { ...jonas, password });
    await textarea(page).waitFor();
    assert.equal(await textarea(page).inputValue(), "Half a sentence");
  },
);

journey(
  "nothing of an ended session is left for the next agent",
  async ({ account, open }) => {
    const [jonas] = account.agents;
    await account.openChat("Thanh Nguyễn");
    const page = await open(jonas);
    await searchField(page).fill("Thanh");
    await pressShortcut(page, "?");
    await page.locator("dialog").waitFor();
    const password = "another long password";
    await account.admin.patch(`/admin/agents/${jonas.id}`, { password });
    await page.getByText("Your session has ended.").waitFor();
    await fillIn(page, { ...jonas, password });
    await chatRow(page, "Thanh Nguyễn").waitFor();
    assert.equal(await searchField(page).inputValue(), "");
    assert.equal(await page.locator("dialog").count(), 0);
  },
);

journey(
  "sign-out ends the session and goes offline",
  async ({ account, open }) => {
    const page = await open();
    await page.locator(".rail .me").click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page
      .locator("dialog")
      .getByRole("button", { name: "Sign out" })
      .click();
    await page.getByLabel("Password", { exact: true }).waitFor();
    await page.reload();
    await page.getByLabel("Password", { exact: true }).waitFor();
    const { token } = account.admin;
    const { status } = await request("GET", "/agent/chats", undefined, token);
    assert.equal(status, 401);
  },
);

journey("agents are not offered admin actions", async (context) => {
  const { account, openWithChat } = context;
  const [jonas] = account.agents;
  const { page } = await openWithChat("Ingrid Lindqvist", { agent: jonas });
  await page.getByRole("button", { name: "Blacklist" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Erase…" }).count(), 0);
});

journey("presence and theme survive a reload", async ({ account, open }) => {
  await account.admin.setPresence("online");
  const page = await open();
  await page.locator(".rail .me .presence.online").waitFor();
  await page.locator(".rail .me").click();
  await page.getByRole("menuitemradio", { name: "Away" }).click();
  await page.locator(".rail .me .presence.away").waitFor();
  await page.getByRole("menuitemradio", { name: "Dark" }).click();
  await page.reload();
  await page.locator(".rail .me .presence.away").waitFor();
  const theme = () => document.documentElement.dataset.theme;
  assert.equal(await page.evaluate(theme), "dark");
});

const railHashes = (page) =>
  page
    .locator(".rail > a")
    .evaluateAll((links) => links.map((link) => link.hash));

journey("navigation offers only existing pages", async ({ account, open }) => {
  await account.openChat("João Ferreira");
  const page = await open(account.admin, { hash: "#/unknown" });
  await chatRow(page, "João Ferreira").waitFor();
  const headings = {
    visitors: "Visitors",
    channels: "Channels",
    bots: "Bots",
    deliveries: "Deliveries",
    team: "Team",
    telephony: "Telephony",
    reports: "Reports",
    settings: "Settings",
  };
  const hashes = Object.keys(headings).map((section) => `#/${section}`);
  assert.deepEqual(await railHashes(page), ["#/", ...hashes]);
  for (const [section, name] of Object.entries(headings)) {
    await page.locator(`.rail > a[href="#/${section}"]`).click();
    await page.getByRole("heading", { name, level: 2, exact: true }).waitFor();
  }
  const ofAgent = await open(account.agents[0]);
  assert.deepEqual(await railHashes(ofAgent), ["#/", "#/visitors"]);
});
