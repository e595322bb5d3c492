import assert from "node:assert/strict";
import { test } from "node:test";
import { customFieldId, customFieldProblems, newCustomField, storedCustomFields } from "./custom-field-draft";

const QUESTION = { ...newCustomField([]), label: "Order number" };

test("new question has a key that no other question has", () => {
  assert.equal(newCustomField([]).key, "question_1");
  const others = [
    { ...QUESTION, key: "question_2" },
    { ...QUESTION, key: "order" },
  ];
  assert.equal(newCustomField(others).key, "question_3");
  assert.equal(newCustomField([{ ...QUESTION, key: "question_2" }]).key, "question_3");
});

test("only the parts of a question's type are stored", () => {
  const typed = { ...QUESTION, label: " Topic ", options: ["A", " ", " B "], link: " " };
  const stored = (type: typeof QUESTION.type) => storedCustomFields([{ ...typed, type }])[0];
  assert.deepEqual(stored("text"), { ...QUESTION, label: "Topic", type: "text" });
  assert.deepEqual(stored("select"), { ...QUESTION, label: "Topic", type: "select", options: ["A", "B"] });
  assert.equal(stored("consent")?.link, null);
});

test("each problem of a question is reported at its control", () => {
  assert.deepEqual(customFieldProblems([QUESTION]), {});
  const problems = customFieldProblems([
    QUESTION,
    { ...QUESTION, label: " " },
    { ...QUESTION, key: "Order no.", type: "select", options: [" "] },
  ]);
  assert.deepEqual(Object.keys(problems), [
    customFieldId(1, "label"),
    customFieldId(1, "key"),
    customFieldId(2, "key"),
    customFieldId(2, "options"),
  ]);
});
