/* The visitor's details: contact, other chats, blacklist and erasure. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { host } from "../support/account.mjs";
import {
  chatRow,
  journey,
  openChat,
  stopClock,
  useBrowser,
  waitForHeadingFocus,
} from "../support/console.mjs";
import { CRM_CARD, ok } from "../support/receiver.mjs";

useBrowser();

const edit = async (page, field, value) => {
  await page.getByTitle(`Edit ${field}`).click();
  await page.keyboard.press("Control+a");
  await page.keyboard.type(value);
};
const source = (page, field) =>
  page.getByTitle(`Edit ${field}`).locator(".source");

journey(
  "details are edited in place with their sources",
  async ({ openWithChat }) => {
    const { page } = await openWithChat("Amara Kone", {
      sender: {
        email: "amara@example.com",
        phone: "+225 27 20 00 00 00",
        url: "https://shop.example/parcel",
      },
    });
    await source(page, "e-mail").getByText("integrator").waitFor();
    await edit(page, "e-mail", "amara@new.example");
    await page.keyboard.press("Enter");
    await source(page, "e-mail").getByText("agent").waitFor();
    await edit(page, "description", "Twins, careful");
    await page.keyboard.press("Control+Enter");
    await page.getByTitle("Edit description").getByText("Twins").waitFor();
    await edit(page, "name", "Amara K.");
    await page.keyboard.press("Escape");
    await page
      .getByTitle("Edit name")
      .filter({ hasText: "Amara Kone" })
      .waitFor();
    await edit(page, "name", "Amara K.");
    await page.keyboard.press("Enter");
    await chatRow(page, "Amara K.").waitFor();
    await page.getByRole("link", { name: "shop.example/parcel" }).waitFor();
  },
);

journey(
  "change by another agent or the visitor is shown",
  async ({ account, openWithChat }) => {
    const { page, visitor: amara } = await openWithChat("Amara Kone");
    await account.admin.patch(`/agent/visitors/${amara.number}`, {
      phone: "+225 1",
    });
    await page.getByTitle("Edit phone").getByText("+225 1").waitFor();
    amara.sender.email = "amara@example.com";
    await amara.say("My address has changed");
    await page
      .getByTitle("Edit e-mail")
      .getByText("amara@example.com")
      .waitFor();
  },
);

journey(
  "visitor is blacklisted, and erased after typing the name",
  async ({ account, open }) => {
    const amara = await account.openAcceptedChat("Amara Kone");
    await account.admin.close(amara.chatId);
    await amara.say("Again me");
    const page = await open();
    await openChat(page, "Amara Kone");
    await page.clock.install();
    await stopClock(page);
    await page
      .locator(".visitor")
      .getByRole("button", { name: "Blacklist" })
      .click();
    const banner = page.getByText("Blacklisted: new messages are dropped");
    await banner.waitFor();
    await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
    await banner.waitFor({ state: "detached" });
    await page.clock.resume();
    await page.getByRole("link", { name: "Erase…" }).click();
    await page.getByText(`all 2 chats of visitor ${amara.number}`).waitFor();
    await page.getByText("One chat is still open.").waitFor();
    await waitForHeadingFocus(page);
    const name = page.getByLabel("Type Amara Kone to confirm");
    await name.fill("Amara");
    await name.press("Enter");
    await name.fill("Amara Kone");
    await name.press("Enter");
    await page.getByText(/^2 chats with \d+ entries$/).waitFor();
    await page.reload();
    await page.getByText(`There is no visitor ${amara.number}`).waitFor();
    await page.getByRole("link", { name: "Inbox" }).click();
    await page.getByRole("tab", { name: "All open" }).click();
    assert.equal(await page.locator(".row", { hasText: "Amara" }).count(), 0);
  },
);

journey(
  "picture is shown and hidden with the keyboard",
  async ({ account, open }) => {
    const photo = "https://pictures.example/amara.svg";
    await account.openAcceptedChat("Amara Kone", { sender: { photo } });
    const page = await open();
    const body = '<svg xmlns="http://www.w3.org/2000/svg"/>';
    const picture = { contentType: "image/svg+xml", body };
    await page.route(photo, (route) => route.fulfill(picture));
    await openChat(page, "Amara Kone");
    const pane = page.locator(".visitor");
    const button = (name) => pane.getByRole("button", { name, exact: true });
    assert.equal(await pane.locator(`img[src="${photo}"]`).count(), 0);
    await button("Show the picture").press("Enter");
    await pane.locator(`img[src="${photo}"]`).waitFor();
    // The button keeps the focus, so the next key works on it.
    await page.locator(".photo-button:focus").waitFor();
    await page.keyboard.press("Enter");
    await button("Show the picture").waitFor();
    assert.equal(await pane.locator(`img[src="${photo}"]`).count(), 0);
  },
);

journey("values are copied with a button", async ({ openWithChat }) => {
  const { page } = await openWithChat("Amara Kone", {
    sender: { email: "amara@example.com", phone: "+225 27" },
    permissions: ["clipboard-read", "clipboard-write"],
  });
  for (const [name, value] of [
    ["name", "Amara Kone"],
    ["e-mail", "amara@example.com"],
    ["phone", "+225 27"],
  ]) {
    await page.getByRole("button", { name: `Copy ${name}` }).click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(copied, value);
  }
});

journey(
  "session and data of the visitor's page are shown, and marked",
  async ({ account, open }) => {
    const { widget_id } = await account.admin.post("/admin/channels", {
      kind: "widget",
      name: "Widget",
      widget: { title: "Northlight" },
    });
    const post = async (endpoint, body) => {
      const response = await fetch(
        `${host.base_url}/widget/${widget_id}/${endpoint}`,
        {
          method: "POST",
          headers: { "user-agent": "Gecko/132.0 Firefox/132.0" },
          body: JSON.stringify(body),
        },
      );
      assert.ok(response.ok, endpoint);
      return response.json();
    };
    const page = { url: "https://shop.example/help", title: "Where is it?" };
    const { visitor } = await post("session", { identify: true, page });
    const { token } = visitor;
    await post("visitor", {
      token,
      contact_info: { name: "Amara Kone" },
      utm: { source: "newsletter" },
      custom_data: [
        { title: "Cart", content: "2 jackets", link: "https://shop.example/" },
        { key: "Customer", content: "Gold, says the page" },
      ],
      source: "script",
    });
    await post("message", {
      token,
      page,
      message_id: randomUUID(),
      message: { type: "text", text: "Hello" },
    });
    const desk = await open();
    await openChat(desk, "Amara Kone");
    const session = desk.getByRole("region", { name: "Session" });
    for (const text of ["Where is it?", "newsletter", "Firefox"])
      await session.getByText(text).first().waitFor();
    const fromPage = desk.getByRole("region", { name: "From the page" });
    await fromPage.getByText("Visitors can change it").waitFor();
    await fromPage.getByRole("link", { name: "2 jackets" }).waitFor();
    await fromPage.locator("b", { hasText: "Customer:" }).waitFor();
  },
);

journey(
  "title of the CRM's data stands above its content",
  async ({ openWithChat }) => {
    const { page } = await openWithChat("Amara Kone");
    const fromCrm = page.getByRole("region", { name: "From your CRM" });
    await fromCrm.locator(".custom > div").nth(2).waitFor();
    const title = await fromCrm
      .locator("h4", { hasText: "Plan" })
      .boundingBox();
    const content = await fromCrm.getByText("Gold, since 2023").boundingBox();
    assert.ok(title.y + title.height <= content.y + 1);
  },
  { respondToEvent: () => ok(CRM_CARD) },
);

journey(
  "picture of a visitor is loaded only when the agent asks for it",
  async ({ account, openWithChat }) => {
    const photo = `${account.channel.integrator.url}/face.png`;
    const { page, visitor } = await openWithChat("Amara Kone", {
      sender: { photo, phone: "+225 27 20 00 00 00" },
    });
    const pane = page.locator(".visitor");
    const show = pane.getByRole("button", { name: "Show the picture" });
    await show.waitFor();
    assert.equal(await page.locator(".face img").count(), 0);
    await show.click();
    await pane.locator(".face img").waitFor();
    await page.locator(".conversation header .face img").waitFor();

    await pane.getByTitle("Edit phone").click();
    await pane.getByLabel("Phone", { exact: true }).fill("");
    await page.keyboard.press("Enter");
    await pane.getByTitle("Edit phone").getByText("Add").waitFor();
    const { phone } = (
      await account.admin.get(`/agent/chats/${visitor.chatId}`)
    ).visitor;
    assert.ok(!phone);
  },
);
