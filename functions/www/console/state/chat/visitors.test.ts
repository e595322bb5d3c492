import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { ApiError } from "../../../api/client";
import { session, type Session } from "../agent/session";
import type { Visitor } from "../../../api/types";
import { chatRow, fakeApi, flushPromises, jsonResponse, memoryStorage } from "../test-support";
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
  await new Workspace(ME, api, memoryStorage()).visitors.erase({ number: 7 }, (erased) => progress.push(erased));
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
    const erasure = new Workspace(ME, api, memoryStorage()).visitors.erase({ number: 7 }, () => {});
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
  await new Workspace(ME, api, memoryStorage()).visitors.erase({ number: 7 }, () => {});
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
  assert.equal(workspace.chats.peek(3)?.visitor.name, "Amara");
  await workspace.visitors.separate(12);
  await flushPromises();
  assert.deepEqual(calls.filter(({ method }) => method === "PATCH").at(-1)?.body, { separate: true });
  assert.deepEqual([mergedWith(3), mergedWith(4)], [undefined, undefined]);
});

test("erasure removes the chats of merged visitors from the lists", async () => {
  session.value = ME;
  const { api } = fakeApi(() => jsonResponse({ removed, complete: true }));
  const workspace = new Workspace(ME, api, memoryStorage());
  const rowOf = (chatId: number, number: number) => chatRow(chatId, { visitor: { number, name: "Amara" } });
  workspace.chats.applyRows([rowOf(3, 12), rowOf(4, 17), rowOf(5, 21)]);
  await workspace.visitors.erase({ number: 12, merged_with: [17] }, () => {});
  assert.deepEqual([...workspace.chats.rows.peek().keys()], [5]);
});
