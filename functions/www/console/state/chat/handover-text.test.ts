import { test } from "node:test";
import assert from "node:assert/strict";
import { timelineEntry } from "../test-support";
import { handoverEntry, handoverLabels } from "./handover-text";

const handover = { at: 1005, is_fallback: false, reason: null, priority: null, summary: "Refund" };

test("labels name the priority and the reason", () => {
  assert.deepEqual(handoverLabels({ reason: "sales", priority: "urgent" }), ["Urgent", "Sales"]);
  assert.deepEqual(handoverLabels({ reason: "complaint", priority: "normal" }), ["Complaint"]);
  assert.deepEqual(handoverLabels(handover), []);
});

test("the entry of an earlier handover is not used", () => {
  const earlier = timelineEntry(3, { type: "handover", from: "bot" });
  const current = timelineEntry(5, { type: "handover", from: "bot" });
  assert.equal(handoverEntry([earlier], handover), undefined);
  assert.equal(handoverEntry([earlier, current, timelineEntry(6)], handover), current);
});
