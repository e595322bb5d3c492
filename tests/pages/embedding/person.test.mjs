/* One browser, several persons: what a sign-out forgets, in all tabs. */

import assert from "node:assert/strict";
import {
  api,
  composer,
  embedding,
  label,
  openWindow,
  stored,
  useEmbeddingBrowser,
  waitForSent,
  write,
} from "../support/embedding.mjs";
import { waitFor } from "../support/wait.mjs";

useEmbeddingBrowser();

const ALICE = {
  name: "Alice Secret",
  email: "alice@shop.example",
  phone: "+49 30 111222",
};
const NO_CONTACT = {
  client_name: null,
  email: null,
  phone: null,
  description: null,
};

/** Opens a second tab of the same browser. */
async function openTab(page) {
  const tab = await page.context().newPage();
  await tab.goto(page.url());
  await label(tab).waitFor();
  return tab;
}

const waitUntilGone = (page, text) =>
  page.getByText(text, { exact: true }).waitFor({ state: "detached" });
const visitorNumber = (page) =>
  page.evaluate(
    () =>
      new Promise((done) =>
        widget_api.getVisitorNumber((error, number) => done(error ?? number)),
      ),
  );
/** Holds back the response to the next request whose URL matches the pattern. */
function hold(page, pattern) {
  let release, reportHeld, reportAnswered;
  const isReleased = new Promise((done) => (release = done));
  const isHeld = new Promise((done) => (reportHeld = done));
  const isAnswered = new Promise((done) => (reportAnswered = done));
  const answer = async (route) => {
    const response = await route.fetch();
    reportHeld();
    await isReleased;
    await route.fulfill({ response });
    reportAnswered();
  };
  page.route(pattern, answer, { times: 1 });
  return { isHeld, isAnswered, release };
}
const isEmptied = async (page) => {
  assert.deepEqual(await api(page, "getContactInfo"), NO_CONTACT);
  assert.equal(await composer(page).inputValue(), "");
};

embedding(
  "clearHistory forgets the person, and the next one is another visitor",
  async ({ account, widget }) => {
    const { admin } = account;
    await admin.setPresence("online");
    const page = await widget.openOn();
    await api(page, "setUserToken", "alice-7");
    await api(page, "setContactInfo", ALICE);
    await api(page, "setCustomData", [{ title: "Plan", content: "Gold" }]);
    await openWindow(page);
    await write(page, "My order is late");
    await waitForSent(page, "My order is late");
    const { chat_id } = await admin.chatOf(ALICE.name);
    await admin.accept(chat_id);
    await composer(page).pressSequentially("My card is 4111");
    const number = await visitorNumber(page);
    const other = await openTab(page);
    await other.getByText("My order is late").waitFor();

    assert.deepEqual(await api(page, "clearHistory"), { result: "ok" });
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await waitUntilGone(other, "My order is late");
    await isEmptied(other);
    const values = JSON.stringify(Object.values(await stored(page)));
    for (const secret of ["Alice", "alice-7", "+49", "Gold", "4111", "late"])
      assert.ok(!values.includes(secret), `${secret} in ${values}`);
    // What an agent writes now is for Alice.
    await admin.send(chat_id, "Dear Alice");

    await page.reload();
    await label(page).waitFor();
    assert.deepEqual(await api(page, "getContactInfo"), NO_CONTACT);
    await openWindow(page);
    await isEmptied(page);
    await write(page, "Do you have size 45?");
    await waitForSent(page, "Do you have size 45?");
    await other.getByText("Do you have size 45?").waitFor();
    for (const tab of [page, other])
      for (const text of ["My order is late", "Dear Alice"])
        assert.equal(await tab.getByText(text).count(), 0, text);
    assert.notEqual(await visitorNumber(page), number);
    assert.equal(await visitorNumber(other), await visitorNumber(page));
    assert.deepEqual(await admin.texts(chat_id), [
      "My order is late",
      "Dear Alice",
    ]);
    const [chat] = await admin.chats("waiting");
    const { visitor, panel } = await admin.get(`/agent/chats/${chat.chat_id}`);
    assert.deepEqual([visitor.email ?? null, panel.custom_data], [null, []]);
  },
);

embedding(
  "user whom two tabs name at once is one new visitor",
  async ({ account, widget }) => {
    await account.admin.setPresence("online");
    const page = await widget.openOn();
    await api(page, "setUserToken", "alice-7");
    await openWindow(page);
    await write(page, "My order is late");
    await waitForSent(page, "My order is late");
    const other = await openTab(page);
    await composer(other).pressSequentially("My card is 4111");
    const alice = await visitorNumber(page);
    await api(other, "setUserToken", "alice-7");
    assert.equal(await visitorNumber(other), alice);

    await Promise.all(
      [page, other].map((tab) => api(tab, "setUserToken", "bob-8")),
    );
    for (const tab of [page, other]) {
      await waitUntilGone(tab, "My order is late");
      await isEmptied(tab);
    }
    const numbers = await Promise.all([page, other].map(visitorNumber));
    assert.equal(numbers[0], numbers[1]);
    assert.notEqual(numbers[0], alice);
    await write(other, "Where is my parcel?");
    await page.getByText("Where is my parcel?").waitFor();
    for (const tab of [page, other])
      assert.equal(await tab.getByText("My order is late").count(), 0);
  },
);

embedding(
  "data that the page sets before the token of another user is that user's",
  async ({ account, widget }) => {
    const { admin } = account;
    await admin.setPresence("online");
    const page = await widget.openOn();
    await api(page, "setUserToken", "alice-7");
    await api(page, "setContactInfo", ALICE);
    await openWindow(page);
    await write(page, "My order is late");
    await waitForSent(page, "My order is late");

    const sent = [];
    page.on("request", (request) => {
      if (/\/(session|visitor|message)$/.test(request.url()))
        sent.push(request.postDataJSON());
    });
    await page.reload();
    await page.getByText("My order is late").waitFor();
    await page.evaluate(async () => {
      widget_api.setContactInfo({ name: "Bob", email: "bob@b.example" });
      // The page asks its server who its user is. The data waits three seconds for the answer.
      await fetch(location.href);
      widget_api.setUserToken("bob-8");
    });
    await waitUntilGone(page, "My order is late");
    assert.deepEqual(await api(page, "getContactInfo"), {
      ...NO_CONTACT,
      client_name: "Bob",
      email: "bob@b.example",
    });
    await write(page, "Where is my parcel?");
    await waitForSent(page, "Where is my parcel?");
    const chats = await waitFor("both chats", async () => {
      const chats = await admin.chats("waiting");
      return chats.length === 2 && chats;
    });
    const details = await Promise.all(
      chats.map(({ chat_id }) => admin.get(`/agent/chats/${chat_id}`)),
    );
    const visitors = details.map(({ visitor: { name, email } }) => [
      name,
      email,
    ]);
    assert.deepEqual(visitors.sort(), [
      ["Alice Secret", "alice@shop.example"],
      ["Bob", "bob@b.example"],
    ]);
    const [aliceToken] = sent.map(({ token }) => token);
    for (const { token, contact_info } of sent)
      if (token === aliceToken) assert.equal(contact_info, undefined);
  },
);

embedding(
  "signing out empties an open window with the contacts form",
  async ({ account, widget }) => {
    await account.admin.setPresence("online");
    const page = await widget.openOn();
    await api(page, "setUserToken", "alice-7");
    await api(page, "setContactInfo", { email: ALICE.email });
    await openWindow(page);
    await page.getByLabel("Name").fill("Alice Secret");
    assert.equal(await page.getByLabel("E-mail").inputValue(), ALICE.email);
    assert.deepEqual(await api(page, "setUserToken", null), {
      result: "ok",
      token: null,
    });
    await page.waitForFunction(() => {
      const { shadowRoot } = document.querySelector("switchboard-widget");
      const fields = [...shadowRoot.querySelectorAll("input")];
      return fields.length > 0 && fields.every(({ value }) => value === "");
    });
  },
  {
    settings: {
      contacts_form: {
        when: "before_first_message",
        fields: ["name", "email"],
        required: ["name"],
      },
    },
  },
);

embedding(
  "response for a person who has signed out is not shown",
  async ({ account, widget }) => {
    await account.admin.setPresence("online");
    const page = await widget.openOn();
    await api(page, "setUserToken", "alice-7");
    await openWindow(page);
    await write(page, "My order is late");
    await waitForSent(page, "My order is late");
    await page.reload();
    await page.getByText("My order is late").waitFor();

    const session = hold(page, /\/session$/);
    await page.evaluate(() =>
      dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true })),
    );
    await session.isHeld;
    const message = hold(page, /\/message$/);
    await write(page, "And my card is 4111");
    await message.isHeld;
    await api(page, "clearHistory");
    for (const { release, isAnswered } of [session, message]) {
      release();
      await isAnswered;
    }
    await openWindow(page);
    await write(page, "Hello");
    await waitForSent(page, "Hello");
    const bubbles = await page.locator(".bubble").allTextContents();
    assert.deepEqual(bubbles, ["Hello"]);
  },
);

embedding(
  "contact field that the page empties is empty",
  async ({ account, widget }) => {
    const { admin } = account;
    await admin.setPresence("online");
    const page = await widget.openOn();
    await api(page, "setContactInfo", ALICE);
    await openWindow(page);
    await write(page, "Hello");
    await waitForSent(page, "Hello");
    const sent = page.waitForRequest(/\/visitor$/);
    await api(page, "setContactInfo", { phone: "", email: null });
    const contact = { ...NO_CONTACT, client_name: ALICE.name };
    assert.deepEqual(await api(page, "getContactInfo"), contact);
    const { contact_info } = (await sent).postDataJSON();
    assert.deepEqual([contact_info.phone, contact_info.email], ["", ""]);
  },
);

embedding(
  "page that comes back from the browser's cache shows nothing of a person who has signed out",
  async ({ account, widget }) => {
    await account.admin.setPresence("online");
    const page = await widget.openOn();
    await api(page, "setUserToken", "alice-7");
    await openWindow(page);
    await write(page, "My order is late");
    await waitForSent(page, "My order is late");
    const other = await openTab(page);
    // Alice's tab does not hear of the sign-out, as a page in the browser's cache.
    await page.evaluate(() =>
      addEventListener("storage", (event) => event.stopImmediatePropagation(), {
        capture: true,
      }),
    );
    await api(other, "setUserToken", null);
    await page.evaluate(() =>
      dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true })),
    );
    await waitUntilGone(page, "My order is late");
  },
);
