/* Which contact data the forms ask for, and what is wrong with it. */

import { isEmail, isPhone } from "../api/arguments";
import type { ContactField, ContactInfo, Settings } from "../service/types";
import type { Texts } from "../texts/texts";

export type FormValues = Partial<Record<ContactField | "message", string>>;
export type FormErrors = FormValues;

/** Returns the visitor's stored value for a field of a form, or null if there is none. */
export const contactValue = (contact: ContactInfo, field: ContactField): string | null =>
  contact[field === "name" ? "client_name" : field];

/** Whether the contacts form has nothing left to ask: all required fields have values or, if no field is required, at
 * least one field has a value. */
export function isKnown({ fields, required }: Settings["contacts_form"], contact: ContactInfo): boolean {
  const hasValue = (field: ContactField) => contactValue(contact, field) !== null;
  return required.length > 0 ? required.every(hasValue) : fields.some(hasValue);
}

/** Returns the contact fields of the offline form: the name and the fields of the contacts form. If the contacts form
 * asks for neither the e-mail address nor the phone number, the e-mail address is added, so that the agents can
 * answer. */
export function offlineFields({ contacts_form: { fields } }: Settings): ContactField[] {
  const withAnswer: ContactField[] =
    fields.includes("phone") || fields.includes("email") ? fields : [...fields, "email"];
  return (["name", "email", "phone"] as const).filter((field) => field === "name" || withAnswer.includes(field));
}

/** Returns an error message for each missing or invalid field. */
export function findErrors(
  values: FormValues,
  required: readonly (ContactField | "message")[],
  texts: Texts,
): FormErrors {
  const errors: FormErrors = {};
  for (const field of required) if (!values[field]?.trim()) errors[field] = texts.required;
  if (values.email?.trim() && !isEmail(values.email)) errors.email = texts.badEmail;
  if (values.phone?.trim() && !isPhone(values.phone)) errors.phone = texts.badPhone;
  return errors;
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
export function formField(field: string | undefined): ContactField | "message" {
  const name = field?.split(".").pop();
  return name === "name" || name === "email" || name === "phone" ? name : "message";
}
