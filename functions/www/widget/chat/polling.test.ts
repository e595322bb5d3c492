import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Polling, type Pace } from "./polling";

/** Returns a polling with the given pace, and the seconds at which it has read. */
function pollingWith(t: TestContext, pace: () => Pace | undefined) {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"] });
  const reads: number[] = [];
  const polling = new Polling(pace, async () => void reads.push(Math.round(Date.now() / 1000)));
  return { polling, reads };
}

/** Lets the time pass in steps of one second, so that each read can schedule the next one. */
async function pass(t: TestContext, seconds: number) {
  for (let second = 0; second < seconds; second++) {
    t.mock.timers.tick(1000);
    for (let round = 0; round < 5; round++) await Promise.resolve();
  }
}

test("time between reads grows to its maximum", async (t) => {
  const { polling, reads } = pollingWith(t, () => [3000, 30_000]);
  polling.restart();
  await pass(t, 130);
  assert.deepEqual(
    reads.map((at, index) => at - (reads[index - 1] ?? 0)),
    [3, 5, 8, 13, 20, 30, 30],
  );
});

test("activity shortens the time between reads, but does not postpone the next one", async (t) => {
  const { polling, reads } = pollingWith(t, () => [3000, 30_000]);
  polling.restart();
  await pass(t, 10);
  assert.deepEqual(reads, [3, 8]);
  polling.restart();
  await pass(t, 2);
  polling.restart();
  await pass(t, 2);
  assert.deepEqual(reads, [3, 8, 13]);
});

test("reads of another tab count", async (t) => {
  const { polling, reads } = pollingWith(t, () => [3000, 30_000]);
  polling.restart();
  await pass(t, 2);
  polling.postpone();
  await pass(t, 2);
  assert.deepEqual(reads, []);
  await pass(t, 1);
  assert.deepEqual(reads, [5]);
});

test("nothing is read without a pace", async (t) => {
  let pace: Pace | undefined = [3000, 30_000];
  const { polling, reads } = pollingWith(t, () => pace);
  polling.restart();
  await pass(t, 3);
  pace = undefined;
  await pass(t, 60);
  assert.deepEqual(reads, [3, 8], "the read that was due is the last one");
  polling.postpone();
  await pass(t, 60);
  assert.equal(reads.length, 2);
  pace = [60_000, 300_000];
  polling.restart();
  await pass(t, 60);
  assert.equal(reads.length, 3);
  polling.stop();
  await pass(t, 300);
  assert.equal(reads.length, 3);
});
