/* Bots in the widget: the visitor sees that a bot answers, and when a person does. */

import assert from "node:assert/strict";
import {
  openWindow,
  shopJourney,
  useEmbeddingBrowser,
  write,
} from "../support/shop.mjs";

useEmbeddingBrowser();

shopJourney(
  "messages of a bot with a person's name say that a bot has written them",
  async (shop) => {
    const message = { type: "TEXT", text: "I can help", timestamp: 1 };
    const answer = () => [{ event: "BOT_MESSAGE", message }];
    await shop.account.addBot({ id: shop.widget.id }, answer, "Anna");
    const page = await shop.open();
    await openWindow(page);
    await write(page, "Hello");
    await page.getByText("I can help").waitFor();
    const authors = page.locator(".turn.team .by");
    assert.match(await authors.first().textContent(), /^Anna bot · /);
    await shop.accept("bot");
    await shop.answer("A person is here");
    await page.getByText("A person is here").waitFor();
    assert.match(await authors.last().textContent(), /^Marta Lindholm \S/);
    if (process.env.SCREENSHOTS)
      await page.screenshot({ path: `${process.env.SCREENSHOTS}/bot.png` });
  },
);
