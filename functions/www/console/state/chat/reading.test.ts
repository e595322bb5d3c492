import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry } from "../../../api/types";
import { SeenNotice } from "./reading";

const entries = (...from: ("visitor" | "agent")[]) =>
  from.map((author, index) => ({ seq: index + 1, from: author })) as unknown as Entry[];

test("each message of the visitor is reported once", () => {
  const sent: [number, number][] = [];
  let isConnected = false;
  const notice = new SeenNotice((chatId, seq) => isConnected && sent.push([chatId, seq]) > 0);
  notice.onRead(7, entries("visitor"));
  assert.deepEqual(sent, [], "there is no connection");
  isConnected = true;
  for (const log of [
    entries("visitor"),
    entries("visitor"),
    entries("visitor", "agent"),
    entries("visitor", "agent", "visitor", "visitor"),
  ])
    notice.onRead(7, log);
  notice.onRead(8, entries("agent"));
  assert.deepEqual(sent, [
    [7, 1],
    [7, 4],
  ]);
});
