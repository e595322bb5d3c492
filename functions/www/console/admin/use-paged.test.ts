import assert from "node:assert/strict";
import { test } from "node:test";
import { readNextRows, withNextPage, type Page } from "./use-paged";

test("empty pages are read until one has a row", async () => {
  const cursors: (string | null)[] = [];
  const pages: Page<number>[] = [
    { rows: [], next: "1" },
    { rows: [], next: "2" },
    { rows: [7], next: "3" },
  ];
  const read = (_: string, cursor: string | null) => {
    cursors.push(cursor);
    return Promise.resolve(pages[cursors.length - 1] ?? { rows: [], next: null });
  };
  const { signal } = new AbortController();
  assert.deepEqual(await readNextRows(read, "query", null, signal), { rows: [7], next: "3" });
  assert.deepEqual(cursors, [null, "1", "2"]);
});

test("next page keeps the rows as they are now, each of them once", () => {
  const row = (id: string, state: string) => ({ id, state });
  const shown = {
    loadedKey: "query",
    rows: [row("1", "pending"), row("2", "failed")],
    next: "b",
    isLoading: true,
    problem: undefined,
    moreProblem: undefined,
  };
  const page = { rows: [row("1", "failed"), row("3", "failed")], next: null };
  const after = withNextPage(shown, page, ({ id }) => id);
  assert.deepEqual(after.rows, [row("1", "pending"), row("2", "failed"), row("3", "failed")]);
  assert.deepEqual([after.next, after.isLoading], [null, false]);
});
