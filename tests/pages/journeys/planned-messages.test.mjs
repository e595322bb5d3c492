/* Messages that an agent plans to send later. */

import assert from "node:assert/strict";
import { journey, line, textarea, useBrowser } from "../support/console.mjs";

useBrowser();

const planned = (page) => page.getByRole("list", { name: "Planned messages" });

async function planTomorrow(page, text) {
  await textarea(page).fill(text);
  await page.getByRole("button", { name: "Send later" }).click();
  await page
    .getByRole("dialog", { name: "Send later" })
    .getByRole("button", { name: /^Tomorrow morning/ })
    .click();
  await planned(page).getByText(text).waitFor();
}

journey(
  "planned message is shown, and sent at once on request",
  async ({ openWithChat }) => {
    const { page } = await openWithChat("Thanh Nguyễn");
    await planTomorrow(page, "Is it solved?");
    await textarea(page).and(page.locator(":placeholder-shown")).waitFor();
    assert.equal(await line(page, "Is it solved?").count(), 0);
    await page.reload();
    await planned(page).getByText("Is it solved?").waitFor();
    await planned(page).getByRole("button", { name: "Send now" }).click();
    await line(page, "Is it solved?").waitFor();
    await planned(page).waitFor({ state: "detached" });
  },
);

journey(
  "cancelled message returns to the composer",
  async ({ openWithChat }) => {
    const { page } = await openWithChat("Thanh Nguyễn");
    await planTomorrow(page, "Is it solved?");
    await textarea(page).and(page.locator(":placeholder-shown")).waitFor();
    await planned(page).getByRole("button", { name: "Cancel" }).click();
    await planned(page).waitFor({ state: "detached" });
    await page.waitForFunction(
      () =>
        document.querySelector(".composer textarea")?.value === "Is it solved?",
    );
  },
);

journey("empty message cannot be planned", async ({ openWithChat }) => {
  const { page } = await openWithChat("Thanh Nguyễn");
  const button = page.getByRole("button", { name: "Send later" });
  assert.equal(await button.getAttribute("aria-disabled"), "true");
  await textarea(page).fill("x");
  await page.waitForFunction(
    () =>
      document
        .querySelector(".composer [aria-label='Send later']")
        ?.getAttribute("aria-disabled") === "false",
  );
});
