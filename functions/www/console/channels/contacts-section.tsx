/* The form in which a widget asks visitors for contact data and for the answers to the account's questions. */

import { controlAttributes, FieldNotes, SelectField } from "../../ui/form-fields";
import { FormSection } from "../admin/detail-header";
import { CustomFields } from "./custom-fields";
import { CONTACT_FIELDS, withField, type ContactField, type SectionProps } from "./widget-draft";

const FORM_TIMES = [
  { value: "never", label: "Never" },
  { value: "before_first_message", label: "Before the first message" },
  { value: "after_first_message", label: "After the first message" },
] as const;
const CONTACT_FIELD_LABELS: Record<ContactField, string> = { name: "Name", email: "E-mail", phone: "Phone" };

export function ContactsSection({ settings, problems, change }: SectionProps) {
  const form = settings.contacts_form;
  const changeForm = (changes: Partial<typeof form>) => change({ contacts_form: { ...form, ...changes } });
  const attributes = controlAttributes("widget.contacts_form.fields", false, problems["widget.contacts_form.fields"]);
  const checkbox = (list: "fields" | "required", field: ContactField, label: string) => (
    <input
      type="checkbox"
      aria-invalid={list === "fields" && attributes["aria-invalid"]}
      aria-label={label}
      checked={form[list].includes(field)}
      disabled={list === "required" && !form.fields.includes(field)}
      onChange={(event) => change({ contacts_form: withField(form, list, field, event.currentTarget.checked) })}
    />
  );
  return (
    <FormSection title="Contacts form">
      <SelectField
        id="contacts-when"
        label="Ask visitors for contact data"
        value={form.when}
        options={FORM_TIMES}
        onChange={(when) => changeForm({ when })}
      />
      <div class="field">
        <table id={attributes.id} class="contact-fields" aria-describedby={attributes["aria-describedby"]}>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Asked</th>
              <th scope="col">Required</th>
            </tr>
          </thead>
          <tbody>
            {CONTACT_FIELDS.map((field) => {
              const name = CONTACT_FIELD_LABELS[field];
              return (
                <tr key={field}>
                  <th scope="row">{name}</th>
                  <td>{checkbox("fields", field, `Ask for ${name.toLowerCase()}`)}</td>
                  <td>{checkbox("required", field, `Require ${name.toLowerCase()}`)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
        <FieldNotes
          id={attributes.id}
          problem={problems[attributes.id]}
          help={
            form.when === "never"
              ? "The form for messages while nobody is online asks for these fields too."
              : undefined
          }
        />
      </div>
      <CustomFields
        fields={form.custom_fields}
        problems={problems}
        onChange={(custom_fields) => changeForm({ custom_fields })}
      />
    </FormSection>
  );
}
