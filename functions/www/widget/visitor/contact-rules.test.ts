import assert from "node:assert/strict";
import { test } from "node:test";
import type { CustomFieldSetting, Settings } from "../service/types";
import texts from "../../texts/en/widget";
import { findErrors, findOfflineErrors, formField, formVersion, isKnown, nonBlank, splitValues } from "./contact-rules";

const QUESTION: CustomFieldSetting = {
  key: "order",
  label: "Order number",
  type: "text",
  options: [],
  link: null,
  required: false,
};
const CONSENT: CustomFieldSetting = { ...QUESTION, key: "terms", type: "consent", required: true };
const formWith = (fields: Partial<Settings["contacts_form"]>): Settings["contacts_form"] => ({
  when: "before_first_message",
  fields: ["name"],
  required: [],
  custom_fields: [],
  ...fields,
});
const AMARA = { client_name: "Amara", email: null, phone: null, description: null };

test("blank texts and other values of a page are left out", () => {
  assert.deepEqual(nonBlank({ name: " Amara ", email: " ", phone: null, id: 7 }), { name: "Amara" });
});

test("required questions must be answered, each with its own words", () => {
  const form = formWith({ custom_fields: [{ ...QUESTION, required: true }, CONSENT] });
  assert.deepEqual(findErrors({ "answers.order": " " }, form, texts), {
    "answers.order": texts.required,
    "answers.terms": texts.agree,
  });
  assert.deepEqual(findErrors({ "answers.order": "4711", "answers.terms": "on" }, form, texts), {});
  assert.deepEqual(findErrors({}, formWith({ custom_fields: [QUESTION] }), texts), {});
});

test("offline form needs a message, an address for the answer, and the required answers", () => {
  const form = formWith({ fields: ["email", "phone"], custom_fields: [CONSENT] });
  assert.deepEqual(findOfflineErrors({}, form, texts), {
    message: texts.required,
    email: texts.emailOrPhone,
    "answers.terms": texts.agree,
  });
  assert.deepEqual(findOfflineErrors({ message: "Hi" }, formWith({}), texts), { email: texts.required });
});

test("answers are separated from the contact data, and a ticked box is true", () => {
  const values = { name: " Amara ", "answers.order": " 4711 ", "answers.terms": "on" };
  assert.deepEqual(splitValues(values, [QUESTION, CONSENT]), {
    fields: { name: "Amara" },
    answers: { order: "4711", terms: true },
  });
  assert.deepEqual(splitValues({ name: "Amara" }, [QUESTION, CONSENT]), {
    fields: { name: "Amara" },
    answers: undefined,
  });
});

test("form is shown to a known visitor who must still agree", () => {
  assert.equal(isKnown(formWith({}), AMARA), true);
  assert.equal(isKnown(formWith({ custom_fields: [QUESTION] }), AMARA), true);
  assert.equal(isKnown(formWith({ custom_fields: [CONSENT] }), AMARA), false);
});

test("completed form is shown again when it has other questions", () => {
  assert.equal(formVersion(formWith({})), true);
  const versions = [[QUESTION], [QUESTION, CONSENT], [CONSENT]].map((custom_fields) =>
    formVersion(formWith({ custom_fields })),
  );
  assert.equal(new Set(versions).size, 3);
});

test("error of the service is shown at the field that it names", () => {
  assert.equal(formField("contact_info.email"), "email");
  assert.equal(formField("answers.terms"), "answers.terms");
  assert.equal(formField("message"), "message");
  assert.equal(formField(undefined), "message");
});
