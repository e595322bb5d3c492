/* Takes a screenshot of each state of the console at three widths, each in light and dark colours. Prints accessibility
   violations.

     node screenshots.mjs [folder] [--only name] [--widths 1440,390] [--quick]     --quick: only 1440 light and 390 dark */

import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import {
  axeViolations,
  launch,
  openPage,
  serve,
  signIn,
  controlMock,
} from "./browser.mjs";

const folder = resolve(
  process.argv[2]?.startsWith("--") === false ? process.argv[2] : "screenshots",
);
const only = process.argv.includes("--only")
  ? process.argv[process.argv.indexOf("--only") + 1]
  : undefined;
const widths = process.argv.includes("--widths")
  ? process.argv[process.argv.indexOf("--widths") + 1].split(",").map(Number)
  : undefined;
const isQuick = process.argv.includes("--quick");

const openChat =
  (name) =>
  async ({ page }) => {
    await page.locator(".row", { hasText: name }).first().click();
    await page.locator(".turn").first().waitFor();
  };
const press =
  (name) =>
  async ({ page }) =>
    page.keyboard.press(name);
const waitForRendering = ({ page }) => page.waitForTimeout(200);
const blur = ({ page }) => page.evaluate(() => document.activeElement?.blur());

/** For each state of the console, the data set of the mock service and the steps that lead to the state. */
const STATES = {
  "sign-in": { isSignedOut: true, steps: [] },
  "sign-in-wrong": {
    isSignedOut: true,
    steps: [
      async ({ page }) => {
        await page.getByLabel("E-mail").fill("marta@example.com");
        await page.getByLabel("Password", { exact: true }).fill("wrong");
        await page.keyboard.press("Enter");
        await page.getByRole("alert").waitFor();
      },
    ],
  },
  "sign-in-limited": {
    isSignedOut: true,
    steps: [
      async ({ page, url }) => {
        await controlMock(url, "fail", {
          path: "login",
          status: 429,
          times: 1,
          message: "too many requests",
          headers: { "retry-after": "27" },
        });
        await page.getByLabel("E-mail").fill("marta@example.com");
        await page.getByLabel("Password", { exact: true }).fill("secret");
        await page.keyboard.press("Enter");
        await page.getByRole("alert").waitFor();
      },
    ],
  },
  "first-run": {
    dataset: "empty",
    steps: [
      async ({ page }) =>
        page
          .getByText("Three steps")
          .waitFor()
          .catch(() => {}),
    ],
  },
  "first-run-channel": {
    dataset: "empty",
    steps: [
      async ({ page }) => {
        await page.getByRole("button", { name: "Add a channel" }).click();
        await page.getByLabel("Name", { exact: true }).fill("iOS app");
        await page.getByRole("button", { name: "Connect" }).click();
        await page.getByRole("button", { name: "Done" }).click();
        await page.getByRole("button", { name: "Copy", exact: true }).click();
      },
    ],
  },
  inbox: { steps: [] },
  conversation: {
    steps: [
      openChat("Amara Kone"),
      async ({ url, page }) => {
        await controlMock(url, "typing", {
          chat_id: 1004,
          typing: true,
          text: "yes please, but to my off",
        });
        await page.locator(".typing").waitFor();
      },
    ],
  },
  "visitor-pane": {
    steps: [
      openChat("Amara Kone"),
      async ({ page }) =>
        page.viewportSize().width <= 1100 &&
        page.locator(".pane-toggle").click(),
    ],
  },
  "visitor-edit": {
    steps: [
      openChat("Amara Kone"),
      async ({ page }) => {
        if (page.viewportSize().width <= 1100)
          await page.locator(".pane-toggle").click();
        await page.getByTitle("Edit e-mail").click();
      },
    ],
  },
  waiting: { steps: [openChat("João Ferreira")] },
  bot: {
    steps: [
      async ({ page }) => page.getByRole("tab", { name: "Bot" }).click(),
      async ({ page }) => page.locator(".row").first().click(),
    ],
  },
  attempts: {
    steps: [
      openChat("Amara Kone"),
      async ({ page }) => page.locator(".attempts-link").click(),
    ],
  },
  note: {
    steps: [
      openChat("Amara Kone"),
      async ({ page }) => {
        await page.getByRole("radio", { name: "Private note" }).click();
        await page.keyboard.type(
          "Ask the carrier for the photo that the driver took.",
        );
      },
    ],
  },
  canned: {
    steps: [
      openChat("Thanh"),
      async ({ page }) => page.locator("textarea").focus(),
      async ({ page }) => page.keyboard.type("/"),
    ],
  },
  emoji: {
    steps: [
      openChat("Thanh"),
      async ({ page }) => page.getByRole("button", { name: "Emoji" }).click(),
    ],
  },
  "too-long": {
    steps: [
      openChat("Thanh"),
      async ({ page }) =>
        page.locator("textarea").fill("All of it. ".repeat(920)),
    ],
  },
  "unread-messages": {
    dataset: "longTimeline",
    steps: [
      openChat("Priya Raman"),
      async ({ page, url }) => {
        await page.waitForTimeout(300);
        await page.locator(".log").evaluate((log) => (log.scrollTop -= 900));
        await page.waitForTimeout(100);
        for (const text of ["Are you there?", "One more thing"])
          await controlMock(url, "visitor", {
            chat_id: await chatIdOf(url, "Priya Raman"),
            text,
          });
        await page.locator(".news .fresh").waitFor();
      },
    ],
  },
  closed: {
    steps: [
      async ({ page }) => page.getByRole("tab", { name: "Closed" }).click(),
      async ({ page }) => page.locator(".row").nth(1).click(),
      async ({ page }) => page.locator(".turn").first().waitFor(),
    ],
  },
  busy: {
    dataset: "busy",
    steps: [
      async ({ page }) => page.locator(".row").nth(12).click(),
      async ({ page }) => page.locator(".turn").first().waitFor(),
    ],
  },
  "long-name": {
    dataset: "unusualText",
    steps: [
      openChat("Maximiliane"),
      async ({ page }) => {
        await page.locator(".log").evaluate((log) => (log.scrollTop = 0));
      },
    ],
  },
  "long-name-end": { dataset: "unusualText", steps: [openChat("Maximiliane")] },
  "long-name-visitor": {
    dataset: "unusualText",
    steps: [
      openChat("Maximiliane"),
      async ({ page }) =>
        page.viewportSize().width <= 1100 &&
        page.locator(".pane-toggle").click(),
    ],
  },
  "right-to-left": { dataset: "unusualText", steps: [openChat("محمد")] },
  failed: {
    steps: [
      openChat("Thanh"),
      async ({ page, url }) => {
        await controlMock(url, "fail", {
          path: "messages$",
          method: "POST",
          status: 400,
          times: 1,
          message: "text must have at most 10000 characters",
        });
        await page
          .locator("textarea")
          .fill("This one is refused by the service.");
        await page.getByRole("button", { name: "Send", exact: true }).click();
        await page.getByText("Not sent.").waitFor();
        await page
          .locator("textarea")
          .fill("This will fail at the integrator.");
        await page.getByRole("button", { name: "Send", exact: true }).click();
        await page.getByText("Not delivered.").waitFor({ timeout: 8000 });
      },
    ],
  },
  offline: {
    steps: [
      openChat("Thanh"),
      async ({ page, url, context }) => {
        await context.setOffline(true);
        await controlMock(url, "sockets", { on: false });
        await page.locator("textarea").fill("I write this without a network.");
        await page.getByRole("button", { name: "Send", exact: true }).click();
        await page
          .locator(".connection-banner.bad")
          .waitFor({ timeout: 15000 });
      },
    ],
  },
  interrupted: {
    steps: [
      openChat("Thanh"),
      async ({ page, url }) => {
        await controlMock(url, "fail", {
          path: "socket-ticket",
          status: 503,
        });
        await controlMock(url, "sockets", { on: false });
        await page.locator(".connection-banner").waitFor({ timeout: 15000 });
      },
    ],
  },
  palette: { steps: [openChat("Amara Kone"), blur, press("Control+k")] },
  "palette-search": {
    steps: [
      openChat("Amara Kone"),
      blur,
      press("Control+k"),
      async ({ page }) => page.keyboard.type("th"),
    ],
  },
  "keyboard-shortcuts": { steps: [openChat("Amara Kone"), blur, press("?")] },
  transfer: { steps: [openChat("Amara Kone"), blur, press("t")] },
  "close-question": {
    steps: [
      openChat("Amara Kone"),
      async ({ page }) => page.locator("textarea").fill("A draft"),
      blur,
      press("e"),
    ],
  },
  "closed-undo": { steps: [openChat("Elif"), blur, press("e")] },
  file: {
    steps: [
      openChat("Amara Kone"),
      async ({ page, url }) => {
        await page
          .getByRole("button", { name: "Send a link to a file" })
          .click();
        await page
          .getByLabel("Address of the file")
          .fill(`${url}/_mock/pictures/door.svg?photo.png`);
        await page.getByLabel("Shown as").selectOption("photo");
        await page
          .locator("dialog")
          .getByRole("button", { name: "Send" })
          .click();
      },
    ],
  },
  "canned-manage": {
    steps: [
      async ({ page }) => page.keyboard.press("Control+k"),
      async ({ page }) => page.keyboard.type("canned"),
      press("Enter"),
    ],
  },
  "canned-edit": {
    steps: [
      async ({ page }) => page.keyboard.press("Control+k"),
      async ({ page }) => page.keyboard.type("canned"),
      press("Enter"),
      async ({ page }) =>
        page.getByRole("button", { name: "Edit /hello" }).click(),
    ],
  },
  erase: {
    steps: [
      openChat("Amara Kone"),
      async ({ page }) => page.getByRole("button", { name: "More" }).click(),
      async ({ page }) => page.getByRole("menuitem", { name: "Erase" }).click(),
    ],
  },
  menu: {
    steps: [
      openChat("Amara Kone"),
      async ({ page }) => page.getByRole("button", { name: "More" }).click(),
    ],
  },
  me: { steps: [async ({ page }) => page.locator(".rail .me").click()] },
  "sign-out": {
    steps: [
      openChat("Amara Kone"),
      async ({ page }) => page.locator("textarea").fill("A draft"),
      blur,
      async ({ page }) => page.keyboard.press("Control+k"),
      async ({ page }) => page.keyboard.type("sign out"),
      press("Enter"),
    ],
  },
  search: {
    steps: [
      async ({ page }) => page.keyboard.press("/"),
      async ({ page }) => page.keyboard.type("an"),
    ],
  },
  "search-nothing": {
    steps: [
      async ({ page }) => page.keyboard.press("/"),
      async ({ page }) => page.keyboard.type("zzzz"),
    ],
  },
  loading: { isSlow: true, steps: [] },
  "loading-chat": {
    steps: [
      async ({ url }) => controlMock(url, "latency", { ms: 4000 }),
      async ({ page }) => page.locator(".row").nth(2).click(),
      async ({ page }) => page.waitForTimeout(400),
    ],
  },
  "list-failed": {
    steps: [],
    failing: { path: "/agent/chats$", status: 500, message: "internal error" },
  },
  "chat-failed": {
    steps: [
      async ({ url }) =>
        controlMock(url, "fail", {
          path: "/messages",
          method: "GET",
          status: 500,
          message: "internal error",
        }),
      async ({ page }) => page.locator(".row").nth(2).click(),
      async ({ page }) => page.locator(".conversation .blank.bad").waitFor(),
    ],
  },
  "chat-missing": { hash: "#/chat/999999", steps: [] },
  visitors: { steps: [], hash: "#/visitors" },
};

async function chatIdOf(url, name) {
  return (await controlMock(url, "chats")).find(
    (chat) => chat.visitor.name === name,
  ).chat_id;
}

const sizes = isQuick
  ? [
      [1440, 900, "light"],
      [390, 844, "dark"],
    ]
  : [
      [1440, 900, "light"],
      [1440, 900, "dark"],
      [1100, 800, "light"],
      [1100, 800, "dark"],
      [390, 844, "light"],
      [390, 844, "dark"],
    ];

await mkdir(folder, { recursive: true });
const browser = await launch();
const server = await serve();
const { url } = server;
let failedPictures = 0;
for (const [
  name,
  { dataset = "normal", steps, isSignedOut, isSlow, failing, email, hash = "" },
] of Object.entries(STATES)) {
  if (only !== undefined && !name.startsWith(only)) continue;
  for (const [width, height, scheme] of sizes) {
    if (widths !== undefined && !widths.includes(width)) continue;
    await controlMock(url, "reset", { dataset });
    const { page, context, problems } = await openPage(browser, {
      width,
      height,
      scheme,
      touch: width < 500,
      permissions: ["clipboard-write", "clipboard-read"],
    });
    const file = `${name}-${width}-${scheme}.png`;
    try {
      if (isSignedOut) {
        await page.goto(`${url}/console/`);
        await page.getByLabel("E-mail").waitFor();
      } else {
        if (failing) await controlMock(url, "fail", failing);
        await page.goto(`${url}/console/${hash}`);
        await page.getByLabel("E-mail").fill(email ?? "marta@example.com");
        await page.getByLabel("Password", { exact: true }).fill("secret");
        await page.keyboard.press("Enter");
        if (isSlow) {
          await controlMock(url, "latency", { ms: 5000 });
        }
        await page.locator(".app").waitFor({ timeout: 8000 });
        await page.waitForTimeout(isSlow ? 600 : 400);
      }
      for (const step of steps) await step({ page, url, context });
      await waitForRendering({ page });
      await page.screenshot({ path: join(folder, file) });
      const violations = await axeViolations(page);
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - innerWidth,
      );
      if (overflow > 0) problems.push(`the page overflows by ${overflow} px`);
      if (violations.length + problems.length > 0) {
        failedPictures++;
        console.log(`${file}\n  ${[...violations, ...problems].join("\n  ")}`);
      }
    } catch (error) {
      failedPictures++;
      await page.screenshot({ path: join(folder, file) }).catch(() => {});
      console.log(
        `${file}: ${error.message.split("\n").slice(0, 3).join(" ")} ${problems.join(" ")}`,
      );
    }
    await context.setOffline(false);
    await context.close();
  }
}
await browser.close();
await server.close();
console.log(
  failedPictures === 0
    ? `pictures in ${folder}, no problems`
    : `pictures in ${folder}, ${failedPictures} with problems`,
);
process.exit(failedPictures === 0 ? 0 : 1);
