/* Helpers for the unit tests: a fake API whose responses are computed by a function, and sample rows and entries. */

import { ApiClient } from "../../api/client";
import type { ChatRow, Entry } from "../../api/types";
import { PrefixedStorage } from "../../ui/storage";

export interface RecordedCall {
  method: string;
  path: string;
  query: URLSearchParams;
  body: unknown;
  key: string | null;
}
type FakeResponse = Response | Promise<Response>;

export function fakeApi(respond: (call: RecordedCall) => FakeResponse | undefined): {
  api: ApiClient;
  calls: RecordedCall[];
} {
  const calls: RecordedCall[] = [];
  const api = new ApiClient(
    () => "token",
    "",
    async (address, init) => {
      const url = new URL(String(address), "http://service.example");
      const call = {
        method: init?.method ?? "GET",
        path: url.pathname,
        query: url.searchParams,
        body: typeof init?.body === "string" ? JSON.parse(init.body) : undefined,
        key: new Headers(init?.headers).get("idempotency-key"),
      };
      calls.push(call);
      return (await respond(call)) ?? errorResponse(404);
    },
  );
  return { api, calls };
}

export const jsonResponse = (body: unknown, status = 200) => Response.json(body, { status });
export const errorResponse = (status: number, message = "no", headers: Record<string, string> = {}) =>
  Response.json({ error: { code: "x", message } }, { status, headers });

export function memoryStorage(): PrefixedStorage {
  const values = new Map<string, string>();
  const storage: Storage = {
    get length() {
      return values.size;
    },
    key: (index) => [...values.keys()][index] ?? null,
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => void values.set(key, value),
    removeItem: (key) => void values.delete(key),
    clear: () => values.clear(),
  };
  return new PrefixedStorage(storage, "test.");
}

export function chatRow(
  id: number,
  overrides: Partial<ChatRow> & { lastMessage?: [from: "visitor" | "agent" | "bot", at: number, text?: string] } = {},
): ChatRow {
  const { lastMessage = ["visitor", 1000], ...rest } = overrides;
  return {
    chat_id: id,
    state: "waiting",
    visitor: { number: id + 100, name: `Visitor of ${id}` },
    channel: { channel_id: "ch", name: "Shop" },
    agent: null,
    department: null,
    last_message: {
      from: lastMessage[0],
      agent_id: lastMessage[0] === "agent" ? 1 : null,
      type: "text",
      text: lastMessage[2] ?? "Hello",
      timestamp: lastMessage[1],
    },
    failed_messages: 0,
    updated_at: lastMessage[1],
    seq: 1,
    waiting_since: null,
    handover: null,
    ...rest,
  };
}
export const ownChat = { state: "active" as const, agent: { id: 1, name: "Marta" } };

export const timelineEntry = (seq: number, overrides: Partial<Entry> = {}): Entry => ({
  seq,
  id: `id-${seq}`,
  from: "visitor",
  type: "text",
  text: `text ${seq}`,
  timestamp: 1000 + seq,
  ...overrides,
});

export async function flushPromises(): Promise<void> {
  for (let turn = 0; turn < 8; turn++) await new Promise((done) => setImmediate(done));
}
