import assert from "node:assert/strict";
import { test } from "node:test";
import { Drafts } from "./drafts";
import { memoryStorage } from "../test-support";

/** Opens the drafts of two tabs, which share their storage. */
function openTabs() {
  const storage = memoryStorage();
  return { storage, first: new Drafts(storage), second: new Drafts(storage) };
}
const stored = (text: string) => JSON.stringify({ text, isNote: false });

test("draft survives a message that is sent in another tab", () => {
  const { storage, first, second } = openTabs();
  first.write(7, "A long answer", false);
  second.write(7, "Short", false);
  first.syncWithStorage(7, stored("A long answer"));
  second.write(7, "", false);
  first.syncWithStorage(7, stored("Short"));
  assert.equal(new Drafts(storage).read(7).text, "A long answer");
  assert.ok(first.chatIds.peek().has(7));
});

test("draft that is sent in another tab is removed", () => {
  const { storage, first, second } = openTabs();
  first.write(7, "The answer", false);
  second.write(7, "", false);
  first.syncWithStorage(7, stored("The answer"));
  assert.deepEqual(storage.names(), []);
  assert.ok(!first.chatIds.peek().has(7));
});
