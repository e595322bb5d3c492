/* The functions that the widget gives to the page, and the page's callbacks. */

import assert from "node:assert/strict";
import { fail, heldRequest, holdRequests } from "../support/failures.mjs";
import {
  api,
  called,
  closeWindow,
  invite,
  label,
  openWindow,
  shopJourney,
  unreadLabel,
  useEmbeddingBrowser,
  waitForSent,
  write,
} from "../support/shop.mjs";
import { waitFor, waitForFocus } from "../support/wait.mjs";

useEmbeddingBrowser();

const NO_UTM = {
  source: null,
  campaign: null,
  content: null,
  medium: null,
  term: null,
};
const NO_CONTACT = {
  client_name: null,
  email: null,
  phone: null,
  description: null,
};
const OK = { result: "ok" };
const CALLBACK_DISABLED = { result: "fail", reason: "Callback disabled" };

shopJourney("each method returns its documented result", async (shop) => {
  const page = await shop.open();
  const amara = { name: "Amara", email: "amara@shop.example" };
  const results = [
    ["chatMode", [], "online"],
    ["getContactInfo", [], NO_CONTACT],
    ["setContactInfo", [amara], OK],
    [
      "getContactInfo",
      [],
      { ...NO_CONTACT, client_name: amara.name, email: amara.email },
    ],
    [
      "setCustomData",
      ["wrong"],
      { result: "fail", reason: "Custom data must be array." },
    ],
    ["setCustomData", [[{ content: "Gold", title: "Level" }]], OK],
    ["setUserToken", ["abc"], { ...OK, token: "abc" }],
    ["setUserToken", [7], { ...OK, token: 7 }],
    ["setUserToken", [{}], { result: "fail", token: {} }],
    ["setUserToken", [], { result: "fail", token: false }],
    ["setRules", [[]], OK],
    ["startCall", ["+4930123456"], CALLBACK_DISABLED],
    ["getUnreadMessagesCount", [], 0],
    ["getUtm", [], NO_UTM],
    ["showProactiveInvitation", ["Need help?"], OK],
    ["setClientAttributes", [{ plan: "gold" }], OK],
    ["sendPageTitle", ["Running shoes"], OK],
    ["setWidgetColor", ["#112233"], OK],
    ["setWidgetColor", ["#112233", "#ffffff"], OK],
    [
      "sendOfflineMessage",
      [{ name: "A", email: "wrong", message: "Hi" }],
      { result: "fail", error: "Email is not valid." },
    ],
    ["sendOfflineMessage", [{ email: "a@b.example", message: "Hi" }], OK],
    ["open", [{ start: "call" }], OK],
    ["open", [], OK],
    ["open", [{ start: "menu" }], OK],
    ["open", [{ start: "chat" }], OK],
    ["close", [], OK],
    ["clearHistory", [], OK],
  ];
  for (const [method, args, expected] of results)
    assert.deepEqual(await api(page, method, ...args), expected, method);
  const [[error, number], callback] = await page.evaluate(() =>
    Promise.all([
      new Promise((done) =>
        widget_api.getVisitorNumber((...args) => done(args)),
      ),
      new Promise((done) => widget_api.isCallbackEnabled(done)),
    ]),
  );
  assert.deepEqual([error, callback], [null, CALLBACK_DISABLED]);
  assert.ok(Number(number) > 0, `number ${number}`);
});

shopJourney("invalid arguments get the documented failure", async (shop) => {
  const page = await shop.open();
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
    assert.deepEqual(await api(page, "setClientAttributes", {}), OK);
  assert.deepEqual(await api(page, "setClientAttributes", {}), {
    result: "fail",
    reason: "Limit exceeded",
  });
  const endpoints = shop.requests.map(({ endpoint }) => endpoint);
  assert.deepEqual(endpoints, ["session"]);
});

shopJourney(
  "calls before the widget is ready are carried out later",
  async (shop) => {
    let release;
    const page = await shop.open({
      path: "/?utm_source=news&utm_term=shoes",
      isLoading: true,
      prepare: async (page) => {
        release = await holdRequests(page, "**/session");
      },
    });
    await page.waitForFunction(() => window.widget_api);
    const early = [
      ["chatMode", [], "online"],
      ["setContactInfo", [{ name: "Amara" }], OK],
      ["setUserToken", ["abc"], { ...OK, token: "abc" }],
      ["getUnreadMessagesCount", [], 0],
      ["getUtm", [], { ...NO_UTM, source: "news", term: "shoes" }],
      ["open", [], OK],
    ];
    for (const [method, args, expected] of early)
      assert.deepEqual(await api(page, method, ...args), expected, method);
    assert.equal((await api(page, "setCustomData", 7)).result, "fail");
    const { client_name } = await api(page, "getContactInfo");
    assert.equal(client_name, "Amara");
    await page.evaluate(() =>
      widget_api.getVisitorNumber((...args) => (window.visitor = args)),
    );
    assert.deepEqual(await called(page), []);
    release();
    await page.getByRole("dialog").waitFor();
    await page.waitForFunction(() => window.visitor);
    const [error, number] = await page.evaluate(() => window.visitor);
    assert.equal(error, null);
    assert.ok(Number(number) > 0, `number ${number}`);
    assert.deepEqual(await called(page), [
      "onLoadCallback",
      "onOpen",
      "onResizeCallback",
      "onChangeState chat",
    ]);
    const [{ body }] = shop.requestsTo("visitor");
    assert.deepEqual(
      [body.contact_info, body.user_token],
      [{ name: "Amara" }, "abc"],
    );
  },
);

/** Lets the page run a function in the callback `onLoadCallback`. */
const onLoad = (run) => (page) =>
  page.addInitScript(
    `addEventListener("DOMContentLoaded", () => { window.widget_onLoadCallback = ${run}; });`,
  );

shopJourney(
  "invitation in widget_onLoadCallback opens the window",
  async (shop) => {
    const page = await shop.open({
      prepare: onLoad(() =>
        widget_api.showProactiveInvitation("Hello from the page", 2),
      ),
    });
    await page.getByText("Hello from the page").waitFor();
  },
);

shopJourney(
  "restored window and account's rules follow onLoadCallback",
  async (shop) => {
    await shop.setRules([invite("From the account", ["online", "", true])]);
    const page = await shop.open({ visitor: await shop.addChat("Hello") });
    await openWindow(page);
    await page.reload();
    await page.getByRole("dialog").waitFor();
    assert.deepEqual((await called(page)).slice(0, 4), [
      "onLoadCallback",
      "onOpen",
      "onResizeCallback",
      "onChangeState chat",
    ]);
  },
);

shopJourney(
  "page's rules replace the account's before these act",
  async (shop) => {
    await shop.setRules([invite("From the account", ["online", "", true])]);
    const page = await shop.open({
      prepare: onLoad(() => {
        window.modeInCallback = widget_api.chatMode();
        widget_api.setRules([]);
      }),
    });
    await page.waitForFunction(() => window.modeInCallback);
    assert.equal(await page.evaluate(() => window.modeInCallback), "online");
    await label(page).waitFor();
    assert.equal(await page.getByText("From the account").count(), 0);
  },
);

shopJourney(
  "chat that an invitation has started is not the visitor's start",
  async (shop) => {
    const page = await shop.open();
    await api(page, "showProactiveInvitation", "Need help?");
    await write(page, "Yes");
    await waitForSent(page, "Yes");
    const names = await called(page);
    assert.ok(names.includes("onMessageSent"));
    assert.ok(!names.includes("onClientStartChat"));
  },
);

shopJourney(
  "invitation of the page opens the window and goes with the message",
  async (shop) => {
    const [dmitri] = shop.account.agents;
    const { department_id } = await shop.admin.post("/admin/departments", {
      name: "Returns",
      agent_ids: [dmitri.id],
    });
    await shop.admin.patch(`/admin/channels/${shop.widget.id}`, {
      agent_ids: [shop.admin.id],
      department_ids: [department_id],
    });
    const page = await shop.open();
    const text = "Need help with the size?";
    await api(page, "showProactiveInvitation", text, department_id);
    await page.getByText(text).waitFor();
    // The invitation shows the agent of the department, not the first agent of the widget.
    assert.equal(await page.locator(".by b").textContent(), "Dmitri Orlov");
    await write(page, "Yes");
    await waitForSent(page, "Yes");
    const [{ body }] = shop.requestsTo("message");
    assert.deepEqual([body.invite, body.department_id], [text, department_id]);
  },
  { agents: ["Dmitri Orlov"] },
);

shopJourney(
  "conversation calls the page's callbacks in order",
  async (shop) => {
    const page = await shop.open();
    await openWindow(page);
    await write(page, "Hello");
    await waitForSent(page, "Hello");
    await shop.accept();
    await page.getByText("Marta Lindholm joined the chat").waitFor();
    await shop.answer("Good morning");
    await page.getByText("Good morning").waitFor();
    await closeWindow(page);
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
    await waitForFocus(label(page));
    await shop.answer("Are you there?");
    await unreadLabel(page, 1).waitFor();
    assert.equal(await api(page, "getUnreadMessagesCount"), 1);
  },
);

shopJourney("page hears what the other side does to the chat", async (shop) => {
  const page = await shop.open();
  await openWindow(page);
  await write(page, "Hello");
  await waitForSent(page, "Hello");
  await api(page, "showProactiveInvitation", "Ten percent off today");
  await page.locator(".event").getByText("Ten percent off today").waitFor();
  await page.keyboard.press("Escape");
  await shop.accept();
  await shop.closeChat();
  await waitFor("the state", async () =>
    (await called(page)).includes("onChangeState label"),
  );
  const states = (await called(page)).filter((call) => /State/.test(call));
  assert.deepEqual(states, [
    "onChangeState chat",
    "onChangeState chat/min",
    "onChangeState label",
  ]);
});

shopJourney(
  "data set by the page is sent once the visitor writes",
  async (shop) => {
    const page = await shop.open({ path: "/?utm_source=news&utm_medium=mail" });
    await page.evaluate(() => {
      widget_api.setCustomData([{ title: "Level", content: "Gold" }]);
      widget_api.setUserToken("user-7");
      widget_api.setContactInfo({ name: "Amara" });
    });
    assert.equal(shop.requestsTo("visitor").length, 0);
    await openWindow(page);
    await write(page, "Hello");
    await waitForSent(page, "Hello");
    const [{ body }] = shop.requestsTo("visitor");
    const { token, ...sent } = body;
    assert.deepEqual(sent, {
      utm: { source: "news", medium: "mail" },
      custom_data: [{ content: "Gold", title: "Level" }],
      user_token: "user-7",
      contact_info: { name: "Amara" },
      source: "script",
    });
    await api(page, "setUserToken", "user-7");
    await api(page, "setCustomData", [{ content: "Silver" }]);
    await waitFor("the change", () => shop.requestsTo("visitor").length === 2);
    assert.deepEqual(shop.requestsTo("visitor")[1].body, {
      token,
      custom_data: [{ content: "Silver" }],
    });
  },
);

shopJourney(
  "repeated calls of the page do not prolong the wait for the user",
  async (shop) => {
    const page = await shop.open();
    await api(page, "setUserToken", "user-7");
    await openWindow(page);
    await write(page, "Hello");
    await waitForSent(page, "Hello");
    await page.reload();
    await page.locator(".root").waitFor({ state: "attached" });
    const before = shop.requestsTo("visitor").length;
    await page.evaluate(() => {
      let count = 0;
      const set = () => widget_api.setCustomData([{ content: ++count }]);
      setInterval(set, 200);
    });
    await waitFor("the data", () => shop.requestsTo("visitor").length > before);
  },
);

shopJourney("page hears what came of its offline message", async (shop) => {
  const page = await shop.open();
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
  const failOnce = (status) =>
    fail(page, "**/offline-message", { status, times: 1 });
  await failOnce(413);
  assert.deepEqual(await send(), {
    result: "fail",
    error: "Message is too long.",
  });
  await failOnce(503);
  // The service was busy once, so the message is sent again.
  assert.deepEqual(await send(), OK);
  assert.equal(shop.requestsTo("offline-message").length, 3);
});

shopJourney(
  "offline message that is refused on a later page is reported in the console",
  async (shop) => {
    const page = await shop.open();
    await fail(page, "**/offline-message");
    await page.evaluate(() => {
      const message = { email: "a@b.example", message: "Hi" };
      widget_api.sendOfflineMessage(message, () => {});
    });
    await waitFor(
      "the message",
      () => shop.requestsTo("offline-message").length > 0,
    );
    // The page before must not send the message again once it is refused.
    const session = heldRequest(page, "**/session");
    await page.reload();
    const route = await session;
    await fail(page, "**/offline-message", { status: 413 });
    const warning = page.waitForEvent("console", {
      predicate: (message) => message.type() === "warning",
    });
    await route.continue();
    assert.match((await warning).text(), /not sent.*Message is too long/);
  },
);
