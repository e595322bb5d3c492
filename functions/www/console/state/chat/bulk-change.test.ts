import assert from "node:assert/strict";
import { test } from "node:test";
import { BulkChange, ChatLeftOut } from "./bulk-change";

test("chats are changed by few requests at a time, and failures are named", async () => {
  const bulk = new BulkChange();
  let running = 0;
  let mostRunning = 0;
  const changed = await bulk.run("Closing", [1, 2, 3, 4, 5, 6, 7], async (chatId) => {
    running++;
    mostRunning = Math.max(mostRunning, running);
    await Promise.resolve();
    running--;
    if (chatId === 3) throw new ChatLeftOut("It has a draft.");
  });
  assert.deepEqual([changed.sort(), mostRunning], [[1, 2, 4, 5, 6, 7], 4]);
  const { done, total, isRunning, failures } = bulk.progress.peek()!;
  assert.deepEqual([done, total, isRunning], [7, 7, false]);
  assert.deepEqual(failures, [{ chatId: 3, problem: "It has a draft." }]);
  bulk.dismiss();
  assert.equal(bulk.progress.peek(), undefined);
});

test("second change waits for the first one", async () => {
  const bulk = new BulkChange();
  const first = bulk.run("Closing", [1], () => Promise.resolve());
  assert.deepEqual(await bulk.run("Tagging", [2], () => Promise.resolve()), []);
  assert.deepEqual(await first, [1]);
  assert.equal(bulk.progress.peek(), undefined, "nothing failed");
});
