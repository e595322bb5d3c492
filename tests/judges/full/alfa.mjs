/* Siteimprove's Alfa, on the console's sign-in page. Larger views take it many minutes. */

import { Audit, Outcome } from "@siteimprove/alfa-act";
import { Playwright } from "@siteimprove/alfa-playwright";
import rules from "@siteimprove/alfa-rules";
import { finding, readViews } from "./pages.mjs";

await readViews(
  async (page, name) => {
    const handle = await page.evaluateHandle(() => window.document);
    const outcomes = await Audit.of(await Playwright.toPage(handle), rules).evaluate();
    return [...outcomes].filter(Outcome.isFailed).map((outcome) => {
      const id = outcome.rule.uri.split("/").pop();
      const path = outcome.target.path?.() ?? "";
      return finding(id, `${name}: ${path}`, JSON.stringify(outcome.toJSON().expectations));
    });
  },
  ["sign-in"],
);
