import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { ChatHeaders } from "./chat-headers";
import { ChatStore } from "../list/chats";
import { Closing } from "./closing";
import { chatRow, fakeApi, flushPromises, jsonResponse, memoryStorage, ownChat } from "../test-support";
import { Timelines } from "./timeline";

/** Returns a list with one open chat, and the paths of the requests that closing it sends. */
function openChat(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { api, calls } = fakeApi(() => jsonResponse({}));
  const chats = new ChatStore(api, 1, memoryStorage());
  chats.applyRows([chatRow(7, ownChat)]);
  const headers = new ChatHeaders(chats, new Timelines(api));
  return { chats, closing: new Closing(api, chats, headers), paths: () => calls.map(({ path }) => path) };
}

test("chat is closed when it can no longer be undone", async (t) => {
  const { chats, closing, paths } = openChat(t);
  closing.close(7);
  closing.close(7);
  assert.ok(chats.closingChatIds.value.has(7));
  assert.deepEqual(paths(), []);
  t.mock.timers.tick(5000);
  await flushPromises();
  assert.deepEqual(paths(), ["/agent/chats/7/close"]);
  assert.equal(chats.peek(7)?.state, "closed");
  assert.ok(!chats.closingChatIds.value.has(7));
});

test("closing is undone", async (t) => {
  const { chats, closing, paths } = openChat(t);
  closing.close(7);
  assert.ok(closing.undo(7));
  assert.ok(!closing.undo(7));
  t.mock.timers.tick(5000);
  await flushPromises();
  assert.deepEqual(paths(), []);
  assert.equal(chats.peek(7)?.state, "active");
});

test("chats are closed at once when the page is left", async (t) => {
  const { closing, paths } = openChat(t);
  closing.close(7);
  closing.flush();
  await flushPromises();
  assert.deepEqual(paths(), ["/agent/chats/7/close"]);
});
