import assert from "node:assert/strict";
import { test } from "node:test";
import { hrefOf, parseRoute } from "./route";
import { curlCommand, sameOriginPath } from "../first-run/test-message";
import { browserName } from "../visitor/browser-name";

const SECTIONS = ["inbox", "visitors", "channels", "bots", "deliveries", "team", "reports", "settings"];
const parse = (hash: string) => parseRoute(hash, SECTIONS);

test("routes are formatted and parsed", () => {
  for (const hash of [
    "#/",
    "#/chat/7",
    "#/visitors",
    "#/visitors/12",
    "#/visitors/12/erase",
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

test("only a same-origin endpoint can be called from the page", () => {
  assert.equal(sameOriginPath("http://127.0.0.1:3000/channel/s/c", "http://127.0.0.1:3000"), "/channel/s/c");
  assert.equal(sameOriginPath("https://other.example/channel/s/c", "http://127.0.0.1:3000"), undefined);
  assert.equal(sameOriginPath("nothing", "http://127.0.0.1:3000"), undefined);
  assert.match(curlCommand("https://x.example/c"), /^curl -d '\{.*\}' https:\/\/x\.example\/c$/);
});

test("browser names are derived from the user agent", () => {
  assert.equal(
    browserName("Mozilla/5.0 (Android 14; Mobile; rv:132.0) Gecko/132.0 Firefox/132.0"),
    "Firefox 132, Android",
  );
  assert.equal(
    browserName(
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/147.0.0.0 Safari/537.36 Edg/147.0.0.0",
    ),
    "Edge 147, Windows",
  );
  assert.equal(
    browserName(
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
    ),
    "Safari 18, iPhone",
  );
  assert.equal(browserName("curl/8.9"), "curl/8.9");
});
