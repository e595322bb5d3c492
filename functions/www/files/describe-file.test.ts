import assert from "node:assert/strict";
import { test } from "node:test";
import { messageTypeOf, uploadTypeOf } from "./describe-file.ts";

test("a file has the type that the service knows", () => {
  for (const [name, type, expected] of [
    ["a.png", "image/png", "image/png"],
    ["a.webm", "audio/webm;codecs=opus", "audio/webm"],
    ["a.m4a", "audio/x-m4a", "audio/mp4"],
    ["a.csv", "application/vnd.ms-excel", "text/csv"],
    ["a.zip", "application/x-zip-compressed", "application/zip"],
    ["A.DOCX", "", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
    ["a", "", "application/octet-stream"],
    ["a.heic", "image/heic", "application/octet-stream"],
  ] as const)
    assert.equal(uploadTypeOf({ name, type }), expected, name);
});

test("only pictures that browsers show are photos", () => {
  assert.equal(messageTypeOf("image/webp"), "photo");
  assert.equal(messageTypeOf("image/svg+xml"), "document");
  assert.equal(messageTypeOf("video/webm"), "video");
  assert.equal(messageTypeOf("audio/webm"), "audio");
  assert.equal(messageTypeOf("application/pdf"), "document");
});
