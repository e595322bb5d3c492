import assert from "node:assert/strict";
import { test } from "node:test";
import {
  isForgottenShortcut,
  findCannedQuery,
  countCharacters,
  fillPlaceholders,
  matchCannedReplies,
} from "./composer-text";
import { fileNameFromUrl, fileTypeFromUrl, parseFileSize } from "./file-metadata";
import { formatFileSize, formatPlayTime, fitImage } from "./media";

test("characters are counted as in the service", () => {
  for (const text of ["", "abc", "Zoë", "👍", "a👍🏽b", "\ud800", "x\ud800y", "日本"])
    assert.equal(countCharacters(text), [...text].length, text);
});

test("slash at the start of a word searches canned replies", () => {
  assert.deepEqual(findCannedQuery("/he", 3), { from: 0, searchText: "he" });
  assert.deepEqual(findCannedQuery("Hi /", 4), { from: 3, searchText: "" });
  assert.deepEqual(findCannedQuery("Hi\n/re more", 6), { from: 3, searchText: "re" });
  for (const text of ["and/or", "https://x", "/he ", "1/2", ""])
    assert.equal(findCannedQuery(text, text.length), undefined, text);
});

test("placeholders of a canned reply are replaced", () => {
  assert.equal(
    fillPlaceholders("Hello {visitor}, I am {agent}.", { visitor: "Ada", agent: "Marta" }),
    "Hello Ada, I am Marta.",
  );
  assert.equal(
    fillPlaceholders("Hello {visitor}, I am {AGENT}.", { visitor: undefined, agent: "Marta" }),
    "Hello, I am Marta.",
  );
  assert.equal(fillPlaceholders("{visitor}", { visitor: "$&", agent: "" }).length > 0, true);
});

test("shortcuts that start with the search text come first", () => {
  const replies = ["label", "hello", "shell", "other"].map((shortcut) => ({
    shortcut,
    text: shortcut === "other" ? "Say hell no" : "",
  }));
  assert.deepEqual(
    matchCannedReplies(replies, "hell").map(({ shortcut }) => shortcut),
    ["hello", "shell", "other"],
  );
  assert.equal(matchCannedReplies(replies, "").length, 4);
});

test("file type and name are derived from the URL", () => {
  assert.equal(fileTypeFromUrl("https://x.example/a/Photo%201.JPG?size=2"), "photo");
  assert.equal(fileNameFromUrl("https://x.example/a/Photo%201.JPG?size=2"), "Photo 1.JPG");
  assert.equal(fileTypeFromUrl("https://x.example/a/film.mp4"), "video");
  assert.equal(fileTypeFromUrl("https://x.example/a/b.ogg"), "voice");
  assert.equal(fileTypeFromUrl("https://x.example/report"), "document");
  assert.equal(fileTypeFromUrl("not an address.png"), "document");
  assert.equal(fileNameFromUrl("https://x.example/%E0%A4"), "%E0%A4");
});

test("file sizes are parsed", () => {
  assert.equal(parseFileSize("912"), 912);
  assert.equal(parseFileSize("840 kB"), 840_000);
  assert.equal(parseFileSize("1,2MB"), 1_200_000);
  assert.equal(parseFileSize("2 MiB"), 2_097_152);
  for (const wrong of ["", "0", "big", "1.2.3 MB", "-4", "4 parsecs", "99999999999 GB"])
    assert.equal(parseFileSize(wrong), undefined, wrong);
});

test("file sizes and play times are formatted", () => {
  assert.deepEqual([12, 999, 1200, 88_000, 999_600, 1_240_000, 18_400_000].map(formatFileSize), [
    "12 bytes",
    "999 bytes",
    "1.2 kB",
    "88 kB",
    "1.0 MB",
    "1.2 MB",
    "18 MB",
  ]);
  assert.equal(formatFileSize(undefined), "");
  assert.deepEqual([17, 73, 600].map(formatPlayTime), ["0:17", "1:13", "10:00"]);
});

test("image keeps its aspect ratio when scaled down", () => {
  assert.deepEqual(fitImage(1600, 1200), { width: 320, height: 240 });
  assert.deepEqual(fitImage(1200, 1600), { width: 270, height: 360 });
  assert.deepEqual(fitImage(100, 50), { width: 100, height: 50 });
  assert.deepEqual(fitImage(undefined, 50), { width: 240, height: 180 });
});

test("shortcut that was not inserted is recognised before it is sent", () => {
  const replies = [{ shortcut: "/hi" }, { shortcut: "parcel" }];
  const table: [string, boolean][] = [
    ["/hi", true],
    ["/HI", true],
    ["/pa", true],
    ["/path", false],
    ["hi", false],
    ["/", false],
    ["/hi there", false],
  ];
  for (const [text, isShortcut] of table) assert.equal(isForgottenShortcut(text, replies), isShortcut, text);
  assert.equal(isForgottenShortcut("/path", undefined), true, "the replies are not loaded");
});
