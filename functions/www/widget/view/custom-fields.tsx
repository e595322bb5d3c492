/** @jsxImportSource #widget */
/* The questions of the account in the contacts form and in the offline form. */

import { safeMedia } from "../chat/safe-address";
import type { CustomFieldSetting } from "../service/types";
import type { State } from "../state";
import type { Texts } from "../texts";
import { answerName, MAX_ANSWER_LENGTH } from "../visitor/contact-rules";
import { controlAttributes, FieldError, FieldLabel } from "./field";

export const CustomFields = ({ state: { settings, errors, texts } }: { state: State }) => (
  <>
    {settings.contacts_form.custom_fields.map((field) => (
      <CustomField key={field.key} field={field} error={errors[answerName(field.key)]} texts={texts} />
    ))}
  </>
);

interface CustomFieldProps {
  field: CustomFieldSetting;
  error: string | undefined;
  texts: Texts;
}

function CustomField({ field, error, texts }: CustomFieldProps) {
  const { key, label, type, options, required } = field;
  const name = answerName(key);
  const control = controlAttributes(name, error, required);
  const caption = <FieldLabel name={name} text={label} isOptional={!required} texts={texts} />;
  const link = field.link ? safeMedia(field.link) : undefined;
  return (
    <div class="field">
      {type === "consent" ? (
        <div class="consent">
          <input {...control} type="checkbox" />
          <span>
            {caption}
            {link !== undefined && (
              <>
                {" "}
                <a href={link} target="_blank" rel="noopener noreferrer">
                  {texts.more}
                </a>
              </>
            )}
          </span>
        </div>
      ) : (
        <>
          {caption}
          {type === "select" ? (
            <select {...control} dir="auto">
              <option value="" />
              {options.map((option) => (
                <option>{option}</option>
              ))}
            </select>
          ) : (
            <input {...control} type="text" maxLength={MAX_ANSWER_LENGTH} dir="auto" autocomplete="off" />
          )}
        </>
      )}
      <FieldError name={name} error={error} />
    </div>
  );
}
