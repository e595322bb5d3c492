/** @jsxImportSource #widget */
import type { Settings } from "../service/types";
import { isAddressNeeded, type State } from "../state";
import { contactValue, hasFields, isAnyRequired, offlineFields } from "../visitor/contact-rules";
import { CustomFields } from "./custom-fields";
import type { Props } from "./props";
import { Field, onSubmit } from "./field";

/** Whether the contacts form must be shown now: the settings ask for it at the moment `when`, the conversation is at
 * that moment, and the visitor has neither completed nor skipped the form. A visitor who waits while nobody is online is
 * asked for an address in any case. */
export function isContactsFormDue(state: State, when: Settings["contacts_form"]["when"]): boolean {
  if (isAddressNeeded(state)) return when === "after_first_message";
  const { contacts_form } = state.settings;
  if (contacts_form.when !== when || !hasFields(contacts_form) || state.isContactsFormDone) return false;
  const { messages, pending } = state.conversation;
  const hasWritten = pending.length > 0 || messages.some(({ from }) => from === "visitor");
  return hasWritten === (when === "after_first_message");
}

export function ContactsForm({ state, actions }: Props) {
  const { texts, contact, errors, isBusy, settings } = state;
  const { when, required } = settings.contacts_form;
  const isAddress = isAddressNeeded(state);
  const fields = isAddress ? offlineFields(settings.contacts_form) : settings.contacts_form.fields;
  const isBefore = when === "before_first_message" && !isAddress;
  return (
    <form
      key="contacts"
      class={`fields contacts${isBefore ? "" : " card"}`}
      noValidate
      onSubmit={onSubmit(actions.submitContacts)}
    >
      {fields.length > 0 && <h3>{texts.introduce}</h3>}
      {fields.map((name) => (
        <Field
          key={name}
          name={name}
          value={contactValue(contact, name)}
          error={errors[name]}
          isRequired={required.includes(name) || (isAddress && name !== "name" && fields.length === 2)}
          texts={texts}
        />
      ))}
      {!isAddress && <CustomFields state={state} />}
      {errors.message && <p class="error">{errors.message}</p>}
      <div class="actions">
        <button class="main" aria-disabled={isBusy}>
          {isBefore ? texts.start : texts.save}
        </button>
        {(!isAnyRequired(settings.contacts_form) || isAddress) && (
          <button type="button" class="quiet" onClick={actions.skipContacts}>
            {texts.skip}
          </button>
        )}
      </div>
    </form>
  );
}
