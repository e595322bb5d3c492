import assert from "node:assert/strict";
import { test } from "node:test";
import { announce, announcement } from "../../../ui/announcer";
import { toast, toasts } from "../../../ui/toast";
import { endSession } from "./session";
import { focusComposer, loadedPhotos, composerFocusRequest, overlay, searchQuery } from "../list/view-state";

test("end of a session leaves nothing of it on the page", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  overlay.value = { kind: "transfer", chatId: 7 };
  searchQuery.value = "ada@";
  loadedPhotos.value = new Set(["https://x.example/ada.png"]);
  focusComposer(7);
  toast("Your message to Ada was not delivered.", { durationMs: 20_000 });
  announce("Ada: Hello");
  endSession("expired");
  assert.equal(overlay.value, undefined);
  assert.equal(searchQuery.value, "");
  assert.equal(loadedPhotos.value.size, 0);
  assert.equal(composerFocusRequest.value, undefined);
  assert.deepEqual(toasts.value, []);
  assert.equal(announcement.value.text, "");
});
