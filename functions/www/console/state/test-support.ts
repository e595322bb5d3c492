/* For tests: a service that answers by a function, and shapes of the API. */

import { Api } from "../../api/client";
import type { ChatRow, Entry } from "../../api/types";
import { Shelf } from "../../ui/storage";

export interface Call {
  method: string;
  path: string;
  query: URLSearchParams;
  body: unknown;
  key: string | null;
}
type Answer = Response | Promise<Response>;

export function fakeApi(answer: (call: Call) => Answer | undefined): { api: Api; calls: Call[] } {
  const calls: Call[] = [];
  const api = new Api(
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
      return (await answer(call)) ?? failure(404);
    },
  );
  return { api, calls };
}

export const json = (body: unknown, status = 200) => Response.json(body, { status });
export const failure = (status: number, message = "no", headers: Record<string, string> = {}) =>
  Response.json({ error: { code: "x", message } }, { status, headers });

export function memoryShelf(): Shelf {
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
  return new Shelf(storage, "test.");
}

export function row(
  id: number,
  more: Partial<ChatRow> & { said?: [from: "visitor" | "agent" | "bot", at: number, text?: string] } = {},
): ChatRow {
  const { said = ["visitor", 1000], ...rest } = more;
  return {
    chat_id: id,
    state: "waiting",
    visitor: { number: id + 100, name: `Visitor of ${id}` },
    channel: { channel_id: "ch", name: "Shop" },
    agent: null,
    department: null,
    last_message: { from: said[0], type: "text", text: said[2] ?? "Hello", timestamp: said[1] },
    updated_at: said[1],
    ...rest,
  };
}
export const mine = { state: "active" as const, agent: { id: 1, name: "Marta" } };

export const entry = (seq: number, more: Partial<Entry> = {}): Entry => ({
  seq,
  id: `id-${seq}`,
  from: "visitor",
  type: "text",
  text: `text ${seq}`,
  timestamp: 1000 + seq,
  ...more,
});

export async function settled(): Promise<void> {
  for (let turn = 0; turn < 8; turn++) await new Promise((done) => setImmediate(done));
}
