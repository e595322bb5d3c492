/* The browser of these tests enforces what browsers of visitors enforce. */

import assert from "node:assert/strict";
import { host } from "../support/account.mjs";
import {
  api,
  embedding,
  html,
  label,
  Site,
  strictPolicy,
  useEmbeddingBrowser,
} from "../support/embedding.mjs";

useEmbeddingBrowser({ foreignNames: ["chat.example"] });

const FORBIDDEN = ["disable-web-security", "disable-site-isolation-trials"];

embedding("browser enforces CORS and the page's policy", async (context) => {
  const { t, widget, openSignedOut, expectProblems } = context;
  expectProblems(/Content Security Policy/);
  const other = await Site.start({ pages: { "/": "secret" } });
  t.after(() => other.close());
  const site = await widget.site({
    pages: { "/": html({ body: "Shop" }) },
    headers: {
      "content-security-policy": strictPolicy(host.base_url, {
        "connect-src": `'self' ${other.url}`,
      }),
    },
  });
  const page = await openSignedOut();
  await page.goto(site.url);
  const failure = (url) =>
    page.evaluate(
      (url) =>
        fetch(url).then(
          () => "none",
          ({ name }) => name,
        ),
      url,
    );
  assert.equal(await failure(site.url), "none");
  assert.equal(await failure(other.url), "TypeError", "CORS");
  const blocked = page.evaluate(
    () =>
      new Promise((done) =>
        addEventListener("securitypolicyviolation", (event) =>
          done(event.effectiveDirective),
        ),
      ),
  );
  assert.equal(await failure(`${host.base_url}/openapi.json`), "TypeError");
  assert.equal(await blocked, "connect-src");
});

embedding("browser runs with web security", async ({ openSignedOut }) => {
  const page = await openSignedOut();
  const session = await page.context().browser().newBrowserCDPSession();
  const { arguments: switches } = await session.send(
    "Browser.getBrowserCommandLine",
  );
  assert.ok(switches.some((name) => name.startsWith("--headless")));
  for (const name of FORBIDDEN)
    assert.ok(!switches.some((used) => used.includes(name)), name);
});

embedding(
  "widget starts on a site with a name of its own",
  async ({ account, widget }) => {
    await account.admin.setPresence("online");
    const page = await widget.openOn({ hostName: "www.shop.test" });
    await label(page).waitFor();
    assert.equal(await api(page, "chatMode"), "online");
  },
);

embedding(
  "hard-coded host name leads to the local host",
  async ({ widget }) => {
    const tag = `<script src="//chat.example/widget.js" data-id="${widget.id}"></script>`;
    const page = await widget.openOn({
      pages: { "/": html({ body: tag }) },
      hostName: "www.shop.test",
    });
    await label(page).waitFor();
  },
);
