import assert from "node:assert/strict";
import { test } from "node:test";
import { findMentionQuery, matchAgents, mentionedIds, splitMentions } from "./mentions";

const AGENTS = [
  { id: 1, name: "Ann" },
  { id: 2, name: "Ann Lee" },
  { id: 3, name: "Zoë Ångström" },
];

test("at sign at the start of a word searches agents", () => {
  assert.deepEqual(findMentionQuery("Hi @an", 6), { from: 3, searchText: "an" });
  assert.deepEqual(findMentionQuery("(@", 2), { from: 1, searchText: "" });
  for (const text of ["a@b", "@ann lee", "@@"]) assert.equal(findMentionQuery(text, text.length), undefined, text);
});

test("agents are found by the beginning of each of their names", () => {
  const found = (text: string) => matchAgents(AGENTS, text).map(({ id }) => id);
  assert.deepEqual([found("AN"), found("lee"), found("ång"), found("x")], [[1, 2], [2], [3], []]);
});

test("longest name after an at sign is the one that is mentioned", () => {
  assert.deepEqual(splitMentions("@Ann Lee, ask @Ann.", AGENTS), [
    { text: "@Ann Lee", agentId: 2 },
    { text: ", ask " },
    { text: "@Ann", agentId: 1 },
    { text: "." },
  ]);
  assert.deepEqual(mentionedIds("@Ann @Zoë Ångström @Ann", AGENTS), [1, 3]);
});

test("name within a longer word and an unknown name are plain text", () => {
  for (const text of ["@Annabel", "@Ben", "@", "no name"]) assert.deepEqual(mentionedIds(text, AGENTS), [], text);
});
