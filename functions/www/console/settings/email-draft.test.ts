import assert from "node:assert/strict";
import { test } from "node:test";
import { EMAIL_FIELDS, emailDraftOf, emailOf, emailProblems, newEmailDraft } from "./email-draft";

const STORED = {
  sender_name: "Shop",
  transcript_to: ["a@shop.example", "b@shop.example"],
  transcript_to_visitor: false,
  answers_to_visitor: true,
  away_minutes: 5,
};

test("a stored setting is the same after it was shown", () => {
  assert.deepEqual(emailOf(emailDraftOf(STORED), STORED), STORED);
  assert.equal(emailOf(emailDraftOf(null), null), null);
});

test("problems are reported at their fields", () => {
  assert.deepEqual(emailProblems(emailDraftOf(STORED)), {});
  assert.deepEqual(emailProblems(null), {});
  const wrong = { ...newEmailDraft(), transcript_to: "team", away_minutes: "16" };
  assert.deepEqual(Object.keys(emailProblems(wrong)), EMAIL_FIELDS);
  const many = { ...newEmailDraft(), sender_name: "Shop", transcript_to: "a@b.example\n".repeat(6) };
  assert.deepEqual(Object.keys(emailProblems(many)), ["email.transcript_to"]);
});

test("minutes are not checked or changed while no answers are sent", () => {
  const draft = { ...newEmailDraft(), sender_name: "Shop", answers_to_visitor: false, away_minutes: "" };
  assert.deepEqual(emailProblems(draft), {});
  assert.equal(emailOf(draft, { ...STORED, away_minutes: 9 })?.away_minutes, 9);
  assert.equal(emailOf(draft, null)?.away_minutes, 5);
});
