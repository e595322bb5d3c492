import assert from "node:assert/strict";
import { test } from "node:test";
import type { Chat, PlannedMessage } from "../../../api/types";
import { errorResponse, fakeApi, jsonResponse, memoryStorage, type RecordedCall } from "../test-support";
import { Drafts } from "./drafts";
import { PlannedMessages } from "./planned-messages";
import { Timelines } from "./timeline";

const AT = new Date(5_000_000);

function plannedWith(respond: (call: RecordedCall) => Response | undefined) {
  const { api, calls } = fakeApi((call) =>
    call.method === "GET" ? jsonResponse({ chat_id: 7, planned: [{ planned_id: "p" }] }) : respond(call),
  );
  const timelines = new Timelines(api);
  const drafts = new Drafts(memoryStorage());
  drafts.write(7, "Is it solved?", false);
  const timeline = timelines.open(7);
  timeline.chatDetails.value = { chat_id: 7 } as Chat;
  return { planned: new PlannedMessages(api, timelines, drafts), drafts, timeline, calls };
}

test("draft is planned, and the details are read again", async () => {
  const { planned, drafts, timeline, calls } = plannedWith(() => jsonResponse({ planned_id: "p" }));
  await planned.planDraft(7, AT);
  assert.deepEqual(calls[0]?.body, { text: "Is it solved?", send_at: 5_000 });
  assert.match(calls[0]?.path ?? "", /^\/agent\/chats\/7\/planned\/[\w-]{8,64}$/);
  assert.equal(drafts.read(7).text, "");
  assert.equal(timeline.chatDetails.value?.planned?.length, 1);
});

test("draft and its macro stay if they cannot be planned", async () => {
  const { planned, drafts } = plannedWith(() => errorResponse(409, "a chat has at most 10 planned messages"));
  const actions = { add_tags: [1], close: false };
  drafts.write(7, "Is it solved?", false, actions);
  await planned.planDraft(7, AT);
  assert.deepEqual(drafts.read(7), { text: "Is it solved?", isNote: false, actions });
});

test("what is written while a draft is planned stays", async () => {
  const { planned, drafts, calls } = plannedWith(() => jsonResponse({ planned_id: "p" }));
  const request = planned.planDraft(7, AT);
  drafts.write(7, "Is it solved?\nSomething else", false);
  await planned.planDraft(7, AT);
  await request;
  assert.equal(drafts.read(7).text, "Something else");
  assert.equal(calls.filter(({ method }) => method === "PUT").length, 1);
});

test("note that is written while a draft is planned stays", async () => {
  const { planned, drafts } = plannedWith(() => jsonResponse({ planned_id: "p" }));
  const request = planned.planDraft(7, AT);
  drafts.write(7, "Is it solved? Ask Ben.", true);
  await request;
  assert.deepEqual([drafts.read(7).text, drafts.read(7).isNote], ["Is it solved? Ask Ben.", true]);
});

test("repeated plan has the same id until it succeeds", async () => {
  const { planned, drafts, calls } = plannedWith(() => errorResponse(503));
  await planned.planDraft(7, AT);
  await planned.planDraft(7, AT);
  await planned.planDraft(7, new Date(6_000_000));
  drafts.write(7, "Is all solved?", false);
  await planned.planDraft(7, new Date(6_000_000));
  const paths = calls.filter(({ method }) => method === "PUT").map(({ path }) => path);
  assert.equal(paths[0], paths[1]);
  assert.equal(new Set(paths).size, 3);
});

test("empty draft is not planned", async () => {
  const { planned, drafts, calls } = plannedWith(() => errorResponse(500));
  drafts.write(7, "  ", false);
  await planned.planDraft(7, AT);
  assert.equal(calls.length, 0);
});

test("text of a cancelled message returns to an empty composer", async () => {
  const { planned, drafts } = plannedWith(() => jsonResponse({}));
  const message = { planned_id: "p", text: "Later" } as PlannedMessage;
  await planned.cancel(7, message, true);
  assert.equal(drafts.read(7).text, "Is it solved?");
  drafts.write(7, "", false);
  await planned.cancel(7, message, false);
  assert.equal(drafts.read(7).text, "", "a chat of another agent");
  await planned.cancel(7, message, true);
  assert.equal(drafts.read(7).text, "Later");
});

test("message that is no longer planned is refreshed", async () => {
  const { planned, drafts, timeline, calls } = plannedWith(() => errorResponse(404));
  drafts.write(7, "", false);
  await planned.cancel(7, { planned_id: "p", text: "Later" } as PlannedMessage, true);
  assert.equal(drafts.read(7).text, "");
  assert.deepEqual([calls.length, timeline.chatDetails.value?.planned?.length], [2, 1]);
});
