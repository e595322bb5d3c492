/* Checks each state of the widget with two accessibility checkers, on a wide screen and on a phone, in both themes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { axeViolations, ibmViolations } from "./support/browser.mjs";
import { widgetSite } from "./support/mocked-widget.mjs";
import { STATES } from "./support/widget-states.mjs";

const openSite = widgetSite();
const DEVICES = {
  computer: { width: 1100, height: 800 },
  phone: { width: 390, height: 844, touch: true },
};
const violations = async (page) => [
  ...(await axeViolations(page)),
  ...(await ibmViolations(page)),
];

for (const [name, { steps, ...fields }] of Object.entries(STATES))
  for (const [device, options] of Object.entries(DEVICES))
    test(`accessible: ${name} on a ${device}`, async () => {
      const { page, context, mock, problems } = await openSite(fields, options);
      await steps(page, mock);
      for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        assert.deepEqual(await violations(page), [], colorScheme);
      }
      assert.deepEqual(problems, []);
      await context.close();
    });

test("both checkers find a fault", async () => {
  const { page, context } = await openSite();
  await page.getByRole("button", { name: "Open chat" }).click();
  await page.getByRole("textbox").evaluate((field) => {
    field.removeAttribute("aria-label");
    field.removeAttribute("placeholder");
  });
  assert.match((await axeViolations(page)).join(), /label/);
  assert.match((await ibmViolations(page)).join(), /label/);
  await context.close();
});
