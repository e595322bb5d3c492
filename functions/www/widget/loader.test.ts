import assert from "node:assert/strict";
import { test } from "node:test";

/** Lets imports end, which takes more than microtasks. */
const settled = async () => {
  for (let round = 0; round < 50; round++) await new Promise((done) => setImmediate(done));
};
const RETRY_DELAYS_MS = [1000, 5000, 25_000];

interface Page {
  widget_api: Record<string, () => unknown>;
  widget_init: () => void;
  widget_destroy: () => void;
}

test("start that was destroyed does not stop the API of the next one", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const warn = t.mock.method(console, "warn", () => {});
  const attributes: Record<string, string> = { "data-id": "w1" };
  const script = {
    // Node imports nothing from there.
    src: "https://nothing.invalid/widget.js",
    getAttribute: (name: string) => attributes[name] ?? null,
  };
  const window = {
    requestIdleCallback: (run: () => void) => run(),
  };
  Object.assign(globalThis, {
    window,
    MAIN_FILE: "main.js",
    document: { currentScript: script, readyState: "complete", scripts: [] },
    location: { href: "https://shop.example/" },
  });
  await import("./loader");
  const page = window as unknown as Page;
  await settled();
  for (const delay of RETRY_DELAYS_MS) {
    if (delay === RETRY_DELAYS_MS.at(-1)) page.widget_api["open"]!();
    t.mock.timers.tick(delay);
    if (delay !== RETRY_DELAYS_MS.at(-1)) await settled();
  }
  // The last import is still on its way.
  page.widget_destroy();
  page.widget_init();
  await settled();
  assert.deepEqual(page.widget_api["open"]!(), { result: "ok" });
  for (const delay of RETRY_DELAYS_MS) {
    t.mock.timers.tick(delay);
    await settled();
  }
  assert.equal((page.widget_api["open"]!() as { result: string }).result, "fail");
  assert.equal(warn.mock.callCount(), 1);
});
