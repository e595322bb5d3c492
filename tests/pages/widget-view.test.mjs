/* The widget in Chromium, on a page of another origin with a strict Content-Security-Policy, with a mock of its
   endpoints. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  CALLBACK_DISABLED,
  CALLBACK_UNAVAILABLE,
  CHAT_ID,
  MockWidget,
  SETTINGS,
} from "./support/mock-widget.mjs";
import { axeViolations, launch, openPage } from "./support/browser.mjs";
import { waitFor } from "./support/wait.mjs";
import { STATES } from "./support/widget-states.mjs";

let browser, mock;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await mock?.close();
});

/** Starts a new mock for each page, because a page that has been closed may still send requests to its mock. */
async function startMock(fields) {
  await mock?.close();
  mock = await MockWidget.start();
  mock.reset(fields);
}

/** Opens the page with the widget, and returns when the widget is ready. */
async function openSite(fields = {}, options = {}) {
  await startMock(fields);
  const opened = await openPage(browser, {
    width: 1100,
    height: 800,
    ...options,
  });
  await opened.page.goto(mock.siteUrl + (options.path ?? ""));
  await opened.page.locator(".root").waitFor({ state: "attached" });
  return opened;
}

const NO_UTM = {
  source: null,
  campaign: null,
  content: null,
  medium: null,
  term: null,
};
const called = (page) => page.evaluate(() => window.called);
const requestsTo = (endpoint) =>
  mock.requests.filter((request) => request.endpoint === endpoint);
const write = async (page, text) => {
  await page.getByRole("textbox").fill(text);
  await page.keyboard.press("Enter");
};
const api = (page, method, ...args) =>
  page.evaluate(
    ([method, args]) => widget_api[method](...args),
    [method, args],
  );

test("each method returns its documented result", async () => {
  const { page, context } = await openSite();
  const results = [
    ["chatMode", [], "online"],
    [
      "getContactInfo",
      [],
      { client_name: null, email: null, phone: null, description: null },
    ],
    [
      "setContactInfo",
      [{ name: "Amara", email: "amara@shop.example" }],
      { result: "ok" },
    ],
    [
      "getContactInfo",
      [],
      {
        client_name: "Amara",
        email: "amara@shop.example",
        phone: null,
        description: null,
      },
    ],
    [
      "setCustomData",
      ["wrong"],
      { result: "fail", reason: "Custom data must be array." },
    ],
    [
      "setCustomData",
      [[{ content: "Gold", title: "Level" }]],
      { result: "ok" },
    ],
    ["setUserToken", ["abc"], { result: "ok", token: "abc" }],
    ["setUserToken", [7], { result: "ok", token: 7 }],
    ["setUserToken", [{}], { result: "fail", token: {} }],
    ["setUserToken", [], { result: "fail", token: false }],
    ["setRules", [[]], { result: "ok" }],
    ["startCall", ["+4930123456"], { result: "ok" }],
    ["getUnreadMessagesCount", [], 0],
    ["getUtm", [], NO_UTM],
    ["showProactiveInvitation", ["Need help?"], { result: "ok" }],
    ["setClientAttributes", [{ plan: "gold" }], { result: "ok" }],
    ["sendPageTitle", ["Running shoes"], { result: "ok" }],
    ["setWidgetColor", ["#112233"], { result: "ok" }],
    ["setWidgetColor", ["#112233", "#ffffff"], { result: "ok" }],
    [
      "sendOfflineMessage",
      [{ name: "A", email: "wrong", message: "Hi" }],
      { result: "fail", error: "Email is not valid." },
    ],
    [
      "sendOfflineMessage",
      [{ email: "a@b.example", message: "Hi" }],
      { result: "ok" },
    ],
    ["open", [{ start: "call" }], { result: "ok" }],
    ["open", [], { result: "ok" }],
    ["open", [{ start: "menu" }], { result: "ok" }],
    ["open", [{ start: "chat" }], { result: "ok" }],
    ["close", [], { result: "ok" }],
    ["clearHistory", [], { result: "ok" }],
  ];
  await page.evaluate(() => {
    window.callEnd = new Promise((done) => (window.widget_onCallEnd = done));
  });
  for (const [method, args, expected] of results)
    assert.deepEqual(await api(page, method, ...args), expected, method);
  // Wait for the end of the call, because isCallbackEnabled has another result while a call is in progress.
  await page.evaluate(() => window.callEnd);
  const answers = await page.evaluate(() =>
    Promise.all([
      new Promise((done) =>
        widget_api.getVisitorNumber((...args) => done(args)),
      ),
      new Promise((done) => widget_api.isCallbackEnabled(done)),
    ]),
  );
  assert.deepEqual(answers, [
    [null, 42],
    { result: "fail", reason: "Callback disabled" },
  ]);
  await context.close();
});

test("invalid arguments get the documented failure", async () => {
  const { page, context } = await openSite();
  const field = { content: "x" };
  const failures = [
    ["setCustomData", [{}], { reason: "Custom data must be array." }],
    ["setCustomData", [Array(11).fill(field)], { reason: /at most 10/ }],
    ["setContactInfo", ["Amara"], { reason: /object/ }],
    ["setRules", ["x"], { reason: /array/ }],
    ["showProactiveInvitation", [{}], { reason: /string/ }],
    ["setClientAttributes", [7], { reason: /object/ }],
    ["sendPageTitle", [""], { reason: /string/ }],
    ["setWidgetColor", ["red;}*{display:none"], { reason: /#rrggbb/ }],
    ["startCall", ["x"], { reason: /Phone/ }],
    ["startCall", [], { reason: /Phone/ }],
    ["sendOfflineMessage", [{}], { error: /Message/ }],
    [
      "sendOfflineMessage",
      [{ email: "a@b.example", message: "x".repeat(1001) }],
      { error: /at most 1000/ },
    ],
    ["sendOfflineMessage", [{ message: "Hi" }], { error: /Email or phone/ }],
    [
      "sendOfflineMessage",
      [{ message: "Hi", phone: "call me" }],
      { error: /Phone/ },
    ],
  ];
  for (const [method, args, expected] of failures) {
    const { result, ...text } = await api(page, method, ...args);
    assert.equal(result, "fail", method);
    const [[name, pattern]] = Object.entries(expected);
    assert.deepEqual(Object.keys(text), [name], method);
    assert.match(text[name], new RegExp(pattern), method);
  }
  for (let calls = 0; calls < 10; calls++)
    assert.deepEqual(await api(page, "setClientAttributes", {}), {
      result: "ok",
    });
  assert.deepEqual(await api(page, "setClientAttributes", {}), {
    result: "fail",
    reason: "Limit exceeded",
  });
  assert.equal(mock.requests.length, 1, "nothing was sent but the session");
  await context.close();
});

test("calls before the widget is ready are carried out later", async () => {
  let release;
  const isReleased = new Promise((done) => (release = done));
  await startMock({ override: () => isReleased });
  const { page, context } = await openPage(browser, {});
  await page.goto(`${mock.siteUrl}/?utm_source=news&utm_term=shoes`);
  await page.waitForFunction(() => window.widget_api);
  const early = [
    ["chatMode", [], "offline"],
    ["setContactInfo", [{ name: "Amara" }], { result: "ok" }],
    ["setCustomData", [7], undefined],
    ["setUserToken", ["abc"], { result: "ok", token: "abc" }],
    ["getUnreadMessagesCount", [], 0],
    ["getUtm", [], { ...NO_UTM, source: "news", term: "shoes" }],
    ["open", [], { result: "ok" }],
  ];
  for (const [method, args, expected] of early) {
    const result = await api(page, method, ...args);
    if (expected !== undefined) assert.deepEqual(result, expected, method);
    else assert.equal(result.result, "fail", method);
  }
  const { client_name } = await api(page, "getContactInfo");
  assert.equal(client_name, "Amara");
  await page.evaluate(() =>
    widget_api.getVisitorNumber((...args) => (window.visitor = args)),
  );
  assert.deepEqual(await called(page), []);
  release();
  await page.getByRole("dialog").waitFor();
  await page.waitForFunction(() => window.visitor);
  assert.deepEqual(await page.evaluate(() => window.visitor), [null, 42]);
  assert.deepEqual(await called(page), [
    "onLoadCallback",
    "onOpen",
    "onResizeCallback",
    "onChangeState chat",
  ]);
  const [{ body }] = requestsTo("visitor");
  assert.deepEqual(
    [body.contact_info, body.user_token],
    [{ name: "Amara" }, "abc"],
  );
  await context.close();
});

test("invitation in widget_onLoadCallback opens the window", async () => {
  await startMock();
  const { page, context } = await openPage(browser, {});
  await page.addInitScript(() => {
    addEventListener("DOMContentLoaded", () => {
      window.widget_onLoadCallback = () =>
        widget_api.showProactiveInvitation("Hello from the page", 2);
    });
  });
  await page.goto(mock.siteUrl);
  await page.getByText("Hello from the page").waitFor();
  await context.close();
});

test("restored window and account's rules follow onLoadCallback", async () => {
  const rules = [invite("From the account", ["online", "", true])];
  const { page, context } = await openSite({
    session: { ...STATES.chat.session, rules },
  });
  await page.getByRole("button", { name: /^Open chat/ }).click();
  await page.reload();
  await page.getByRole("dialog").waitFor();
  assert.deepEqual((await called(page)).slice(0, 4), [
    "onLoadCallback",
    "onOpen",
    "onResizeCallback",
    "onChangeState chat",
  ]);
  await context.close();
});

test("page's rules replace the account's before these act", async () => {
  const rules = [invite("From the account", ["online", "", true])];
  await startMock({ session: { rules } });
  const { page, context } = await openPage(browser, {});
  await page.addInitScript(() => {
    addEventListener("DOMContentLoaded", () => {
      window.widget_onLoadCallback = () => {
        window.modeInCallback = widget_api.chatMode();
        widget_api.setRules([]);
      };
    });
  });
  await page.goto(mock.siteUrl);
  await page.waitForFunction(() => window.modeInCallback);
  assert.equal(await page.evaluate(() => window.modeInCallback), "online");
  await page.locator(".label").waitFor();
  assert.equal(await isShown(page, "From the account"), false);
  await context.close();
});

test("chat that an invitation has started is not the visitor's start", async () => {
  const { page, context } = await openSite();
  await api(page, "showProactiveInvitation", "Need help?");
  await write(page, "Yes");
  await page.getByText("Sent", { exact: true }).waitFor();
  const names = await called(page);
  assert.ok(names.includes("onMessageSent"));
  assert.ok(!names.includes("onClientStartChat"));
  await context.close();
});

test("contact data of the offline form is known when the form is sent", async () => {
  const { page, context } = await openSite({ session: { mode: "offline" } });
  await page.evaluate(() => {
    window.widget_onChangeState = (state) => {
      if (state === "offline/success")
        window.info = widget_api.getContactInfo();
    };
  });
  await api(page, "open");
  await page.getByLabel("E-mail").fill("amara@shop.example");
  await page.getByRole("textbox", { name: "Message" }).fill("Size 45?");
  await page.getByRole("button", { name: "Send message" }).click();
  await page.waitForFunction(() => window.info);
  const { email } = await page.evaluate(() => window.info);
  assert.equal(email, "amara@shop.example");
  await context.close();
});

test("page hears what came of its offline message", async () => {
  const answers = [{ status: 413, error: {} }, { status: 503 }];
  const { page, context } = await openSite({
    override: (endpoint) =>
      endpoint === "offline-message" ? answers.shift() : undefined,
  });
  const send = () =>
    page.evaluate(
      () =>
        new Promise((done) =>
          widget_api.sendOfflineMessage(
            { email: "a@b.example", message: "Hi" },
            done,
          ),
        ),
    );
  assert.deepEqual(await send(), {
    result: "fail",
    error: "Message is too long.",
  });
  // The service was busy once, so the message is sent again.
  assert.deepEqual(await send(), { result: "ok" });
  assert.equal(requestsTo("offline-message").length, 3);
  await context.close();
});

test("offline message that is refused on a later page is reported in the console", async () => {
  let status = 503;
  const { page, context } = await openSite({
    override: (endpoint) =>
      endpoint === "offline-message" ? { status, error: {} } : undefined,
  });
  await page.evaluate(() => {
    const message = { email: "a@b.example", message: "Hi" };
    widget_api.sendOfflineMessage(message, () => {});
  });
  await waitFor("the message", () => requestsTo("offline-message").length > 0);
  status = 413;
  const warning = page.waitForEvent("console", {
    predicate: (message) => message.type() === "warning",
  });
  await page.reload();
  assert.match((await warning).text(), /not sent.*Message is too long/);
  await context.close();
});

test("conversation calls the page's callbacks in order", async () => {
  const { page, context } = await openSite();
  await page.getByRole("button", { name: "Open chat" }).click();
  await write(page, "Hello");
  await page.getByText("Sent", { exact: true }).waitFor();
  await waitFor("a socket", () => mock.socketCount === 1);
  mock.setState("active");
  await page.getByText("Marta joined the chat").waitFor();
  mock.pushMessage({
    from: "agent",
    type: "text",
    name: "Marta",
    text: "Good morning",
  });
  await page.getByText("Good morning").waitFor();
  await page.keyboard.press("Escape");
  assert.deepEqual(await called(page), [
    "onLoadCallback",
    "onOpen",
    "onResizeCallback",
    "onChangeState chat",
    "onMessageSent",
    "onClientStartChat",
    "onAccept",
    "onMessageReceived",
    "onClose",
    "onResizeCallback",
    "onChangeState chat/min",
  ]);
  const focused = await page.evaluate(
    () =>
      document.querySelector("switchboard-widget").shadowRoot.activeElement
        .className,
  );
  assert.equal(focused, "label");
  mock.pushMessage({ from: "agent", type: "text", text: "Are you there?" });
  await page.getByRole("button", { name: "Open chat, 1 unread" }).waitFor();
  assert.equal(await api(page, "getUnreadMessagesCount"), 1);
  await context.close();
});

test("bot takes messages while nobody is online", async () => {
  const session = { mode: "offline", bot: true };
  const { page, context } = await openSite({ session });
  await api(page, "open");
  assert.equal(await api(page, "chatMode"), "offline");
  await page.getByRole("textbox", { name: "Write a message" }).waitFor();
  await page.locator("header").getByText("Assistant").waitFor();
  await context.close();
});

test("offline form and removal call the page's callbacks", async () => {
  const { page, context } = await openSite({ session: { mode: "offline" } });
  assert.equal(await api(page, "chatMode"), "offline");
  await api(page, "open");
  await page.getByLabel("E-mail").fill("amara@shop.example");
  await page.getByRole("textbox", { name: "Message" }).fill("Size 45?");
  await page.getByRole("button", { name: "Send message" }).click();
  await page.getByText("Thank you").waitFor();
  const [{ body }] = requestsTo("offline-message");
  assert.deepEqual(
    [body.email, body.message],
    ["amara@shop.example", "Size 45?"],
  );
  await page.evaluate(() => widget_destroy());
  await page.locator(".label").waitFor({ state: "detached" });
  assert.deepEqual(await called(page), [
    "onLoadCallback",
    "onOpen",
    "onResizeCallback",
    "onChangeState chat",
    "onChangeState offline/success",
    "onWidgetDestroy",
  ]);
  await context.close();
});

test("late success of the offline form leaves the chat open", async () => {
  let respond;
  const { page, context } = await openSite({
    session: { mode: "offline" },
    override: (endpoint) =>
      endpoint === "offline-message"
        ? new Promise((done) => (respond = done))
        : undefined,
  });
  await api(page, "open");
  await page.getByLabel("E-mail").fill("amara@shop.example");
  await page.getByRole("textbox", { name: "Message" }).fill("Size 45?");
  await page.getByRole("button", { name: "Send message" }).click();
  await waitFor("the message", () => respond);
  await api(page, "showProactiveInvitation", "Need help?");
  const composer = page.getByRole("textbox", { name: "Write a message" });
  await composer.waitFor();
  const before = requestsTo("session").length;
  respond();
  await waitFor("a new session", () => requestsTo("session").length > before);
  await page.waitForFunction(() => widget_api.getContactInfo().email);
  assert.ok(!(await called(page)).includes("onChangeState offline/success"));
  assert.ok(await composer.isVisible());
  await context.close();
});

test("answer to an offline message arrives without a reload", async () => {
  const { page, context } = await openSite({ session: { mode: "offline" } });
  await api(page, "sendOfflineMessage", {
    email: "amara@shop.example",
    message: "Size 45?",
  });
  await waitFor("a socket", () => mock.socketCount === 1);
  mock.pushMessage({ from: "agent", type: "text", text: "In stock again" });
  await page.getByRole("button", { name: "Open chat, 1 unread" }).click();
  const texts = await page.locator(".bubble").allTextContents();
  assert.deepEqual(texts, ["Size 45?", "In stock again"]);
  await context.close();
});

test("cleared history is no longer shown", async () => {
  const { page, context } = await openSite();
  let sessions = 0;
  page.on("requestfinished", (request) => {
    if (request.url().endsWith("/session")) sessions++;
  });
  await page.getByRole("button", { name: "Open chat" }).click();
  await write(page, "Hello");
  await page.getByText("Sent", { exact: true }).waitFor();
  await waitFor(
    "the sessions of the visitor and of the socket",
    () => sessions === 2,
  );
  assert.deepEqual(await api(page, "clearHistory"), { result: "ok" });
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await waitFor("the request", () =>
    requestsTo("visitor").some(({ body }) => body.clear_history),
  );
  await api(page, "open");
  assert.equal(await page.getByText("Hello", { exact: true }).count(), 0);
  await context.close();
});

test("page of the reference product works with its prefix", async () => {
  const script = (url) =>
    `<script async src="${url}/widget.js" data-id="w1" data-prefix="jivo"></script>`;
  const { page, context } = await openSite({ page: script });
  assert.deepEqual(await called(page), ["jivo_onLoadCallback"]);
  assert.deepEqual(
    await page.evaluate(() => [jivo_api.open(), typeof window.widget_api]),
    [{ result: "ok" }, "undefined"],
  );
  await page.getByRole("dialog").waitFor();
  assert.ok((await called(page)).includes("jivo_onChangeState chat"));
  await page.evaluate(() => jivo_destroy());
  await page.locator(".label").waitFor({ state: "detached" });
  await page.evaluate(() => jivo_init());
  await page.locator(".label").waitFor();
  await context.close();
});

test("code of the window is loaded when it is about to be opened", async () => {
  const { page, context } = await openSite();
  assert.equal(await hasLoadedWindow(page), false);
  await page.getByRole("button", { name: "Open chat" }).hover();
  await waitFor("the window's code", () => hasLoadedWindow(page));
  await context.close();
});

test("window shows its frame while its code is loading", async () => {
  await startMock();
  const { page, context } = await openPage(browser, {});
  let release;
  const isReleased = new Promise((done) => (release = done));
  await page.route("**/window-*.js", async (route) => {
    await isReleased;
    await route.continue();
  });
  await page.goto(mock.siteUrl);
  await page.getByRole("button", { name: "Open chat" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Loading…").waitFor();
  const size = () =>
    dialog.evaluate(({ offsetWidth, offsetHeight }) => [
      offsetWidth,
      offsetHeight,
    ]);
  const frame = await size();
  release();
  await page.getByRole("textbox", { name: "Write a message" }).waitFor();
  assert.deepEqual(await size(), frame);
  await page.keyboard.type("Hello");
  assert.equal(await page.getByRole("textbox").inputValue(), "Hello");
  await context.close();
});

test("window whose code could not be loaded can be opened again", async () => {
  await startMock();
  const { page, context } = await openPage(browser, {});
  let isBroken = true;
  await page.route("**/window-*.js*", (route) =>
    isBroken ? route.abort() : route.continue(),
  );
  await page.goto(mock.siteUrl);
  await page.getByRole("button", { name: "Open chat" }).click();
  await page.getByText("The chat could not be loaded.").waitFor();
  assert.deepEqual(await axeViolations(page), []);
  isBroken = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("textbox", { name: "Write a message" }).waitFor();
  await context.close();
});

/** Lets the page do what it does by itself: returns after it has been idle several times. */
const idle = (page) =>
  page.evaluate(async () => {
    for (let round = 0; round < 20; round++)
      await new Promise((done) => requestIdleCallback(done));
  });

test("code of the window is requested again only when there is a reason", async () => {
  const chat = { chat_id: CHAT_ID, state: "active", last_seq: 0 };
  await startMock({
    session: { visitor: {}, chat: { ...chat, agent: { name: "Marta" } } },
  });
  const { page, context } = await openPage(browser, {});
  let isBroken = true;
  let count = 0;
  await page.route("**/window-*.js*", (route) => {
    count++;
    return isBroken ? route.abort() : route.continue();
  });
  const expectRequests = async (expected) => {
    await waitFor(`request ${expected}`, () => count >= expected);
    await idle(page);
    assert.equal(count, expected);
  };
  await page.goto(mock.siteUrl);
  await expectRequests(1);
  await page.evaluate(() => widget_api.open());
  await expectRequests(2);
  await page.getByRole("button", { name: "Try again" }).click();
  await expectRequests(3);
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await expectRequests(4);
  isBroken = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("textbox", { name: "Write a message" }).waitFor();
  assert.equal(count, 5);
  await context.close();
});

test("widget is in English if the texts of its language cannot be loaded", async () => {
  await startMock({ session: { widget: { ...SETTINGS, language: "de" } } });
  const { page, context, problems } = await openPage(browser, {});
  await page.route("**/assets/de-*.js*", (route) => route.abort());
  await page.goto(mock.siteUrl);
  await page.getByRole("button", { name: "Open chat" }).waitFor();
  assert.equal(await page.locator(".root").getAttribute("lang"), "en");
  assert.deepEqual(problems, []);
  await context.close();
});

test("page hears that the widget cannot load its texts", async () => {
  await startMock();
  const { page, context, problems } = await openPage(browser, {});
  await page.route("**/assets/en-*.js*", (route) => route.abort());
  await page.goto(mock.siteUrl);
  await page.waitForFunction(() => window.widget_api);
  const problem =
    "The chat widget does not appear, because its texts cannot be loaded.";
  await page.evaluate(() =>
    widget_api.getVisitorNumber((...args) => (window.answer = args)),
  );
  const answer = await page.waitForFunction(() => window.answer);
  assert.deepEqual(await answer.jsonValue(), [problem, null]);
  assert.deepEqual(await api(page, "open"), {
    result: "fail",
    reason: problem,
  });
  assert.deepEqual(problems, []);
  await context.close();
});

test("late refusal of a destroyed widget does not stop the next one", async () => {
  let release;
  const isReleased = new Promise((done) => (release = done));
  const refuseFirst = async () => {
    if (requestsTo("session").length > 1) return undefined;
    await isReleased;
    return { status: 403, error: { code: "site_not_allowed" } };
  };
  await startMock({ override: refuseFirst });
  const { page, context } = await openPage(browser, {});
  const isRefused = page.waitForResponse(
    (response) => response.status() === 403,
  );
  await page.goto(mock.siteUrl);
  await waitFor("the first session", () => requestsTo("session").length > 0);
  await page.evaluate(() => {
    widget_destroy();
    widget_init();
  });
  await page.locator(".root").waitFor({ state: "attached" });
  release();
  await (await isRefused).finished();
  await idle(page);
  assert.deepEqual(await api(page, "open"), { result: "ok" });
  await page.getByRole("textbox", { name: "Write a message" }).waitFor();
  await context.close();
});

/** Returns the value, or else the duration, of each performance entry of a type since the page was opened. */
const observed = (page, type) =>
  page.evaluate(
    (type) =>
      new Promise((done) => {
        const found = [];
        const observer = new PerformanceObserver((list) => {
          for (const entry of list.getEntries())
            found.push(entry.value ?? entry.duration);
        });
        observer.observe({ type, buffered: true });
        requestAnimationFrame(() => setTimeout(() => done(found), 100));
      }),
    type,
  );

test("page is not blocked for 50 ms while the widget loads", async () => {
  // One load without a long task is enough: other programs may keep the processor busy during some of the loads.
  const loads = [];
  for (let load = 0; load < 3 && !loads.some((tasks) => tasks === 0); load++) {
    const { page, context } = await openSite();
    loads.push((await observed(page, "longtask")).length);
    await context.close();
  }
  assert.ok(loads.includes(0), `long tasks of each load: ${loads}`);
});

/** Returns the paths of the files that the page has loaded for the widget, without their hashes. */
const loadedFiles = (page) =>
  page.evaluate(() =>
    performance
      .getEntriesByType("resource")
      .map(({ name }) => new URL(name).pathname.replace(/-\w+\.js/, ".js"))
      .filter((name) => name !== "/callbacks.js")
      .sort(),
  );
const hasLoadedWindow = async (page) =>
  (await loadedFiles(page)).includes("/widget/assets/window.js");

test("page loads nothing else, stores nothing and does not shift", async () => {
  const { page, context, problems } = await openSite();
  const loaded = await loadedFiles(page);
  await page.evaluate(() => widget_api.open());
  await page.locator(".composer").waitFor();
  assert.deepEqual(await observed(page, "layout-shift"), []);
  assert.deepEqual(loaded, [
    "/widget.js",
    "/widget/assets/en.js",
    "/widget/assets/main.js",
    "/widget/w1/session",
  ]);
  const [{ method, contentType, body }] = mock.requests;
  assert.deepEqual([method, contentType], ["POST", "text/plain"]);
  assert.deepEqual(
    [body.identify, body.token, body.page.title],
    [undefined, undefined, "Shop"],
  );
  const stored = await page.evaluate(() => [
    localStorage.length,
    sessionStorage.length,
    document.cookie,
  ]);
  assert.deepEqual(stored, [0, 0, ""]);
  assert.deepEqual(problems, []);
  await context.close();
});

test("message written without network is sent once, with the same id", async () => {
  const { page, context } = await openSite();
  await page.getByRole("button", { name: "Open chat" }).click();
  await write(page, "First");
  await page.getByText("Sent", { exact: true }).waitFor();
  await context.setOffline(true);
  await write(page, "Second");
  await page.getByText("Sending…").waitFor();
  assert.equal(requestsTo("message").length, 1);
  await context.setOffline(false);
  await waitFor("the message", () => requestsTo("message").length === 2);
  await page.getByText("Sending…").waitFor({ state: "detached" });
  await page.reload();
  await page.locator(".label").waitFor();
  await page.waitForFunction(() => widget_api.chatMode() === "online");
  const ids = requestsTo("message").map(({ body }) => body.message_id);
  assert.equal(new Set(ids).size, 2);
  assert.equal(ids.length, 2);
  await context.close();
});

test("response that was lost does not repeat the message", async () => {
  let isLost = true;
  const override = (endpoint) =>
    endpoint === "message" && isLost ? ((isLost = false), "drop") : undefined;
  const { page, context } = await openSite({ override });
  await page.getByRole("button", { name: "Open chat" }).click();
  await write(page, "Hello");
  await page.getByText("Sent", { exact: true }).waitFor();
  const [one, other] = requestsTo("message").map(({ body }) => body.message_id);
  assert.equal(one, other);
  await context.close();
});

test("reload resumes the conversation, and tabs share one socket", async () => {
  const { page, context } = await openSite();
  await page.getByRole("button", { name: "Open chat" }).click();
  await write(page, "Hello");
  await page.getByText("Sent", { exact: true }).waitFor();
  await waitFor("a socket", () => mock.socketCount === 1);
  const second = await context.newPage();
  await second.goto(mock.siteUrl);
  await second.getByText("Hello", { exact: true }).waitFor();
  await write(second, "From the second tab");
  await page.getByText("From the second tab").waitFor();
  mock.pushMessage({ from: "agent", type: "text", text: "To both" });
  await page.getByText("To both").waitFor();
  await second.getByText("To both").waitFor();
  await waitFor("one socket", () => mock.socketCount === 1);
  assert.equal(
    requestsTo("session").filter(({ body }) => body.identify).length,
    1,
  );
  await page.close();
  await waitFor("the other tab's socket", () => mock.socketCount === 1);
  await waitFor(
    "the second ticket",
    () => requestsTo("socket-ticket").length === 2,
  );
  await context.close();
});

test("tab that starts gets what arrived after its session was read", async () => {
  let pauseSession;
  const override = async (endpoint) =>
    endpoint === "session" ? pauseSession?.() : undefined;
  const { page, context } = await openSite({ override });
  await page.getByRole("button", { name: "Open chat" }).click();
  await write(page, "Hello");
  await waitFor("a socket", () => mock.socketCount === 1);
  await page.getByText("Sent", { exact: true }).waitFor();
  const session = mock.readSession();
  let respond;
  const isReleased = new Promise((done) => (respond = done));
  pauseSession = () => isReleased;
  const second = await context.newPage();
  const sessions = requestsTo("session").length;
  await second.goto(mock.siteUrl);
  await waitFor("the session", () => requestsTo("session").length > sessions);
  mock.pushMessage({ from: "agent", type: "text", text: "In between" });
  await page.getByText("In between").waitFor();
  respond(session);
  await second.getByText("In between").waitFor();
  await context.close();
});

test("lost socket reconnects and reads what was missed", async () => {
  const { page, context } = await openSite();
  await page.getByRole("button", { name: "Open chat" }).click();
  await write(page, "Hello");
  await waitFor("a socket", () => mock.socketCount === 1);
  mock.dropSockets();
  await page.getByText("Messages may arrive").waitFor();
  mock.pushMessage({ from: "agent", type: "text", text: "Missed" });
  await page.getByText("Missed").waitFor();
  await page.getByText("Messages may arrive").waitFor({ state: "detached" });
  await context.close();
});

test("missed answer before an own message appears", async () => {
  let isDown = false;
  const override = (endpoint) =>
    isDown && endpoint === "socket-ticket" ? { status: 503 } : undefined;
  const { page, context } = await openSite({ override });
  await page.getByRole("button", { name: "Open chat" }).click();
  await write(page, "Hello");
  await waitFor("a socket", () => mock.socketCount === 1);
  isDown = true;
  mock.dropSockets();
  await page.getByText("Messages may arrive").waitFor();
  mock.pushMessage({ from: "agent", type: "text", text: "Missed" });
  await write(page, "Are you there?");
  await page.getByText("Sending…").waitFor({ state: "detached" });
  isDown = false;
  await page.getByText("Missed", { exact: true }).waitFor();
  const texts = await page.locator(".bubble").allTextContents();
  assert.deepEqual(texts, ["Hello", "Missed", "Are you there?"]);
  await context.close();
});

/** Messages of an earlier chat, with numbers from 1. */
const earlierMessages = (count) =>
  Array.from({ length: count }, (_, index) => ({
    seq: index + 1,
    chat_id: CHAT_ID - 1,
    at: Date.now() - 86_400_000 + index,
    from: index % 3 === 0 ? "visitor" : "agent",
    type: "text",
    name: index % 3 === 0 ? undefined : "Marta",
    text: `Earlier ${index + 1}`,
  }));
const CLOSED_CHAT = {
  visitor: {},
  chat: { chat_id: CHAT_ID, state: "closed", agent: null, last_seq: 2 },
  messages: [
    { seq: 1, from: "visitor", text: "Do you have size 45?" },
    { seq: 2, from: "agent", name: "Marta", text: "Yes, since today." },
  ].map((message) => ({
    chat_id: CHAT_ID,
    at: Date.now() - 60_000,
    type: "text",
    ...message,
  })),
};

test("blocked socket is replaced by reading the session", async () => {
  const { page, context } = await openSite({ refusesSockets: true });
  await page.getByRole("button", { name: "Open chat" }).click();
  await write(page, "Hello");
  await page.getByText("Messages may arrive a little later.").waitFor();
  const before = requestsTo("session").length;
  mock.pushMessage({ from: "agent", type: "text", text: "By request" });
  await page.getByText("By request").waitFor();
  const [{ body }] = requestsTo("session").slice(before);
  assert.equal(body.after, undefined, "no message of a session is known yet");
  await waitFor("the next request", () =>
    requestsTo("session").some(({ body }) => body.after === 2),
  );
  mock.refusesSockets = false;
  await waitFor("a socket", () => mock.socketCount === 1);
  await page.getByText("Messages may arrive").waitFor({ state: "detached" });
  await context.close();
});

test("socket that the page's policy blocks is replaced as well", async () => {
  const { page, context, problems } = await openSite({
    policy: (policy) => policy.replace(/ ws:[^;]*/, ""),
  });
  await page.getByRole("button", { name: "Open chat" }).click();
  await write(page, "Hello");
  await page.getByText("Messages may arrive a little later.").waitFor();
  mock.pushMessage({ from: "agent", type: "text", text: "By request" });
  await page.getByText("By request").waitFor();
  await waitFor("another attempt", () => requestsTo("socket-ticket")[2]);
  assert.ok(problems.every((text) => /Content Security Policy/.test(text)));
  await context.close();
});

test("session is read rarely while the window is closed", async () => {
  await startMock({ refusesSockets: true });
  const { page, context } = await openPage(browser, {});
  await page.clock.install();
  await page.goto(mock.siteUrl);
  await page.clock.runFor(5000);
  await page.getByRole("button", { name: "Open chat" }).click();
  await write(page, "Hello");
  await page.getByText("Sent", { exact: true }).waitFor();
  await page.clock.runFor(1000);
  await page.getByText("Messages may arrive").waitFor();
  const requests = async (seconds) => {
    const before = requestsTo("session").length;
    for (let second = 0; second < seconds; second++) {
      await page.clock.runFor(1000);
      // Lets the response arrive before the clock goes on.
      await page.evaluate(
        (url) => fetch(url, { mode: "no-cors" }),
        `${mock.url}/picture.svg`,
      );
    }
    return requestsTo("session").length - before;
  };
  const opened = await requests(60);
  assert.ok(opened >= 5 && opened <= 7, `${opened} requests while open`);
  await page.keyboard.press("Escape");
  await requests(31);
  const closed = await requests(300);
  assert.ok(closed >= 1 && closed <= 4, `${closed} requests while closed`);
  await context.close();
});

test("conversation is shown while nobody is online", async () => {
  const session = { ...CLOSED_CHAT, mode: "offline" };
  const { page, context } = await openSite({ session });
  await page.getByRole("button", { name: "Open chat, 1 unread" }).click();
  await page.getByText("Yes, since today.").waitFor();
  assert.equal(await page.getByRole("textbox").count(), 0);
  assert.equal(await api(page, "getUnreadMessagesCount"), 0);
  await page.getByRole("button", { name: "Leave a message" }).click();
  await page.getByText("Yes, since today.").waitFor();
  await page.getByLabel("E-mail").fill("amara@shop.example");
  await page.getByRole("textbox", { name: "Message" }).fill("Please keep one");
  assert.deepEqual(await axeViolations(page), []);
  await page.getByRole("button", { name: "Send message" }).click();
  await page.getByText("Thank you", { exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Open chat" }).click();
  await page.getByText("Please keep one").waitFor();
  assert.deepEqual(
    (await called(page))
      .filter((call) => call.startsWith("onChangeState"))
      .slice(0, 2),
    ["onChangeState chat", "onChangeState offline/success"],
  );
  await context.close();
});

test("earlier messages are loaded at the top of the log", async () => {
  const { page, context } = await openSite({
    session: CLOSED_CHAT,
    earlier: earlierMessages(120),
  });
  await page.getByRole("button", { name: /^Open chat/ }).click();
  await page.getByRole("button", { name: "Earlier messages" }).click();
  await page.getByText("Earlier 71", { exact: true }).waitFor();
  assert.equal(await page.getByText("Yesterday").count(), 1);
  const log = page.getByRole("log");
  const offset = (text) =>
    page
      .getByText(text, { exact: true })
      .evaluate((element) => element.getBoundingClientRect().top);
  await log.evaluate((log) => (log.scrollTop = 300));
  const before = await offset("Earlier 76");
  await log.evaluate((log) => (log.scrollTop = 150));
  await page.getByText("Earlier 21", { exact: true }).waitFor();
  assert.ok(Math.abs((await offset("Earlier 76")) - before - 150) < 2);
  assert.equal(requestsTo("history").length, 2);
  assert.deepEqual(requestsTo("history")[1].body.before, {
    chat_id: CHAT_ID - 1,
    seq: 71,
  });
  await log.evaluate((log) => (log.scrollTop = 0));
  await page.getByText("Earlier 1", { exact: true }).waitFor();
  await page
    .getByRole("button", { name: "Earlier messages" })
    .waitFor({ state: "detached" });
  assert.equal(await page.locator(".bubble").count(), 122);
  await context.close();
});

test("earlier messages that could not be loaded are asked for again", async () => {
  let isDown = true;
  const { page, context } = await openSite({
    session: CLOSED_CHAT,
    earlier: earlierMessages(1),
    override: (endpoint) =>
      endpoint === "history" && isDown ? { status: 503 } : undefined,
  });
  await page.getByRole("button", { name: /^Open chat/ }).click();
  await page.getByRole("button", { name: "Earlier messages" }).press("Enter");
  await page.getByText("These messages could not be loaded.").waitFor();
  isDown = false;
  await page.getByRole("button", { name: "Try again" }).press("Enter");
  await page.getByText("Earlier 1", { exact: true }).waitFor();
  await context.close();
});

test("more missed messages than a session contains can be loaded", async () => {
  const { page, context } = await openSite();
  await page.getByRole("button", { name: "Open chat" }).click();
  await write(page, "Hello");
  await waitFor("a socket", () => mock.socketCount === 1);
  mock.refusesSockets = true;
  mock.dropSockets();
  for (let number = 1; number <= 70; number++)
    mock.pushMessage({ from: "agent", type: "text", text: `Missed ${number}` });
  await write(page, "Are you there?");
  await page.getByText("Missed 70", { exact: true }).waitFor();
  assert.equal(await page.getByText("Missed 1", { exact: true }).count(), 0);
  await page.getByRole("button", { name: "Earlier messages" }).click();
  await page.getByText("Missed 1", { exact: true }).waitFor();
  const texts = await page.locator(".bubble").allTextContents();
  const missed = Array.from({ length: 70 }, (_, i) => `Missed ${i + 1}`);
  assert.deepEqual(texts, ["Hello", ...missed, "Are you there?"]);
  await context.close();
});

test("visitor who waits hears that everybody has left", async () => {
  const { page, context } = await openSite();
  await page.getByRole("button", { name: "Open chat" }).click();
  await write(page, "Hello");
  await waitFor("a socket", () => mock.socketCount === 1);
  assert.equal(await api(page, "chatMode"), "online");
  mock.session = { mode: "offline", agents: [] };
  mock.push({ type: "mode", mode: "offline", agents: [] });
  await page.getByText("Nobody is here at the moment.").waitFor();
  const [notice, form] = await page
    .locator(".log .event, .log form")
    .evaluateAll((elements) => elements.map(({ localName }) => localName));
  assert.deepEqual([notice, form], ["p", "form"]);
  assert.equal(await api(page, "chatMode"), "offline");
  await page.locator("header").getByText("We are away").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Please fill in this field.").waitFor();
  assert.deepEqual(await axeViolations(page), []);
  await page.getByLabel("E-mail").fill("amara@shop.example");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByLabel("E-mail").waitFor({ state: "detached" });
  const [{ body }] = requestsTo("visitor");
  assert.deepEqual(body.contact_info, { email: "amara@shop.example" });
  mock.push({ type: "mode", mode: "online", agents: [{ name: "Marta" }] });
  await page.locator("header").getByText("We are online").waitFor();
  await context.close();
});

test("mode is read again when the page asks for it", async () => {
  await startMock();
  const { page, context } = await openPage(browser, {});
  await page.clock.install();
  await page.goto(mock.siteUrl);
  await page.clock.runFor(5000);
  await page.locator(".label").waitFor();
  await page.clock.runFor(300_000);
  assert.equal(requestsTo("session").length, 1, "nobody needs the mode");
  mock.session = { mode: "offline", agents: [] };
  assert.equal(await api(page, "chatMode"), "online");
  await page.waitForFunction(() => widget_api.chatMode() === "offline");
  assert.equal(requestsTo("session").length, 2);
  mock.session = {};
  await page.clock.runFor(61_000);
  await page.waitForFunction(() => widget_api.chatMode() === "online");
  assert.equal(requestsTo("session").length, 3);
  await context.close();
});

test("joined line and marks follow the service's time", async () => {
  await startMock();
  const { page, context } = await openPage(browser, {});
  // The visitor's clock is an hour fast.
  await page.clock.install({ time: Date.now() + 3_600_000 });
  await page.goto(mock.siteUrl);
  await page.clock.runFor(5000);
  await page.getByRole("button", { name: "Open chat" }).click();
  await write(page, "Hello");
  await page.getByText("Sent", { exact: true }).waitFor();
  await waitFor("a socket", () => mock.socketCount === 1);
  mock.push({ type: "seen", seq: 1 });
  await page.getByText("Seen", { exact: true }).waitFor();
  mock.joinedAt = Date.now();
  const later = { at: Date.now() + 1000 };
  mock.pushMessage({ from: "agent", type: "text", text: "Good day", ...later });
  mock.setState("active");
  await page.getByText("Marta joined the chat").waitFor();
  await write(page, "And?");
  await page.getByText("Sent", { exact: true }).waitFor();
  const texts = await page.locator(".event, .bubble").allTextContents();
  assert.deepEqual(texts, [
    "Hello",
    "Marta joined the chat",
    "Good day",
    "And?",
  ]);
  assert.equal(await page.getByText("Seen", { exact: true }).count(), 1);
  await context.close();
});

test("page hears what the other side does to the chat", async () => {
  const { page, context } = await openSite();
  await page.getByRole("button", { name: "Open chat" }).click();
  await write(page, "Hello");
  await waitFor("a socket", () => mock.socketCount === 1);
  await api(page, "showProactiveInvitation", "Ten percent off today");
  await page.locator(".event").getByText("Ten percent off today").waitFor();
  await page.keyboard.press("Escape");
  mock.setState("active");
  mock.setState("closed");
  await waitFor("the state", async () =>
    (await called(page)).includes("onChangeState label"),
  );
  const states = (await called(page)).filter((call) => /State/.test(call));
  assert.deepEqual(states, [
    "onChangeState chat",
    "onChangeState chat/min",
    "onChangeState label",
  ]);
  await context.close();
});

test("failed rating does not change that of the next chat", async () => {
  let fail;
  const failure = new Promise((done) => (fail = done));
  const { page, context } = await openSite({
    override: (endpoint) => (endpoint === "rating" ? failure : undefined),
  });
  await page.getByRole("button", { name: "Open chat" }).click();
  await write(page, "Hello");
  await waitFor("a socket", () => mock.socketCount === 1);
  mock.setState("active");
  await page.getByRole("button", { name: "Good" }).click();
  const rated = page.locator("[aria-pressed=true]");
  await rated.waitFor();
  const chat = {
    chat_id: CHAT_ID + 1,
    state: "active",
    agent: { name: "Ida" },
  };
  mock.push({
    type: "chat",
    chat_id: CHAT_ID + 1,
    chat: { ...chat, last_seq: 1, rated: false },
  });
  await rated.waitFor({ state: "detached" });
  fail({ status: 503 });
  await page.getByText("Ida joined the chat").waitFor();
  assert.equal(await rated.count(), 0);
  await context.close();
});

test("page from the browser's cache reads what it missed", async () => {
  const { page, context } = await openSite({ session: { visitor: {} } });
  const dispatch = (type) =>
    page.evaluate(
      (type) =>
        dispatchEvent(new PageTransitionEvent(type, { persisted: true })),
      type,
    );
  await dispatch("pagehide");
  mock.pushMessage({ from: "agent", type: "text", text: "Meanwhile" });
  await dispatch("pageshow");
  await page.getByRole("button", { name: "Open chat, 1 unread" }).waitFor();
  await waitFor("a socket", () => mock.socketCount === 1);
  await context.close();
});

test("unknown token starts a new visitor", async () => {
  let isRefused = false;
  const override = (endpoint, body) =>
    isRefused && body.token === "visitor-token" && endpoint === "message"
      ? ((isRefused = false), { status: 401, error: { code: "invalid_token" } })
      : undefined;
  const { page, context } = await openSite({ override });
  await page.getByRole("button", { name: "Open chat" }).click();
  await write(page, "Hello");
  await page.getByText("Sent", { exact: true }).waitFor();
  isRefused = true;
  await write(page, "Still me");
  await waitFor("a second visitor", () => {
    const sessions = requestsTo("session");
    return sessions.filter(({ body }) => body.identify).length === 2;
  });
  await page.getByText("Sent", { exact: true }).waitFor();
  await context.close();
});

test("visitor whom another tab has forgotten starts again", async () => {
  const { page, context } = await openWithRules([]);
  await page.getByRole("button", { name: "Open chat" }).click();
  await write(page, "Hello");
  await waitFor("a socket", () => mock.socketCount === 1);
  await page.getByText("Sent", { exact: true }).waitFor();
  await page.evaluate(() => localStorage.clear());
  mock.dropSockets();
  await page.getByText("Messages may arrive").waitFor();
  await waitFor("an empty conversation", async () => {
    await page.clock.runFor(5_000);
    return (await page.getByText("Hello", { exact: true }).count()) === 0;
  });
  assert.equal(await page.getByText("Messages may arrive").count(), 0);
  await context.close();
});

test("data set by the page is sent once the visitor writes", async () => {
  const { page, context } = await openSite(
    {},
    { path: "/?utm_source=news&utm_medium=mail" },
  );
  await page.evaluate(() => {
    widget_api.setCustomData([{ title: "Level", content: "Gold" }]);
    widget_api.setUserToken("user-7");
    widget_api.setContactInfo({ name: "Amara" });
  });
  assert.equal(requestsTo("visitor").length, 0);
  await page.getByRole("button", { name: "Open chat" }).click();
  await write(page, "Hello");
  await page.getByText("Sent", { exact: true }).waitFor();
  const [{ body }] = requestsTo("visitor");
  assert.deepEqual(body, {
    token: "visitor-token",
    utm: { source: "news", medium: "mail" },
    custom_data: [{ content: "Gold", title: "Level" }],
    user_token: "user-7",
    contact_info: { name: "Amara" },
    source: "script",
  });
  await api(page, "setUserToken", "user-7");
  await api(page, "setCustomData", [{ content: "Silver" }]);
  await waitFor("the change", () => requestsTo("visitor").length === 2);
  assert.deepEqual(requestsTo("visitor")[1].body, {
    token: "visitor-token",
    custom_data: [{ content: "Silver" }],
  });
  await context.close();
});

test("repeated calls of the page do not prolong the wait for the user", async () => {
  const { page, context } = await openSite();
  await api(page, "setUserToken", "user-7");
  await page.getByRole("button", { name: "Open chat" }).click();
  await write(page, "Hello");
  await page.getByText("Sent", { exact: true }).waitFor();
  await page.reload();
  await page.locator(".root").waitFor({ state: "attached" });
  const before = requestsTo("visitor").length;
  await page.evaluate(() => {
    let count = 0;
    const set = () => widget_api.setCustomData([{ content: ++count }]);
    setInterval(set, 200);
  });
  const isSent = () => requestsTo("visitor").length > before;
  await waitFor("the data", isSent, 10_000);
  await context.close();
});

test("invitation of the page opens the window and goes with the message", async () => {
  const { page, context } = await openSite();
  await api(page, "showProactiveInvitation", "Need help with the size?", 3);
  await page.getByText("Need help with the size?").waitFor();
  // The invitation shows the agent of department 3, not the first agent of the widget.
  assert.equal(await page.locator(".by b").textContent(), "Dmitri Orlov");
  await write(page, "Yes");
  await page.getByText("Sent", { exact: true }).waitFor();
  const [{ body }] = requestsTo("message");
  assert.deepEqual(
    [body.invite, body.department_id],
    ["Need help with the size?", 3],
  );
  await context.close();
});

test("text of others stays text, and harmful links stay unlinked", async () => {
  const hostile =
    "<img src=x onerror=alert(1)><script>alert(1)</script> [click](javascript:alert(1)) **[go](https://ok.example/)**";
  const messages = [
    { type: "markdown", content: hostile },
    { type: "text", text: hostile, name: "<b>Eve</b>" },
    {
      type: "document",
      file: "javascript:alert(1)",
      file_name: "<i>x</i>",
      file_size: 1,
    },
  ].map((message, index) => ({
    seq: index + 1,
    chat_id: CHAT_ID,
    at: 1,
    from: "agent",
    ...message,
  }));
  const session = { ...STATES.chat.session, messages };
  const { page, context, problems } = await openSite({ session });
  await page.getByRole("button", { name: /Open chat/ }).click();
  await page.getByText("<script>alert(1)</script>").first().waitFor();
  const found = await page.evaluate(() => {
    const { shadowRoot } = document.querySelector("switchboard-widget");
    return {
      links: [...shadowRoot.querySelectorAll("a")].map(({ href }) => href),
      elements: shadowRoot.querySelectorAll(".log img, .log script, .log i")
        .length,
    };
  });
  const ok = "https://ok.example/";
  assert.deepEqual(found, { links: [ok, ok], elements: 0 });
  assert.deepEqual(problems, []);
  await context.close();
});

const rule = (name, conditions, command, params) => ({
  name,
  enabled: true,
  type: "all",
  conditions: conditions.map(([condition, comparator, value]) => ({
    condition,
    comparator,
    value,
  })),
  commands: [{ command, params }],
});
const invite = (message, ...conditions) =>
  rule(message, conditions, "proactive", { message });
const isShown = (page, text) =>
  page.getByText(text, { exact: true }).first().isVisible();

/** Opens the site with rules and a clock that the test moves. */
async function openWithRules(rules, fields = {}, options = {}) {
  const { callback } = options;
  await startMock({ session: { rules, ...fields }, callback });
  const opened = await openPage(browser, { width: 1100, height: 800 });
  await opened.page.clock.install();
  await opened.page.goto(mock.siteUrl + (options.path ?? ""));
  await opened.page.locator(".label").waitFor();
  return opened;
}

test("rules of the page invite after their time", async () => {
  const { page, context } = await openWithRules([
    invite("First", ["time_on_page", "greater", 20], ["online", "", true]),
    invite("Second", ["time_after_invitation", "greater_equal", "600"]),
    { ...invite("Off", ["time_on_page", "greater", 1]), enabled: false },
    invite("Unknown", ["weather", "greater", 1]),
    invite("Elsewhere", ["page_url", "contain", "/checkout"]),
  ]);
  // "Second" holds at once, because no invitation has been shown yet.
  await page.getByText("Second", { exact: true }).waitFor();
  await page.clock.runFor(10_000);
  assert.equal(await isShown(page, "First"), false);
  await page.clock.runFor(12_000);
  await page.getByText("First", { exact: true }).waitFor();
  await page.getByText("Marta Lindholm", { exact: true }).waitFor();
  for (const text of ["Off", "Unknown", "Elsewhere"])
    assert.equal(await isShown(page, text), false, text);
  await page.getByText("First", { exact: true }).click();
  await write(page, "Yes, please");
  await page.getByText("Sent", { exact: true }).waitFor();
  assert.equal(requestsTo("message")[0].body.invite, "First");
  await context.close();
});

test("rule waits after the window was closed", async () => {
  const { page, context } = await openWithRules([]);
  await api(page, "open");
  await api(page, "close");
  await api(page, "setRules", [
    invite("Back again", ["time_after_close", "greater", "60"]),
  ]);
  await page.clock.runFor(50_000);
  assert.equal(await isShown(page, "Back again"), false);
  await page.clock.runFor(15_000);
  await page.getByText("Back again", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Dismiss" }).click();
  await page.locator(".invitation").waitFor({ state: "detached" });
  await context.close();
});

test("rule follows the visitor's first message", async () => {
  const { page, context } = await openWithRules([
    rule(
      "late",
      [["time_after_first_message", "greater", 30]],
      "system_message",
      { message: "We are looking for an agent." },
    ),
  ]);
  await page.clock.runFor(40_000);
  await page.getByRole("button", { name: "Open chat" }).click();
  assert.equal(await isShown(page, "We are looking for an agent."), false);
  await write(page, "Hello");
  await page.getByText("Sent", { exact: true }).waitFor();
  await page.clock.runFor(32_000);
  await page.getByText("We are looking for an agent.").waitFor();
  await context.close();
});

test("rule counts the time on the site over several pages", async () => {
  const rules = [invite("Still here?", ["time_on_site", "greater", 60])];
  const { page, context } = await openWithRules(rules);
  // Once the window has been opened, the widget may store data, such as the start of the visit.
  await page.getByRole("button", { name: "Open chat" }).click();
  await page.keyboard.press("Escape");
  await page.clock.runFor(45_000);
  await page.goto(`${mock.siteUrl}/second`);
  await page.locator(".label").waitFor();
  await page.clock.runFor(5_000);
  assert.equal(await isShown(page, "Still here?"), false);
  await page.clock.runFor(20_000);
  await page.getByText("Still here?", { exact: true }).waitFor();
  await context.close();
});

test("ignored invitation counts on the next page of the tab", async () => {
  const rules = [
    invite(
      "Need help?",
      ["time_on_page", "greater", 5],
      ["time_after_invitation", "greater", 60],
    ),
    invite("Still here?", ["time_on_site", "greater", 40]),
  ];
  const { page, context } = await openWithRules(rules);
  await page.clock.runFor(10_000);
  await page.getByText("Need help?", { exact: true }).waitFor();
  await page.goto(`${mock.siteUrl}/second`);
  await page.locator(".label").waitFor();
  await page.clock.runFor(20_000);
  assert.equal(await isShown(page, "Need help?"), false);
  assert.equal(await page.evaluate(() => localStorage.length), 0);
  await page.clock.runFor(15_000);
  await page.getByText("Still here?", { exact: true }).waitFor();
  await context.close();
});

test("rule opens the offline form while nobody is online", async () => {
  const rules = [
    rule(
      "away",
      [
        ["online", "", false],
        ["page_url", "not_contain", "/checkout"],
      ],
      "open_offline",
      { title: "We sleep", message: "Write to us." },
    ),
  ];
  const { page, context } = await openWithRules(rules, { mode: "offline" });
  await page.getByRole("heading", { name: "We sleep" }).waitFor();
  await page.getByText("Write to us.").waitFor();
  await context.close();
});

test("empty list of rules switches all rules off", async () => {
  const { page, context } = await openWithRules([
    invite("Too late", ["time_on_page", "greater", 10]),
  ]);
  assert.deepEqual(await api(page, "setRules", []), { result: "ok" });
  await page.clock.runFor(30_000);
  assert.equal(await isShown(page, "Too late"), false);
  await context.close();
});

test("keys of an input method neither send the text nor close the window", async () => {
  const { page, context } = await openSite();
  await page.getByRole("button", { name: "Open chat" }).click();
  const composer = page.getByRole("textbox");
  await composer.fill("Hello");
  const press = (options) =>
    composer.evaluate((field, options) => {
      const always = { bubbles: true, cancelable: true, composed: true };
      field.dispatchEvent(
        new KeyboardEvent("keydown", { ...always, ...options }),
      );
    }, options);
  for (const key of ["Enter", "Escape"]) {
    await press({ key, isComposing: true });
    // Safari ends the composition before the key that confirms it.
    await press({ key, keyCode: 229 });
  }
  assert.equal(await composer.inputValue(), "Hello");
  await press({ key: "Enter", keyCode: 13 });
  await page.getByText("Sent", { exact: true }).waitFor();
  await press({ key: "Escape", keyCode: 27 });
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await context.close();
});

test("contacts form reports errors and then opens the conversation", async () => {
  const session = STATES["contacts-before"].session;
  const { page, context } = await openSite({ session });
  await page.getByRole("button", { name: "Open chat" }).click();
  await page.getByLabel("E-mail").fill("amara@shop");
  await page.getByRole("button", { name: "Start chat" }).click();
  await page.getByText("Please fill in this field.").waitFor();
  await page.getByText("This address is not complete.").waitFor();
  assert.equal(requestsTo("visitor").length, 0);
  await page.getByLabel("Name").fill("Amara");
  await page.getByLabel("E-mail").fill("amara@shop.example");
  await page.getByRole("button", { name: "Start chat" }).click();
  await page.getByRole("textbox", { name: "Write a message" }).waitFor();
  const [{ body }] = requestsTo("visitor");
  assert.deepEqual(body.contact_info, {
    name: "Amara",
    email: "amara@shop.example",
  });
  assert.equal(body.source, "visitor");
  assert.ok((await called(page)).includes("onIntroduction"));
  await context.close();
});

test("phone window keeps the focus and fits the screen", async () => {
  const { page, context } = await openSite(STATES.chat, {
    width: 390,
    height: 844,
    touch: true,
    reducedMotion: "reduce",
  });
  await page.getByRole("button", { name: /Open chat/ }).click();
  const box = await page.getByRole("dialog").boundingBox();
  assert.deepEqual(box, { x: 0, y: 0, width: 390, height: 844 });
  for (let presses = 0; presses < 12; presses++) {
    await page.keyboard.press("Tab");
    const host = await page.evaluate(() => document.activeElement.localName);
    assert.equal(host, "switchboard-widget");
  }
  await context.close();
});

test("admin's language, texts and position are used", async () => {
  const session = {
    widget: {
      ...SETTINGS,
      language: "de",
      position: "left",
      texts: { online: "Frag uns!" },
    },
  };
  const { page, context } = await openSite({ session });
  await page.getByRole("button", { name: "Chat öffnen" }).click();
  await page.getByText("Frag uns!").waitFor();
  const { x } = await page.getByRole("dialog").boundingBox();
  assert.equal(x, 20);
  await context.close();
});

test("Arabic is written from right to left", async () => {
  const { page, context } = await openSite(STATES.arabic);
  await STATES.arabic.steps(page, mock);
  const box = (selector) => page.locator(selector).first().boundingBox();
  const [send, field] = [await box(".send"), await box(".composer textarea")];
  assert.ok(send.x < field.x, "the button is on the left");
  const [own, other] = [await box(".mine .bubble"), await box(".bubble")];
  assert.ok(own.x < other.x, "own messages are on the left");
  await context.close();
});

test("widget that is not allowed on the site does not appear", async () => {
  await startMock({
    override: () => ({ status: 403, error: { code: "site_not_allowed" } }),
  });
  const { page, context } = await openPage(browser, {});
  await page.goto(mock.siteUrl);
  await waitFor("the request", () => mock.requests.length === 1);
  assert.equal(await page.locator(".label").count(), 0);
  assert.equal(await page.evaluate(() => widget_api.chatMode()), "offline");
  await context.close();
});

const AVAILABLE = { result: "ok" };
const PHONE = "+31 6 12 34 56 78";
const isCallbackEnabled = (page) =>
  page.evaluate(
    () => new Promise((done) => widget_api.isCallbackEnabled(done)),
  );
/** Records the argument of widget_onCallEnd, which `called` shows only as text. */
const noteCallEnd = (page) =>
  page.evaluate(() => {
    window.widget_onCallEnd = (result) => (window.callEnd = result);
  });
const callEnd = (page) =>
  page.waitForFunction(() => window.callEnd).then((end) => end.jsonValue());
const heading = (page, name) => page.getByRole("heading", { name }).waitFor();

test("isCallbackEnabled has the three documented results", async () => {
  for (const callback of [AVAILABLE, CALLBACK_DISABLED, CALLBACK_UNAVAILABLE]) {
    const { page, context } = await openSite({ callback });
    assert.deepEqual(await isCallbackEnabled(page), callback);
    // The widget knows the result now, so startCall returns it at once.
    assert.deepEqual(await api(page, "startCall", PHONE), callback);
    await context.close();
  }
});

test("startCall fails at once where callbacks are disabled", async () => {
  const session = { callback: false };
  const { page, context } = await openSite({ session });
  assert.deepEqual(await api(page, "startCall", PHONE), CALLBACK_DISABLED);
  assert.deepEqual(await isCallbackEnabled(page), CALLBACK_DISABLED);
  await api(page, "open", { start: "call" });
  await page.getByRole("textbox", { name: "Write a message" }).waitFor();
  assert.deepEqual(requestsTo("callback"), [], "the service is not asked");
  await context.close();
});

test("startCall fails at once where no call is possible now", async () => {
  const session = { callback_available: false };
  const { page, context } = await openSite({ session });
  assert.deepEqual(await api(page, "startCall", PHONE), CALLBACK_UNAVAILABLE);
  assert.deepEqual(requestsTo("callback"), [], "the session has said so");
  await context.close();
});

test("call started by the page calls its callbacks", async () => {
  const { page, context } = await openSite({ callback: AVAILABLE });
  await noteCallEnd(page);
  assert.deepEqual(await api(page, "startCall", PHONE), { result: "ok" });
  await page.waitForFunction(() => window.called.includes("onCallStart"));
  assert.deepEqual(
    await api(page, "startCall", PHONE),
    CALLBACK_UNAVAILABLE,
    "one call at a time",
  );
  assert.deepEqual(await isCallbackEnabled(page), CALLBACK_UNAVAILABLE);
  await waitFor("the socket", () => mock.socketCount === 1);
  mock.reportCall("agent_connected");
  mock.reportCall("client_connected");
  mock.reportCall("end");
  assert.deepEqual(await callEnd(page), { result: "ok" });
  const [{ body }] = requestsTo("call");
  assert.deepEqual([body.phone, body.page.title], [PHONE, "Shop"]);
  assert.equal(requestsTo("call").length, 1);
  const starts = (await called(page)).filter((name) => name === "onCallStart");
  assert.equal(starts.length, 1);
  assert.deepEqual(await isCallbackEnabled(page), AVAILABLE);
  await context.close();
});

test("page is told why a call has failed", async () => {
  const { page, context } = await openSite({ callback: AVAILABLE });
  await noteCallEnd(page);
  await api(page, "startCall", PHONE);
  await waitFor("the socket", () => mock.socketCount === 1);
  await api(page, "open", { start: "call" });
  const failure = { result: "fail", reason: "no answer from the client" };
  mock.reportCall("error", { reason: failure.reason });
  assert.deepEqual(await callEnd(page), failure);
  await heading(page, "The call has failed");
  // The provider reports the end of a call that the service has already given up.
  mock.reportCall("end");
  await heading(page, "The call has ended");
  assert.deepEqual(await callEnd(page), failure, "the call ends once");
  await context.close();
});

test("call that the service refuses ends with its reason", async () => {
  const { page, context } = await openSite();
  await noteCallEnd(page);
  assert.deepEqual(await api(page, "startCall", PHONE), { result: "ok" });
  assert.deepEqual(await callEnd(page), CALLBACK_DISABLED);
  assert.equal((await called(page)).includes("onCallStart"), false);
  await context.close();
});

test("visitor asks for a call in the form", async () => {
  const { page, context, problems } = await openSite({ callback: AVAILABLE });
  await api(page, "open", { start: "call" });
  await heading(page, "We call you back");
  const field = page.getByLabel("Phone");
  const submit = page.getByRole("button", { name: "Call me now" });
  await submit.click();
  await page.getByText("Please fill in this field.").waitFor();
  await field.fill("12");
  await page.keyboard.press("Enter");
  await page.getByText("This number is not complete.").waitFor();
  assert.equal(requestsTo("call").length, 0);
  await field.fill(PHONE);
  await page.keyboard.press("Enter");
  await heading(page, "We are calling an agent");
  await waitFor("the socket", () => mock.socketCount === 1);
  mock.reportCall("agent_connected");
  await heading(page, "Your phone is ringing");
  await page.getByRole("button", { name: "Write a message" }).click();
  await page.getByText("Your phone is ringing").waitFor();
  mock.reportCall("client_connected");
  await page.getByText("You are connected").waitFor();
  await page.getByRole("button", { name: "Call me back" }).click();
  await heading(page, "You are connected");
  mock.reportCall("end");
  await heading(page, "The call has ended");
  const states = (await called(page)).filter((name) =>
    name.startsWith("onChangeState"),
  );
  // The call has opened a chat.
  assert.deepEqual(states, [
    "onChangeState call",
    "onChangeState chat/call",
    "onChangeState chat",
    "onChangeState chat/call",
  ]);
  assert.deepEqual(problems, []);
  await context.close();
});

test("visitor tries again after a number was refused or nothing answered", async () => {
  const answers = [
    { status: 400, error: { field: "phone" } },
    { status: 404, error: {} },
  ];
  const { page, context } = await openSite({
    callback: AVAILABLE,
    override: (endpoint) => (endpoint === "call" ? answers.shift() : undefined),
  });
  await api(page, "open", { start: "call" });
  await page.getByLabel("Phone").fill(PHONE);
  const submit = page.getByRole("button", { name: "Call me now" });
  await submit.click();
  await page.getByText("This was not accepted. Please check it.").waitFor();
  await submit.click();
  await page.getByText("No connection. Please try again.").waitFor();
  await submit.click();
  await heading(page, "We are calling an agent");
  const ids = requestsTo("call").map(({ body }) => body.message_id);
  assert.equal(ids[2], ids[1], "the second request may have arrived");
  await context.close();
});

test("account without callbacks has no call form", async () => {
  const { page, context } = await openSite();
  await api(page, "open", { start: "call" });
  await page.getByRole("textbox", { name: "Write a message" }).waitFor();
  assert.equal((await called(page)).at(-1), "onChangeState chat");
  await context.close();
});

test("call goes on after a reload, and in the other tabs", async () => {
  const { page, context } = await openSite({ callback: AVAILABLE });
  await api(page, "open", { start: "call" });
  await page.getByLabel("Phone").fill(PHONE);
  await page.keyboard.press("Enter");
  await heading(page, "We are calling an agent");
  await waitFor("the socket", () => mock.socketCount === 1);
  await page.reload();
  await heading(page, "We are calling an agent");
  const other = await context.newPage();
  await other.goto(mock.siteUrl);
  await other.getByText("We are calling an agent").waitFor();
  mock.reportCall("agent_connected");
  for (const tab of [page, other])
    await tab.getByText("Your phone is ringing").first().waitFor();
  // The end arrives while the page has no connection.
  await noteCallEnd(page);
  mock.dropSockets();
  mock.reportCall("error", { reason: "busy" });
  assert.deepEqual(await callEnd(page), { result: "fail", reason: "busy" });
  const ids = new Set(requestsTo("call").map(({ body }) => body.message_id));
  assert.equal(ids.size, 1, "the call was started once");
  assert.equal((await called(page)).includes("onCallStart"), false);
  await context.close();
});

test("call of the visitor's own phone reaches the page", async () => {
  const { page, context } = await openSite({
    session: STATES.chat.session,
    callback: AVAILABLE,
  });
  await noteCallEnd(page);
  await waitFor("the socket", () => mock.socketCount === 1);
  mock.reportCall("start", { type: "incoming" });
  mock.reportCall("agent_connected");
  await page.waitForFunction(() => window.called.includes("onCallStart"));
  mock.reportCall("end");
  assert.deepEqual(await callEnd(page), { result: "ok" });
  await context.close();
});

test("rule shows the call form once a day", async () => {
  const rules = [
    rule("call", [["time_on_page", "greater", 20]], "show_callform", {
      once_aday: true,
      title: "Shall we call you?",
    }),
  ];
  const { page, context } = await openWithRules(
    rules,
    {},
    { callback: AVAILABLE },
  );
  await page.clock.runFor(15_000);
  assert.equal(await page.getByRole("dialog").isVisible(), false);
  await page.clock.runFor(10_000);
  await heading(page, "Shall we call you?");
  assert.deepEqual((await called(page)).at(-1), "onChangeState call");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });

  const visit = async () => {
    await page.goto(`${mock.siteUrl}/second`);
    await page.locator(".label").waitFor();
    await page.clock.runFor(25_000);
  };
  await visit();
  assert.equal(await page.getByRole("dialog").isVisible(), false);
  await page.clock.fastForward("24:00:00");
  await visit();
  await heading(page, "Shall we call you?");
  await context.close();
});

test("rule shows no call form while callbacks are not available", async () => {
  const rules = [
    rule("call", [["time_on_page", "greater", 1]], "show_callform", {}),
    rule("late", [["time_on_page", "greater", 5]], "open_offline", {}),
  ];
  for (const callback of [CALLBACK_DISABLED, CALLBACK_UNAVAILABLE]) {
    const { page, context } = await openWithRules(rules, {}, { callback });
    await page.clock.runFor(3000);
    await waitFor("the request", () => requestsTo("callback").length === 1);
    await page.clock.runFor(3000);
    await page.getByRole("dialog").waitFor();
    assert.equal((await called(page)).includes("onChangeState call"), false);
    await context.close();
  }
});

const LONG_TEXT = "x".repeat(1000);
const counter = (page) => page.locator(".limit").first();
const paste = async (page, text) => {
  await page.evaluate((text) => navigator.clipboard.writeText(text), text);
  await page.keyboard.press("Control+v");
};

test("counter appears near the limit, and a longer paste is refused with words", async () => {
  const permissions = ["clipboard-read", "clipboard-write"];
  const { page, context } = await openSite({}, { permissions });
  await api(page, "open");
  const field = page.getByRole("textbox", { name: "Write a message" });
  await field.fill("x".repeat(899));
  assert.equal(await counter(page).textContent(), "");
  await field.press("End");
  await field.pressSequentially("y");
  assert.equal(await counter(page).textContent(), "900/1000");
  await paste(page, LONG_TEXT);
  await page.getByRole("alert").getByText("it would have 1900").waitFor();
  assert.equal((await field.inputValue()).length, 900, "nothing was cut");
  await paste(page, "z".repeat(100));
  assert.equal(await counter(page).textContent(), "1000/1000");
  assert.equal(await page.getByText("it would have").count(), 0);
  // The pasted text replaces the selected one.
  await field.press("Control+a");
  await paste(page, LONG_TEXT);
  assert.equal(await field.inputValue(), LONG_TEXT);
  await context.close();
});

test("offline message has the same limit", async () => {
  const permissions = ["clipboard-read", "clipboard-write"];
  const { page, context } = await openSite(
    { session: { mode: "offline", agents: [] } },
    { permissions },
  );
  await api(page, "open");
  const field = page.getByRole("textbox", { name: "Message" });
  await field.focus();
  await paste(page, `${LONG_TEXT}y`);
  await page.getByRole("alert").getByText("it would have 1001").waitFor();
  assert.equal(await field.inputValue(), "");
  await paste(page, LONG_TEXT);
  assert.equal(await counter(page).textContent(), "1000/1000");
  await context.close();
});

/** Returns whether the last of the elements is within the visible part of the log. */
const isInSight = (page, selector) =>
  page.evaluate((selector) => {
    const { shadowRoot } = document.querySelector("switchboard-widget");
    const log = shadowRoot.querySelector(".log").getBoundingClientRect();
    const last = [...shadowRoot.querySelectorAll(selector)].at(-1);
    const { top, bottom } = last.getBoundingClientRect();
    return top >= log.top && bottom <= log.bottom + 1;
  }, selector);

for (const device of [{}, { width: 390, height: 664, touch: true }])
  test(`growing composer keeps the newest message in sight: ${device.width ?? "desktop"}`, async () => {
    const { page, context } = await openSite(STATES.chat, device);
    await api(page, "open");
    const field = page.getByRole("textbox", { name: "Write a message" });
    await page.getByText("Nobody has it.").waitFor();
    assert.equal(await isInSight(page, ".bubble"), true);
    const { height } = await field.boundingBox();
    await field.fill("A long question\n".repeat(8));
    assert.ok((await field.boundingBox()).height > height + 60);
    assert.equal(await isInSight(page, ".bubble"), true);
    await context.close();
  });

test("answers stand below the contacts form that follows the first message", async () => {
  const { steps, ...fields } = STATES["contacts-after-answer"];
  const { page, context } = await openSite(fields);
  await steps(page, mock);
  assert.equal(await isInSight(page, ".bubble"), true);
  const order = () =>
    page.evaluate(() => {
      const { shadowRoot } = document.querySelector("switchboard-widget");
      const found = shadowRoot.querySelectorAll(".bubble, .card");
      return [...found].map((element) =>
        element.matches(".card") ? "form" : element.textContent,
      );
    });
  const answer = "Good morning! Which order is it about?";
  assert.deepEqual(await order(), ["Hello?", "form", answer]);
  // The form does not scroll by itself.
  const heights = await page
    .locator(".card")
    .evaluate(({ clientHeight, scrollHeight }) => [clientHeight, scrollHeight]);
  assert.equal(heights[0], heights[1]);
  await page.getByLabel("Name").fill("Amara");
  mock.pushMessage({ from: "agent", type: "text", text: "Are you there?" });
  await page.getByText("Are you there?").waitFor();
  assert.equal(await page.getByLabel("Name").inputValue(), "Amara");
  await page.getByRole("textbox", { name: "Write a message" }).fill("Yes");
  await page.keyboard.press("Enter");
  await page.getByText("Yes", { exact: true }).waitFor();
  assert.deepEqual(await order(), [
    "Hello?",
    answer,
    "Are you there?",
    "Yes",
    "form",
  ]);
  await context.close();
});

test("greeting is signed with the title, and the first screen says who answers and how fast", async () => {
  const { page, context } = await openSite({
    session: {
      ...STATES.empty.session,
      widget: { ...STATES.empty.session.widget, reply_time: "hours" },
    },
  });
  await api(page, "open");
  await page.getByText("Marta Lindholm and Dmitri Orlov").waitFor();
  await page.getByText("Usually answers in a few hours").waitFor();
  assert.equal(await page.locator(".by b").textContent(), "Northlight");
  await write(page, "Hello");
  await waitFor("a socket", () => mock.socketCount === 1);
  await page.getByText("Usually answers").waitFor();
  mock.pushMessage({ from: "agent", name: "Marta", type: "text", text: "Hi" });
  await page.getByText("Hi", { exact: true }).waitFor();
  assert.equal(await page.getByText("Usually answers").count(), 0);
  await context.close();
});

test("bot that answers first is introduced before the agents", async () => {
  const { page, context } = await openSite({
    session: { ...STATES.empty.session, bot: true },
  });
  await api(page, "open");
  const names = "Assistant, Marta Lindholm, and Dmitri Orlov";
  await page.locator("header").getByText(names).waitFor();
  assert.equal(await page.locator(".by b").textContent(), "Northlight");
  await context.close();
});

test("questions of the offline form are labelled, checked and sent", async () => {
  const { steps, ...fields } = STATES["custom-offline"];
  const { page, context } = await openSite(fields);
  await steps(page, mock);
  await page.getByLabel("E-mail").fill("amara@shop.example");
  await page.getByRole("textbox", { name: "Message" }).fill("Size 45?");
  const submit = page.getByRole("button", { name: "Send message" });
  await submit.click();
  const topic = page.getByRole("combobox", { name: "What is it about?" });
  const consent = page.getByRole("checkbox", { name: /^I agree/ });
  await page.getByText("Please tick this box to continue.").waitFor();
  for (const [control, text] of [
    [topic, "Please fill in this field."],
    [consent, "Please tick this box to continue."],
  ]) {
    assert.equal(await control.getAttribute("aria-invalid"), "true");
    const id = await control.getAttribute("aria-describedby");
    assert.equal(await page.locator(`[id="${id}"]`).textContent(), text);
  }
  assert.equal(requestsTo("offline-message").length, 0);
  assert.equal(await consent.isChecked(), false);
  const link = page.getByRole("link", { name: "Read more" });
  assert.equal(await link.getAttribute("href"), "https://shop.example/privacy");
  await topic.selectOption("Returns");
  await consent.check();
  await submit.click();
  await page.getByText("Thank you").waitFor();
  const [{ body }] = requestsTo("offline-message");
  assert.deepEqual(body.answers, { topic: "Returns", consent: true });
  assert.equal(body["answers.topic"], undefined);
  await context.close();
});

test("visitor who has completed the form is asked again after a new question", async () => {
  const { steps, ...fields } = STATES["custom-before"];
  const { page, context } = await openSite(fields);
  await steps(page, mock);
  await page.getByLabel("What is it about?").selectOption("Delivery");
  await page.getByRole("checkbox").check();
  await page.getByRole("button", { name: "Start chat" }).click();
  await page.getByRole("textbox", { name: "Write a message" }).waitFor();
  const [{ body }] = requestsTo("visitor");
  assert.deepEqual(body.answers, { topic: "Delivery", consent: true });
  const reopen = async () => {
    await page.reload();
    await page.locator(".label").waitFor();
    await api(page, "open");
  };
  await reopen();
  await page.getByRole("textbox", { name: "Write a message" }).waitFor();
  const { widget } = fields.session;
  const form = widget.contacts_form;
  const added = { ...form.custom_fields[0], key: "size", label: "Size" };
  mock.session = {
    widget: {
      ...widget,
      contacts_form: {
        ...form,
        custom_fields: [...form.custom_fields, added],
      },
    },
  };
  await reopen();
  await page.getByLabel("Size").waitFor();
  await context.close();
});

test("theme of the settings applies whatever the device prefers", async () => {
  for (const theme of ["light", "dark"])
    for (const scheme of ["light", "dark"]) {
      const { page, context } = await openSite(
        { session: { widget: { ...SETTINGS, theme } } },
        { scheme },
      );
      await api(page, "open");
      const colors = await page.locator(".window").evaluate((element) => {
        const { backgroundColor, colorScheme } = getComputedStyle(element);
        return [backgroundColor, colorScheme];
      });
      const surface =
        theme === "dark" ? "rgb(24, 27, 32)" : "rgb(255, 255, 255)";
      assert.deepEqual(colors, [surface, theme], `${theme} on ${scheme}`);
      await context.close();
    }
});
