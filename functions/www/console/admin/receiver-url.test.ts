import assert from "node:assert/strict";
import { test } from "node:test";
import { integratorUrlHelp } from "./receiver-url";

test("help says what becomes of the channel's id", () => {
  assert.match(integratorUrlHelp("https://a.example/in", true), /channel's id appended to the path/);
  assert.equal(integratorUrlHelp("https://a.example/in", false), "Agents' messages are sent there.");
  for (const appendsChannelId of [true, false]) {
    assert.match(
      integratorUrlHelp("https://a.example/{channel_id}/in", appendsChannelId),
      /in place of \{channel_id\}/,
    );
  }
});
