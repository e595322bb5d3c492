import assert from "node:assert/strict";
import { test } from "node:test";
import {
  hoursDraftOf,
  hoursProblems,
  intervalsOf,
  newHours,
  nextInterval,
  stateText,
  withIntervals,
  type HoursException,
} from "./business-hours-draft";

const HOURS = newHours("Europe/Berlin");
const office = { from: "09:00", to: "17:00" };
const christmas: HoursException = { name: "Christmas", first_day: "2026-12-24", last_day: "2026-12-26", hours: [] };

test("a draft has no state", () => {
  assert.deepEqual(hoursDraftOf({ ...HOURS, is_open: true, changes_at: null }), HOURS);
  assert.equal(hoursDraftOf(null), null);
});

test("intervals of one day are replaced", () => {
  const night = { from: "22:00", to: "06:00" };
  const changed = withIntervals(HOURS, 2, [night, office]);
  assert.deepEqual(intervalsOf(changed, 2), [night, office]);
  assert.deepEqual(
    changed.weekly.map(({ day }) => day),
    [1, 2, 2, 3, 4, 5],
  );
  assert.deepEqual(intervalsOf(withIntervals(HOURS, 1, []), 1), []);
});

test("a new interval follows the last one", () => {
  assert.deepEqual(nextInterval([]), office);
  assert.deepEqual(nextInterval([office]), { from: "18:00", to: "22:00" });
  assert.deepEqual(nextInterval([{ from: "09:00", to: "22:00" }]), { from: "23:00", to: "24:00" });
  assert.deepEqual(nextInterval([{ from: "20:00", to: "23:30" }]), office);
});

test("problems name the day or the exception", () => {
  const weekly = (from: string, to: string) => hoursProblems(withIntervals(HOURS, 3, [{ from, to }]));
  for (const [from, to] of [
    ["9:00", "17:00"],
    ["09:00", "24:01"],
    ["24:00", "06:00"],
    ["09:00", "09:00"],
  ] as const)
    assert.match(weekly(from, to)["business_hours.weekly"] ?? "", /^Wednesday: /, `${from} to ${to}`);
  assert.deepEqual(weekly("00:00", "24:00"), {});
  assert.deepEqual(weekly("22:00", "06:00"), {});
  assert.deepEqual(hoursProblems(null), {});

  const exceptions = (other: Partial<HoursException>) =>
    hoursProblems({ ...HOURS, exceptions: [christmas, { ...christmas, name: "B", ...other }] })[
      "business_hours.exceptions"
    ];
  assert.equal(exceptions({ first_day: "2026-12-27", last_day: "2026-12-27" }), undefined);
  assert.match(exceptions({ name: " " }) ?? "", /name/);
  assert.match(exceptions({ first_day: "2026-12-28", last_day: "2026-12-27" }) ?? "", /^B: the last day/);
  assert.match(exceptions({ first_day: "2026-12-26", last_day: "2026-12-27" }) ?? "", /^B: Christmas/);
  const inverted = { first_day: "2026-12-27", last_day: "2026-12-27", hours: [{ from: "", to: "10:00" }] };
  assert.match(exceptions(inverted) ?? "", /^B: enter times/);
});

test("the state says when it changes", () => {
  const text = (is_open: boolean, changes_at: number | null) =>
    stateText({ ...HOURS, is_open, changes_at }, (at) => `at ${at}`);
  assert.equal(text(true, 7), "Open now, until at 7.");
  assert.equal(text(false, 7), "Closed now. Opens at 7.");
  assert.equal(text(true, null), "Always open.");
  assert.equal(text(false, null), "Closed for a year or longer.");
});
