import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChatVisitor, Visitor } from "../../api/types";
import { chatRow, fakeApi, jsonResponse } from "../state/test-support";
import { duplicateSearch, mergeableVisitors, readMergeSubject, withChanges } from "./merge-subject";

const rowOf = (chatId: number, number: number, channel = "Shop") =>
  chatRow(chatId, { visitor: { number, name: "Amara" }, channel: { channel_id: channel, name: channel } });
const visitorOf = (fields: Partial<ChatVisitor>) => ({ number: 12, name: "Amara", ...fields }) as ChatVisitor;

test("visitor is read from the newest of the own chats", async () => {
  const { api } = fakeApi(({ path }) => {
    if (path === "/agent/visitors/12/chats")
      return jsonResponse({ chats: [rowOf(9, 17, "Portal"), rowOf(8, 12)], next: null });
    return path === "/agent/chats/8" ? jsonResponse({ visitor: visitorOf({ merged_with: [17] }) }) : undefined;
  });
  const subject = await readMergeSubject(api, 12);
  assert.deepEqual(subject?.visitor.merged_with, [17]);
  assert.deepEqual(Object.fromEntries(subject?.channels ?? []), { 12: "Shop", 17: "Portal" });
});

test("merged visitors follow each change", () => {
  const subject = { visitor: visitorOf({ chats_count: 3 }), channels: new Map([[12, "Shop"]]) };
  const merged = withChanges(subject, visitorOf({ merged_with: [17] }), [rowOf(9, 17, "Portal")]);
  assert.deepEqual(merged.visitor, visitorOf({ chats_count: 3, merged_with: [17] }));
  assert.equal(merged.channels.get(17), "Portal");
  const separated = withChanges(merged, visitorOf({}) as Visitor);
  assert.equal(separated.visitor.merged_with, undefined);
});

test("duplicates are searched by e-mail address, or else by phone number", () => {
  assert.equal(duplicateSearch({ email: "amara@example.com", phone: "+225 27" }), "amara@example.com");
  assert.equal(duplicateSearch({ email: "", phone: "+225 27" }), "+225 27");
  assert.equal(duplicateSearch({ email: "[link blocked]", phone: null }), "");
});

test("visitor and those who are merged already are not offered", () => {
  const rows = [rowOf(9, 21), rowOf(8, 12), rowOf(7, 17), rowOf(6, 21)];
  const offered = mergeableVisitors(rows, { number: 12, merged_with: [17] });
  assert.deepEqual(
    offered.map(({ visitor, chat_id }) => [visitor.number, chat_id]),
    [[21, 9]],
  );
});
