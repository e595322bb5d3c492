import assert from "node:assert/strict";
import { test } from "node:test";
import { curlCommand, sameOriginPath } from "./test-message";

test("only a same-origin endpoint can be called from the page", () => {
  assert.equal(sameOriginPath("http://127.0.0.1:3000/channel/s/c", "http://127.0.0.1:3000"), "/channel/s/c");
  assert.equal(sameOriginPath("https://other.example/channel/s/c", "http://127.0.0.1:3000"), undefined);
  assert.equal(sameOriginPath("nothing", "http://127.0.0.1:3000"), undefined);
  assert.match(curlCommand("https://x.example/c"), /^curl -d '\{.*\}' https:\/\/x\.example\/c$/);
});
