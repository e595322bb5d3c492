/* Tests the agent console with the real local host. Some endpoints do not exist in the service yet (sockets, changes,
   search, notes, ...). They respond with 404, and the console must work without them.

     cargo run -- --memory --ready-file ready.json
     READY_FILE=ready.json node --test local-host.test.mjs */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import http from "node:http";
import { after, before, test } from "node:test";
import { launch, openPage, serve, signIn } from "./browser.mjs";

const ready = JSON.parse(await readFile(process.env.READY_FILE, "utf8"));
let browser;
let server;
let url;
let admin;
/** The state of the integrator's server: the request bodies that it has received, and how it responds. */
const integrator = {
  received: [],
  respond: () => ({ status: 200, body: { result: "ok" } }),
};
let receiver;

const apiRequest = async (method, path, body, token) => {
  const response = await fetch(ready.base_url + path, {
    method,
    headers: {
      "content-type": "application/json",
      ...(token ? { authorization: `Bearer ${token}` } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const responseBody = await response.json();
  assert.ok(
    response.ok,
    `${method} ${path}: ${response.status} ${JSON.stringify(responseBody)}`,
  );
  return responseBody;
};
const sendVisitorMessage = async (endpoint, id, text, name) => {
  const response = await fetch(endpoint, {
    method: "POST",
    body: JSON.stringify({
      sender: { id, ...(name ? { name } : {}) },
      message: { type: "text", text },
    }),
  });
  assert.equal(response.status, 200);
};

let account;
let endpoint;
before(async () => {
  receiver = http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks));
    integrator.received.push(body);
    const { status, body: responseBody } = integrator.respond(body);
    response
      .writeHead(status, { "content-type": "application/json" })
      .end(JSON.stringify(responseBody));
  });
  await new Promise((done) => receiver.listen(0, "127.0.0.1", done));
  const timestamp = Date.now();
  account = {
    email: `admin-${timestamp}@example.com`,
    password: "a long enough password",
  };
  await apiRequest(
    "POST",
    "/operator/accounts",
    { name: "Fjord Outdoor", admin: { name: "Marta Lindholm", ...account } },
    ready.operator_key,
  );
  admin = (await apiRequest("POST", "/agent/login", account)).token;
  await apiRequest(
    "POST",
    "/admin/agents",
    {
      name: "Jonas Weber",
      email: `jonas-${timestamp}@example.com`,
      password: account.password,
      role: "agent",
    },
    admin,
  );
  browser = await launch();
  server = await serve({ api: ready.base_url });
  url = server.url;
});
after(async () => {
  await browser?.close();
  await server?.close();
  receiver?.close();
});

function journey(name, run) {
  test(name, { timeout: 120_000 }, async () => {
    const { page, context, problems } = await openPage(browser);
    page.setDefaultTimeout(20_000);
    try {
      await signIn(page, url, account);
      await run(page, context);
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
const sendMessage = async (page, text) => {
  await page.locator(".composer textarea").fill(text);
  await page.keyboard.press("Enter");
};

journey(
  "empty account creates a channel and gets its first chat",
  async (page) => {
    await page.getByText("Three steps").waitFor();
    await page.getByRole("button", { name: "Add a channel" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Shop");
    await page
      .getByLabel("Address of your server")
      .fill(`http://127.0.0.1:${receiver.address().port}/hook`);
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByText("Shop is connected").waitFor();
    endpoint = await page.locator(".code-line code").first().innerText();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByText("Channel Shop added").waitFor();
    await sendVisitorMessage(
      endpoint,
      "ada",
      "Where is my parcel?",
      "Ada Lovelace",
    );
    await page.locator(".row", { hasText: "Ada Lovelace" }).waitFor();
  },
);

journey("waiting visitor is accepted and answered", async (page) => {
  await page.locator(".row", { hasText: "Ada Lovelace" }).waitFor();
  await page.keyboard.press("a");
  await page.locator(".composer textarea:focus").waitFor();
  await page.keyboard.type("I look it up.");
  await page.keyboard.press("Enter");
  await page
    .locator(".line", { hasText: "I look it up." })
    .locator(".mark.ok")
    .waitFor();
  assert.equal(
    integrator.received.filter(
      ({ message }) => message.text === "I look it up.",
    ).length,
    1,
  );
  assert.ok(
    integrator.received.some(({ message }) => message.type === "typein"),
  );
  await sendVisitorMessage(endpoint, "ada", "Thank you!");
  await page.locator(".bubble", { hasText: "Thank you!" }).waitFor();
});

journey(
  "rejection shows the integrator's error and can be retried",
  async (page) => {
    await openChat(page, "Ada Lovelace");
    integrator.respond = () => ({
      status: 200,
      body: { error: { code: 410, message: "The visitor has left the shop" } },
    });
    await sendMessage(page, "Are you still there?");
    const failed = page.locator(".fail", {
      hasText: "The visitor has left the shop",
    });
    await failed.waitFor();
    await failed.getByRole("button", { name: /1 attempt/ }).click();
    await page.locator(".attempts tbody tr").waitFor();
    await page.keyboard.press("Escape");
    integrator.respond = () => ({ status: 200, body: { result: "ok" } });
    await failed.getByRole("button", { name: "Retry" }).click();
    await page
      .locator(".line", { hasText: "Are you still there?" })
      .locator(".mark.ok")
      .waitFor();
  },
);

journey(
  "visitor details are edited and the visitor is blacklisted",
  async (page) => {
    await openChat(page, "Ada Lovelace");
    await page.getByTitle("Edit e-mail").click();
    await page.keyboard.type("ada@example.com");
    await page.keyboard.press("Enter");
    await page
      .getByTitle("Edit e-mail")
      .filter({ hasText: "ada@example.com" })
      .waitFor();
    await page
      .locator("dt", { hasText: "E-mail" })
      .getByText("agent")
      .waitFor();
    await page
      .locator(".visitor")
      .getByRole("button", { name: "Blacklist" })
      .click();
    await page.getByText("Blacklisted: new messages are dropped").waitFor();
    await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
    await page
      .getByText("Blacklisted: new messages are dropped")
      .waitFor({ state: "detached" });
  },
);

journey("transfer to an offline agent is rejected", async (page) => {
  await openChat(page, "Ada Lovelace");
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press("t");
  await page.getByRole("option", { name: /Jonas Weber/ }).click();
  await page.getByText("The agent is not online.").waitFor();
});

journey("each media type is shown", async (page) => {
  const media = {
    photo: {
      file: "https://files.example.com/p.png",
      file_name: "p.png",
      file_size: 1200,
      width: 640,
      height: 480,
    },
    document: {
      file: "https://files.example.com/d.pdf",
      file_name: "d.pdf",
      file_size: 8000,
    },
    voice: {
      file: "https://files.example.com/v.ogg",
      file_name: "v.ogg",
      file_size: 900,
      duration: 7,
    },
  };
  for (const [type, fields] of Object.entries(media)) {
    const response = await fetch(endpoint, {
      method: "POST",
      body: JSON.stringify({
        sender: { id: "ada" },
        message: { type, ...fields },
      }),
    });
    assert.equal(response.status, 200);
  }
  await fetch(endpoint, {
    method: "POST",
    body: JSON.stringify({
      sender: { id: "ada" },
      message: { type: "location", latitude: 59.91, longitude: 10.74 },
    }),
  });
  await openChat(page, "Ada Lovelace");
  await page.locator(".file", { hasText: "d.pdf" }).waitFor();
  await page.locator(".file", { hasText: "59.91000, 10.74000" }).waitFor();
  await page.locator("audio").waitFor({ state: "attached" });
});

journey("chat is closed and its visitor erased", async (page) => {
  await openChat(page, "Ada Lovelace");
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press("e");
  await page.locator(".toast", { hasText: "closed" }).waitFor();
  await page.getByRole("tab", { name: "Closed" }).click();
  await page.locator(".row", { hasText: "Ada Lovelace" }).waitFor();
  await openChat(page, "Ada Lovelace");
  await page
    .locator(".action-bar", { hasText: "This chat is closed" })
    .waitFor();
  await page.getByRole("button", { name: "Erase…" }).click();
  await page.keyboard.type("Ada Lovelace");
  await page.keyboard.press("Enter");
  await page.getByText(/Ada Lovelace is erased/).waitFor();
});

test("wrong password shows an error", { timeout: 60_000 }, async () => {
  const { page, context } = await openPage(browser);
  await page.goto(`${url}/console/`);
  await page.getByLabel("E-mail").fill(account.email);
  await page.getByLabel("Password", { exact: true }).fill("wrong");
  await page.keyboard.press("Enter");
  await page.getByText("E-mail or password is wrong.").waitFor();
  await context.close();
});
