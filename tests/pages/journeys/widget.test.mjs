/* The widget on a shop's page, with the real service: visitor, bot and agents. */

import assert from "node:assert/strict";
import { request } from "../support/account.mjs";
import { axeViolations } from "../support/browser.mjs";
import {
  journey,
  line,
  openChat,
  sendMessage,
  textarea,
  useBrowser,
} from "../support/console.mjs";
import { Network } from "../support/network.mjs";
import {
  addWidget,
  api,
  called,
  composer,
  openWindow,
  Shop,
  waitForSent,
  write,
} from "../support/shop.mjs";
import { waitFor } from "../support/wait.mjs";

useBrowser();

const HOSTILE = `"><img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`;

/** Creates a widget and the site of a shop that includes it. Returns the widget's id, the site, and a function that
    opens the shop in a new page. */
async function addShop(context, settings = {}) {
  const widget = await addWidget(context, settings);
  const shop = await Shop.start({ ...context, widget });
  const openShop = (options) => shop.open({ isLoading: true, ...options });
  return { id: widget.id, site: shop.site, openShop };
}

const visitorNumber = (page) =>
  page.evaluate(
    () =>
      new Promise((done, fail) =>
        window.widget_api.getVisitorNumber((error, number) =>
          error ? fail(new Error(error)) : done(number),
        ),
      ),
  );
const storedToken = (page, id) =>
  page.evaluate(
    (id) => JSON.parse(localStorage.getItem(`switchboard.widget.${id}.token`)),
    id,
  );
const post = (id, endpoint, body) =>
  request("POST", `/widget/${id}/${endpoint}`, body);

journey(
  "visitor talks to a bot at night and then to an agent",
  async (context) => {
    const { account, open } = context;
    const widget = await addShop(context);
    await account.addBot(widget, ({ text }) =>
      text === "Talk to a person"
        ? [{ event: "INVITE_AGENT" }]
        : [
            {
              event: "BOT_MESSAGE",
              message: { type: "MARKDOWN", content: "Ask about **orders**." },
            },
            {
              event: "BOT_MESSAGE",
              message: {
                type: "BUTTONS",
                title: "Or choose:",
                buttons: [{ text: "Talk to a person" }],
              },
            },
          ],
    );
    const shop = await widget.openShop();
    await shop.evaluate(() =>
      window.widget_api.setContactInfo({ name: "Amara Kone" }),
    );
    await openWindow(shop);
    assert.equal(await api(shop, "chatMode"), "offline");
    await write(shop, "Where is my parcel?");
    await shop.getByText("Ask about orders.").waitFor();
    assert.equal(await shop.getByRole("button", { name: "Good" }).count(), 0);
    await account.admin.setPresence("online");
    await shop.getByRole("button", { name: "Talk to a person" }).click();

    const desk = await open();
    await openChat(desk, "Amara Kone");
    await line(desk, "Where is my parcel?").first().waitFor();
    await desk
      .getByRole("button", { name: /^Accept/ })
      .first()
      .click();
    await shop.getByText("Marta Lindholm joined the chat").waitFor();
    await composer(shop).pressSequentially("It was due");
    // The notice disappears when the visitor has not typed for five seconds.
    await waitFor("what the visitor is typing", async () => {
      await composer(shop).fill("It was due");
      return desk.getByText("It was due").isVisible();
    });
    await textarea(desk).fill("I will look.");
    await shop.getByText("Marta Lindholm is typing").waitFor();
    await desk.keyboard.press("Enter");
    await shop.getByText("I will look.").waitFor();
    assert.deepEqual(await axeViolations(shop), []);
    const names = await called(shop);
    for (const name of ["onClientStartChat", "onMessageSent", "onAccept"])
      assert.equal(names.filter((called) => called === name).length, 1, name);
    assert.ok(names.includes("onMessageReceived"));

    await shop.reload();
    await shop.getByText("I will look.").waitFor();
    assert.equal(await composer(shop).inputValue(), "It was due");
    await write(shop, "Thank you!");
    await line(desk, "Thank you!").first().waitFor();
    const { chat_id } = await account.admin.chatOf("Amara Kone");
    const token = await storedToken(shop, widget.id);
    const waitForRate = (rate) =>
      waitFor(`the rating ${rate}`, async () => {
        const { body } = await post(widget.id, "session", { token });
        return body.chat.rate === rate;
      });
    await shop.getByRole("button", { name: "Good" }).click();
    await waitForRate("positive");
    await account.admin.close(chat_id);
    await shop.getByText("Thank you for your rating.").waitFor();
    await shop.getByRole("button", { name: "Bad" }).click();
    await waitForRate("negative");
  },
);

journey("visitor leaves a message while nobody is online", async (context) => {
  const { account } = context;
  const { openShop } = await addShop(context);
  const shop = await openShop();
  await openWindow(shop);
  await shop.getByLabel("Name").fill("João Ferreira");
  await shop.getByLabel("E-mail").fill("joao@shop.example");
  await shop
    .getByRole("textbox", { name: "Message" })
    .fill("Do you have size 45?");
  await shop.getByRole("button", { name: "Send message" }).click();
  await shop.getByText("Thank you").waitFor();
  assert.ok((await called(shop)).includes("onChangeState offline/success"));
  const { chat_id } = await waitFor("the chat", () =>
    account.admin.chatOf("João Ferreira"),
  );
  assert.deepEqual(await account.admin.texts(chat_id), [
    "Do you have size 45?",
  ]);
});

journey(
  "second tab shares the conversation and the socket",
  async (context) => {
    const { account } = context;
    await account.admin.setPresence("online");
    const { openShop, site } = await addShop(context);
    const shop = await openShop();
    let sockets = 0;
    shop.context().on("page", (page) => page.on("websocket", () => sockets++));
    shop.on("websocket", () => sockets++);
    await api(shop, "setContactInfo", { name: "Amara Kone" });
    await openWindow(shop);
    await write(shop, "From the first tab");
    await waitForSent(shop, "From the first tab");
    const number = await visitorNumber(shop);

    const second = await shop.context().newPage();
    await second.goto(site.url);
    await second.getByText("From the first tab").waitFor();
    await write(second, "From the second tab");
    await shop.getByText("From the second tab").waitFor();
    assert.equal(await visitorNumber(second), number);
    const { chat_id } = await account.admin.chatOf("Amara Kone");
    await account.admin.accept(chat_id);
    await account.admin.send(chat_id, "To both tabs");
    for (const page of [shop, second])
      await page.getByText("To both tabs").waitFor();
    assert.equal(sockets, 1);

    await shop.close();
    await waitFor("the socket of the second tab", () => sockets === 2);
    await account.admin.send(chat_id, "To the second tab");
    await second.getByText("To the second tab").waitFor();
  },
);

journey("message written without network is stored once", async (context) => {
  const { t, account } = context;
  await account.admin.setPresence("online");
  const { openShop } = await addShop(context);
  const network = await Network.start();
  t.after(() => network.close());
  const shop = await openShop(network.contextOptions);
  await api(shop, "setContactInfo", { name: "Amara Kone" });
  await openWindow(shop);
  await write(shop, "Before");
  await waitForSent(shop, "Before");
  const { chat_id } = await account.admin.chatOf("Amara Kone");
  await account.admin.accept(chat_id);
  await shop.getByText("Marta Lindholm joined the chat").waitFor();

  network.cut();
  await shop.getByText("No connection. Trying again…").waitFor();
  await write(shop, "During one");
  await write(shop, "During two");
  await shop.getByText("Sending…").first().waitFor();
  await account.admin.send(chat_id, "Missed");
  network.restore();
  await waitForSent(shop, "During two");
  await shop.getByText("Missed").waitFor();
  const texts = ["Before", "Missed", "During one", "During two"];
  assert.deepEqual(
    (await account.admin.texts(chat_id)).toSorted(),
    texts.toSorted(),
  );
});

journey(
  "another user of the browser does not see the first one's chat",
  async (context) => {
    const { account } = context;
    await account.admin.setPresence("online");
    const widget = await addShop(context);
    const shop = await widget.openShop();
    const setUser = (token) => api(shop, "setUserToken", token);
    await openWindow(shop);
    await write(shop, "My order is late");
    await waitForSent(shop, "My order is late");
    assert.deepEqual(await setUser("ada"), { result: "ok", token: "ada" });
    const [ada, token] = [
      await visitorNumber(shop),
      await storedToken(shop, widget.id),
    ];
    await shop.reload();
    await shop.getByText("My order is late").waitFor();
    await setUser("ada");
    assert.equal(await visitorNumber(shop), ada);

    assert.deepEqual(await setUser(null), { result: "ok", token: null });
    await shop.getByText("My order is late").waitFor({ state: "detached" });
    assert.notEqual(await visitorNumber(shop), ada);
    assert.notEqual(await storedToken(shop, widget.id), token);
    await setUser("bob");
    await write(shop, "Where is my parcel?");
    await waitForSent(shop, "Where is my parcel?");
    await shop.reload();
    await shop.getByText("Where is my parcel?").waitFor();
    assert.equal(await shop.getByText("My order is late").count(), 0);
    const [first, second] = (
      await account.admin.get("/agent/chats?state=waiting")
    ).chats.toSorted((a, b) => a.chat_id - b.chat_id);
    assert.notEqual(first.visitor.number, second.visitor.number);
  },
);

journey("hostile page only sets texts", async (context) => {
  const { account, open } = context;
  await account.admin.setPresence("online");
  const { openShop } = await addShop(context);
  const shop = await openShop();
  const fails = async (method, ...args) =>
    (await api(shop, method, ...args)).result === "fail";
  const field = { content: "x" };
  assert.ok(await fails("setCustomData", Array(11).fill(field)));
  assert.ok(await fails("setCustomData", { ...field }));

  const name = `Eve ${HOSTILE}`;
  const results = await shop.evaluate(
    ([name, text]) => [
      window.widget_api.setContactInfo({
        name,
        email: text,
        phone: text,
        description: text,
      }),
      window.widget_api.setCustomData([
        {
          title: text,
          key: text,
          content: text,
          link: `https://x.example/${text}`,
        },
        { content: text, link: "javascript:window.hacked=1" },
        { content: "x".repeat(1_000_000) },
      ]),
      window.widget_api.setClientAttributes({ [text]: text }),
      window.widget_api.setUserToken(text),
      window.widget_api.sendPageTitle(text, true, "javascript:window.hacked=1"),
    ],
    [name, HOSTILE],
  );
  for (const { result } of results) assert.equal(result, "ok");
  await openWindow(shop);
  await write(shop, HOSTILE);
  await waitForSent(shop, HOSTILE);

  const desk = await open();
  await openChat(desk, "Eve");
  await line(desk, HOSTILE).first().waitFor();
  await desk.locator(".custom").getByText(HOSTILE).first().waitFor();
  for (const page of [shop, desk]) {
    const found = await page.evaluate(() => {
      const roots = [
        document,
        document.querySelector("switchboard-widget")?.shadowRoot,
      ];
      const selectors = "[onerror], [src='x'], a[href^='javascript']";
      return {
        hacked: window.hacked,
        elements: roots.flatMap((root) => [
          ...(root?.querySelectorAll(selectors) ?? []),
        ]).length,
      };
    });
    assert.deepEqual(found, { hacked: undefined, elements: 0 });
  }
});

journey("widget with a forged token starts a new visitor", async (context) => {
  const { account } = context;
  await account.admin.setPresence("online");
  const { id, openShop } = await addShop(context);
  const shop = await openShop();
  const tokenKey = `switchboard.widget.${id}.token`;
  for (const token of ["x".repeat(43), ""]) {
    await shop.evaluate(
      ([key, token]) => localStorage.setItem(key, JSON.stringify(token)),
      [tokenKey, token],
    );
    await shop.reload();
    await shop.locator(".label").waitFor();
    assert.notEqual(await visitorNumber(shop), null);
    assert.notEqual(await storedToken(shop, id), token);
  }
});

journey("hostile visitor gets the documented errors", async (context) => {
  const { account } = context;
  await account.admin.setPresence("online");
  const [one, other] = [await addShop(context), await addShop(context)];
  const shop = await one.openShop();
  await openWindow(shop);
  await write(shop, "Hello");
  await waitForSent(shop, "Hello");
  const token = await storedToken(shop, one.id);
  const { body: session } = await post(one.id, "session", { token });
  const { chat_id } = session.chat;
  const { body: created } = await post(one.id, "session", { identify: true });
  const stranger = created.visitor.token;
  const message = { type: "text", text: "x" };
  const field = { content: "x" };
  const rating = { chat_id, rate: "negative" };
  const attempts = [
    [
      one,
      "message",
      { token: "forged", message_id: "1", message },
      401,
      "invalid_token",
    ],
    [
      other,
      "message",
      { token, message_id: "1", message },
      401,
      "invalid_token",
    ],
    [other, "session", { token }, 401, "invalid_token"],
    [other, "socket-ticket", { token }, 401, "invalid_token"],
    [{ id: "unknown" }, "session", {}, 404, "not_found"],
    [one, "rating", { token: stranger, ...rating }, 404, "not_found"],
    [
      one,
      "visitor",
      { token, custom_data: Array(11).fill(field) },
      400,
      "custom_data",
    ],
    [
      one,
      "visitor",
      { token, custom_data: [{ ...field, link: "javascript:x" }] },
      400,
      "custom_data[0].link",
    ],
    [
      one,
      "visitor",
      { token, custom_data: [{ content: "x".repeat(1_000_000) }] },
      413,
      "payload_too_large",
    ],
  ];
  for (const [{ id }, endpoint, body, status, detail] of attempts) {
    const { status: found, body: response } = await post(id, endpoint, body);
    const { code, field } = response.error;
    assert.deepEqual([found, field ?? code], [status, detail], endpoint);
  }
  const { body: seen } = await post(one.id, "session", { token: stranger });
  assert.deepEqual([seen.chat, seen.messages], [null, []]);
});

journey("widget appears on allowed sites only", async (context) => {
  const { openShop } = await addShop(context, {
    allowed_sites: ["shop.example"],
  });
  const shop = await openShop();
  await shop.waitForFunction(() =>
    performance
      .getEntriesByType("resource")
      .some(({ name }) => name.endsWith("/session")),
  );
  assert.equal(await api(shop, "chatMode"), "offline");
  assert.equal(await shop.locator(".label").count(), 0);
});
