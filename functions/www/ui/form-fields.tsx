import type { ComponentChildren, InputHTMLAttributes, TextareaHTMLAttributes } from "preact";

/** The attributes that connect a control with its label, help and problem. */
export interface ControlAttributes {
  id: string;
  "aria-invalid": boolean;
  "aria-describedby": string | undefined;
}

interface FieldProps {
  id: string;
  label: string;
  help?: ComponentChildren;
  problem?: string | undefined;
  children: (attributes: ControlAttributes) => ComponentChildren;
}

/** A labelled control with help and its problem below it. */
export function Field({ id, label, help, problem, children }: FieldProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(controlAttributes(id, help !== undefined, problem))}
      <FieldNotes id={id} help={help} problem={problem} />
    </div>
  );
}

interface TextFieldProps extends Omit<FieldProps, "children"> {
  value: string;
  onInput: (value: string) => void;
  /** Further attributes of the input element, for example its type. */
  input?: InputHTMLAttributes<HTMLInputElement> & { "data-autofocus"?: boolean };
}

/** A labelled field for one line of text. */
export function TextField({ value, onInput, input, ...field }: TextFieldProps) {
  return (
    <Field {...field}>
      {(attributes) => (
        <input
          autocomplete="off"
          {...input}
          {...attributes}
          class="input"
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

interface TextAreaFieldProps extends Omit<FieldProps, "children"> {
  value: string;
  onInput: (value: string) => void;
  /** Further attributes of the element, for example its number of rows. */
  area?: TextareaHTMLAttributes<HTMLTextAreaElement>;
}

/** A labelled field for several lines of text. */
export function TextAreaField({ value, onInput, area, ...field }: TextAreaFieldProps) {
  return (
    <Field {...field}>
      {(attributes) => (
        <textarea
          {...area}
          {...attributes}
          class="input"
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

interface NumberFieldProps extends Omit<FieldProps, "children"> {
  /** NaN while the field is empty. */
  value: number;
  onInput: (value: number) => void;
}

/** A labelled field for a whole number that is not negative. */
export function NumberField({ value, onInput, ...field }: NumberFieldProps) {
  return (
    <TextField
      {...field}
      value={Number.isNaN(value) ? "" : String(value)}
      onInput={(text) => onInput(parseInt(text.replace(/\D/g, ""), 10))}
      input={{ inputmode: "numeric", maxLength: 10, dir: "ltr" }}
    />
  );
}

/** The attributes of a field for a name. */
export const NAME_INPUT = { maxLength: 255, dir: "auto" } as const;
export const EMAIL_INPUT = { type: "email", spellcheck: false, dir: "ltr", maxLength: 254 } as const;
/** The attributes of a field for a whole number. */
export const NUMBER_INPUT = { inputmode: "numeric" } as const;
/** The attributes of a field for the address of a server. */
export const URL_INPUT = { type: "url", inputmode: "url", spellcheck: false, dir: "ltr" } as const;

/** The options of a drop-down list. */
export const Options = ({ options }: { options: readonly { value: string; label: string }[] }) => (
  <>
    {options.map(({ value, label }) => (
      <option key={value} value={value}>
        {label}
      </option>
    ))}
  </>
);

interface SelectFieldProps<Value extends string> extends Omit<FieldProps, "children"> {
  value: Value;
  options: readonly { value: Value; label: string }[];
  onChange: (value: Value) => void;
}

/** A labelled drop-down list. */
export function SelectField<Value extends string>(props: SelectFieldProps<Value>) {
  const { value, options, onChange, ...field } = props;
  return (
    <Field {...field}>
      {(attributes) => (
        <select
          {...attributes}
          class="input"
          value={value}
          onChange={(event) => onChange(event.currentTarget.value as Value)}
        >
          <Options options={options} />
        </select>
      )}
    </Field>
  );
}

export const controlAttributes = (id: string, hasHelp: boolean, problem: string | undefined): ControlAttributes => {
  const notes = [problem === undefined ? "" : `${id}-problem`, hasHelp ? `${id}-help` : ""].filter(Boolean).join(" ");
  return { id, "aria-invalid": problem !== undefined, "aria-describedby": notes || undefined };
};

export function FieldNotes({ id, help, problem }: Pick<FieldProps, "id" | "help" | "problem">) {
  return (
    <>
      {problem !== undefined && (
        <span class="problem" id={`${id}-problem`}>
          {problem}
        </span>
      )}
      {help !== undefined && (
        <span class="help" id={`${id}-help`}>
          {help}
        </span>
      )}
    </>
  );
}

interface SegmentsProps<Value extends string> {
  name: string;
  label: string;
  value: Value;
  options: readonly { value: Value; label: string }[];
  /** Whether the label is only for screen readers. */
  hidesLabel?: boolean;
  onChange: (value: Value) => void;
}

/** Radio buttons in one row, one of which is chosen. */
export function Segments<Value extends string>(props: SegmentsProps<Value>) {
  const { name, label, value, options, hidesLabel, onChange } = props;
  return (
    <fieldset class="field segmented">
      <legend class={hidesLabel ? "sr" : undefined}>{label}</legend>
      <div>
        {options.map((option) => (
          <label key={option.value}>
            <input
              type="radio"
              name={name}
              value={option.value}
              checked={option.value === value}
              onChange={() => onChange(option.value)}
            />
            <span>{option.label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

interface SwitchProps {
  label: string;
  help?: string;
  isOn: boolean;
  onChange: (isOn: boolean) => void;
}

/** A setting that is on or off. */
export function Switch({ label, help, isOn, onChange }: SwitchProps) {
  return (
    <label class="switch">
      <input type="checkbox" role="switch" checked={isOn} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>
        {label}
        {help !== undefined && <small>{help}</small>}
      </span>
    </label>
  );
}
