import assert from "node:assert/strict";
import { test } from "node:test";
import { DeferredStorage } from "./deferred-storage";

/** A browser's storage, whose keys are its properties. */
function browserStorage(): Storage {
  const methods = {
    getItem: (key: string) => (Object.hasOwn(storage, key) ? (storage[key] as string) : null),
    setItem: (key: string, value: string) => void (storage[key] = value),
    removeItem: (key: string) => void delete storage[key],
  };
  const storage = Object.create(methods) as Record<string, unknown>;
  return storage as unknown as Storage;
}

function tabsOf(backend: Storage, count = 2) {
  return Array.from({ length: count }, () => {
    const storage = new DeferredStorage(backend, "w.");
    storage.persist();
    return storage;
  }) as [DeferredStorage, DeferredStorage];
}

test("sign-out removes what belongs to a person, for all tabs", () => {
  const backend = browserStorage();
  const [one, other] = tabsOf(backend);
  one.write("token", "ada's");
  one.write("out.1", "unsent");
  one.write("closed-at", 7);
  one.leave();
  assert.deepEqual({ ...backend }, { "w.closed-at": "7", "w.person": "1" });
  assert.equal(one.read("token"), undefined);
  assert.deepEqual([other.follow(), other.follow(), other.generation], [true, false, 1]);
  one.write("token", "bob's");
  assert.equal(other.read("token"), "bob's");
  assert.equal(new DeferredStorage(backend, "w.").read("token"), "bob's");
});

test("late write of a tab for the earlier person does not reach the next one", () => {
  const backend = browserStorage();
  const [one, other] = tabsOf(backend);
  one.write("token", "ada's");
  one.leave();
  one.write("token", "bob's");
  other.write("token", "ada's");
  other.write("draft", "ada's");
  assert.equal(one.read("token"), "bob's");
  other.follow();
  assert.equal(other.read("token"), "bob's");
  assert.deepEqual({ ...backend }, { "w.person": "1", "w.1.token": '"bob\'s"' });
});

test("two tabs that sign out at the same time agree on the next person", () => {
  const backend = browserStorage();
  const [one, other] = tabsOf(backend);
  one.write("token", "ada's");
  one.leave();
  one.write("token", "bob's");
  // The other tab has not seen the first one's sign-out yet.
  other.leave();
  assert.equal(other.read("token"), "bob's");
  assert.equal(one.follow(), false);
});

test("value that another tab has stored is not overwritten", () => {
  const backend = browserStorage();
  const [one] = tabsOf(backend, 1);
  const other = new DeferredStorage(backend, "w.");
  other.write("draft", "old");
  other.write("open", true);
  one.write("draft", "new");
  other.persist();
  assert.deepEqual({ ...backend }, { "w.draft": '"new"', "w.open": "true" });
  assert.equal(other.read("draft"), "new");
});

test("another user whom another tab has stored replaces the one in memory", () => {
  const backend = browserStorage();
  const [one] = tabsOf(backend, 1);
  const other = new DeferredStorage(backend, "w.");
  other.write("user", "ada");
  other.write("draft", "ada's");
  one.write("user", "bob");
  other.persist();
  assert.deepEqual({ ...backend }, { "w.user": '"bob"' });
  assert.deepEqual([other.follow(), other.follow(), other.generation], [true, false, 1]);
  assert.deepEqual([other.read("user"), other.read("draft")], ["bob", undefined]);
  other.persist();
  other.write("draft", "bob's");
  assert.deepEqual({ ...backend }, { "w.user": '"bob"', "w.draft": '"bob\'s"' });
});

test("sign-out before the visitor has acted stores nothing", () => {
  const backend = browserStorage();
  const storage = new DeferredStorage(backend, "w.");
  storage.write("draft", "x");
  storage.leave();
  assert.equal(storage.read("draft"), undefined);
  assert.equal(storage.generation, 1);
  assert.deepEqual({ ...backend }, {});
});

test("value is kept for the pages of a tab before the visitor acts", () => {
  const [backend, tab] = [browserStorage(), browserStorage()];
  new DeferredStorage(backend, "w.", tab).writeForTab("invited-at", 7);
  const next = new DeferredStorage(backend, "w.", tab);
  assert.equal(next.read("invited-at"), 7);
  next.write("invited-at", 8);
  assert.equal(new DeferredStorage(backend, "w.", tab).read("invited-at"), 8);
  assert.deepEqual({ ...backend }, {});
});

test("missing and refused storages leave the values in memory", () => {
  const refusing = new Proxy({} as Storage, {
    get: () => {
      throw new DOMException("denied", "SecurityError");
    },
    ownKeys: () => {
      throw new DOMException("denied", "SecurityError");
    },
  });
  for (const backend of [undefined, null as unknown as undefined, refusing]) {
    const storage = new DeferredStorage(backend, "w.", backend);
    storage.persist();
    assert.equal(storage.read("site"), undefined);
    storage.write("site", { start: 1 });
    assert.deepEqual(storage.read("site"), { start: 1 });
    storage.leave();
    assert.equal(storage.read("token"), undefined);
  }
});

test("arrays keep their form on pages with Prototype.js", (t) => {
  const prototype = Array.prototype as unknown as Record<string, unknown>;
  prototype["toJSON"] = () => "a text";
  t.after(() => delete prototype["toJSON"]);
  const storage = new DeferredStorage(browserStorage(), "w.");
  storage.persist();
  storage.write("list", [{ a: [1] }]);
  assert.equal(JSON.stringify(storage.read<{ a: number[] }[]>("list")?.[0]?.a[0]), "1");
});
