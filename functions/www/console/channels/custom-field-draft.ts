/* The account's own questions in the contacts form while an admin edits them. */

import type { WidgetSettings } from "../../api/types";
import { t } from "../../texts/translate";

export type CustomField = WidgetSettings["contacts_form"]["custom_fields"][number];

export const MAX_CUSTOM_FIELDS = 5;
/** The name of the list in the service's errors. */
export const CUSTOM_FIELDS_ID = "widget.contacts_form.custom_fields";

/** Returns the id of a control, which is the name of the field in the service's errors. */
export const customFieldId = (index: number, name: keyof CustomField): string =>
  `${CUSTOM_FIELDS_ID}[${index}].${name}`;

/** The ids of the controls that show their own problems. */
export const CUSTOM_FIELD_IDS = Array.from({ length: MAX_CUSTOM_FIELDS }, (_, index) =>
  (["label", "key", "options", "link"] as const).map((name) => customFieldId(index, name)),
).flat();

/** Returns an empty question whose key differs from the others. */
export function newCustomField(others: readonly CustomField[]): CustomField {
  const keys = others.map(({ key }) => key);
  let number = others.length + 1;
  while (keys.includes(`question_${number}`)) number++;
  return { key: `question_${number}`, label: "", type: "text", options: [], link: null, required: false };
}

/** Returns the questions as they are stored: without blank choices, and with the parts that their type has. */
export const storedCustomFields = (fields: readonly CustomField[]): CustomField[] =>
  fields.map((field) => ({
    ...field,
    label: field.label.trim(),
    options: field.type === "select" ? field.options.map((option) => option.trim()).filter(Boolean) : [],
    link: field.type === "consent" ? field.link?.trim() || null : null,
  }));

/** Returns what is wrong with the questions, by the id of the control. */
export function customFieldProblems(fields: readonly CustomField[]): Record<string, string> {
  const problems: Record<string, string> = {};
  storedCustomFields(fields).forEach(({ key, label, type, options }, index) => {
    if (label === "") problems[customFieldId(index, "label")] = t`Write what the visitor is asked.`;
    if (!/^[a-z0-9_]+$/.test(key)) problems[customFieldId(index, "key")] = t`Use a to z, 0 to 9 and _.`;
    else if (fields.findIndex((other) => other.key === key) < index)
      problems[customFieldId(index, "key")] = t`Another question has this key.`;
    if (type === "select" && options.length === 0)
      problems[customFieldId(index, "options")] = t`Write at least one choice.`;
  });
  return problems;
}
