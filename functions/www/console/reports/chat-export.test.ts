import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiClient } from "../../api/client";
import type { ExportedChat } from "../../api/types";
import { createExport, exportFileName, exportQuery, joined, type ExportDraft } from "./chat-export";

const DRAFT: ExportDraft = { what: "range", chat: "", from: "", to: "", channelId: "", format: "json" };
const chatOf = (chat_id: number, ...seqs: number[]) =>
  ({ chat_id, messages: seqs.map((seq) => ({ seq })) }) as unknown as ExportedChat;

/** Returns a client whose requests get these responses in order, and the requested URLs. */
function clientOf(responses: (() => Response)[]) {
  const urls: string[] = [];
  const respond = (url: RequestInfo | URL) => {
    urls.push(String(url));
    return Promise.resolve(responses[urls.length - 1]?.() ?? new Response("", { status: 500 }));
  };
  return { urls, api: new ApiClient(() => undefined, "", respond) };
}

test("pages are joined into one JSON file", async () => {
  const { api, urls } = clientOf([
    () => Response.json({ chats: [chatOf(1, 1, 2), chatOf(2, 1)], next: "5-2-1" }),
    () => Response.json({ chats: [chatOf(2, 2, 3), chatOf(1, 2, 3)], next: null }),
  ]);
  const data = createExport(api, { from: 7 }, "json");
  await data.readPage();
  assert.deepEqual(data.progress, { chats: 2, entries: 3, isComplete: false });
  await data.readPage();
  assert.deepEqual(data.progress, { chats: 2, entries: 6, isComplete: true });
  assert.deepEqual(JSON.parse(data.parts.join("")), [chatOf(1, 1, 2, 3), chatOf(2, 1, 2, 3)]);
  assert.deepEqual(urls, ["/admin/chats/export?from=7", "/admin/chats/export?from=7&cursor=5-2-1"]);
});

test("pages of CSV are joined, and the cursor is in a header", async () => {
  const { api, urls } = clientOf([
    () => new Response('\ufeff"chat_id","text"\r\n"1","two\r\nlines"\r\n', { headers: { "x-next-cursor": "0-1-1" } }),
    () => new Response('"1","end"\r\n'),
  ]);
  const data = createExport(api, { chat_id: 1 }, "csv");
  await data.readPage();
  assert.deepEqual(data.progress, { chats: undefined, entries: 1, isComplete: false });
  await data.readPage();
  assert.deepEqual(data.progress, { chats: undefined, entries: 2, isComplete: true });
  assert.equal(data.parts.join(""), '\ufeff"chat_id","text"\r\n"1","two\r\nlines"\r\n"1","end"\r\n');
  const file = Buffer.from(await new Blob([...data.parts]).arrayBuffer());
  assert.equal(file.subarray(0, 4).toString("hex"), "efbbbf22", "there is one byte-order mark, at the beginning");
  assert.deepEqual(urls, ["/admin/chats/export.csv?chat_id=1", "/admin/chats/export.csv?chat_id=1&cursor=0-1-1"]);
});

test("later part of a chat replaces equal entries", () => {
  assert.deepEqual(joined(undefined, chatOf(1, 1)), chatOf(1, 1));
  assert.deepEqual(joined(chatOf(1, 3, 4), chatOf(1, 4, 5)), chatOf(1, 3, 4, 5));
});

test("query of an export has whole days", () => {
  const range = exportQuery({ ...DRAFT, from: "2026-11-01", to: "2026-11-02", channelId: "c" });
  assert.ok("from" in range && range.from !== undefined && range.to !== undefined);
  assert.equal(range.to - range.from, 2 * 86_400 - 1);
  assert.deepEqual(exportQuery(DRAFT), {});
  assert.deepEqual(exportQuery({ ...DRAFT, what: "chat", chat: " #12 " }), { chat_id: 12 });
  const problemOf = (draft: Partial<ExportDraft>) => {
    const query = exportQuery({ ...DRAFT, ...draft });
    return "field" in query ? query.field : undefined;
  };
  assert.equal(problemOf({ what: "chat", chat: "Amara" }), "chat_id");
  assert.equal(problemOf({ from: "2026-11-02", to: "2026-11-01" }), "to");
  assert.equal(problemOf({ from: "2026-11-02", to: "2026-11-02" }), undefined);
});

test("name of the file says what it contains", () => {
  assert.equal(exportFileName({ ...DRAFT, what: "chat", chat: "#7", format: "csv" }), "chat-7.csv");
  assert.equal(
    exportFileName({ ...DRAFT, from: "2026-11-01", to: "2026-11-02" }),
    "chats-from-2026-11-01-to-2026-11-02.json",
  );
  assert.equal(exportFileName(DRAFT), "chats.json");
});
