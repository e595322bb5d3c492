import assert from "node:assert/strict";
import { test } from "node:test";
import { browserName } from "./browser-name";

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
