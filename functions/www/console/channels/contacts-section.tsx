/* The form in which a widget asks visitors for contact data and for the answers to the account's questions. */

import { controlAttributes, FieldNotes, SelectField } from "../../ui/form-fields";
import { FormSection } from "../admin/detail-header";
import { CustomFields } from "./custom-fields";
import { CONTACT_FIELDS, withField, type ContactField, type SectionProps } from "./widget-draft";
import { inSentence } from "../../ui/words";
import { t } from "../../texts/translate";

const FORM_TIMES = [
  { value: "never", label: t`Never` },
  { value: "before_first_message", label: t`Before the first message` },
  { value: "after_first_message", label: t`After the first message` },
] as const;
const CONTACT_FIELD_LABELS: Record<ContactField, string> = { name: t`Name`, email: t`E-mail`, phone: t`Phone` };

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
    <FormSection title={t`Contacts form`}>
      <SelectField
        id="contacts-when"
        label={t`Ask visitors for contact data`}
        value={form.when}
        options={FORM_TIMES}
        onChange={(when) => changeForm({ when })}
      />
      <div class="field">
        <table id={attributes.id} class="contact-fields" aria-describedby={attributes["aria-describedby"]}>
          <thead>
            <tr>
              <th scope="col">{t`Field`}</th>
              <th scope="col">{t`Asked`}</th>
              <th scope="col">{t`Required`}</th>
            </tr>
          </thead>
          <tbody>
            {CONTACT_FIELDS.map((field) => {
              const name = CONTACT_FIELD_LABELS[field];
              return (
                <tr key={field}>
                  <th scope="row">{name}</th>
                  <td>{checkbox("fields", field, t`Ask for ${inSentence(name)}`)}</td>
                  <td>{checkbox("required", field, t`Require ${inSentence(name)}`)}</td>
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
              ? t`The form for messages while nobody is online asks for these fields too.`
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
