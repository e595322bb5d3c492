/* Checks each state of the widget with two accessibility checkers, on a wide screen and on a phone, in both themes. */

import assert from "node:assert/strict";
import { axeViolations, ibmViolations } from "../support/browser.mjs";
import {
  composer,
  openWindow,
  shopJourney,
  useEmbeddingBrowser,
} from "../support/shop.mjs";
import { openState, PHONE, STATES } from "../support/widget-states.mjs";

useEmbeddingBrowser();

const DEVICES = { computer: {}, phone: PHONE };
const violations = async (page) => [
  ...(await axeViolations(page)),
  ...(await ibmViolations(page)),
];

for (const [name, state] of Object.entries(STATES))
  for (const [device, options] of Object.entries(DEVICES))
    shopJourney(
      `accessible: ${name} on a ${device}`,
      async (shop) => {
        const page = await openState(shop, state, options);
        for (const colorScheme of ["light", "dark"]) {
          await page.emulateMedia({ colorScheme });
          assert.deepEqual(await violations(page), [], colorScheme);
        }
      },
      state,
    );

shopJourney("both checkers find a fault", async (shop) => {
  const page = await shop.open();
  await openWindow(page);
  await composer(page).evaluate((field) => {
    field.removeAttribute("aria-label");
    field.removeAttribute("placeholder");
  });
  assert.match((await axeViolations(page)).join(), /label/);
  assert.match((await ibmViolations(page)).join(), /label/);
});
