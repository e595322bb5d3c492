/* What the widget tells about the pages of the visit: the first one, the present one, and their names. */

import assert from "node:assert/strict";
import {
  api,
  embedding,
  html,
  label,
  openWindow,
  Site,
  stored,
  useEmbeddingBrowser,
  waitForSent,
  write,
} from "../support/embedding.mjs";
import { waitFor } from "../support/wait.mjs";

useEmbeddingBrowser();

const LANDING = "/landing?utm_source=google&utm_campaign=spring";
const UTM = { source: "google", campaign: "spring" };
const ALL_UTM = { ...UTM, content: null, medium: null, term: null };

/** Opens the shop's landing page by a link on the page of a search engine. */
async function land({ t, widget, openSignedOut }, { removed } = {}) {
  const site = await widget.site({
    pages: {
      "*": ({ path }) =>
        html({
          title: `Page ${path}`,
          head: widget.tag,
          body: `<a href="/second">Second</a> <a href="/third">Third</a>`,
        }),
    },
  });
  const search = await Site.start({
    pages: { "/": html({ body: `<a href="${site.url}${LANDING}">Shop</a>` }) },
    hostName: "search.test",
  });
  t.after(() => search.close());
  const page = await openSignedOut({ width: 1100, height: 800 });
  if (removed) await page.addInitScript((name) => delete window[name], removed);
  const requests = [];
  page.on("request", (request) => {
    const endpoint = /\/widget\/[^/]+\/(\w+)$/.exec(request.url())?.[1];
    if (endpoint) requests.push({ endpoint, ...request.postDataJSON() });
  });
  await page.goto(search.url);
  await page.getByRole("link", { name: "Shop" }).click();
  await label(page).waitFor();
  return { page, site, search, requests };
}

const follow = async (page, name) => {
  await page.getByRole("link", { name }).click();
  await page.waitForURL(new RegExp(name.toLowerCase()));
  await label(page).waitFor();
};
const writeFirst = async (page) => {
  await openWindow(page);
  await write(page, "Hello");
  await waitForSent(page, "Hello");
};
const created = (requests) => requests.find(({ identify }) => identify);
const sentUtm = (requests) => requests.find(({ utm }) => utm)?.utm;

embedding("campaign and referrer are the landing page's", async (context) => {
  await context.account.admin.setPresence("online");
  const { page, search, requests } = await land(context);
  assert.deepEqual(await api(page, "getUtm"), ALL_UTM);
  await follow(page, "Second");
  await follow(page, "Third");
  assert.deepEqual(await api(page, "getUtm"), ALL_UTM);
  assert.deepEqual(await stored(page), {});
  assert.equal(await page.evaluate(() => history.state), null);
  await writeFirst(page);
  assert.deepEqual(sentUtm(requests), UTM);
  assert.equal(created(requests).referrer, `${search.url}/`);
  assert.match(created(requests).page.url, /\/third$/);
});

embedding(
  "without the Navigation API, the campaign stays beside the page's state",
  async (context) => {
    await context.account.admin.setPresence("online");
    const { page, search, requests } = await land(context, {
      removed: "navigation",
    });
    await page.evaluate(() => {
      history.replaceState({ ...history.state, own: 1 }, "");
      history.pushState({ own: 2 }, "", "/routed");
    });
    await page.waitForFunction(() => history.state.switchboard);
    assert.equal(await page.evaluate(() => history.state.own), 2);
    await page.reload();
    await label(page).waitFor();
    assert.deepEqual(await api(page, "getUtm"), ALL_UTM);
    await page.goBack();
    assert.equal(await page.evaluate(() => history.state.own), 1);
    await writeFirst(page);
    assert.deepEqual(sentUtm(requests), UTM);
    assert.equal(created(requests).referrer, `${search.url}/`);
  },
);

embedding(
  "page without a campaign keeps its state as it is",
  async ({ widget }) => {
    const page = await widget.open(await widget.site());
    await label(page).waitFor();
    assert.deepEqual(
      await page.evaluate(() => [history.state, localStorage.length]),
      [null, 0],
    );
    assert.deepEqual(await api(page, "getUtm"), {
      ...ALL_UTM,
      source: null,
      campaign: null,
    });
  },
);

embedding(
  "agents see the page to which the site's own router has gone",
  async ({ account, widget }) => {
    const { admin } = account;
    await admin.setPresence("online");
    const page = await widget.openOn();
    await writeFirst(page);
    const chat = await waitFor(
      "the chat",
      async () => (await admin.chats())[0],
    );
    const isSeen = (url, title) =>
      waitFor(`the page ${url}`, async () => {
        const { page } = await admin.get(`/agent/chats/${chat.chat_id}`);
        return page?.url === url && page.title === title;
      });
    const origin = new URL(page.url()).origin;
    await page.evaluate(() => {
      history.pushState(null, "", "/cart?step=1");
      document.title = "Your cart";
    });
    await isSeen(`${origin}/cart?step=1`, "Your cart");
    await api(page, "sendPageTitle", "Checkout", true, "/checkout");
    await isSeen(`${origin}/checkout`, "Checkout");
    await page.evaluate(() => {
      history.pushState(null, "", `/thanks?q=${"x".repeat(5000)}`);
      document.title = "Thanks";
    });
    await isSeen(
      `${origin}/thanks?q=${"x".repeat(5000)}`.slice(0, 4096),
      "Thanks",
    );
    const sent = page.waitForRequest(/\/message$/);
    await write(page, "One more thing");
    assert.equal((await sent).postDataJSON().page.title, "Thanks");
  },
);
