/* Scripts of the page that listen for keys. */

import assert from "node:assert/strict";
import {
  composer,
  embedding,
  label,
  openWindow,
  useEmbeddingBrowser,
  waitForSent,
} from "../support/embedding.mjs";

useEmbeddingBrowser();

/** Shortcuts as search boxes of documentation sites and mail programs have them: a letter counts unless the event's
    target is a text field. The target of an event from the widget is its host element. */
const SHORTCUTS = `<input aria-label="Search"><script>
  window.shortcuts = [];
  const isTextField = ({ tagName, isContentEditable }) =>
    isContentEditable || ["INPUT", "SELECT", "TEXTAREA"].includes(tagName);
  for (const type of ["keydown", "keypress", "keyup"])
    for (const target of [window, document, document.body])
      target.addEventListener(type, (event) => {
        if (isTextField(event.target)) return;
        shortcuts.push(event.key);
        if (["/", "j", "k", "?"].includes(event.key)) {
          event.preventDefault();
          document.querySelector("input").focus();
        }
      });
</script>`;

const shortcuts = (page) => page.evaluate(() => window.shortcuts);

embedding(
  "keys in the window are no shortcuts of the page",
  async (context) => {
    const { account, widget } = context;
    await account.admin.setPresence("online");
    const page = await widget.openOn({ body: SHORTCUTS });
    await openWindow(page);
    await composer(page).pressSequentially("hi / jk you?");
    assert.equal(await composer(page).inputValue(), "hi / jk you?");
    await page.keyboard.press("Enter");
    await waitForSent(page, "hi / jk you?");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    assert.deepEqual(await shortcuts(page), []);
  },
);

embedding("keys outside the window stay shortcuts", async ({ widget }) => {
  const page = await widget.openOn({ body: SHORTCUTS });
  await label(page).waitFor();
  await page.keyboard.press("/");
  await page.waitForFunction(() => document.activeElement.tagName === "INPUT");
  assert.ok((await shortcuts(page)).includes("/"));
});

embedding(
  "page's handlers of input and clipboard see only the page",
  async (context) => {
    const { account, widget } = context;
    await account.admin.setPresence("online");
    const body = `<script>window.seen = []; for (const type of ["beforeinput", "input", "change", "copy", "cut", "paste"])
    document.addEventListener(type, ({ target }) => seen.push(type + " " + target.value.length));</script>`;
    const page = await widget.openOn({ body });
    await openWindow(page);
    await composer(page).fill("a secret");
    await composer(page).press("Control+a");
    for (const key of ["c", "x", "v"])
      await composer(page).press(`Control+${key}`);
    assert.equal(await composer(page).inputValue(), "a secret");
    assert.deepEqual(await page.evaluate(() => window.seen), []);
  },
);

embedding(
  "dialog of the page that keeps the focus leaves it to the widget",
  async (context) => {
    const { account, widget } = context;
    await account.admin.setPresence("online");
    // As Bootstrap's dialogs do.
    const body = `<dialog open><input aria-label="Coupon"></dialog><script>
    document.addEventListener("focusin", ({ target }) => {
      const dialog = document.querySelector("dialog");
      if (!dialog.contains(target)) dialog.querySelector("input").focus();
    });</script>`;
    const page = await widget.openOn({ body });
    await openWindow(page);
    await composer(page).click();
    await page.keyboard.type("hello");
    assert.equal(await composer(page).inputValue(), "hello");
  },
);
