/* Runs tests of the console with the local host: each test has an account and pages of its own. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Account, host } from "./account.mjs";
import { launch, openPage, serve } from "./browser.mjs";
import { openChat, waitUntilLive } from "./console-page.mjs";

export * from "./console-page.mjs";

/** These limits only end a test that hangs. They are long because other programs can take half of the processor. */
const TEST_TIMEOUT_MS = 300_000;
const PAGE_TIMEOUT_MS = 40_000;

/** The console's URL. If CONSOLE_FOLDER is set, another server serves that folder in place of the host's own pages. */
export let consoleUrl = `${host.base_url}/console/`;
let browser;
let server;

/** Starts the browser for the tests of a file. `options` returns the options of `launch`. */
export function useBrowser(options = () => ({})) {
  before(async () => {
    browser = await launch(options());
    if (process.env.CONSOLE_FOLDER === undefined) return;
    server = await serve({ api: host.base_url });
    consoleUrl = `${server.url}/console/`;
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });
}

/** Lets the pages of a browser context start as if the agent had signed in. */
export const storeSession = (context, agent) =>
  context.addInitScript((session) => {
    // The script runs again on each reload. A session that has ended must stay ended.
    if (location.protocol === "about:" || sessionStorage.getItem("test.opened"))
      return;
    sessionStorage.setItem("test.opened", "true");
    sessionStorage.setItem("switchboard.session", JSON.stringify(session));
  }, agent.session);

/** The pages that a test opens. */
class Pages {
  #account;
  #opened = [];
  #expected = [];

  constructor(account) {
    this.#account = account;
  }

  /** Opens an empty page without a session. */
  openSignedOut = async (options = {}) => {
    const opened = await openPage(browser, options);
    this.#opened.push(opened);
    opened.page.setDefaultTimeout(PAGE_TIMEOUT_MS);
    return opened.page;
  };

  /** Opens the console as an agent who has already signed in. */
  open = async (
    agent = this.#account.admin,
    { hash = "", ...options } = {},
  ) => {
    const page = await this.openSignedOut(options);
    await storeSession(page.context(), agent);
    await page.goto(consoleUrl + hash);
    await waitUntilLive(page);
    return page;
  };

  /** Opens the console of an agent with a chat that the agent has accepted. Returns the page and the visitor. */
  openWithChat = async (
    visitorName,
    { agent = this.#account.admin, text, sender, ...options } = {},
  ) => {
    const visitor = await this.#account.openAcceptedChat(visitorName, {
      agent,
      text,
      sender,
    });
    const page = await this.open(agent, options);
    await openChat(page, visitorName);
    // The list can be read just before it knows that the chat is accepted. A push follows then.
    await page.locator(".composer textarea").waitFor();
    return { page, visitor };
  };

  /** Ignores problems that match the pattern, because the test causes them on purpose. */
  expectProblems = (pattern) => void this.#expected.push(pattern);

  get problems() {
    return this.#opened
      .flatMap(({ problems }) => problems)
      .filter((problem) => !this.#expected.some((p) => p.test(problem)));
  }

  async close() {
    for (const { context, page } of this.#opened) {
      // A handler may still wait for a response that nobody needs any more.
      if (!page.isClosed()) await page.unrouteAll({ behavior: "ignoreErrors" });
      await context.close();
    }
  }
}

/** Runs a test with its own account. The test fails if a page has errors or violates its content security policy. */
export function journey(name, run, accountOptions = {}) {
  test(name, { timeout: TEST_TIMEOUT_MS }, async (t) => {
    const account = await Account.create(accountOptions);
    const pages = new Pages(account);
    const { open, openSignedOut, openWithChat, expectProblems } = pages;
    const openers = { open, openSignedOut, openWithChat };
    try {
      await run({ t, account, ...openers, expectProblems });
      assert.deepEqual(pages.problems, []);
    } finally {
      await pages.close();
      account.close();
    }
  });
}

/** Runs a test with a page of its account. `seed` prepares the account before the page is opened; `as` chooses who opens
    it. With `signedOut`, the page is empty and nobody has signed in. The other options are those of a page. */
export function pageJourney(
  name,
  {
    seed = () => {},
    as = ({ admin }) => admin,
    signedOut = false,
    account: accountOptions,
    ...pageOptions
  },
  run,
) {
  journey(
    name,
    async ({ account, open, openSignedOut }) => {
      await seed(account);
      const page = signedOut
        ? await openSignedOut(pageOptions)
        : await open(as(account), pageOptions);
      await run(page, account);
    },
    accountOptions,
  );
}
