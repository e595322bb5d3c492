/** @jsxImportSource #widget */
import type { ContactField } from "../service/types";
import { contactValue, offlineFields } from "../visitor/contact-rules";
import { showsLog } from "../state";
import { CustomFields } from "./custom-fields";
import type { Props } from "./props";
import { Field, onSubmit } from "./field";
import { CheckIcon } from "./icons";

export function OfflineForm({ state, actions }: Props) {
  const { texts, contact, errors, isBusy } = state;
  const fields = offlineFields(state.settings.contacts_form);
  const { required } = state.settings.contacts_form;
  const isOnlyWay = (name: ContactField) => name !== "name" && fields.length === 2;
  return (
    <form
      key="offline"
      class={showsLog(state) ? "fields under" : "fields"}
      noValidate
      onSubmit={onSubmit(actions.submitOffline)}
    >
      {fields.map((name) => (
        <Field
          key={name}
          name={name}
          value={contactValue(contact, name)}
          error={errors[name]}
          isRequired={isOnlyWay(name) || required.includes(name)}
          isOptional={name === "name" && !required.includes(name)}
          texts={texts}
        />
      ))}
      <CustomFields state={state} />
      <Field name="message" value={null} error={errors.message} isRequired texts={texts} />
      <button class="main" aria-disabled={isBusy}>
        {isBusy ? texts.sending : texts.sendMessage}
      </button>
    </form>
  );
}

export const OfflineSuccess = ({ state: { texts }, actions }: Props) => (
  <div class="success" role="status">
    <span class="tick">
      <CheckIcon />
    </span>
    <h3>{texts.thanks}</h3>
    <p>{texts.thanksHint}</p>
    <button type="button" class="quiet" onClick={actions.writeAnother}>
      {texts.another}
    </button>
  </div>
);
