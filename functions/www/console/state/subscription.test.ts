import assert from "node:assert/strict";
import { test } from "node:test";
import { Subscription, type Shown } from "./subscription";

const waiting = (open?: number): Shown => ({ lists: ["waiting"], open });

function start() {
  const frames: object[] = [];
  const confirmed: [Shown, Shown | undefined][] = [];
  const subscription = new Subscription(
    (frame) => frames.push(frame) > 0,
    (shown, before) => void confirmed.push([shown, before]),
  );
  const sent = () => frames.splice(0);
  return { subscription, sent, confirmed };
}

const frame = (lists: string[], open: number | null = null) => ({ type: "subscribe", lists, open });

test("console subscribes when its socket opens, and once when it shows something else", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { subscription, sent, confirmed } = start();
  subscription.onSocketOpen();
  assert.deepEqual(sent(), [frame(["waiting"])]);
  subscription.confirm();
  for (const open of [1, 2, 3]) subscription.show(waiting(open));
  subscription.show({ lists: ["waiting", "bot"], open: 3 });
  t.mock.timers.tick(200);
  assert.deepEqual(sent(), [frame(["waiting", "bot"], 3)]);
  subscription.confirm();
  assert.deepEqual(confirmed, [
    [waiting(), undefined],
    [{ lists: ["waiting", "bot"], open: 3 }, waiting()],
  ]);
  subscription.show({ lists: ["waiting", "bot"], open: 3 });
  t.mock.timers.tick(20_000);
  assert.deepEqual(sent(), [], "nothing has changed");
});

test("next subscription waits for the response, which may get lost", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { subscription, sent } = start();
  subscription.onSocketOpen();
  assert.equal(sent().length, 1);
  subscription.show(waiting(7));
  t.mock.timers.tick(1_000);
  assert.deepEqual(sent(), []);
  subscription.confirm();
  assert.deepEqual(sent(), [frame(["waiting"], 7)]);
  t.mock.timers.tick(10_000);
  assert.deepEqual(sent(), [frame(["waiting"], 7)], "sent again");
  subscription.confirm();
  t.mock.timers.tick(20_000);
  assert.deepEqual(sent(), []);
});

test("new socket gets the subscription again", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { subscription, sent } = start();
  subscription.onSocketOpen();
  subscription.confirm();
  sent();
  subscription.onSocketDown();
  t.mock.timers.tick(20_000);
  assert.deepEqual(sent(), []);
  subscription.onSocketOpen();
  assert.deepEqual(sent(), [frame(["waiting"])]);
  subscription.onSocketDown();
});
