import { useRef, useState } from "preact/hooks";
import type { VisitorFieldSource } from "../../api/types";
import { CopyButton } from "../../ui/copy-button";
import { BLOCKED_LINK, BlockedLink } from "../../ui/linked-text";
import { errorText } from "../state/page/error-text";
import { SourceChip } from "./source-chip";
import { inSentence } from "../../ui/words";
import { t } from "../../texts/translate";

interface EditableFieldProps {
  label: string;
  value: string | null;
  /** The text shown instead of the raw value. */
  displayText?: string;
  /** Where the value comes from, shown after the value. */
  source?: VisitorFieldSource | undefined;
  type?: "text" | "email" | "tel";
  isLong?: boolean;
  isName?: boolean;
  canCopy?: boolean;
  maxLength: number;
  save: (value: string) => Promise<void>;
}

const focusOnce = (element: HTMLInputElement | HTMLTextAreaElement | null) => element?.focus();

/** A value that can be edited in place. The change is saved when the agent presses Enter or leaves the field, and
 * discarded when the agent presses Escape. An empty text clears the value. */
export function EditableField({
  label,
  value,
  displayText,
  source,
  type = "text",
  isLong,
  isName,
  canCopy,
  maxLength,
  save,
}: EditableFieldProps) {
  const [editedValue, setEditedValue] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const button = useRef<HTMLButtonElement>(null);
  const isCancelled = useRef(false);

  const closeEditor = (hasFocus: boolean) => {
    setEditedValue(undefined);
    setProblem(undefined);
    if (hasFocus) requestAnimationFrame(() => button.current?.focus());
  };
  const saveEdit = async (hasFocus: boolean) => {
    if (editedValue === undefined || isBusy || isCancelled.current) return;
    const newValue = editedValue.trim();
    if (newValue === (value ?? "")) return closeEditor(hasFocus);
    setBusy(true);
    try {
      await save(newValue);
      closeEditor(hasFocus);
    } catch (error) {
      setProblem(errorText(error));
    } finally {
      setBusy(false);
    }
  };

  if (editedValue !== undefined) {
    const common = {
      class: "input",
      "aria-label": label,
      "aria-invalid": problem !== undefined,
      value: editedValue,
      maxLength,
      dir: "auto" as const,
      // The field is not `disabled` while the change is saved, because it would then lose the focus.
      readOnly: isBusy,
      ref: focusOnce,
      onInput: (event: Event) => setEditedValue((event.currentTarget as HTMLInputElement).value),
      onBlur: () => void saveEdit(false),
      onKeyDown: (event: KeyboardEvent) => {
        if (event.key === "Escape") {
          event.stopPropagation();
          isCancelled.current = true;
          closeEditor(true);
        } else if (event.key === "Enter" && !event.isComposing && (!isLong || event.ctrlKey || event.metaKey)) {
          event.preventDefault();
          void saveEdit(true);
        }
      },
    };
    return (
      <div class="place">
        <form onSubmit={(event) => event.preventDefault()}>
          {isLong ? <textarea {...common} rows={4} /> : <input {...common} type={type as "text"} autocomplete="off" />}
          {problem !== undefined && (
            <span class="problem" role="alert">
              {problem}
            </span>
          )}
        </form>
      </div>
    );
  }

  const isEmpty = value === null || value === "";
  return (
    <div class="place">
      <button
        ref={button}
        type="button"
        class={["value", isName ? "name" : "", isEmpty && displayText === undefined ? "none" : ""]
          .filter(Boolean)
          .join(" ")}
        title={t`Edit ${inSentence(label)}`}
        dir="auto"
        onClick={() => {
          isCancelled.current = false;
          setEditedValue(value ?? "");
        }}
      >
        <span class="sr">{`${t`Edit ${inSentence(label)}`}: `}</span>
        {isEmpty ? (displayText ?? t`Add`) : value === BLOCKED_LINK ? <BlockedLink /> : (displayText ?? value)}
        {!isEmpty && source !== undefined && (
          <>
            {" "}
            <SourceChip source={source} />
          </>
        )}
      </button>
      {canCopy && !isEmpty && <CopyButton text={value ?? ""} label={t`Copy ${inSentence(label)}`} />}
    </div>
  );
}
