import assert from "node:assert/strict";
import { test } from "node:test";
import { countCsvLines, csvText } from "./csv";

test("cells are quoted and never formulas", () => {
  const table = csvText(
    ["Day", "Chats"],
    [
      ['Say "hi"', 12],
      ["=1+1", null],
      ["-", 0.5],
      ["＝1+1", 1],
    ],
  );
  assert.equal(table, '\ufeff"Day","Chats"\r\n"Say ""hi""",12\r\n"\'=1+1",\r\n"\'-",0.5\r\n"\'＝1+1",1\r\n');
});

test("line breaks in quoted cells are not counted", () => {
  assert.equal(countCsvLines(""), 0);
  assert.equal(countCsvLines('"a","b"\r\n"two\r\nlines","say ""x""\n"\r\n'), 2);
});
