/* Browsers and pages that lack, refuse or change what others have: the visitor's message still reaches an agent. */

import assert from "node:assert/strict";
import {
  api,
  embedding,
  html,
  label,
  openWindow,
  useEmbeddingBrowser,
  waitForSent,
  write,
} from "../support/embedding.mjs";

useEmbeddingBrowser();

/** What a browser does differently, as a function that runs in the page before its scripts. */
const BROWSERS = {
  "without local storage": () => {
    for (const name of ["localStorage", "sessionStorage"])
      Object.defineProperty(window, name, { value: null });
  },
  "that blocks the site's data": () => {
    const refuse = () => {
      throw new DOMException("denied", "SecurityError");
    };
    for (const name of ["localStorage", "sessionStorage"])
      Object.defineProperty(window, name, { get: refuse });
    Object.defineProperty(Document.prototype, "cookie", { get: refuse });
    Object.defineProperty(Navigator.prototype, "locks", {
      value: {
        request: () =>
          Promise.reject(new DOMException("denied", "SecurityError")),
      },
    });
  },
  "with an unknown language": () => {
    Object.defineProperty(Navigator.prototype, "language", {
      value: "en-US@posix",
    });
    Object.defineProperty(Navigator.prototype, "languages", {
      value: undefined,
    });
  },
};

for (const [name, change] of Object.entries(BROWSERS))
  embedding(`visitor writes in a browser ${name}`, async (context) => {
    const { account, widget, openSignedOut } = context;
    await account.admin.setPresence("online");
    const page = await openSignedOut({ width: 1100, height: 800 });
    await page.addInitScript(change);
    await page.goto((await widget.site()).url);
    await openWindow(page);
    await write(page, "Hello");
    await waitForSent(page, "Hello");
    await api(page, "clearHistory");
    await openWindow(page);
    await write(page, "Hello again");
    await waitForSent(page, "Hello again");
    const chats = await account.admin.chats("waiting");
    assert.equal(chats.length, 2);
  });

embedding(
  "visitor writes in a sandboxed frame",
  async ({ account, widget }) => {
    await account.admin.setPresence("online");
    const page = await widget.openOn({
      pages: {
        "/": html({
          body: `<iframe sandbox="allow-scripts" src="/inner" width="900" height="700"></iframe>`,
        }),
        "/inner": html({ head: widget.tag, body: "Inner" }),
      },
    });
    const frame = page.frameLocator("iframe");
    await frame.getByRole("button", { name: /^Open chat/ }).click();
    await frame.getByRole("textbox", { name: "Write a message" }).fill("Hello");
    await page.keyboard.press("Enter");
    await waitForSent(frame, "Hello");
  },
);

embedding(
  "custom data arrives from a page with Prototype.js",
  async ({ account, widget }) => {
    const { admin } = account;
    await admin.setPresence("online");
    const page = await widget.openOn({
      pages: {
        "*": html({
          head: `<script>Array.prototype.toJSON = function () { return "[" + this.join() + "]"; };</script>${widget.tag}`,
        }),
      },
    });
    await label(page).waitFor();
    await api(page, "setCustomData", [{ title: "Plan", content: "Gold" }]);
    await openWindow(page);
    await write(page, "Hello");
    await waitForSent(page, "Hello");
    const [{ chat_id }] = await admin.chats("waiting");
    const { panel } = await admin.get(`/agent/chats/${chat_id}`);
    const [{ title, content }] = panel.custom_data;
    assert.deepEqual([title, content], ["Plan", "Gold"]);
  },
);
