import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldValueOf, snoozeTimes } from "./snooze-times.ts";

const shown = (now: string) => snoozeTimes(new Date(now)).map(({ label, at }) => `${label} ${fieldValueOf(at)}`);

test("times to choose from lie in the agent's time zone", () => {
  assert.deepEqual(shown("2026-11-25T10:20:00"), [
    "In an hour 2026-11-25T11:20",
    "This evening 2026-11-25T18:00",
    "Tomorrow morning 2026-11-26T09:00",
    "Next week 2026-11-30T09:00",
  ]);
});

test("evening is not offered when it is near", () => {
  assert.equal(
    shown("2026-11-25T17:45:00").some((text) => text.startsWith("This evening")),
    false,
  );
});

test("next week begins on the next Monday", () => {
  for (const [day, monday] of [
    ["2026-11-29", "2026-11-30"],
    ["2026-11-30", "2026-12-07"],
  ])
    assert.equal(shown(`${day}T08:00:00`).at(-1), `Next week ${monday}T09:00`);
});
