import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiClient } from "../../api/client";
import { NOTHING_REPLAYED, replayAll, replayText, type ReplayProgress } from "./replay";

/** Returns the client of a fake service with this number of failed deliveries, and the bodies of its requests. */
function serviceWith(failed: number) {
  const bodies: { cursor?: string }[] = [];
  const api = new ApiClient(
    () => undefined,
    "",
    (_, init) => {
      const body = JSON.parse(String(init?.body)) as { cursor?: string };
      bodies.push(body);
      const start = Number(body.cursor ?? "0");
      const replayed = Math.min(100, failed - start);
      const next = start + replayed < failed ? String(start + replayed) : null;
      return Promise.resolve(Response.json({ replayed, skipped: 1, next }, { status: 202 }));
    },
  );
  return { api, bodies };
}
const SCOPE = { from: 0, to: 10 };

test("replay continues until no delivery is left", async () => {
  const { api, bodies } = serviceWith(250);
  const seen: number[] = [];
  await replayAll(
    api,
    SCOPE,
    NOTHING_REPLAYED,
    ({ replayed }) => seen.push(replayed),
    () => false,
  );
  assert.deepEqual(seen, [100, 200, 250]);
  assert.deepEqual(bodies, [SCOPE, { ...SCOPE, cursor: "100" }, { ...SCOPE, cursor: "200" }]);
});

test("stopped replay continues where it was stopped", async () => {
  const { api, bodies } = serviceWith(250);
  let progress: ReplayProgress = NOTHING_REPLAYED;
  const onProgress = (after: ReplayProgress) => (progress = after);
  await replayAll(api, SCOPE, progress, onProgress, () => progress.replayed >= 100);
  assert.deepEqual(progress, { replayed: 100, skipped: 1, cursor: "100" });
  await replayAll(api, SCOPE, progress, onProgress, () => false);
  assert.deepEqual(progress, { replayed: 250, skipped: 3, cursor: null });
  assert.equal(bodies.length, 3);
});

test("end of a replay promises only what was sent", () => {
  assert.equal(replayText({ replayed: 3, skipped: 2, cursor: "9-1" }), "3 sent again, 2 left out.");
  assert.equal(replayText({ replayed: 3, skipped: 0, cursor: null }), "3 sent again. They are on the way.");
  assert.equal(replayText({ replayed: 0, skipped: 2, cursor: null }), "0 sent again, 2 left out.");
});
