import assert from "node:assert/strict";
import { test } from "node:test";
import { parseFrame } from "./frames";
import { toJson } from "./client";

const parse = (frame: unknown) => parseFrame(JSON.stringify(frame));

test("frames of the service are parsed", () => {
  const message = { v: 1, type: "message", chat_id: 7, seq: 3, message: { seq: 3, type: "text", text: "Hi" } };
  assert.deepEqual(parse(message), message);
  const typing = { v: 1, type: "typing", chat_id: 7, seq: 3, from: "agent", typing: true };
  assert.deepEqual(parse(typing), typing);
  const call = { v: 1, type: "call", chat_id: 7, seq: 3, call: { type: "callback", phone: "+31", status: "start" } };
  assert.deepEqual(parse(call), call);
  const mode = { v: 1, type: "mode", mode: "offline", agents: [] };
  assert.deepEqual(parse(mode), mode);
  const seen = { v: 1, type: "seen", chat_id: 7, seq: 3 };
  assert.deepEqual(parse(seen), seen);
  assert.equal(parse({ v: 1, type: "pong" }), "pong");
});

test("frame that was too large for the socket is incomplete", () => {
  assert.deepEqual(parse({ v: 1, type: "message", chat_id: 7, seq: 3 }), { type: "incomplete" });
});

test("frames of other versions and types are ignored", () => {
  for (const frame of [
    null,
    7,
    {},
    { v: 2, type: "pong" },
    { v: 1, type: "error", code: "rate_limited" },
    { v: 1, type: "message", chat_id: "7", message: {} },
  ])
    assert.equal(parse(frame), undefined, JSON.stringify(frame));
  for (const data of ["", "{", new ArrayBuffer(1)]) assert.equal(parseFrame(data), undefined);
});

test("halves of characters are replaced in requests", () => {
  const body = { title: "half \ud83d", text: "\\ud83d and 😀", other: '"\n' };
  assert.deepEqual(JSON.parse(toJson(body)), { ...body, title: "half \ufffd" });
});
