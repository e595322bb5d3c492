import assert from "node:assert/strict";
import { test } from "node:test";
import { countByReceiver } from "./recent-failures";

test("failures are counted for the channel or the webhook that failed", () => {
  const counts = countByReceiver([
    { target: "channel", channel_id: "shop" },
    { target: "channel", channel_id: "shop" },
    { target: "bot", channel_id: "shop" },
    { target: "webhook", channel_id: "shop", webhook_id: "crm" },
  ]);
  assert.deepEqual(
    [...counts],
    [
      ["shop", 2],
      ["crm", 1],
    ],
  );
});
