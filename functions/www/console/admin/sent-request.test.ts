import assert from "node:assert/strict";
import { test } from "node:test";
import type { SentRequest } from "../../api/types";
import { curlText, isForCurl, requestText } from "./sent-request";

const REQUEST: SentRequest = {
  method: "POST",
  url: "https://shop.example/hooks",
  headers: [{ name: "webhook-id", value: "a1" }],
  body: '{"a":1}',
  body_truncated: false,
};

test("request is shown with headers and indented body", () => {
  assert.equal(requestText(REQUEST), 'POST https://shop.example/hooks\nwebhook-id: a1\n\n{\n  "a": 1\n}');
  assert.ok(requestText({ ...REQUEST, body: "a=1" }).endsWith("\n\na=1"));
  assert.ok(requestText({ ...REQUEST, body: '{"a":', body_truncated: true }).endsWith('{"a":…'));
});

test("only a request to a server can be copied for curl", () => {
  assert.ok(isForCurl(REQUEST));
  assert.ok(!isForCurl({ ...REQUEST, method: "SendMessage" }));
  assert.ok(!isForCurl({ ...REQUEST, url: "" }));
  assert.ok(!isForCurl({ ...REQUEST, body_truncated: true }));
});

test("request is copied as a command that a shell reads as one", () => {
  const request = {
    method: "POST",
    url: "https://crm.example/hook?a=1&b=2",
    headers: [
      { name: "content-type", value: "application/json" },
      { name: "Host", value: "crm.example" },
    ],
    body: `{"text":"it's $HOME"}`,
    body_truncated: false,
  };
  assert.equal(
    curlText(request as Parameters<typeof curlText>[0]),
    "curl -X POST 'https://crm.example/hook?a=1&b=2' \\\n  -H 'content-type: application/json' \\\n" +
      `  --data-raw '{"text":"it'\\''s $HOME"}'`,
  );
});
