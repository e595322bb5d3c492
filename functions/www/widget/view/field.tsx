/** @jsxImportSource #widget */
import type { FormValues } from "../visitor/contact-rules";
import type { ContactField } from "../service/types";
import type { Texts } from "../texts/texts";

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
  const common = {
    name,
    id: `f-${name}`,
    maxLength: name === "message" ? 1000 : 255,
    required: isRequired,
    defaultValue: value ?? "",
    dir: name === "email" || name === "phone" ? ("ltr" as const) : ("auto" as const),
    "aria-invalid": error ? true : undefined,
    "aria-describedby": error && `e-${name}`,
  };
  return (
    <div class="field">
      <label for={common.id}>
        {texts[name]}
        {isOptional && <small> ({texts.optional})</small>}
      </label>
      {name === "message" ? <textarea {...common} rows={4} /> : <input {...common} {...INPUTS[name]} />}
      {error && (
        <p class="error" id={`e-${name}`}>
          {error}
        </p>
      )}
    </div>
  );
}

/** Returns a handler that passes a form's values to `submit`, and then moves the focus to the first invalid field. */
export const onSubmit = (submit: (values: FormValues) => void) => (event: SubmitEvent) => {
  event.preventDefault();
  const form = event.currentTarget as HTMLFormElement;
  const values: FormValues = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));
  submit(values);
  setTimeout(() => form.querySelector<HTMLElement>("[aria-invalid]")?.focus());
};
