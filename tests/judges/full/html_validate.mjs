/* html-validate on the HTML that the service serves and on the DOM of each view, with that of the widget. */

import { HtmlValidate } from "html-validate";
import { finding, readViews, URLS } from "./pages.mjs";

const validator = new HtmlValidate({ extends: ["html-validate:standard", "html-validate:a11y"] });

async function read(place, html) {
  const { results } = await validator.validateString(html, place);
  return results.flatMap(({ messages }) =>
    messages.map(({ ruleId, message, selector }) => finding(ruleId, `${place}: ${selector ?? ""}`, message)),
  );
}

const served = [];
for (const [name, url] of Object.entries(URLS))
  served.push(...(await read(`${name}, served`, await (await fetch(url)).text())));

await readViews(async (page, name) => {
  const found = await read(name, await page.content());
  const widget = await page.evaluate(() => document.querySelector("switchboard-widget")?.shadowRoot.innerHTML ?? "");
  return [...served.splice(0), ...found, ...(await read(`${name}, widget`, widget))];
});
