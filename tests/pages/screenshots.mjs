/* Takes a picture of each view in each state at three widths, light and dark, and says what axe finds.

     node screenshots.mjs [folder] [--only name] [--widths 1440,390] [--quick]     --quick: 1440 light and 390 dark alone */

import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { axe, launch, openPage, serve, signIn, steer } from "./browser.mjs";

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

const open =
  (name) =>
  async ({ page }) => {
    await page.locator(".row", { hasText: name }).first().click();
    await page.locator(".turn").first().waitFor();
  };
const key =
  (name) =>
  async ({ page }) =>
    page.keyboard.press(name);
const settle = ({ page }) => page.waitForTimeout(200);
const blur = ({ page }) => page.evaluate(() => document.activeElement?.blur());

/** Each state: the stand-in's world, and how to come there. */
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
        await steer(url, "fail", {
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
    world: "empty",
    steps: [
      async ({ page }) =>
        page
          .getByText("Three steps")
          .waitFor()
          .catch(() => {}),
    ],
  },
  "first-run-channel": {
    world: "empty",
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
      open("Amara Kone"),
      async ({ url, page }) => {
        await steer(url, "typing", {
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
      open("Amara Kone"),
      async ({ page }) =>
        page.viewportSize().width <= 1100 &&
        page.locator(".pane-toggle").click(),
    ],
  },
  "visitor-edit": {
    steps: [
      open("Amara Kone"),
      async ({ page }) => {
        if (page.viewportSize().width <= 1100)
          await page.locator(".pane-toggle").click();
        await page.getByTitle("Edit e-mail").click();
      },
    ],
  },
  waiting: { steps: [open("João Ferreira")] },
  bot: {
    steps: [
      async ({ page }) => page.getByRole("tab", { name: "Bot" }).click(),
      async ({ page }) => page.locator(".row").first().click(),
    ],
  },
  attempts: {
    steps: [
      open("Amara Kone"),
      async ({ page }) => page.locator(".attempts-link").click(),
    ],
  },
  note: {
    steps: [
      open("Amara Kone"),
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
      open("Thanh"),
      async ({ page }) => page.locator("textarea").focus(),
      async ({ page }) => page.keyboard.type("/"),
    ],
  },
  emoji: {
    steps: [
      open("Thanh"),
      async ({ page }) => page.getByRole("button", { name: "Emoji" }).click(),
    ],
  },
  "too-long": {
    steps: [
      open("Thanh"),
      async ({ page }) =>
        page.locator("textarea").fill("All of it. ".repeat(920)),
    ],
  },
  "unread-news": {
    world: "long",
    steps: [
      open("Priya Raman"),
      async ({ page, url }) => {
        await page.waitForTimeout(300);
        await page.locator(".log").evaluate((log) => (log.scrollTop -= 900));
        await page.waitForTimeout(100);
        for (const text of ["Are you there?", "One more thing"])
          await steer(url, "visitor", {
            chat_id: await chatOf(url, "Priya Raman"),
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
  forty: {
    world: "forty",
    steps: [
      async ({ page }) => page.locator(".row").nth(12).click(),
      async ({ page }) => page.locator(".turn").first().waitFor(),
    ],
  },
  "long-name": {
    world: "strange",
    steps: [
      open("Maximiliane"),
      async ({ page }) => {
        await page.locator(".log").evaluate((log) => (log.scrollTop = 0));
      },
    ],
  },
  "long-name-end": { world: "strange", steps: [open("Maximiliane")] },
  "long-name-visitor": {
    world: "strange",
    steps: [
      open("Maximiliane"),
      async ({ page }) =>
        page.viewportSize().width <= 1100 &&
        page.locator(".pane-toggle").click(),
    ],
  },
  "right-to-left": { world: "strange", steps: [open("محمد")] },
  failed: {
    steps: [
      open("Thanh"),
      async ({ page, url }) => {
        await steer(url, "fail", {
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
      open("Thanh"),
      async ({ page, url, context }) => {
        await context.setOffline(true);
        await steer(url, "sockets", { on: false });
        await page.locator("textarea").fill("I write this without a network.");
        await page.getByRole("button", { name: "Send", exact: true }).click();
        await page.locator(".link-line.bad").waitFor({ timeout: 15000 });
      },
    ],
  },
  interrupted: {
    steps: [
      open("Thanh"),
      async ({ page, url }) => {
        await steer(url, "fail", { path: "socket-ticket", status: 503 });
        await steer(url, "sockets", { on: false });
        await page.locator(".link-line").waitFor({ timeout: 15000 });
      },
    ],
  },
  palette: { steps: [open("Amara Kone"), blur, key("Control+k")] },
  "palette-search": {
    steps: [
      open("Amara Kone"),
      blur,
      key("Control+k"),
      async ({ page }) => page.keyboard.type("th"),
    ],
  },
  keys: { steps: [open("Amara Kone"), blur, key("?")] },
  transfer: { steps: [open("Amara Kone"), blur, key("t")] },
  "close-question": {
    steps: [
      open("Amara Kone"),
      async ({ page }) => page.locator("textarea").fill("A draft"),
      blur,
      key("e"),
    ],
  },
  "closed-undo": { steps: [open("Elif"), blur, key("e")] },
  file: {
    steps: [
      open("Amara Kone"),
      async ({ page, url }) => {
        await page
          .getByRole("button", { name: "Send a link to a file" })
          .click();
        await page
          .getByLabel("Address of the file")
          .fill(`${url}/_standin/pictures/door.svg?photo.png`);
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
      key("Enter"),
    ],
  },
  "canned-edit": {
    steps: [
      async ({ page }) => page.keyboard.press("Control+k"),
      async ({ page }) => page.keyboard.type("canned"),
      key("Enter"),
      async ({ page }) =>
        page.getByRole("button", { name: "Edit /hello" }).click(),
    ],
  },
  erase: {
    steps: [
      open("Amara Kone"),
      async ({ page }) => page.getByRole("button", { name: "More" }).click(),
      async ({ page }) => page.getByRole("menuitem", { name: "Erase" }).click(),
    ],
  },
  menu: {
    steps: [
      open("Amara Kone"),
      async ({ page }) => page.getByRole("button", { name: "More" }).click(),
    ],
  },
  me: { steps: [async ({ page }) => page.locator(".rail .me").click()] },
  "sign-out": {
    steps: [
      open("Amara Kone"),
      async ({ page }) => page.locator("textarea").fill("A draft"),
      blur,
      async ({ page }) => page.keyboard.press("Control+k"),
      async ({ page }) => page.keyboard.type("sign out"),
      key("Enter"),
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
      async ({ url }) => steer(url, "latency", { ms: 4000 }),
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
        steer(url, "fail", {
          path: "/messages",
          method: "GET",
          status: 500,
          message: "internal error",
        }),
      async ({ page }) => page.locator(".row").nth(2).click(),
      async ({ page }) => page.locator(".talk .blank.bad").waitFor(),
    ],
  },
  "chat-missing": { hash: "#/chat/999999", steps: [] },
  visitors: { steps: [], hash: "#/visitors" },
};

async function chatOf(url, name) {
  return (await steer(url, "chats")).find((chat) => chat.visitor.name === name)
    .chat_id;
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
let bad = 0;
for (const [
  name,
  { world = "normal", steps, isSignedOut, isSlow, failing, email, hash = "" },
] of Object.entries(STATES)) {
  if (only !== undefined && !name.startsWith(only)) continue;
  for (const [width, height, scheme] of sizes) {
    if (widths !== undefined && !widths.includes(width)) continue;
    await steer(url, "reset", { world });
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
        if (failing) await steer(url, "fail", failing);
        await page.goto(`${url}/console/${hash}`);
        await page.getByLabel("E-mail").fill(email ?? "marta@example.com");
        await page.getByLabel("Password", { exact: true }).fill("secret");
        await page.keyboard.press("Enter");
        if (isSlow) {
          await steer(url, "latency", { ms: 5000 });
        }
        await page.locator(".app").waitFor({ timeout: 8000 });
        await page.waitForTimeout(isSlow ? 600 : 400);
      }
      for (const step of steps) await step({ page, url, context });
      await settle({ page });
      await page.screenshot({ path: join(folder, file) });
      const violations = await axe(page);
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - innerWidth,
      );
      if (overflow > 0) problems.push(`the page is ${overflow} px too wide`);
      if (violations.length + problems.length > 0) {
        bad++;
        console.log(`${file}\n  ${[...violations, ...problems].join("\n  ")}`);
      }
    } catch (error) {
      bad++;
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
  bad === 0
    ? `pictures in ${folder}, nothing found`
    : `pictures in ${folder}, ${bad} with findings`,
);
process.exit(bad === 0 ? 0 : 1);
