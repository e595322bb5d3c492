/* Hostile texts in every text field that visitors, integrators, bots and webhooks can set. They must be shown as text:
   no script runs, no element and no attribute comes from them, and the content security policy reports nothing. */

import assert from "node:assert/strict";
import {
  bubble,
  journey,
  line,
  openChat,
  sendMessage,
  textarea,
  useBrowser,
} from "../support/console.mjs";
import { ok, rejection } from "../support/receiver.mjs";
import { waitFor } from "../support/wait.mjs";

useBrowser();

const CORPUS = {
  script: `<script>window.hacked='script'</script>`,
  "script that closes the context": `</textarea></title></style>--></script><script>window.hacked=1</script>`,
  "script in another case": `<ScRiPt/x>window.hacked=1//</sCrIpT >`,
  "image that fails": `<img src=x onerror="window.hacked='img'">`,
  "attribute in double quotes": `" onmouseover="window.hacked=1" autofocus onfocus="window.hacked=1" x="`,
  "attribute in single quotes": `' onpointerenter='window.hacked=1' style='position:fixed;inset:0' x='`,
  "attribute without quotes": "x` onclick=window.hacked=1 `",
  "frame with a document": `<iframe srcdoc="<script>parent.hacked=1</script>"></iframe>`,
  "SVG that loads": `<svg/onload=window.hacked=1><animate onbegin=window.hacked=1 attributeName=x></svg>`,
  "SVG with foreign content": `<svg><foreignObject><body onload=window.hacked=1></foreignObject><use href="data:image/svg+xml,<svg id=x onload=window.hacked=1>#x"/></svg>`,
  "MathML mutation": `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=window.hacked=1&gt;">`,
  "link with a script": `<a href="javascript:window.hacked=1">a</a> javascript:window.hacked=1`,
  "link with a hidden script": `jav\tascript:window.hacked=1 java\u0000script:window.hacked=1 &#106;avascript:window.hacked=1`,
  "data link": `data:text/html,<script>window.hacked=1</script> vbscript:x blob:x`,
  "Markdown link": `[a](javascript:window.hacked=1) [b](data:text/html;base64,PHNjcmlwdD4=) ![c](x" onerror="window.hacked=1)`,
  "Markdown around markup": `**<img src=x onerror=window.hacked=1>** _<svg onload=window.hacked=1>_ [<b>](https://x.example/"onclick="window.hacked=1)`,
  "web link with quotes": `https://x.example/"onmouseover="window.hacked=1"><img src=x onerror=window.hacked=1>`,
  "web link with a user": `https://bank.example@evil.example/ http://[::1]/ https://xn--e1afmkfd.example/`,
  template:
    "{{constructor.constructor('window.hacked=1')()}} ${window.hacked=1} #{7*7} <%= 7*7 %>",
  "style and base": `<style>*{display:none}</style><link rel=stylesheet href=//x.example><base href=//x.example><meta http-equiv=refresh content=0>`,
  "form and dialog": `<form action=//x.example><button popovertarget=x>Go</button></form><dialog open>Sign in again</dialog>`,
  "object names": `<form id=root><input name=innerHTML><a id=self><a id=self name=top href="x:y">`,
  "wide and small brackets": `＜script＞window.hacked=1＜/script＞ ﹤img src=x onerror=window.hacked=1﹥ ‹script›`,
  "UTF-7 and overlong": `+ADw-script+AD4-window.hacked=1+ADw-/script+AD4- \u00c0\u00bcscript\u00c0\u00be`,
  "bidi overrides": `\u202Egnp.exe\u202C \u2067nimda\u2066 \u200Fabc\u200E \u061C`,
  "invisible characters": `a\u200Bd\u200Cm\u200Di\uFEFFn \u00AD \u2060 \u{E0041}\u{E007F}`,
  "stacked marks": `Z\u0351\u036B\u0343\u036A\u0302\u036B\u033D\u034F\u0334\u0319\u0324a\u0349\u034E\u032Dl`,
  "line separators": `a\u2028b\u2029c\u0085d`,
  prototype: `__proto__ constructor toString {"__proto__":{"hacked":1}}`,
};
const TEXTS = Object.values(CORPUS);

/** Returns the elements that only hostile markup could have created, or whose attributes only it could have set. */
const findInjected = () => {
  const selectors = [
    "body script:not([src])",
    "iframe, object, embed, base, math, foreignObject, animate, form[action], meta[http-equiv]",
    "style",
    "link[rel=stylesheet]:not([href^='/console/'])",
    "[onerror], [onload], [onclick], [onmouseover], [onfocus], [onpointerenter], [onbegin]",
    "#self, [srcdoc], [popovertarget]",
    "a[href]:not([href^='http:']):not([href^='https:']):not([href^='#'])",
  ];
  return selectors.flatMap((selector) =>
    [...document.querySelectorAll(selector)].map((element) =>
      element.outerHTML.slice(0, 120),
    ),
  );
};

async function assertHarmless(page, view) {
  assert.equal(await page.evaluate(() => window.hacked), undefined, view);
  assert.deepEqual(await page.evaluate(findInjected), [], view);
}

/** Asserts that each text that the service has stored in the chat is shown. */
async function assertTextsShown(page, texts) {
  for (const text of texts)
    await page.waitForFunction(
      (text) =>
        [...document.querySelectorAll(".bubble")].some(({ textContent }) =>
          textContent.includes(text),
        ),
      text,
    );
}

/** With lenient validation, the service ignores invalid optional fields instead of rejecting the message. */
const channelSettings = {
  validation: "lenient",
  shows_markdown: true,
  shows_buttons: true,
};

journey(
  "texts of visitors are shown as text",
  async ({ account, open }) => {
    const { admin, channel } = account;
    const page = await open();
    const mallory = await account.openAcceptedChat("Mallory");
    for (const text of TEXTS) {
      await mallory.tryPost({ type: "text", text });
      await mallory.tryPost({
        type: "document",
        file: `https://files.example/${encodeURIComponent(text)}"onclick="x`,
        file_name: text,
        file_size: 3,
        text,
        title: text,
        performer: text,
        emoji: text,
      });
    }
    await openChat(page, "Mallory");
    const texts = await admin.texts(mallory.chatId);
    assert.ok(texts.length > TEXTS.length, `${texts.length} texts`);
    await assertTextsShown(page, texts);
    await assertHarmless(page, "conversation");

    for (const text of TEXTS) {
      const visitor = channel.visitor(text, {
        email: `"${text}"@example.com`,
        phone: text,
        photo: `https://x.example/${text}`,
        url: `https://x.example/${text}`,
        invite: text,
      });
      await visitor.tryPost({ type: "text", text });
    }
    const rows = await admin.chats("waiting");
    assert.ok(rows.length > TEXTS.length / 2, `${rows.length} chats`);
    for (const { chat_id, visitor } of rows) {
      await page.locator(`.row[data-chat="${chat_id}"]`).click();
      await page
        .locator(".visitor .who small", {
          hasText: `Visitor ${visitor.number} `,
        })
        .waitFor();
      await page.locator(".turn").first().waitFor();
      const { name } = visitor;
      const shownName = page.locator(".conversation header h2");
      assert.equal(await shownName.textContent(), name);
      await assertHarmless(page, name);
    }
    await page.keyboard.press("Control+k");
    await page.keyboard.type("<");
    await page.getByRole("listbox", { name: "Chats and actions" }).waitFor();
    await assertHarmless(page, "palette");
    await page.keyboard.press("Escape");
    await page.locator(".rail a").nth(1).click();
    await page.locator("table").waitFor();
    await assertHarmless(page, "visitors");
  },
  { settings: { limits: { visitor_messages: 1000 } }, channelSettings },
);

journey(
  "texts of bots and integrators are shown as text",
  async ({ account, open }) => {
    const { admin, channel } = account;
    const messages = TEXTS.flatMap((text) => [
      { type: "TEXT", text },
      { type: "MARKDOWN", content: text, text },
      { type: "BUTTONS", title: text, text, buttons: [{ text }] },
    ]);
    const bot = await account.addBot(channel, () =>
      messages.map((message) => ({
        event: "BOT_MESSAGE",
        message: { ...message, timestamp: 1 },
      })),
    );
    const page = await open();
    const { chatId } = await account.openChat("Ingrid Lindqvist");
    await waitFor("the bot", () => bot.answered === messages.length);
    assert.ok(bot.accepted > TEXTS.length, `${bot.accepted} messages`);
    await page.getByRole("tab", { name: /Bot/ }).click();
    await openChat(page, "Ingrid Lindqvist");
    await page.waitForFunction(
      (count) => document.querySelectorAll(".bubble").length >= count,
      Math.min(bot.accepted, 50),
    );
    await assertHarmless(page, "bot");

    await admin.accept(chatId);
    for (const text of TEXTS) {
      channel.integrator.respond = () => rejection(text);
      await admin.send(chatId, "About the order");
      await waitFor("the rejection", async () => {
        const { delivery } = (await admin.timeline(chatId)).at(-1);
        return delivery?.state === "failed";
      });
    }
    await page.waitForFunction(
      (count) => document.querySelectorAll(".fail").length === count,
      TEXTS.length,
    );
    await assertHarmless(page, "failures");
    await sendMessage(page, CORPUS["image that fails"]);
    await bubble(page, CORPUS["image that fails"]).last().waitFor();
    await assertHarmless(page, "own message");
  },
  { channelSettings },
);

journey(
  "texts of webhooks are shown as text",
  async ({ account, open }) => {
    const page = await open();
    const { chatId } = await account.openAcceptedChat("Thanh Nguyễn");
    await page.locator(`.row[data-chat="${chatId}"]`).click();
    const card = page.getByRole("region", { name: "From your CRM" });
    await card.getByText("Marker", { exact: true }).waitFor();
    await assertHarmless(page, "CRM card");
    await card.getByRole("button", { name: "Assign" }).click();
    await card.getByText("Not assigned.").waitFor();
    await assertHarmless(page, "assignment");
  },
  {
    respondToEvent: ({ event_name }) =>
      event_name === "chat_assigned"
        ? { status: 200, body: { result: CORPUS["image that fails"] } }
        : ok({
            custom_data: [
              ...TEXTS.slice(0, 12).map((text) => ({
                title: text,
                content: text,
                key: text,
                link: text,
              })),
              { title: "Marker", content: "end" },
            ],
            contact_info: {
              name: CORPUS.script,
              email: CORPUS["attribute in double quotes"],
              phone: CORPUS["SVG that loads"],
            },
            enable_assign: true,
            crm_link: `https://crm.example/"onclick="window.hacked=1`,
            page: { url: "javascript:window.hacked=1", title: CORPUS.script },
          }),
  },
);
