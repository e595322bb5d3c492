/* The account's own questions in the contacts form: a list that is extended, reordered and shortened. */

import { useEffect, useRef } from "preact/hooks";
import { FieldNotes, SelectField, Switch, TextAreaField, TextField, URL_INPUT } from "../../ui/form-fields";
import { Icon } from "../../ui/icons";
import type { Problems } from "../admin/use-settings-form";
import {
  customFieldId,
  CUSTOM_FIELDS_ID,
  MAX_CUSTOM_FIELDS,
  newCustomField,
  type CustomField,
} from "./custom-field-draft";
import { t } from "../../texts/translate";

const TYPES = [
  { value: "text", label: t`A line of text` },
  { value: "select", label: t`A choice` },
  { value: "consent", label: t`Consent (a box to tick)` },
] as const;

interface CustomFieldsProps {
  fields: readonly CustomField[];
  problems: Problems;
  onChange: (fields: CustomField[]) => void;
}

export function CustomFields({ fields, problems, onChange }: CustomFieldsProps) {
  const addButton = useRef<HTMLButtonElement>(null);
  /** The id of the control that gets the focus when the list has changed. */
  const focused = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (focused.current === undefined) return;
    (document.getElementById(focused.current) ?? addButton.current)?.focus();
    focused.current = undefined;
  });

  const changeList = (changed: CustomField[], focusedId: string) => {
    focused.current = focusedId;
    onChange(changed);
  };
  const move = (from: number, to: number) => {
    const changed = [...fields];
    changed.splice(to, 0, ...changed.splice(from, 1));
    changeList(changed, customFieldId(to, "label"));
  };
  return (
    <fieldset class="field custom-fields" data-field={CUSTOM_FIELDS_ID}>
      <legend>{t`Your own questions`}</legend>
      {fields.map((field, index) => (
        <div key={index} class="custom-field" role="group" aria-label={t`Question ${index + 1}`}>
          <CustomFieldControls
            index={index}
            field={field}
            problems={problems}
            onChange={(changes) =>
              onChange(fields.map((other, at) => (at === index ? { ...other, ...changes } : other)))
            }
          />
          <div class="custom-field-buttons">
            <RowButton
              label={t`Move up`}
              icon="chevron-down"
              isTurned
              isOff={index === 0}
              onClick={() => move(index, index - 1)}
            />
            <RowButton
              label={t`Move down`}
              icon="chevron-down"
              isOff={index === fields.length - 1}
              onClick={() => move(index, index + 1)}
            />
            <RowButton
              label={t`Remove`}
              icon="trash-2"
              onClick={() =>
                changeList(
                  fields.filter((_, at) => at !== index),
                  customFieldId(Math.max(0, index - 1), "label"),
                )
              }
            />
          </div>
        </div>
      ))}
      {fields.length < MAX_CUSTOM_FIELDS && (
        <div>
          <button
            ref={addButton}
            type="button"
            class="btn line"
            onClick={() => changeList([...fields, newCustomField(fields)], customFieldId(fields.length, "label"))}
          >
            <Icon name="plus" />
            {t`Add a question`}
          </button>
        </div>
      )}
      <FieldNotes
        id={CUSTOM_FIELDS_ID}
        problem={problems[CUSTOM_FIELDS_ID]}
        help={t`At most five. Agents see the answers beside the chat. The form for messages while nobody is online asks them too.`}
      />
    </fieldset>
  );
}

interface CustomFieldControlsProps {
  index: number;
  field: CustomField;
  problems: Problems;
  onChange: (changes: Partial<CustomField>) => void;
}

function CustomFieldControls({ index, field, problems, onChange }: CustomFieldControlsProps) {
  const { type } = field;
  const common = (name: keyof CustomField) => {
    const id = customFieldId(index, name);
    return { id, problem: problems[id] };
  };
  return (
    <>
      <TextField
        {...common("label")}
        label={type === "consent" ? t`What the visitor agrees to` : t`Question`}
        value={field.label}
        onInput={(label) => onChange({ label })}
        input={{ maxLength: 100, dir: "auto" }}
      />
      <div class="two-fields">
        <SelectField
          {...common("type")}
          label={t`Answer`}
          value={type}
          options={TYPES}
          onChange={(type) => onChange({ type })}
        />
        <TextField
          {...common("key")}
          label={t`Key in webhooks`}
          value={field.key}
          onInput={(key) => onChange({ key })}
          input={{ maxLength: 32, spellcheck: false, dir: "ltr" }}
        />
      </div>
      {type === "select" && (
        <TextAreaField
          {...common("options")}
          label={t`Choices`}
          help={t`One on each line, at most 20.`}
          value={field.options.join("\n")}
          onInput={(text) => onChange({ options: text === "" ? [] : text.split("\n") })}
          area={{ rows: 3, dir: "auto" }}
        />
      )}
      {type === "consent" && (
        <TextField
          {...common("link")}
          label={t`Link (optional)`}
          help={t`For example, to your privacy policy. “Read more” leads to it.`}
          value={field.link ?? ""}
          onInput={(link) => onChange({ link })}
          input={{ ...URL_INPUT, placeholder: "https://" }}
        />
      )}
      <Switch label={t`Required`} isOn={field.required} onChange={(required) => onChange({ required })} />
    </>
  );
}

interface RowButtonProps {
  label: string;
  icon: "chevron-down" | "trash-2";
  isTurned?: boolean;
  isOff?: boolean;
  onClick: () => void;
}

const RowButton = ({ label, icon, isTurned, isOff = false, onClick }: RowButtonProps) => (
  <button
    type="button"
    class={`btn only-icon${isTurned ? " turned" : ""}`}
    aria-label={label}
    title={label}
    aria-disabled={isOff}
    onClick={() => !isOff && onClick()}
  >
    <Icon name={icon} />
  </button>
);
