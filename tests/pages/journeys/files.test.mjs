/* Files of a visitor and of an agent, sent by paste, drop and choice, with progress, cancel and a broken connection. */

import assert from "node:assert/strict";
import {
  journey,
  openChat,
  textarea,
  useBrowser,
} from "../support/console.mjs";
import { addWidget, composer, openWindow, Shop } from "../support/shop.mjs";

useBrowser();

/** Files have another origin than the service. */
const POLICY = { "connect-src": "'self' http: ws:" };

/** A picture of 640 by 400 pixels, as the browser draws it. */
const picture = (page) =>
  page.evaluate(async () => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [640, 400];
    const context = canvas.getContext("2d");
    context.fillStyle = "teal";
    context.fillRect(40, 40, 300, 200);
    const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
    return [...new Uint8Array(await blob.arrayBuffer())];
  });

const chosen = (name, mimeType, buffer) => ({ name, mimeType, buffer });

/** Gives files to an element as a paste or a drop does. */
const give = (element, type, { name, mimeType, buffer }) =>
  element.evaluate(
    (element, { type, name, mimeType, bytes }) => {
      const data = new DataTransfer();
      data.items.add(
        new File([new Uint8Array(bytes)], name, { type: mimeType }),
      );
      const options = { bubbles: true, cancelable: true };
      element.dispatchEvent(
        type === "paste"
          ? new ClipboardEvent(type, { ...options, clipboardData: data })
          : new DragEvent(type, { ...options, dataTransfer: data }),
      );
    },
    { type, name, mimeType, bytes: [...buffer] },
  );

journey(
  "agent sends a picture and a document, and the visitor's own files arrive",
  async (context) => {
    const { account, open } = context;
    await account.admin.setPresence("online");
    const widget = await addWidget(context);
    const shop = await Shop.start({ ...context, widget }, POLICY);
    const visitor = await shop.open();
    await openWindow(visitor);
    await composer(visitor).fill("Hello");
    await composer(visitor).press("Enter");
    const png = chosen(
      "teal.png",
      "image/png",
      Buffer.from(await picture(visitor)),
    );
    await visitor.locator(".attach input").setInputFiles(png);
    await visitor.locator(".log img").waitFor();

    const page = await open(account.admin);
    await page.locator(".row").first().click();
    await page.getByRole("button", { name: "Accept" }).first().click();
    const image = page.locator(".bubble.media img").first();
    await image.waitFor();
    assert.ok(
      await image.evaluate((image) => image.decode().then(() => true)),
      "the preview is shown",
    );
    assert.ok((await image.evaluate((image) => image.naturalWidth)) <= 320);

    await give(textarea(page), "paste", png);
    const pdf = chosen(
      "bill.pdf",
      "application/pdf",
      Buffer.from("%PDF-1.7\n..."),
    );
    await give(textarea(page), "drop", pdf);
    await page
      .locator(".bubble.media .file", { hasText: "bill.pdf" })
      .waitFor();
    await visitor.locator(".log .file", { hasText: "bill.pdf" }).waitFor();
    await page.locator(".uploads li").first().waitFor({ state: "detached" });
  },
);

journey(
  "upload can be cancelled, and tried again after a broken connection",
  async (context) => {
    const { page } = await context.openWithChat("Thanh Nguyễn");
    const form = /\/Files\/$/;
    let breaks = 3;
    await page.route(form, (route) =>
      breaks-- > 0 ? route.abort() : route.continue(),
    );
    const file = chosen("notes.txt", "text/plain", Buffer.from("Notes"));
    const input = page.locator(".composer input[type=file]");
    await input.setInputFiles(file);
    await page
      .getByText("The connection has broken.", { exact: true })
      .waitFor();
    await page.getByRole("button", { name: "Try again" }).click();
    await page
      .locator(".bubble.media .file", { hasText: "notes.txt" })
      .waitFor();

    await page.unroute(form);
    await page.route(form, () => {});
    await input.setInputFiles({ ...file, name: "other.txt" });
    await page.getByRole("button", { name: "Cancel other.txt" }).click();
    await page.locator(".uploads li").waitFor({ state: "detached" });

    await input.setInputFiles(
      chosen("a.svg", "image/svg+xml", Buffer.from("<svg/>")),
    );
    await page.locator(".uploads .bad", { hasText: "type" }).waitFor();
    await page.getByRole("button", { name: "Remove a.svg" }).click();
  },
);
