/* What the forms ask for, and what is wrong with it. */

import { isEmail, isPhone } from "../api/arguments";
import type { Answers, ContactField, ContactInfo, CustomFieldSetting, Settings } from "../service/types";
import type { Texts } from "../texts";

type ContactsForm = Settings["contacts_form"];
/** The name of a field in a form. The answer to a question of the account is named by its key. */
export type FormField = ContactField | "message" | `answers.${string}`;
/** The values of a form. A box that is ticked has any value, and one that is not has none. */
export type FormValues = { [Name in FormField]?: string };
export type FormErrors = FormValues;

/** The maximum length of an answer to a question of the account. */
export const MAX_ANSWER_LENGTH = 1000;

export const answerName = (key: string): FormField => `answers.${key}`;

/** Returns the visitor's stored value for a field of a form, or null if there is none. */
export const contactValue = (contact: ContactInfo, field: ContactField): string | null =>
  contact[field === "name" ? "client_name" : field];

export const hasFields = ({ fields, custom_fields }: ContactsForm): boolean =>
  fields.length > 0 || custom_fields.length > 0;

/** Whether a field of the contacts form must be filled in. */
export const isAnyRequired = ({ required, custom_fields }: ContactsForm): boolean =>
  required.length > 0 || custom_fields.some((field) => field.required);

/** Whether the contacts form has nothing left to ask: no question of the account must be answered, and all required
 * fields have values or, if no field is required, at least one field has a value. */
export function isKnown({ fields, required, custom_fields }: ContactsForm, contact: ContactInfo): boolean {
  const hasValue = (field: ContactField) => contactValue(contact, field) !== null;
  if (custom_fields.some((field) => field.required)) return false;
  return required.length > 0 ? required.every(hasValue) : fields.some(hasValue);
}

/** Returns a value that changes with the questions of the form. It is stored when a visitor has completed the form, so
 * that the visitor is asked again when an admin has added a question. */
export const formVersion = ({ custom_fields }: ContactsForm): string | true =>
  custom_fields.map(({ key }) => key).join() || true;

/** Returns the contact fields of the offline form: the name and the fields of the contacts form. If the contacts form
 * asks for neither the e-mail address nor the phone number, the e-mail address is added, so that the agents can
 * answer. */
export function offlineFields({ fields }: ContactsForm): ContactField[] {
  const withAnswer: ContactField[] =
    fields.includes("phone") || fields.includes("email") ? fields : [...fields, "email"];
  return (["name", "email", "phone"] as const).filter((field) => field === "name" || withAnswer.includes(field));
}

/** Returns an error message for each missing or invalid field. */
export function findErrors(
  values: FormValues,
  { required, custom_fields }: Pick<ContactsForm, "required" | "custom_fields">,
  texts: Texts,
): FormErrors {
  const errors: FormErrors = {};
  for (const field of required) if (!values[field]?.trim()) errors[field] = texts.required;
  if (values.email?.trim() && !isEmail(values.email)) errors.email = texts.badEmail;
  if (values.phone?.trim() && !isPhone(values.phone)) errors.phone = texts.badPhone;
  for (const { key, type, required } of custom_fields)
    if (required && !values[answerName(key)]?.trim())
      errors[answerName(key)] = type === "consent" ? texts.agree : texts.required;
  return errors;
}

/** Returns the errors of the offline form, which also needs a message and an address for the answer. */
export function findOfflineErrors(values: FormValues, form: ContactsForm, texts: Texts): FormErrors {
  const errors = findErrors(values, form, texts);
  if (!values.message?.trim()) errors.message = texts.required;
  return requireAddress(values, form, errors, texts);
}

/** Adds an error unless the values contain an e-mail address or a phone number. */
export function requireAddress(values: FormValues, form: ContactsForm, errors: FormErrors, texts: Texts): FormErrors {
  if (values.email?.trim() || values.phone?.trim()) return errors;
  const fields = offlineFields(form);
  const problem = fields.includes("phone") ? texts.emailOrPhone : texts.required;
  errors[fields.includes("email") ? "email" : "phone"] ??= problem;
  return errors;
}

/** Returns the contact data of a form and the answers to the questions of the account, as the service takes them. */
export function splitValues(values: FormValues, custom_fields: readonly CustomFieldSetting[]) {
  const answers: Answers = {};
  const fields = nonBlank(values);
  for (const { key, type } of custom_fields) {
    const name = answerName(key);
    const value = fields[name];
    delete fields[name];
    if (value) answers[key] = type === "consent" || value;
  }
  return { fields, answers: Object.keys(answers).length > 0 ? answers : undefined };
}

/** Returns the trimmed values that are non-blank strings. A page may also pass values of other types. */
export function nonBlank(values: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      typeof value === "string" && value.trim() ? [[name, value.trim()]] : [],
    ),
  );
}

/** Returns the form field for the field that an error of the service names: for example, "email" for
 * "contact_info.email". An error about any other field belongs to the message. */
export function formField(field = ""): FormField {
  if (field.startsWith("answers.")) return field as FormField;
  const name = field.split(".").pop();
  return name === "name" || name === "email" || name === "phone" ? name : "message";
}
