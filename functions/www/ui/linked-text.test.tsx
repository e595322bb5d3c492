import assert from "node:assert/strict";
import { test } from "node:test";
import { initials } from "./avatar";
import { splitText } from "./linked-text";
import { formatAgo, formatDuration, formatElapsed, formatElapsedSpoken } from "./time";

const kinds = (text: string) => splitText(text).map(({ kind, text }) => `${kind}:${text}`);

test("links exclude trailing punctuation", () => {
  assert.deepEqual(kinds("See https://a.example/x, or (https://b.example)."), [
    "text:See ",
    "link:https://a.example/x",
    "text:, or (",
    "link:https://b.example",
    "text:).",
  ]);
  assert.deepEqual(kinds("https://en.example/wiki/Foo_(bar)."), ["link:https://en.example/wiki/Foo_(bar)", "text:."]);
  assert.deepEqual(kinds("no link: javascript:alert(1) ftp://x"), ["text:no link: javascript:alert(1) ftp://x"]);
});

test("blocked link is marked", () => {
  assert.deepEqual(kinds("Look at [link blocked]!"), ["text:Look at ", "blocked:[link blocked]", "text:!"]);
});

test("initials are from the first and the last word", () => {
  assert.deepEqual(
    ["João Ferreira", "marta", "Elif Wójcik-Andersen", "محمد عبد", "田中 由紀", "", "(Bob)"].map(initials),
    ["JF", "M", "EA", "م", "田", "", "B"],
  );
});

test("times are formatted", () => {
  assert.deepEqual([0, 48, 252, 3599, 3900, 90_000].map(formatElapsed), [
    "0:00",
    "0:48",
    "4:12",
    "59:59",
    "1 h 05",
    "1 d",
  ]);
  assert.deepEqual([1, 59, 60, 7200].map(formatElapsedSpoken), ["1 second", "59 seconds", "1 minute", "2 hours"]);
  assert.deepEqual(
    [10, 130, 7300].map((seconds) => formatAgo(1_760_000_000 - seconds, 1_760_000_000)),
    ["now", "2 min", "2 h"],
  );
  assert.deepEqual([84, 3012].map(formatDuration), ["84 ms", "3.0 s"]);
});
