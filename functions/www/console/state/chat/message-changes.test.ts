import assert from "node:assert/strict";
import { test } from "node:test";
import type { Chat, Entry } from "../../../api/types";
import { errorResponse, fakeApi, jsonResponse, timelineEntry, type RecordedCall } from "../test-support";
import { MessageChanges } from "./message-changes";
import { Timelines } from "./timeline";

const NOW = 1_000_000;
const ME = { id: 3, role: "agent" };

const own = (fields: Partial<Entry> = {}): Entry => ({
  ...timelineEntry(1),
  from: "agent",
  agent: { id: ME.id, name: "Ann" },
  type: "text",
  text: "helo",
  timestamp: NOW / 1000,
  ...fields,
});

function changesWith(me: typeof ME, respond: (call: RecordedCall) => Response, chat: object = { session: {} }) {
  const { api, calls } = fakeApi(respond);
  const timelines = new Timelines(api);
  const timeline = timelines.open(7);
  timeline.chatDetails.value = { state: "active", ...chat } as Chat;
  timeline.entries.value = [own()];
  return { changes: new MessageChanges(api, me, timelines), timeline, calls };
}

test("own texts in open chats of the widget can be edited", () => {
  const none = () => errorResponse(404);
  const { changes } = changesWith(ME, none);
  assert.ok(changes.canEdit(7, own(), NOW));
  assert.ok(!changes.canEdit(7, own({ type: "photo" }), NOW));
  assert.ok(changes.canDelete(7, own({ type: "photo" }), NOW));
  assert.ok(!changes.canDelete(7, own({ type: "note" }), NOW));
  assert.ok(!changes.canDelete(7, own({ type: "deleted" }), NOW));
  assert.ok(!changes.canEdit(7, own(), NOW + 86_400_000), "a day later");
  assert.ok(!changesWith(ME, none, {}).changes.canEdit(7, own(), NOW), "an API channel");
  assert.ok(!changesWith(ME, none, { session: {}, state: "closed" }).changes.canEdit(7, own(), NOW));
});

test("only an admin can delete a message of another agent", () => {
  const others = own({ agent: { id: 9, name: "Bob" } });
  const none = () => errorResponse(404);
  assert.ok(!changesWith(ME, none).changes.canDelete(7, others, NOW));
  const { changes } = changesWith({ ...ME, role: "admin" }, none);
  assert.deepEqual([changes.canDelete(7, others, NOW), changes.canEdit(7, others, NOW)], [true, false]);
});

test("new text is shown at once, and the earlier one after a failure", async () => {
  const { changes, timeline, calls } = changesWith(ME, () => errorResponse(409, "the chat is closed"));
  const request = changes.edit(7, own(), "hello");
  assert.equal(timeline.entries.value[0]?.text, "hello");
  await request;
  assert.equal(timeline.entries.value[0]?.text, "helo");
  assert.equal(changes.editing.value?.text.value, "hello", "the agent can go on");
  assert.deepEqual([calls[0]?.method, calls[0]?.body], ["PATCH", { text: "hello" }]);
});

test("deleted message has no text", async () => {
  const { changes, timeline, calls } = changesWith(ME, () =>
    jsonResponse(own({ type: "deleted", deleted_at: 5, text: undefined as unknown as string })),
  );
  const request = changes.delete(7, own());
  assert.deepEqual([timeline.entries.value[0]?.type, timeline.entries.value[0]?.text], ["deleted", undefined]);
  await request;
  assert.deepEqual([calls[0]?.method, calls[0]?.path], ["DELETE", "/agent/chats/7/messages/1"]);
});

test("unchanged text is not sent", async () => {
  const { changes, calls } = changesWith(ME, () => errorResponse(500));
  await changes.edit(7, own(), "helo");
  assert.equal(calls.length, 0);
});

test("change that arrives before the failure stays", async () => {
  const { changes, timeline } = changesWith(ME, () => errorResponse(503));
  const request = changes.edit(7, own(), "hello");
  timeline.applyEntry(own({ text: "hello from another tab", edited_at: 9 }));
  await request;
  assert.equal(timeline.entries.value[0]?.text, "hello from another tab");
});

test("editing ends with the message, the chat and the conversation", () => {
  const editing = () => {
    const all = changesWith(ME, () => errorResponse(404));
    all.changes.beginEditing(7, own());
    assert.equal(all.changes.editing.value?.seq, 1);
    return all;
  };
  const deleted = editing();
  deleted.timeline.applyEntry(own({ type: "deleted" }));
  assert.equal(deleted.changes.editing.value, undefined);
  const closed = editing();
  closed.timeline.chatDetails.value = { session: {}, state: "closed" } as Chat;
  assert.equal(closed.changes.editing.value, undefined);
  const { changes } = editing();
  changes.stopEditing(8);
  assert.equal(changes.editing.value?.chatId, 7);
  changes.stopEditing(7);
  assert.equal(changes.editing.value, undefined);
});
