import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { ApiError } from "../../../api/client";
import { session, type Session } from "../agent/session";
import type { Visitor } from "../../../api/types";
import { chatRow, errorResponse, fakeApi, flushPromises, jsonResponse, memoryStorage } from "../test-support";
import { Workspace } from "../workspace";

const ME: Session = {
  token: "t1",
  id: 1,
  name: "Marta",
  role: "admin",
  accountId: "a",
  accountName: undefined,
  email: undefined,
  photo: null,
};
const removed = { chats: 2, entries: 9 };
afterEach(() => {
  session.value = undefined;
});

test("erasure is repeated until it is complete", async () => {
  session.value = ME;
  let requests = 0;
  const { api } = fakeApi(() => jsonResponse({ removed, complete: ++requests === 3 }));
  const progress: object[] = [];
  await new Workspace(ME, api, memoryStorage()).visitors.erase(7, [], (erased) => progress.push(erased));
  assert.deepEqual(progress.at(-1), { chats: 6, entries: 27 });
  assert.equal(requests, 3);
});

test("erasure stops when the agent signs out or in elsewhere", async () => {
  for (const next of [undefined, { ...ME, token: "t2", accountId: "b" }]) {
    session.value = ME;
    const { api, calls } = fakeApi(() => {
      session.value = next;
      return jsonResponse({ removed, complete: false });
    });
    const erasure = new Workspace(ME, api, memoryStorage()).visitors.erase(7, [], () => {});
    await assert.rejects(erasure, (error) => error instanceof ApiError && error.status === 401);
    assert.equal(calls.length, 1);
  }
});

test("erasure may take longer than other requests", async (t) => {
  session.value = ME;
  const timeouts: number[] = [];
  t.mock.method(AbortSignal, "timeout", (ms: number) => {
    timeouts.push(ms);
    return new AbortController().signal;
  });
  const { api } = fakeApi(() => jsonResponse({ removed, complete: true }));
  await new Workspace(ME, api, memoryStorage()).visitors.erase(7, [], () => {});
  assert.ok(Number(timeouts[0]) > 20_000, "the service may work for twenty seconds");
});

/** A workspace with an open timeline of a chat of each visitor: chat 3 of visitor 12, and chat 4 of visitor 17. Changes
 * the visitors as the service does. */
async function mergeableVisitors() {
  const visitors: Record<number, Partial<Visitor>> = {
    12: { number: 12, name: "Amara" },
    17: { number: 17, name: "A." },
  };
  const numbers: Record<string, number> = { "3": 12, "4": 17 };
  const { api, calls } = fakeApi(({ method, path, body }) => {
    const id = path.split("/")[3] ?? "";
    if (method === "PATCH") {
      const isMerge = "merge_with" in (body as object);
      visitors[12] = { number: 12, name: "Amara", ...(isMerge ? { merged_with: [17] } : {}) };
      visitors[17] = { number: 17, name: "Amara", ...(isMerge ? { merged_with: [12] } : {}) };
      return jsonResponse(visitors[Number(id)]);
    }
    return jsonResponse(path.endsWith("/messages") ? { messages: [] } : { visitor: visitors[numbers[id] ?? 0] });
  });
  const workspace = new Workspace(ME, api, memoryStorage());
  workspace.chats.applyRows([chatRow(3, { visitor: { number: 12, name: "Anonymous" } })]);
  for (const chatId of [3, 4]) await workspace.timelines.open(chatId).open(undefined);
  const mergedWith = (chatId: number) => workspace.timelines.peek(chatId)?.chatDetails.peek()?.visitor.merged_with;
  return { workspace, calls, mergedWith };
}

test("merge and separation are shown in the chats of both visitors", async () => {
  const { workspace, calls, mergedWith } = await mergeableVisitors();
  await workspace.visitors.merge(12, 17);
  await flushPromises();
  assert.deepEqual(calls.find(({ method }) => method === "PATCH")?.body, { merge_with: 17 });
  assert.deepEqual([mergedWith(3), mergedWith(4)], [[17], [12]]);
  assert.equal(workspace.timelines.peek(4)?.chatDetails.peek()?.visitor.name, "Amara");
  assert.equal(workspace.chats.peek(3)?.visitor.name, "Anonymous", "the lists show only what is known of the visitor");
  await workspace.visitors.separate(12);
  await flushPromises();
  assert.deepEqual(calls.filter(({ method }) => method === "PATCH").at(-1)?.body, { separate: true });
  assert.deepEqual([mergedWith(3), mergedWith(4)], [undefined, undefined]);
});

test("pushed visitor who is merged is read again, because the push lacks what the others complete", async () => {
  const { workspace, calls } = await mergeableVisitors();
  const reads = () => calls.filter(({ path }) => path === "/agent/chats/3").length;
  const before = reads();
  const timeline = workspace.timelines.peek(3);
  timeline?.applyPushedVisitor({ number: 12, name: "Pushed" } as Visitor);
  assert.equal(timeline?.chatDetails.peek()?.visitor.name, "Pushed");
  assert.equal(reads(), before);
  timeline?.applyPushedVisitor({ number: 12, name: "Anonymous", merged_with: [17] } as Visitor);
  await flushPromises();
  assert.equal(timeline?.chatDetails.peek()?.visitor.name, "Amara");
  assert.equal(reads(), before + 1);
});

test("corrected name is shown in the lists, and a cleared one not replaced by that of a merged visitor", async () => {
  const { workspace } = await mergeableVisitors();
  await workspace.visitors.change(3, 12, { name: "Amara K." });
  assert.equal(workspace.chats.peek(3)?.visitor.name, "Amara");
  await workspace.visitors.change(3, 12, { phone: "+225 27" });
  assert.equal(workspace.chats.peek(3)?.visitor.name, "Amara");
  await workspace.visitors.change(3, 12, { name: "" });
  assert.equal(workspace.chats.peek(3)?.visitor.name, "");
});

/** A workspace with one chat in the lists of each of visitors 12, 17 and 21. The service responds to the erasures of a
 * visitor with the next status given for this visitor, and 200 once there is none. */
function erasableVisitors(statuses: Record<string, number[]> = {}) {
  session.value = ME;
  const { api, calls } = fakeApi(({ path }) => {
    const status = statuses[path.split("/")[3] ?? ""]?.shift() ?? 200;
    return status === 200 ? jsonResponse({ removed, complete: true }) : errorResponse(status);
  });
  const workspace = new Workspace(ME, api, memoryStorage());
  const rowOf = (chatId: number, number: number) => chatRow(chatId, { visitor: { number, name: "Amara" } });
  workspace.chats.applyRows([rowOf(3, 12), rowOf(4, 17), rowOf(5, 21)]);
  const listed = () => [...workspace.chats.rows.peek().keys()];
  const erasures = () => calls.filter(({ method }) => method === "DELETE").map(({ path }) => path.split("/")[3]);
  return { visitors: workspace.visitors, listed, erasures };
}

test("erasure of merged visitors erases the named one last, and removes the chats of all from the lists", async () => {
  const { visitors, listed, erasures } = erasableVisitors();
  const progress: object[] = [];
  await visitors.erase(12, [17], (erased) => progress.push(erased));
  assert.deepEqual(erasures(), ["17", "12"]);
  assert.deepEqual(progress, [
    { chats: 2, entries: 9 },
    { chats: 4, entries: 18 },
  ]);
  assert.deepEqual(listed(), [5]);
});

test("erasure goes on with the named visitor if a merged one is gone", async () => {
  const { visitors, listed } = erasableVisitors({ 17: [404] });
  await visitors.erase(12, [17], () => {});
  assert.deepEqual(listed(), [5]);
});

test("erasure stops at a merged visitor whom the service cannot erase, and fails for a missing named one", async () => {
  const failed = erasableVisitors({ 17: [503] });
  await assert.rejects(failed.visitors.erase(12, [17], () => {}));
  assert.deepEqual(failed.erasures(), ["17"]);
  assert.deepEqual(failed.listed(), [3, 4, 5]);
  const missing = erasableVisitors({ 12: [404] });
  await assert.rejects(missing.visitors.erase(12, [17], () => {}));
  assert.deepEqual(missing.listed(), [3, 5]);
});
