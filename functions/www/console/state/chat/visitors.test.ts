import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { ApiError } from "../../../api/client";
import { session, type Session } from "../agent/session";
import { fakeApi, jsonResponse, memoryStorage } from "../test-support";
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
  await new Workspace(ME, api, memoryStorage()).visitors.erase(7, (erased) => progress.push(erased));
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
    const erasure = new Workspace(ME, api, memoryStorage()).visitors.erase(7, () => {});
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
  await new Workspace(ME, api, memoryStorage()).visitors.erase(7, () => {});
  assert.ok(Number(timeouts[0]) > 20_000, "the service may work for twenty seconds");
});
