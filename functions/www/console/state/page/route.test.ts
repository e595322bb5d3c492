import assert from "node:assert/strict";
import { test } from "node:test";
import { hrefOf, parseRoute } from "./route";

const SECTIONS = ["inbox", "visitors", "channels", "bots", "deliveries", "team", "reports", "settings"];
const parse = (hash: string) => parseRoute(hash, SECTIONS);

test("routes are formatted and parsed", () => {
  for (const hash of [
    "#/",
    "#/chat/7",
    "#/?unread=true",
    "#/chat/7?tagId=3",
    "#/visitors",
    "#/visitors/12",
    "#/visitors/12/erase",
    "#/visitors/12/merge",
    "#/channels",
    "#/channels/a1-B_2",
    "#/deliveries/webhooks/x1",
    "#/team/departments/3",
    "#/settings/rules",
    "#/settings/audit",
    "#/reports/export",
    "#/deliveries?state=all&target=webhook",
  ])
    assert.equal(hrefOf(parse(hash)), hash);
  assert.deepEqual(parse("#/bots/a%20b"), { section: "bots", id: undefined });
});

test("unknown address opens the inbox", () => {
  for (const hash of [
    "",
    "#",
    "#/chat/",
    "#/chat/0",
    "#/chat/x1",
    "#/nowhere/7",
    "#code=abc",
    "#/chat/99999999999999999999",
  ]) {
    assert.deepEqual(parse(hash), { section: "inbox", id: undefined }, hash);
  }
});
