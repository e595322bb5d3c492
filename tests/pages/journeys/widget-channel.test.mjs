/* The pages of channels: an admin creates a widget, embeds it, and edits its settings beside a preview. */

import assert from "node:assert/strict";
import http from "node:http";
import { host } from "../support/account.mjs";
import { axeViolations } from "../support/browser.mjs";
import {
  journey,
  searchInPalette,
  showPreview,
  useBrowser,
  waitForHeadingFocus,
  waitForPreview,
} from "../support/console.mjs";
import { waitFor, waitForFocus } from "../support/wait.mjs";

useBrowser();

const PHONE = { width: 390, height: 844, touch: true };

const save = (page) => page.getByRole("button", { name: "Save" }).click();
const preview = (page) => page.locator("switchboard-widget");
const createWidget = (account, settings = {}) =>
  account.admin.post("/admin/channels", {
    kind: "widget",
    name: "Web shop",
    ...settings,
  });
const storedChannel = (account, id) =>
  account.admin.get(`/admin/channels/${id}`);

async function openWidget({ account, open }, { settings, ...options } = {}) {
  const { channel_id: id } = await createWidget(account, settings);
  const page = await open(account.admin, {
    hash: `#/channels/${id}`,
    ...options,
  });
  await waitForPreview(page);
  return { page, id };
}

/** Requests the session of a widget as a browser does from a page with this origin. Returns the status. */
function sessionStatus(widgetId, origin) {
  const url = `${host.base_url}/widget/${widgetId}/session`;
  const headers = { origin, "content-type": "text/plain" };
  return new Promise((done, fail) => {
    const request = http.request(url, { method: "POST", headers }, (response) =>
      done(response.resume().statusCode),
    );
    request.on("error", fail).end("{}");
  });
}

journey(
  "widget is created, its tag copied, and other sites refused",
  async ({ account, open }) => {
    const page = await open(account.admin, {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await searchInPalette(page, "channels");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Shop" }).waitFor();
    await page.getByRole("button", { name: "Add a channel" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Web shop");
    await page.getByLabel("Allowed sites").fill("a.*.example");
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByText("must be a host such as").first().waitFor();
    await page.getByLabel("Allowed sites").fill("https://shop.example/cart");
    await page.getByRole("button", { name: "Connect" }).click();

    await page.getByRole("heading", { name: "Web shop" }).waitFor();
    await page.getByRole("button", { name: "Copy the tag" }).click();
    const tag = await page.evaluate(() => navigator.clipboard.readText());
    const id = /src="[^"]*\/widget\/([^"]+)"/.exec(tag)?.[1];
    assert.ok(id, tag);
    await preview(page)
      .locator("header", { hasText: "Fjord Outdoor" })
      .waitFor();

    assert.equal(await sessionStatus(id, "https://shop.example"), 200);
    assert.equal(await sessionStatus(id, "https://evil.example"), 403);
    await page
      .getByLabel("Allowed sites")
      .fill("evil.example\n*.fjord.example");
    await save(page);
    await page.getByText("Saved.").waitFor();
    const { widget } = await storedChannel(account, id);
    assert.deepEqual(widget.allowed_sites, ["evil.example", "*.fjord.example"]);

    await page.getByRole("link", { name: "All channels" }).click();
    await page.getByRole("link", { name: "Web shop" }).waitFor();
    await page.getByText("evil.example, *.fjord.example").waitFor();
  },
);

journey("error of the service is shown at its field", async (context) => {
  const { page, id } = await openWidget(context);
  const color = page.getByLabel("Colour", { exact: true });
  await color.fill("#12");
  await save(page);
  await page.getByText("Must be a colour from").waitFor();
  assert.equal(await color.getAttribute("aria-invalid"), "true");
  assert.match(await color.getAttribute("aria-describedby"), /problem/);
  await waitForFocus(color);

  await color.fill("#c2410c");
  await page.getByLabel("Title").fill(" ");
  await save(page);
  await page.getByText("Give the window a title.").waitFor();
  await page.getByLabel("Title").fill("Help");
  await page.getByLabel("Address of a picture").fill("javascript:alert(1)");
  await page.getByLabel("Address of a picture").press("Enter");
  await page.locator("[id='widget.avatar-problem']").waitFor();
  await page.getByLabel("Address of a picture").fill("");
  await page.getByLabel("Title").press("Enter");
  await page.getByText("Saved.").waitFor();
  assert.equal(await page.locator(".problem").count(), 0);
  const { widget } = await storedChannel(context.account, id);
  assert.equal(widget.color, "#c2410c");
  assert.equal(widget.title, "Help");
});

journey(
  "preview follows the settings before they are saved",
  async (context) => {
    const { page, id } = await openWidget(context);
    const widget = preview(page);
    await page.getByLabel("Title").fill("Fjord help");
    await page.getByLabel("Greeting").fill("Ask us anything!");
    await widget.getByText("Ask us anything!").waitFor();
    await widget.locator("header", { hasText: "Fjord help" }).waitFor();
    await page.getByLabel("Colour", { exact: true }).fill("#c2410c");
    const background = (element) => getComputedStyle(element).backgroundColor;
    await waitFor(
      "the colour of the preview",
      async () =>
        (await widget.locator(".send").evaluate(background)) ===
        "rgb(194, 65, 12)",
    );
    await page.getByRole("radio", { name: "Left" }).check();
    await widget.locator(".root.left > .window").waitFor();

    await page.getByLabel("Language", { exact: true }).selectOption("de");
    await page
      .getByLabel("Use own words")
      .selectOption({ label: "Nachricht schreiben" });
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.locator("#text-write").fill("Frag uns");
    await widget.getByPlaceholder("Frag uns").waitFor();
    await page
      .getByLabel("Ask visitors for contact data")
      .selectOption("before_first_message");
    await page.getByLabel("Ask for phone").uncheck();
    await page.getByLabel("Require e-mail").check();
    await widget.locator("form.contacts").waitFor();
    assert.equal(await widget.locator("form.contacts input").count(), 2);
    await page
      .getByRole("switch", { name: "Visitors can rate a chat" })
      .uncheck();
    await showPreview(page, "Ended");
    await widget.locator(".log .bubble").nth(1).waitFor();
    assert.equal(await widget.locator(".rating").count(), 0);
    await showPreview(page, "Offline");
    await widget.locator("textarea[name=message]").waitFor();

    assert.equal(
      (await storedChannel(context.account, id)).widget.greeting,
      null,
    );
    await save(page);
    await page.getByText("Saved.").waitFor();
    const stored = (await storedChannel(context.account, id)).widget;
    assert.equal(stored.greeting, "Ask us anything!");
    assert.equal(stored.position, "left");
    assert.equal(stored.rating, false);
    assert.deepEqual(stored.texts, { write: "Frag uns" });
    assert.deepEqual(stored.contacts_form, {
      when: "before_first_message",
      fields: ["name", "email"],
      required: ["email"],
      custom_fields: [],
    });
  },
);

journey("theme, place and behaviour are saved", async (context) => {
  const { page, id } = await openWidget(context);
  const widget = preview(page);
  await page.getByRole("radio", { name: "Always dark" }).check();
  await page.getByRole("radio", { name: "Light", exact: true }).check();
  const background = () =>
    widget
      .locator(".window")
      .evaluate((element) => getComputedStyle(element).backgroundColor);
  await waitFor("the dark preview", async () =>
    /24, 27, 32/.test(await background()),
  );
  await page.getByLabel("How fast you usually answer").selectOption("hours");
  await widget.getByText("Usually answers in a few hours").waitFor();
  const fromSide = page.getByLabel("Distance from the side");
  await fromSide.fill("4x00");
  assert.equal(await fromSide.inputValue(), "400", "only digits are taken");
  await fromSide.fill("401");
  await save(page);
  await page.getByText("Give a whole number from 0 to 400.").waitFor();
  assert.equal(await fromSide.getAttribute("aria-invalid"), "true");
  await fromSide.fill("32");
  await page.getByLabel("Distance from the bottom").fill("80");
  await page.getByLabel("Layer (z-index)").fill("50");
  const bottomOf = (selector) =>
    page.evaluate((selector) => {
      const { shadowRoot } = document.querySelector("switchboard-widget");
      const stage = document.querySelector(".preview-stage");
      const { bottom } = shadowRoot
        .querySelector(selector)
        .getBoundingClientRect();
      return Math.round(stage.getBoundingClientRect().bottom - bottom);
    }, selector);
  assert.equal(await bottomOf(".label"), 80);
  await page.getByRole("switch", { name: "Chat button" }).uncheck();
  await widget.locator(".label").waitFor({ state: "detached" });
  assert.equal(await bottomOf(".window"), 80);
  await page
    .getByRole("switch", { name: "Agents see what visitors are typing" })
    .uncheck();
  await page
    .getByLabel("Moved from another service")
    .selectOption("Yes, from Jivo");
  await save(page);
  await page.getByText("Saved.").waitFor();
  const stored = (await storedChannel(context.account, id)).widget;
  assert.equal(stored.theme, "dark");
  assert.equal(stored.reply_time, "hours");
  assert.deepEqual(stored.launcher, {
    hidden: true,
    offset_x: 32,
    offset_y: 80,
    z_index: 50,
  });
  assert.equal(stored.typing_preview, false);
  assert.equal(stored.moved_from, "jivo");
});

journey("questions are added, moved, removed and saved", async (context) => {
  const { page, id } = await openWidget(context);
  const widget = preview(page);
  const question = (number) =>
    page.getByRole("group", { name: `Question ${number}` });
  const waitForQuestion = (number) =>
    waitForFocus(page.locator(`[id$="custom_fields[${number - 1}].label"]`));
  await page
    .getByLabel("Ask visitors for contact data")
    .selectOption("before_first_message");
  const add = page.getByRole("button", { name: "Add a question" });
  await add.click();
  await waitForQuestion(1);
  await page.keyboard.type("Order number");
  await widget.getByText("Order number").waitFor();
  await add.click();
  await waitForQuestion(2);
  await question(2)
    .getByLabel("Answer")
    .selectOption("Consent (a box to tick)");
  await question(2)
    .getByLabel("Link (optional)")
    .fill("https://shop.example/privacy");
  await question(2).getByRole("switch", { name: "Required" }).check();
  await add.click();
  await waitForQuestion(3);
  await question(3).getByLabel("Answer").selectOption("A choice");
  await question(3)
    .getByLabel("Question", { exact: true })
    .fill("What is it about?");
  await save(page);
  await page.getByText("Write what the visitor is asked.").waitFor();
  await page.getByText("Write at least one choice.").waitFor();
  await waitForQuestion(2);
  await question(2)
    .getByLabel("What the visitor agrees to")
    .fill("I agree to the terms.");
  await question(3).getByLabel("Choices").fill("Delivery\n\nReturns\n");
  await question(3).getByRole("button", { name: "Move up" }).click();
  await waitForQuestion(2);
  await question(2).getByLabel("Key in webhooks").fill("topic");
  await question(1).getByRole("button", { name: "Remove" }).click();
  await question(3).waitFor({ state: "detached" });
  await widget.getByRole("link", { name: "Read more" }).waitFor();
  assert.equal(await widget.locator(".contacts select").count(), 1);
  await save(page);
  await page.getByText("Saved.").waitFor();
  const { custom_fields } = (await storedChannel(context.account, id)).widget
    .contacts_form;
  assert.deepEqual(custom_fields, [
    {
      key: "topic",
      label: "What is it about?",
      type: "select",
      options: ["Delivery", "Returns"],
      link: null,
      required: false,
    },
    {
      key: "question_2",
      label: "I agree to the terms.",
      type: "consent",
      options: [],
      link: "https://shop.example/privacy",
      required: true,
    },
  ]);

  for (let count = 2; count < 5; count++) await add.click();
  assert.equal(await add.count(), 0, "five questions are the limit");
  await page.getByRole("button", { name: "Discard" }).click();
  await question(3).waitFor({ state: "detached" });
  await question(2).getByLabel("Link (optional)").fill("javascript:alert(1)");
  await save(page);
  await page
    .locator("[id='widget.contacts_form.custom_fields[1].link-problem']")
    .waitFor();
  assert.deepEqual(await axeViolations(page), []);
});

journey("preview can be neither operated nor focused", async (context) => {
  const { page } = await openWidget(context);
  await page.getByRole("radio", { name: "Light", exact: true }).focus();
  await page.keyboard.press("Tab");
  const isInPreview = () =>
    document.activeElement.closest("switchboard-widget") !== null;
  assert.equal(await page.evaluate(isInPreview), false);
  const widget = preview(page).locator(".window");
  const { width } = await widget.boundingBox();
  const frame = await page.locator(".preview-frame").boundingBox();
  assert.ok(width < frame.width, "the window fits into the preview");
});

journey(
  "unsaved settings are kept while the inbox is open",
  async (context) => {
    const { page, id } = await openWidget(context);
    await page.getByLabel("Title").fill("Not saved yet");
    await page.getByRole("link", { name: "Inbox" }).click();
    await page.getByRole("tab", { name: "Mine" }).waitFor();
    await page.goBack();
    await waitForPreview(page);
    assert.equal(await page.getByLabel("Title").inputValue(), "Not saved yet");
    await page.getByRole("button", { name: "Discard" }).click();
    assert.equal(await page.getByLabel("Title").inputValue(), "Fjord Outdoor");
    const { widget } = await storedChannel(context.account, id);
    assert.equal(widget.title, "Fjord Outdoor");
  },
);

journey("kept draft preserves what others have stored", async (context) => {
  const { account } = context;
  const { page, id } = await openWidget(context);
  await page.getByLabel("Title").fill("Fjord help");
  await page.getByRole("link", { name: "Inbox" }).click();
  await page.getByRole("tab", { name: "Mine" }).waitFor();
  await account.admin.patch(`/admin/channels/${id}`, {
    widget: { greeting: "Ask us anything!" },
  });
  await page.goBack();
  await waitForPreview(page);
  assert.equal(
    await page.getByLabel("Greeting").inputValue(),
    "Ask us anything!",
  );
  await save(page);
  await page.getByText("Saved.").waitFor();
  const { widget } = await storedChannel(account, id);
  assert.equal(widget.title, "Fjord help");
  assert.equal(widget.greeting, "Ask us anything!");
});

journey("setting typed during a save is kept", async (context) => {
  const { page, id } = await openWidget(context);
  let respond;
  const isReleased = new Promise((done) => (respond = done));
  await page.route(`**/admin/channels/${id}`, async (route) => {
    if (route.request().method() === "PATCH") await isReleased;
    await route.continue();
  });
  await page.getByLabel("Title").fill("Fjord help");
  await save(page);
  await page.getByLabel("Greeting").fill("Ask us anything!");
  respond();
  await page.getByText("Saved.").waitFor();
  assert.equal(
    await page.getByLabel("Greeting").inputValue(),
    "Ask us anything!",
  );
  const { widget } = await storedChannel(context.account, id);
  assert.equal(widget.title, "Fjord help");
  assert.equal(widget.greeting, null);
  await save(page);
  await waitFor("the greeting", async () => {
    const { widget } = await storedChannel(context.account, id);
    return widget.greeting === "Ask us anything!";
  });
});

journey("channel is deleted after its name is typed", async (context) => {
  const { page, id } = await openWidget(context);
  await page.getByRole("button", { name: "Delete the channel" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete Web shop?" });
  await dialog.getByLabel("Type Web shop").fill("Web");
  await page.keyboard.press("Enter");
  assert.equal((await storedChannel(context.account, id)).channel_id, id);
  await dialog.getByLabel("Type Web shop").fill("Web shop");
  await dialog.getByRole("button", { name: "Delete permanently" }).click();
  await page.getByText("Web shop is deleted.").waitFor();
  await page.getByRole("link", { name: "Shop" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "Web shop" }).count(), 0);
  assert.equal(await sessionStatus(id, "https://shop.example"), 404);
});

journey("API channel is edited on its page", async ({ account, open }) => {
  const { id } = account.channel;
  const page = await open(account.admin, { hash: `#/channels/${id}` });
  await waitForHeadingFocus(page);
  const address = page.getByLabel("Address of your server");
  await address.fill("ftp://shop.example");
  await save(page);
  await page.locator("#integrator_url-problem").waitFor();
  await address.fill("https://shop.example/hook");
  await page.getByRole("switch", { name: "Chunked requests" }).check();
  await save(page);
  await page.getByText("Saved.").waitFor();
  const stored = await storedChannel(account, id);
  assert.equal(stored.integrator_url, "https://shop.example/hook");
  assert.equal(stored.chunked, true);
});

journey("agents are not offered channels", async ({ account, open }) => {
  const page = await open(account.agents[0], { hash: "#/channels" });
  await page.getByText("Only admins manage channels").waitFor();
  assert.equal(await page.getByRole("link", { name: "Channels" }).count(), 0);
});

journey("channels have no accessibility violations", async (context) => {
  const { account, open } = context;
  const { channel_id: id } = await createWidget(account);
  for (const scheme of ["light", "dark"])
    for (const device of [{}, PHONE]) {
      const page = await open(account.admin, {
        hash: "#/channels",
        scheme,
        ...device,
      });
      await page.getByRole("link", { name: "Web shop" }).waitFor();
      assert.deepEqual(await axeViolations(page), [], `list ${scheme}`);
      await page.getByRole("link", { name: "Web shop" }).click();
      await waitForPreview(page);
      await page.getByLabel("Colour", { exact: true }).fill("#12");
      await save(page);
      await page.getByText("Must be a colour from").waitFor();
      assert.deepEqual(await axeViolations(page), [], `widget ${scheme}`);
      await showPreview(page, "Chat");
      assert.deepEqual(await axeViolations(page), [], `preview ${scheme}`);
      await page.context().close();
    }
  assert.equal((await storedChannel(account, id)).widget.color, "#00464a");
});
