import assert from "node:assert/strict";
import { test } from "node:test";
import {
  answerTimesDraftOf,
  answerTimesOf,
  answerTimesProblems,
  assignmentDraftOf,
  assignmentOf,
  assignmentProblems,
  departmentAssignmentOf,
} from "./assignment-draft";

test("a stored assignment is unchanged by its draft", () => {
  for (const stored of [
    null,
    { mode: "round_robin", capacity: 3, offer_seconds: null },
    { mode: "least_busy", capacity: 7, offer_seconds: 20 },
  ] as const)
    assert.deepEqual(assignmentOf(assignmentDraftOf(stored)), stored);
  const ofDepartment = { mode: "manual", offer_seconds: 30 } as const;
  assert.deepEqual(departmentAssignmentOf(assignmentDraftOf(ofDepartment)), ofDepartment);
});

test("numbers outside their range are named", () => {
  const draft = { mode: "manual", capacity: "0", offer_seconds: "4" } as const;
  assert.deepEqual(Object.keys(assignmentProblems(draft)), ["assignment.capacity", "assignment.offer_seconds"]);
  assert.deepEqual(assignmentProblems({ ...draft, capacity: "1", offer_seconds: undefined }), {});
});

test("blank answer times have no limit", () => {
  const stored = { first_answer_seconds: 60, next_answer_seconds: null };
  assert.deepEqual(answerTimesOf(answerTimesDraftOf(stored)), stored);
  const problems = answerTimesProblems({ first_answer_seconds: "", next_answer_seconds: "9" });
  assert.deepEqual(Object.keys(problems), ["answer_times.next_answer_seconds"]);
});
