/** @jsxImportSource #widget */
import type { FormField, FormValues } from "../visitor/contact-rules";
import type { ContactField } from "../service/types";
import type { Texts } from "../texts";
import type { Child } from "./jsx/jsx-runtime";
import { limitAttributes, showLength, TextLimit } from "./text-limit";

const INPUTS = {
  name: { type: "text", autocomplete: "name" },
  email: { type: "email", autocomplete: "email" },
  phone: { type: "tel", autocomplete: "tel" },
} as const;

interface FieldProps {
  name: ContactField | "message";
  value: string | null;
  error: string | undefined;
  isRequired: boolean;
  /** Whether the label says that the field is optional. */
  isOptional?: boolean;
  texts: Texts;
}

/** A labelled input with its error below it. */
export function Field({ name, value, error, isRequired, isOptional = !isRequired, texts }: FieldProps) {
  const control = {
    ...controlAttributes(name, error, isRequired),
    defaultValue: value ?? "",
    dir: name === "email" || name === "phone" ? ("ltr" as const) : ("auto" as const),
  };
  return (
    <div class="field">
      <FieldLabel name={name} text={texts[name]} isOptional={isOptional} texts={texts} />
      {name === "message" ? (
        <>
          <textarea
            {...control}
            {...limitAttributes(texts)}
            rows={4}
            onInput={({ currentTarget }) => showLength(currentTarget)}
          />
          <TextLimit />
        </>
      ) : (
        <input {...control} {...INPUTS[name]} maxLength={255} />
      )}
      <FieldError name={name} error={error} />
    </div>
  );
}

/** The attributes that connect a control of a form with its label and its error. */
export const controlAttributes = (name: FormField, error: string | undefined, isRequired: boolean) => ({
  name,
  id: `f-${name}`,
  required: isRequired,
  "aria-invalid": error ? true : undefined,
  "aria-describedby": error && `e-${name}`,
});

interface FieldLabelProps {
  name: FormField;
  text: Child;
  isOptional: boolean;
  texts: Texts;
}

export const FieldLabel = ({ name, text, isOptional, texts }: FieldLabelProps) => (
  <label for={`f-${name}`} dir="auto">
    {text}
    {isOptional && <small> ({texts.optional})</small>}
  </label>
);

export const FieldError = ({ name, error }: { name: FormField; error: string | undefined }) =>
  error ? (
    <p class="error" id={`e-${name}`}>
      {error}
    </p>
  ) : null;

/** Returns a handler that passes a form's values to `submit`, and then moves the focus to the first invalid field. */
export const onSubmit = (submit: (values: FormValues) => void) => (event: SubmitEvent) => {
  event.preventDefault();
  const form = event.currentTarget as HTMLFormElement;
  const values: FormValues = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));
  submit(values);
  setTimeout(() => form.querySelector<HTMLElement>("[aria-invalid]")?.focus());
};
