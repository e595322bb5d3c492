/* Bots, agents and departments, as an admin manages them. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { host, request } from "../support/account.mjs";
import { axeViolations } from "../support/browser.mjs";
import {
  consoleUrl,
  journey,
  openSection,
  useBrowser,
  waitForSignIn,
} from "../support/console.mjs";

useBrowser();

const PHONE = { width: 390, height: 844, touch: true };
const save = (page) => page.getByRole("button", { name: "Save" }).click();
const logInStatus = async (email, password) =>
  (await request("POST", "/agent/login", { email, password })).status;

async function registerProvider() {
  const { body } = await request(
    "POST",
    "/operator/providers",
    { name: "Parcel bots", endpoint: "https://bots.example/" },
    host.operator_key,
  );
  return body.provider_id;
}

journey(
  "bot is connected to a channel, changed and disconnected",
  async ({ account, open }) => {
    const provider = await registerProvider();
    const token = randomUUID();
    const page = await open(account.admin, { hash: "#/bots" });
    await page.getByText("There are no bots yet").waitFor();
    await page.getByRole("button", { name: "Connect a bot" }).click();
    const submit = page.getByRole("button", { name: "Connect", exact: true });
    await submit.click();
    await page.locator("#provider_id-problem").waitFor();
    await page.getByLabel("Provider").selectOption(provider);
    await page.getByLabel("Token").fill(token);
    await page.getByLabel("Name (optional)").fill("Parcel bot");
    await page.getByRole("checkbox", { name: "Shop" }).check();
    await submit.click();
    const dialog = page.getByRole("dialog", {
      name: "Parcel bot is connected",
    });
    await dialog.getByText(`/bot/webhooks/${provider}/${token}`).waitFor();
    await dialog.getByText(/^whsec_/).waitFor();
    await dialog.getByRole("button", { name: "Done" }).click();

    await page.getByRole("link", { name: "Parcel bot" }).click();
    await page.getByText("The bot was sent nothing.").waitFor();
    await page.getByRole("button", { name: "Send the event" }).click();
    await page
      .getByRole("region", { name: "Request" })
      .getByText("CLIENT_MESSAGE")
      .waitFor();
    await page.getByRole("button", { name: "Create a new secret…" }).click();
    await page
      .getByRole("button", { name: "Create a new secret", exact: true })
      .click();
    await page.getByText(/^whsec_/).waitFor();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Shop bot");
    await page.getByLabel("Seconds until then").fill("901");
    await save(page);
    await page.locator("#answer_within-problem").waitFor();
    await page
      .getByRole("switch", { name: "Hand over to agents if" })
      .uncheck();
    await page.getByRole("checkbox", { name: "Shop" }).uncheck();
    await save(page);
    await page.getByText("Saved.").waitFor();
    const bots = async () => (await account.admin.get("/admin/bots")).bots;
    const { bot_id } = (await bots())[0];
    const stored = await account.admin.get(`/admin/bots/${bot_id}`);
    assert.equal(stored.name, "Shop bot");
    assert.equal(stored.answer_within, null);
    assert.deepEqual(stored.channel_ids, []);

    await page.getByRole("button", { name: "Delete the bot" }).click();
    await page.getByLabel("Type Shop bot").fill("Shop bot");
    await page.getByRole("button", { name: "Delete permanently" }).click();
    await page.getByText("There are no bots yet").waitFor();
  },
);

journey(
  "agent is added, promoted, given a password, and deleted",
  async ({ account, open }) => {
    const email = `aiko-${randomUUID()}@example.com`;
    const page = await open(account.admin, { hash: "#/team" });
    await page.getByRole("button", { name: "Add an agent" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Aiko Mori");
    await page.getByLabel("E-mail").fill(account.agents[0].email);
    const submit = page.getByRole("button", { name: "Add", exact: true });
    await submit.click();
    await page.locator("dialog [role=alert], #email-problem").waitFor();
    await page.getByLabel("E-mail").fill(email);
    await page.getByLabel("Password", { exact: true }).fill("short");
    await submit.click();
    await page.getByText("Enter at least 12 characters.").waitFor();
    await page.getByRole("button", { name: "Generate" }).click();
    await submit.click();
    const dialog = page.getByRole("dialog", { name: "Aiko Mori is added" });
    const password = await dialog.locator("code").textContent();
    const session = await request("POST", "/agent/login", { email, password });
    assert.equal(session.body.must_change_password, true);
    await dialog.getByRole("button", { name: "Done" }).click();

    await page.getByLabel("Search agents").fill("aiko");
    await page.getByRole("link", { name: "Aiko Mori" }).click();
    await page.getByRole("radio", { name: "Admin" }).check();
    await page.getByLabel("Address of a photo").fill("ftp://x.example/a.png");
    await save(page);
    await page.locator("#photo-problem").waitFor();
    await page.getByLabel("Address of a photo").fill("");
    await save(page);
    await page.getByText("The agent has to sign in again.").waitFor();
    const agents = async () =>
      (await account.admin.get("/admin/agents")).agents;
    const aiko = (await agents()).find((agent) => agent.email === email);
    assert.equal(aiko.role, "admin");

    await page.getByRole("button", { name: "Set a new password" }).click();
    await page.getByRole("button", { name: "Set the password" }).click();
    const reset = page.getByRole("dialog", { name: "The password is set" });
    const newPassword = await reset.locator("code").textContent();
    await reset.getByRole("button", { name: "Done" }).click();
    assert.equal(await logInStatus(email, password), 401);
    assert.equal(await logInStatus(email, newPassword), 200);

    await page.getByRole("button", { name: "Delete the agent" }).click();
    await page.getByLabel("Type Aiko Mori").fill("Aiko Mori");
    await page.getByRole("button", { name: "Delete permanently" }).click();
    await page.getByRole("link", { name: "Jonas Weber" }).waitFor();
    assert.equal(
      await page.getByRole("link", { name: "Aiko Mori" }).count(),
      0,
    );
    assert.equal((await agents()).length, 2);
  },
);

journey(
  "agent replaces the own password and ends other sessions",
  async ({ account, open }) => {
    const { admin } = account;
    const other = await request("POST", "/agent/login", {
      email: admin.email,
      password: admin.password,
    });
    const page = await open(admin, { hash: `#/team/${admin.id}` });
    await page.getByRole("button", { name: "Set a new password" }).click();
    const dialog = page.getByRole("dialog", { name: "Password and sessions" });
    await dialog.getByText("This session").waitFor();
    const rows = await dialog.getByRole("listitem").count();
    assert.ok(rows >= 2, `${rows} sessions`);
    const submit = dialog.getByRole("button", { name: "Set the new password" });
    await dialog.getByLabel("Current password").fill("not the password");
    await dialog.getByLabel("New password", { exact: true }).fill("short");
    await submit.click();
    await dialog.getByText("Enter at least 12 characters.").waitFor();
    const password = "another long password";
    await dialog.getByLabel("New password", { exact: true }).fill(password);
    await dialog.getByLabel("New password again").fill(password);
    await submit.click();
    await dialog.locator("#current_password-problem").waitFor();
    await dialog.getByLabel("Current password").fill(admin.password);
    await submit.click();
    await page.getByText("Your password is set.").waitFor();
    assert.equal(await logInStatus(admin.email, admin.password), 401);
    const ended = await request(
      "GET",
      "/agent/me",
      undefined,
      other.body.token,
    );
    assert.equal(ended.status, 401);
    assert.equal(await logInStatus(admin.email, password), 200);
  },
);

journey(
  "agent replaces a one-time password at the first sign-in",
  async ({ account, openSignedOut }) => {
    const email = `aiko-${randomUUID()}@example.com`;
    const first = "a password for one day";
    await account.admin.post("/admin/agents", {
      name: "Aiko Mori",
      email,
      password: first,
      must_change_password: true,
    });
    const page = await openSignedOut();
    await page.goto(consoleUrl);
    await waitForSignIn(page);
    await page.getByLabel("E-mail").fill(email);
    await page.getByLabel("Password", { exact: true }).fill(first);
    await page.keyboard.press("Enter");
    await page
      .getByRole("heading", { name: "Choose your own password" })
      .waitFor();
    await page.locator("#current_password:focus").waitFor();
    assert.equal(await page.title(), "Choose your own password · Switchboard");
    await page.reload();
    await waitForSignIn(page);
    const password = "only Aiko knows this";
    await page.getByLabel("Current password").fill(first);
    await page.getByLabel("New password", { exact: true }).fill(password);
    await page.getByLabel("New password again").fill(password);
    await page.keyboard.press("Enter");
    await page.locator(".app").waitFor();
    assert.equal(await logInStatus(email, first), 401);
  },
);

journey(
  "list of agents shows who is online, and follows changes",
  async ({ account, open }) => {
    const page = await open(account.admin, { hash: "#/team" });
    const jonas = page.locator("tbody tr", { hasText: "Jonas Weber" });
    // A list that is still loading would replace a change by what was true before.
    await jonas.getByText("Offline", { exact: true }).waitFor();
    for (const [status, name] of [
      ["online", "Online"],
      ["away", "Away"],
      ["offline", "Offline"],
    ]) {
      await account.agents[0].setPresence(status);
      await jonas.getByText(name, { exact: true }).waitFor();
    }
  },
);

journey(
  "admins cannot demote or delete themselves",
  async ({ account, open }) => {
    const { id } = account.admin;
    const page = await open(account.admin, { hash: `#/team/${id}` });
    await page.getByText("Only another admin can change your role.").waitFor();
    assert.equal(await page.getByRole("radio", { name: "Agent" }).count(), 0);
    const remove = page.getByRole("button", { name: "Delete the agent" });
    assert.equal(await remove.count(), 0);
  },
);

journey(
  "department is added, filled, renamed and deleted",
  async ({ account, open }) => {
    const page = await open(account.admin, { hash: "#/team/departments" });
    await page.getByText("There are no departments yet").waitFor();
    await page.getByRole("button", { name: "Add a department" }).click();
    await page.getByLabel("Name", { exact: true }).press("Enter");
    await page.getByText("Give the department a name.").waitFor();
    await page.getByLabel("Name", { exact: true }).fill("Billing");
    await page.getByLabel("Name", { exact: true }).press("Enter");
    await page.getByRole("heading", { name: "Billing" }).waitFor();
    await page.getByRole("checkbox", { name: "Jonas Weber" }).check();
    await page.getByLabel("Name", { exact: true }).fill("Invoices");
    await save(page);
    await page.getByText("Saved.").waitFor();
    const list = async () =>
      (await account.admin.get("/admin/departments")).departments;
    assert.equal((await list())[0].name, "Invoices");
    assert.deepEqual((await list())[0].agent_ids, [account.agents[0].id]);
    await page.getByRole("link", { name: "All departments" }).click();
    await page.getByText("Jonas Weber").waitFor();
    await page.getByRole("link", { name: "Invoices" }).click();
    await page.getByRole("button", { name: "Delete the department" }).click();
    await page.getByLabel("Type Invoices").fill("Invoices");
    await page.getByRole("button", { name: "Delete permanently" }).click();
    await page.getByText("There are no departments yet").waitFor();
    assert.deepEqual(await list(), []);
  },
);

journey(
  "bots and team have no accessibility violations",
  async ({ account, open }) => {
    await account.addBot(account.channel, () => []);
    const [department] = [
      await account.admin.post("/admin/departments", { name: "Billing" }),
    ];
    for (const scheme of ["light", "dark"])
      for (const device of [{}, PHONE]) {
        const page = await open(account.admin, {
          hash: "#/bots",
          scheme,
          ...device,
        });
        const check = async (name) =>
          assert.deepEqual(await axeViolations(page), [], `${name} ${scheme}`);
        await page.getByRole("link", { name: "Parcel bot" }).waitFor();
        await check("bots");
        await page.getByRole("link", { name: "Parcel bot" }).click();
        await page.getByLabel("Name", { exact: true }).waitFor();
        await check("bot");
        await openSection(page, "Team");
        await page.getByRole("link", { name: "Jonas Weber" }).waitFor();
        await check("agents");
        await page.getByRole("link", { name: "Jonas Weber" }).click();
        await page.getByRole("button", { name: "Set a new password" }).click();
        await page.getByRole("dialog").waitFor();
        await check("password");
        await page.getByRole("button", { name: "Cancel" }).click();
        await page.evaluate((id) => {
          location.hash = `#/team/departments/${id}`;
        }, department.department_id);
        await page.getByRole("heading", { name: "Billing" }).waitFor();
        await check("department");
        await page.context().close();
      }
  },
);
