/* Tests the agent console in Chromium with the mock service (functions/www/dev). */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  axeViolations,
  launch,
  openPage,
  serve,
  signIn,
  controlMock,
} from "./browser.mjs";

let browser;
let server;
let url;
before(async () => {
  browser = await launch();
  server = await serve();
  url = server.url;
});
after(async () => {
  await browser.close();
  await server.close();
});

/** Runs a test with a new page. The page is signed in unless `signedOut` is set. The test fails if the page has
    errors. */
function journey(
  name,
  { dataset = "normal", signedOut = false, hash = "", ...options },
  run,
) {
  test(name, { timeout: 60_000 }, async () => {
    await controlMock(url, "reset", { dataset });
    const { page, context, problems } = await openPage(browser, options);
    page.setDefaultTimeout(10_000);
    try {
      if (signedOut) await page.goto(`${url}/console/${hash}`);
      else await signIn(page, url, { hash });
      await run({ page, context, problems });
      assert.deepEqual(problems, []);
    } finally {
      await context.close();
    }
  });
}

const openChat = async (page, name) => {
  await page.locator(".row", { hasText: name }).first().click();
  await page.locator(".conversation header h2", { hasText: name }).waitFor();
  await page.locator(".turn").first().waitFor();
};
const storedChat = async (visitorName) =>
  (await controlMock(url, "chats"))
    .filter((chat) => chat.visitor.name === visitorName)
    .sort((a, b) => b.chat_id - a.chat_id)[0];
const sendMessage = async (page, text) => {
  await page.locator(".composer textarea").fill(text);
  await page.keyboard.press("Enter");
};
const bubble = (page, text) => page.locator(".bubble", { hasText: text });
const blur = (page) => page.evaluate(() => document.activeElement?.blur());

journey(
  "wrong password and login limit show an error",
  { signedOut: true },
  async ({ page }) => {
    await page.getByLabel("E-mail").fill("marta@example.com");
    await page.getByLabel("Password", { exact: true }).fill("wrong");
    await page.keyboard.press("Enter");
    await page.getByText("E-mail or password is wrong.").waitFor();
    await controlMock(url, "fail", {
      path: "login",
      status: 429,
      times: 1,
      headers: { "retry-after": "3" },
    });
    await page.getByLabel("Password", { exact: true }).fill("secret");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: /^Wait [123] s$/ }).waitFor();
    await page.getByText("You can try again now.").waitFor();
    await page.keyboard.press("Enter");
    await page.locator(".app").waitFor();
  },
);

journey(
  "sign-in link works and is removed from the URL",
  { signedOut: true, hash: "#code=demo" },
  async ({ page }) => {
    await page.locator(".app").waitFor();
    assert.doesNotMatch(page.url(), /code/);
  },
);

journey(
  "used sign-in link shows an error",
  { signedOut: true, hash: "#code=old" },
  async ({ page }) => {
    await page.getByText("has been used or is too old").waitFor();
    assert.doesNotMatch(page.url(), /code/);
  },
);

journey("token is stored only in the session storage", {}, async ({ page }) => {
  const stored = await page.evaluate(() => ({
    session: JSON.stringify({ ...sessionStorage }),
    local: JSON.stringify({ ...localStorage }),
    cookie: document.cookie,
  }));
  const token = JSON.parse(
    JSON.parse(stored.session)["switchboard.session"],
  ).token;
  assert.ok(token.length > 10);
  assert.ok(
    !stored.local.includes(token) &&
      !stored.cookie.includes(token) &&
      !page.url().includes(token),
  );
});

journey("draft survives an ended session", {}, async ({ page }) => {
  await openChat(page, "Thanh Nguyễn");
  await page.locator("textarea").fill("Half a sentence");
  await controlMock(url, "end-sessions");
  await page.getByText("Your session has ended.").waitFor();
  await page.getByLabel("Password", { exact: true }).fill("secret");
  await page.keyboard.press("Enter");
  await page.locator(".conversation header h2", { hasText: "Thanh" }).waitFor();
  assert.equal(await page.locator("textarea").inputValue(), "Half a sentence");
});

journey("sign-out deletes the session", {}, async ({ page }) => {
  await page.locator(".rail .me").click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page
    .locator("dialog")
    .getByRole("button", { name: "Sign out" })
    .click();
  await page.getByLabel("Password").waitFor();
  assert.equal(
    await page.evaluate(() => sessionStorage.getItem("switchboard.session")),
    null,
  );
  await page.reload();
  await page.getByLabel("Password").waitFor();
});

journey(
  "longest-waiting chat is accepted and answered by keyboard",
  {},
  async ({ page }) => {
    await page.locator(".row", { hasText: "João" }).waitFor();
    await page.keyboard.press("a");
    await page
      .locator(".conversation header h2", { hasText: "João Ferreira" })
      .waitFor();
    await page.locator(".composer textarea:focus").waitFor();
    await page.keyboard.type("One moment, I look it up.");
    await page.keyboard.press("Enter");
    await bubble(page, "One moment, I look it up.").waitFor();
    await page
      .locator(".line", { hasText: "One moment" })
      .locator(".mark.ok")
      .waitFor();
    const chat = await storedChat("João Ferreira");
    assert.equal(chat.agent.name, "Marta Lindholm");
    assert.equal(
      chat.entries.filter(({ text }) => text === "One moment, I look it up.")
        .length,
      1,
    );
    assert.equal(await bubble(page, "One moment, I look it up.").count(), 1);
  },
);

journey("chat accepted by another agent is reported", {}, async ({ page }) => {
  await page.locator(".row", { hasText: "João" }).click();
  const { chat_id } = await storedChat("João Ferreira");
  await controlMock(url, "fail", {
    path: "accept",
    status: 409,
    times: 1,
    code: "conflict",
    message: "another agent has the chat",
  });
  await controlMock(url, "accept", { chat_id, agent_id: 2, isSilent: true });
  await page.getByRole("button", { name: "Accept" }).click();
  await page.getByText("Another agent has accepted João Ferreira.").waitFor();
  await page.getByText("Jonas Weber is answering this chat.").waitFor();
});

journey("message appears immediately and only once", {}, async ({ page }) => {
  await openChat(page, "Thanh Nguyễn");
  await controlMock(url, "latency", { ms: 800 });
  await sendMessage(page, "Sent with care");
  await page
    .locator(".line.sending", { hasText: "Sent with care" })
    .waitFor({ timeout: 500 });
  let maxShown = 0;
  for (let attempt = 0; attempt < 25; attempt++) {
    maxShown = Math.max(maxShown, await bubble(page, "Sent with care").count());
    await page.waitForTimeout(80);
  }
  assert.equal(maxShown, 1);
  await controlMock(url, "latency", { ms: 0 });
  await page
    .locator(".line", { hasText: "Sent with care" })
    .locator(".mark.ok")
    .waitFor();
});

journey(
  "failed message shows the error, its attempts and Retry",
  {},
  async ({ page }) => {
    await openChat(page, "Amara Kone");
    const failed = page.locator(".fail", {
      hasText: "Visitor session expired",
    });
    await failed
      .getByRole("button", { name: /3 attempts, last 503 after 3\.0 s/ })
      .click();
    const rows = page.locator(".attempts tbody tr");
    assert.equal(await rows.count(), 3);
    assert.match(
      await rows.first().innerText(),
      /none\s+3\.0 s\s+no answer within 3 s/,
    );
    await page.keyboard.press("Escape");
    await failed.getByRole("button", { name: "Retry" }).click();
    await failed.waitFor({ state: "detached" });
    await page
      .locator(".line", { hasText: "case 5512" })
      .locator(".mark.ok")
      .waitFor();
  },
);

journey(
  "rejected message can be edited and sent again",
  {},
  async ({ page }) => {
    await openChat(page, "Thanh Nguyễn");
    await controlMock(url, "fail", {
      path: "messages$",
      method: "POST",
      status: 400,
      times: 1,
      message: "text is wrong",
    });
    await sendMessage(page, "First try");
    await page.locator(".fail", { hasText: "Text is wrong" }).waitFor();
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    assert.equal(await page.locator("textarea").inputValue(), "First try");
    await page.keyboard.press("Enter");
    await page
      .locator(".line", { hasText: "First try" })
      .locator(".mark")
      .waitFor();
    assert.equal(
      (await storedChat("Thanh Nguyễn")).entries.filter(
        ({ text }) => text === "First try",
      ).length,
      1,
    );
  },
);

journey(
  "offline messages are sent once and in order after a reload",
  {},
  async ({ page, context }) => {
    await openChat(page, "Thanh Nguyễn");
    await context.setOffline(true);
    await controlMock(url, "sockets", { on: false });
    await sendMessage(page, "Offline one");
    await sendMessage(page, "Offline two");
    await page.locator(".connection-banner.bad").waitFor();
    await page.getByText(/Next attempt in \d+ s|Trying/).waitFor();
    await context.setOffline(false);
    await controlMock(url, "sockets", { on: true });
    // Reload before the console can send a message.
    await page.reload();
    await bubble(page, "Offline two").waitFor();
    await page
      .locator(".line", { hasText: "Offline two" })
      .locator(".mark.ok")
      .waitFor({ timeout: 20_000 });
    const texts = (await storedChat("Thanh Nguyễn")).entries
      .map(({ text }) => text)
      .filter((text) => /^Offline/.test(text));
    assert.deepEqual(texts, ["Offline one", "Offline two"]);
  },
);

journey("message with a lost response is stored once", {}, async ({ page }) => {
  await openChat(page, "Thanh Nguyễn");
  let isResponseLost = false;
  await page.route("**/agent/chats/*/messages", async (route) => {
    if (isResponseLost || route.request().method() !== "POST")
      return route.continue();
    isResponseLost = true;
    await route.fetch();
    await route.abort("connectionreset");
  });
  await sendMessage(page, "Only once");
  await page
    .locator(".line", { hasText: "Only once" })
    .locator(".mark.ok")
    .waitFor({ timeout: 15_000 });
  await page.waitForTimeout(1500);
  assert.equal(
    (await storedChat("Thanh Nguyễn")).entries.filter(
      ({ text }) => text === "Only once",
    ).length,
    1,
  );
  assert.equal(await bubble(page, "Only once").count(), 1);
});

journey(
  "drafts are kept per chat and survive a reload",
  {},
  async ({ page }) => {
    await openChat(page, "Thanh Nguyễn");
    await page.locator("textarea").fill("For Thanh");
    await openChat(page, "Amara Kone");
    assert.equal(await page.locator("textarea").inputValue(), "");
    await page.locator(".row", { hasText: "Draft: For Thanh" }).waitFor();
    await page.reload();
    await openChat(page, "Thanh Nguyễn");
    assert.equal(await page.locator("textarea").inputValue(), "For Thanh");
  },
);

journey(
  "slash offers canned replies with names filled in",
  {},
  async ({ page }) => {
    await openChat(page, "Thanh Nguyễn");
    await page.locator("textarea").focus();
    await page.keyboard.type("/hel");
    await page.getByRole("option", { name: /hello/ }).waitFor();
    await page.keyboard.press("Enter");
    assert.equal(
      await page.locator("textarea").inputValue(),
      "Hello Thanh Nguyễn, this is Marta Lindholm. How can I help you?",
    );
    await page.keyboard.type(" and/or https://x");
    assert.equal(await page.locator(".suggestions").count(), 0);
  },
);

journey(
  "composer grows to eight lines and counts characters",
  {},
  async ({ page }) => {
    await openChat(page, "Thanh Nguyễn");
    const area = page.locator("textarea");
    const height = async () => (await area.boundingBox()).height;
    await area.focus();
    const oneLine = await height();
    await page.keyboard.type("a");
    for (let line = 0; line < 3; line++)
      await page.keyboard.press("Shift+Enter");
    assert.ok((await height()) > oneLine + 50);
    for (let line = 0; line < 12; line++)
      await page.keyboard.press("Shift+Enter");
    const maxHeight = await height();
    assert.ok(maxHeight < 8 * 20.3 + 24, `${maxHeight}`);
    await area.fill("x".repeat(9500));
    await page.getByText("9,500 of 10,000").waitFor();
    await area.fill("x".repeat(10_007));
    await page.getByText("7 too many").waitFor();
    await page.keyboard.press("Enter");
    assert.equal((await area.inputValue()).length, 10_007);
  },
);

journey("private note is marked", {}, async ({ page }) => {
  await openChat(page, "Thanh Nguyễn");
  await blur(page);
  await page.keyboard.press("n");
  await page.keyboard.type("Only for us");
  await page.keyboard.press("Enter");
  await page.locator(".turn.is-note", { hasText: "Only for us" }).waitFor();
  assert.equal((await storedChat("Thanh Nguyễn")).entries.at(-1).type, "note");
  assert.equal(
    await page
      .getByRole("radio", { name: "Reply" })
      .getAttribute("aria-checked"),
    "true",
  );
});

journey("file is sent as a link with its type", {}, async ({ page }) => {
  await openChat(page, "Thanh Nguyễn");
  await page.getByRole("button", { name: "Send a link to a file" }).click();
  await page
    .getByLabel("Address of the file")
    .fill("https://files.example.com/Invoice%2088.pdf");
  await page.getByLabel("Size").fill("1.2 MB");
  await page.locator("dialog").getByRole("button", { name: "Send" }).click();
  await page.locator(".file", { hasText: "Invoice 88.pdf" }).waitFor();
  await page.waitForFunction(async () =>
    (await (await fetch("/_mock/chats", { method: "POST" })).json()).some(
      (chat) => chat.entries.some((entry) => entry.type === "document"),
    ),
  );
  const sent = (await storedChat("Thanh Nguyễn")).entries.at(-1);
  assert.deepEqual(
    [sent.type, sent.file_name, sent.file_size],
    ["document", "Invoice 88.pdf", 1_200_000],
  );
});

journey("emoji is inserted at the caret", {}, async ({ page }) => {
  await openChat(page, "Thanh Nguyễn");
  await page.locator("textarea").fill("Thanks ");
  await page.getByRole("button", { name: "Emoji" }).click();
  await page.getByLabel("Search emoji").fill("parcel");
  await page.getByRole("button", { name: "package parcel box" }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForFunction(
    () => document.querySelector("textarea").value === "Thanks 📦",
  );
});

journey(
  "visitor message is shown, announced and counted as unread",
  {},
  async ({ page }) => {
    await openChat(page, "Thanh Nguyễn");
    const { chat_id } = await storedChat("Thanh Nguyễn");
    await controlMock(url, "visitor", { chat_id, text: "Are you there?" });
    await bubble(page, "Are you there?").waitFor();
    await page
      .locator("[aria-live=polite]", {
        hasText: "Thanh Nguyễn: Are you there?",
      })
      .waitFor();
    const elif = await storedChat("Elif Wójcik-Andersen");
    await controlMock(url, "visitor", {
      chat_id: elif.chat_id,
      text: "One",
    });
    await controlMock(url, "visitor", {
      chat_id: elif.chat_id,
      text: "Two",
    });
    await page
      .locator(".row.new", { hasText: "Elif" })
      .locator(".unread", { hasText: "2" })
      .waitFor();
    assert.match(await page.title(), /^\(\d+\) Switchboard$/);
    await openChat(page, "Elif Wójcik-Andersen");
    await page
      .locator(".row", { hasText: "Elif" })
      .locator(".unread")
      .waitFor({ state: "detached" });
  },
);

journey(
  "chat opens at its first unread message",
  { dataset: "longTimeline" },
  async ({ page }) => {
    await openChat(page, "Priya Raman");
    await page.waitForTimeout(200);
    await openChat(page, "Amara Kone");
    const { chat_id } = await storedChat("Priya Raman");
    for (let index = 0; index < 25; index++)
      await controlMock(url, "visitor", {
        chat_id,
        text: `New line ${index + 1}`,
      });
    await page
      .locator(".row", { hasText: "Priya" })
      .locator(".unread", { hasText: "25" })
      .waitFor();
    await openChat(page, "Priya Raman");
    await page.locator(".unread-line").waitFor();
    const offset = await page.evaluate(() => {
      const log = document.querySelector(".log").getBoundingClientRect();
      return (
        document.querySelector(".unread-line").getBoundingClientRect().top -
        log.top
      );
    });
    assert.ok(offset > 0 && offset < 200, `${offset}`);
    // The chat stays unread until its last message is visible.
    await page.locator(".row.new", { hasText: "Priya" }).waitFor();
    await page.getByRole("button", { name: "Latest" }).click();
    await page
      .locator(".row.new", { hasText: "Priya" })
      .waitFor({ state: "detached" });
  },
);

journey(
  "unopened chat is unread after the agent's last message",
  {},
  async ({ page }) => {
    await openChat(page, "Thanh Nguyễn");
    await page.locator(".unread-line").waitFor();
    const order = await page
      .locator(".log")
      .evaluate((log) =>
        [...log.querySelectorAll(".bubble, .unread-line")].map((element) =>
          element.textContent.slice(0, 12),
        ),
      );
    assert.deepEqual(order, [
      "Hello, I nee",
      "Of course. T",
      "New",
      "The one on f",
      "And our VAT ",
      "Perfect, the",
    ]);
  },
);

journey(
  "new messages do not scroll a reader away",
  { dataset: "longTimeline" },
  async ({ page }) => {
    await openChat(page, "Priya Raman");
    const log = page.locator(".log");
    await page.waitForTimeout(200);
    await log.evaluate((log) => (log.scrollTop -= 1200));
    await page.waitForTimeout(100);
    const top = () =>
      page.evaluate(() => document.querySelector(".log").scrollTop);
    const anchor = await page.evaluate(() => {
      const log = document.querySelector(".log").getBoundingClientRect();
      const turn = [...document.querySelectorAll(".turn")].find(
        (turn) => turn.getBoundingClientRect().top > log.top + 50,
      );
      turn.dataset.anchor = "";
      return turn.getBoundingClientRect().top;
    });
    const { chat_id } = await storedChat("Priya Raman");
    for (let index = 0; index < 3; index++)
      await controlMock(url, "visitor", { chat_id, text: `More ${index}` });
    await page.getByRole("button", { name: "3 new messages" }).waitFor();
    const moved = await page.evaluate(
      () => document.querySelector("[data-anchor]").getBoundingClientRect().top,
    );
    assert.ok(Math.abs(moved - anchor) <= 1, `${anchor} -> ${moved}`);
    await page.getByRole("button", { name: "3 new messages" }).click();
    await page.waitForFunction(() => {
      const log = document.querySelector(".log");
      return log.scrollHeight - log.scrollTop - log.clientHeight < 2;
    });
    assert.ok((await top()) > 0);
  },
);

journey(
  "older messages load without a scroll jump",
  { dataset: "longTimeline" },
  async ({ page }) => {
    await openChat(page, "Priya Raman");
    await page.waitForTimeout(300);
    for (let step = 0; step < 14; step++) {
      const before = await page.evaluate(() => {
        const log = document.querySelector(".log");
        log.scrollTop = Math.max(700, log.scrollTop - 500);
        const turn = [...document.querySelectorAll(".turn")].find(
          (turn) => turn.getBoundingClientRect().top > 150,
        );
        document.querySelector("[data-anchor]")?.removeAttribute("data-anchor");
        turn.dataset.anchor = "";
        return turn.getBoundingClientRect().top;
      });
      await page.waitForTimeout(120);
      const after = await page.evaluate(
        () =>
          document.querySelector("[data-anchor]")?.getBoundingClientRect().top,
      );
      assert.ok(
        after !== undefined && Math.abs(after - before) <= 2,
        `step ${step}: ${before} -> ${after}`,
      );
    }
    await page.locator(".log").evaluate((log) => (log.scrollTop = 0));
    for (
      let attempt = 0;
      attempt < 40 && !(await bubble(page, /^1\. /).count());
      attempt++
    ) {
      await page.locator(".log").evaluate((log) => (log.scrollTop = 0));
      await page.waitForTimeout(150);
    }
    assert.equal(await bubble(page, /^1\. /).count(), 1);
  },
);

journey(
  "keyboard shortcuts navigate the list and the palette",
  {},
  async ({ page }) => {
    await page.locator(".row").first().waitFor();
    await page.keyboard.press("j");
    await page
      .locator(".row[aria-current=true]", { hasText: "João" })
      .waitFor();
    for (const name of ["Visitor 4103", "Mehmet", "Thanh"]) {
      await page.keyboard.press("j");
      await page
        .locator(".row[aria-current=true]", { hasText: name })
        .waitFor();
      await page
        .locator(".conversation header h2", { hasText: name })
        .waitFor();
    }
    await page.keyboard.press("k");
    await page
      .locator(".row[aria-current=true]", { hasText: "Mehmet" })
      .waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("amara");
    await page.keyboard.press("Enter");
    await page
      .locator(".conversation header h2", { hasText: "Amara" })
      .waitFor();
    await blur(page);
    await page.keyboard.press("r");
    await page.locator("textarea:focus").waitFor();
    await blur(page);
    await page.keyboard.press("/");
    await page.locator("#search-chats:focus").waitFor();
  },
);

journey("single-key shortcuts can be switched off", {}, async ({ page }) => {
  await page.keyboard.press("?");
  await page.getByRole("switch").click();
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await page.waitForTimeout(200);
  assert.equal(await page.locator(".row[aria-current=true]").count(), 0);
  await page.keyboard.press("Control+k");
  await page
    .getByRole("dialog", { name: "Find a chat or an action" })
    .waitFor();
});

journey("close can be undone for five seconds", {}, async ({ page }) => {
  await openChat(page, "Elif Wójcik-Andersen");
  await blur(page);
  await page.keyboard.press("e");
  await page.getByText("Chat with Elif Wójcik-Andersen closed.").waitFor();
  assert.equal(await page.locator(".row", { hasText: "Elif" }).count(), 0);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.locator(".row", { hasText: "Elif" }).waitFor();
  assert.equal((await storedChat("Elif Wójcik-Andersen")).state, "active");
  await openChat(page, "Elif Wójcik-Andersen");
  await blur(page);
  await page.keyboard.press("e");
  await page.waitForTimeout(3000);
  assert.equal((await storedChat("Elif Wójcik-Andersen")).state, "active");
  await page
    .getByRole("button", { name: "Undo" })
    .waitFor({ state: "detached" });
  await page.waitForTimeout(300);
  assert.equal((await storedChat("Elif Wójcik-Andersen")).state, "closed");
});

journey("pending close is sent when the page is left", {}, async ({ page }) => {
  await openChat(page, "Elif Wójcik-Andersen");
  await blur(page);
  await page.keyboard.press("e");
  await page.getByRole("button", { name: "Undo" }).waitFor();
  await page.goto("about:blank");
  await new Promise((done) => setTimeout(done, 500));
  assert.equal((await storedChat("Elif Wójcik-Andersen")).state, "closed");
});

journey("close asks only if a draft would be lost", {}, async ({ page }) => {
  await openChat(page, "Elif Wójcik-Andersen");
  await page.locator("textarea").fill("Half a");
  await blur(page);
  await page.keyboard.press("e");
  await page.getByText("You would lose the draft.").waitFor();
  await page.getByRole("button", { name: "Keep it open" }).click();
  await page.locator(".row", { hasText: "Elif" }).waitFor();
});

journey("chat is transferred to an online agent", {}, async ({ page }) => {
  await openChat(page, "Elif Wójcik-Andersen");
  await blur(page);
  await page.keyboard.press("t");
  await page.getByRole("option", { name: /Jonas Weber Online/ }).waitFor();
  await page.keyboard.type("samuel");
  await page.keyboard.press("Enter");
  await page.getByText("The agent is not online.").waitFor();
  await page.getByLabel("To which agent or department").fill("jonas");
  await page.keyboard.press("Enter");
  await page
    .getByText("Elif Wójcik-Andersen is with Jonas Weber now.")
    .waitFor();
  assert.equal(
    (await storedChat("Elif Wójcik-Andersen")).agent.name,
    "Jonas Weber",
  );
});

journey("visitor details are edited in place", {}, async ({ page }) => {
  await openChat(page, "Amara Kone");
  await page.getByTitle("Edit e-mail").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("not an address");
  await page.keyboard.press("Enter");
  await page.locator(".place .problem").waitFor();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("amara@new.example");
  await page.keyboard.press("Enter");
  await page
    .getByTitle("Edit e-mail")
    .filter({ hasText: "amara@new.example" })
    .waitFor();
  await page.locator("dt", { hasText: "E-mail" }).getByText("agent").waitFor();
  await page.getByTitle("Edit name").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("Amara K.");
  await page.keyboard.press("Escape");
  await page
    .getByTitle("Edit name")
    .filter({ hasText: "Amara Kone" })
    .waitFor();
  await page.getByTitle("Edit name").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("Amara K.");
  await page.keyboard.press("Enter");
  await page.locator(".row", { hasText: "Amara K." }).waitFor();
});

journey(
  "CRM card is assigned and the result is shown",
  {},
  async ({ page }) => {
    await openChat(page, "Amara Kone");
    const card = page.getByRole("region", { name: "From your CRM" });
    const order = await card.evaluate((card) =>
      [...card.querySelectorAll("button, dl, a.btn")].map((element) =>
        element.textContent.trim(),
      ),
    );
    assert.match(order[0], /^Assign/);
    assert.match(order.at(-1), /^Open in CRM/);
    await card.getByRole("button", { name: "Assign to a card" }).click();
    await card.getByText("Assigned to the CRM card").waitFor();
  },
);

journey(
  "visitor is blacklisted, and erased after typing the name",
  {},
  async ({ page }) => {
    await openChat(page, "Amara Kone");
    await page
      .locator(".visitor")
      .getByRole("button", { name: "Blacklist" })
      .click();
    await page.getByText("Blacklisted: new messages are dropped").waitFor();
    await page.getByRole("button", { name: "Erase…" }).click();
    await page.getByText("all 4 chats of visitor 4101").waitFor();
    await page.keyboard.type("Amara");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.type(" Kone");
    await page.keyboard.press("Enter");
    await page.getByText(/Amara Kone is erased: 4 chats/).waitFor();
    assert.equal(await page.locator(".row", { hasText: "Amara" }).count(), 0);
  },
);

journey(
  "agents are not offered admin actions",
  { signedOut: true },
  async ({ page }) => {
    await page.getByLabel("E-mail").fill("jonas@example.com");
    await page.getByLabel("Password", { exact: true }).fill("secret");
    await page.keyboard.press("Enter");
    await openChat(page, "Ingrid Lindqvist");
    assert.equal(await page.getByRole("button", { name: "Erase…" }).count(), 0);
  },
);

journey("navigation offers only existing pages", {}, async ({ page }) => {
  const names = await page
    .locator(".rail a")
    .evaluateAll((links) => links.map((link) => link.hash));
  assert.deepEqual(names, ["#/", "#/visitors"]);
  await page.goto(`${url}/console/#/reports`);
  await page.locator(".row").first().waitFor();
  assert.equal(await page.getByText("not in this version").count(), 0);
});

journey(
  "chats are found by e-mail, phone, number and text",
  {},
  async ({ page }) => {
    for (const [words, name] of [
      ["joao.ferreira@", "João Ferreira"],
      ["+351 912", "João Ferreira"],
      ["1004", "Amara Kone"],
      ["invoice to the address", "Thanh Nguyễn"],
    ]) {
      await page.locator("#search-chats").fill(words);
      await page.locator(".row", { hasText: name }).first().waitFor();
    }
    await page.locator("#search-chats").fill("nothing like this");
    await page.getByText("Nothing found").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("tab", { name: /Waiting/ }).waitFor();
  },
);

journey(
  "interrupted socket is reported and reconnected",
  {},
  async ({ page }) => {
    await openChat(page, "Thanh Nguyễn");
    await page.waitForTimeout(400);
    await controlMock(url, "fail", { path: "socket-ticket", status: 503 });
    await controlMock(url, "sockets", { on: false });
    await page.getByText("The live connection is interrupted.").waitFor();
    const { chat_id } = await storedChat("Thanh Nguyễn");
    await controlMock(url, "visitor", { chat_id, text: "Read by polling" });
    await bubble(page, "Read by polling").waitFor();
    await controlMock(url, "recover");
    await controlMock(url, "sockets", { on: true });
    await page.getByRole("button", { name: "Try now" }).click();
    await page.locator(".connection-banner").waitFor({ state: "detached" });
    await controlMock(url, "visitor", { chat_id, text: "Pushed again" });
    await bubble(page, "Pushed again").waitFor({ timeout: 1500 });
  },
);

journey("console polls without sockets", {}, async ({ page }) => {
  await controlMock(url, "sockets", { on: false });
  await page.reload();
  await openChat(page, "Thanh Nguyễn");
  assert.equal(await page.locator(".connection-banner").count(), 0);
  const { chat_id } = await storedChat("Thanh Nguyễn");
  await controlMock(url, "visitor", { chat_id, text: "Found by asking" });
  await bubble(page, "Found by asking").waitFor();
  await sendMessage(page, "Answered by asking");
  await page
    .locator(".line", { hasText: "Answered by asking" })
    .locator(".mark.ok")
    .waitFor();
  await controlMock(url, "accept", {
    chat_id: (await storedChat("João Ferreira")).chat_id,
    agent_id: 2,
    isSilent: true,
  });
  await page
    .locator(".row", { hasText: "João" })
    .waitFor({ state: "detached" });
});

journey(
  "empty account is guided to its first message",
  { dataset: "empty", permissions: ["clipboard-read", "clipboard-write"] },
  async ({ page }) => {
    await page.getByText("Three steps").waitFor();
    await page.getByRole("button", { name: "Add a channel" }).click();
    await page.getByLabel("Name", { exact: true }).fill("iOS app");
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByText("whsec_").waitFor();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByText("Channel iOS app added").waitFor();
    await page.getByRole("button", { name: "Copy", exact: true }).click();
    assert.match(
      await page.evaluate(() => navigator.clipboard.readText()),
      /\/channel\//,
    );
    await page.getByRole("button", { name: "Send it from here" }).click();
    await page.locator(".row", { hasText: "Test visitor" }).waitFor();
  },
);

journey(
  "phone shows one pane at a time with a back button",
  { width: 390, height: 844, touch: true },
  async ({ page }) => {
    await page.locator(".row", { hasText: "Amara" }).tap();
    await page
      .locator(".conversation header h2", { hasText: "Amara" })
      .waitFor();
    assert.equal(await page.locator(".list").isVisible(), false);
    await page.getByRole("button", { name: "Visitor details" }).tap();
    await page.getByText("From your CRM").waitFor();
    await page.getByRole("button", { name: "Close visitor details" }).tap();
    await page.getByRole("button", { name: "Back to the inbox" }).tap();
    await page.locator(".list").waitFor();
    await page.goBack();
    await page
      .locator(".conversation header h2", { hasText: "Amara" })
      .waitFor();
  },
);

journey("visitor content is never rendered as HTML", {}, async ({ page }) => {
  await openChat(page, "Thanh Nguyễn");
  const { chat_id } = await storedChat("Thanh Nguyễn");
  const html = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>{{constructor}} javascript:alert(1)`;
  await controlMock(url, "visitor", { chat_id, text: html });
  await bubble(page, "onerror").waitFor();
  await controlMock(url, "visitor", {
    chat_id,
    content: {
      type: "document",
      file: "javascript:alert(1)",
      file_name: "<b>x</b>",
      file_size: 3,
    },
  });
  await page.locator(".file", { hasText: "<b>x</b>" }).waitFor();
  assert.equal(await page.locator(".log a[href^=javascript]").count(), 0);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
});

journey("failed list shows an error and recovers", {}, async ({ page }) => {
  await controlMock(url, "fail", {
    path: "/agent/chats$",
    status: 500,
    message: "internal error",
  });
  await page.reload();
  await page.getByText("The chats cannot be loaded").waitFor();
  await controlMock(url, "recover");
  await page.locator(".row").first().waitFor();
});

journey(
  "closed chats load while scrolling",
  { dataset: "manyClosed" },
  async ({ page }) => {
    await page.getByRole("tab", { name: "Closed" }).click();
    await page.locator(".row").first().waitFor();
    assert.ok((await page.locator(".row").count()) <= 100);
    for (
      let attempt = 0;
      attempt < 60 && (await page.locator(".row").count()) < 157;
      attempt++
    ) {
      await page
        .locator("#chat-list")
        .evaluate((list) => (list.scrollTop = list.scrollHeight));
      await page.waitForTimeout(100);
    }
    assert.equal(await page.locator(".row").count(), 157);
  },
);

/** Replaces the browser's notifications and sounds by functions that record their use. Runs before the code of the
    page. */
const recordNotifications = () => {
  window.recorded = { permissionRequests: 0, notifications: [], tones: 0 };
  window.Notification = class {
    static permission = "default";
    static requestPermission = async () => (
      window.recorded.permissionRequests++,
      (window.Notification.permission = "granted")
    );
    constructor(title, { body, tag }) {
      window.recorded.notifications.push({ title, body, tag });
    }
    close() {}
  };
  const create = AudioContext.prototype.createOscillator;
  AudioContext.prototype.createOscillator = function () {
    window.recorded.tones++;
    return create.call(this);
  };
};

journey(
  "agent with a hidden tab is notified as permitted",
  { signedOut: true },
  async ({ page, context }) => {
    await context.addInitScript(recordNotifications);
    await signIn(page, url);
    await openChat(page, "Amara Kone");
    const { chat_id } = await storedChat("Amara Kone");
    // Wait until the socket works, because a hidden page rarely polls for new messages.
    await controlMock(url, "visitor", { chat_id, text: "Seen" });
    await bubble(page, "Seen").waitFor();
    await page.waitForTimeout(1600);
    await page.evaluate(() =>
      Object.defineProperty(document, "hidden", {
        configurable: true,
        value: true,
      }),
    );
    await controlMock(url, "visitor", { chat_id, text: "First" });
    await page.waitForFunction(() => window.recorded.tones > 0);
    assert.deepEqual(
      await page.evaluate(() => [
        window.recorded.permissionRequests,
        window.recorded.notifications,
      ]),
      [0, []],
    );
    assert.match(
      await page.locator("link[rel=icon]").getAttribute("href"),
      /icon-dot/,
    );
    await page.locator(".rail .me").click();
    await page
      .getByRole("menuitemcheckbox", { name: "Desktop notifications" })
      .click();
    await page.getByRole("menuitemcheckbox", { name: "Sound" }).click();
    await page.keyboard.press("Escape");
    const tones = await page.evaluate(() => window.recorded.tones);
    await page.waitForTimeout(1600);
    await controlMock(url, "visitor", { chat_id, text: "Second" });
    await page.waitForFunction(() => window.recorded.notifications.length > 0);
    assert.deepEqual(
      await page.evaluate(() => [
        window.recorded.permissionRequests,
        window.recorded.notifications,
        window.recorded.tones,
      ]),
      [
        1,
        [{ title: "Amara Kone", body: "Second", tag: `chat-${chat_id}` }],
        tones,
      ],
    );
  },
);

journey("presence is changed and survives a reload", {}, async ({ page }) => {
  await page.locator(".rail .me").click();
  await page.getByRole("menuitemradio", { name: "Away" }).click();
  await page.locator(".rail .me .presence.away").waitFor();
  await page.reload();
  await page.locator(".rail .me .presence.away").waitFor();
});

journey("theme survives a reload", {}, async ({ page }) => {
  await page.locator(".rail .me").click();
  await page.getByRole("menuitemradio", { name: "Dark" }).click();
  await page.reload();
  assert.equal(
    await page.evaluate(() => document.documentElement.dataset.theme),
    "dark",
  );
});

for (const scheme of ["light", "dark"]) {
  journey(
    `main views have no accessibility violations, ${scheme}`,
    { scheme },
    async ({ page }) => {
      await page.locator(".row").first().waitFor();
      assert.deepEqual(await axeViolations(page), [], "inbox");
      await openChat(page, "Amara Kone");
      assert.deepEqual(await axeViolations(page), [], "conversation");
      await page.locator("textarea").fill("/");
      await page.getByRole("listbox").waitFor();
      assert.deepEqual(await axeViolations(page), [], "canned replies");
      await page.keyboard.press("Control+k");
      await page.getByRole("listbox", { name: "Chats and actions" }).waitFor();
      await page.waitForTimeout(200);
      assert.deepEqual(await axeViolations(page), [], "palette");
    },
  );
}

journey(
  "reduced motion disables animations",
  { reducedMotion: "reduce" },
  async ({ page }) => {
    await openChat(page, "Amara Kone");
    const moving = await page.evaluate(
      () =>
        document
          .getAnimations()
          .filter((animation) => animation.effect.getTiming().duration > 20)
          .length,
    );
    assert.equal(moving, 0);
  },
);

journey(
  "forty chats take 200 messages without a long task",
  { dataset: "busy" },
  async ({ page }) => {
    await page.locator(".row").nth(12).click();
    await page.locator(".turn").first().waitFor();
    await page.waitForTimeout(600);
    // Measure in the middle of the chat list and in the middle of the conversation.
    const measured = page.evaluate(async () => {
      const frames = [];
      let last = performance.now();
      let shift = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) shift += entry.value;
      }).observe({ type: "layout-shift", buffered: false });
      const tasks = [];
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries())
          tasks.push(Math.round(entry.duration));
      }).observe({ type: "longtask" });
      const end = last + 4000;
      await new Promise((done) => {
        const tick = (time) => {
          frames.push(time - last);
          last = time;
          if (time < end) requestAnimationFrame(tick);
          else done();
        };
        requestAnimationFrame(tick);
      });
      return {
        longest: Math.max(...frames),
        count: frames.length,
        tasks,
        shift,
        rows: document.querySelectorAll(".row").length,
      };
    });
    await controlMock(url, "burst", { count: 200, perTick: 5, intervalMs: 25 });
    const result = await measured;
    console.log(
      `burst: longest frame ${result.longest.toFixed(0)} ms of ${result.count}, long tasks ${JSON.stringify(result.tasks)}, layout shift ${result.shift.toFixed(3)}`,
    );
    assert.ok(result.rows >= 20);
    // The time limits can be met only on an idle machine, so they are checked only with PAGES_TIMED=1.
    if (process.env.PAGES_TIMED)
      assert.ok(
        Math.max(0, ...result.tasks) < 100,
        `long tasks ${result.tasks}`,
      );
    const stored = (await controlMock(url, "chats"))
      .flatMap((chat) => chat.entries)
      .filter(({ text }) => /of the burst/.test(text ?? "")).length;
    assert.equal(stored, 200);
  },
);
