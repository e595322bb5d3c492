/** @jsxImportSource #widget */
import type { Props } from "./props";
import { UpIcon } from "./icons";

const MAX_LENGTH = 1000;
const MAX_HEIGHT_PX = 140;

/** Sets the height of the text field to that of its text, but at most to `MAX_HEIGHT_PX`. */
export function fitHeight(field: HTMLTextAreaElement): void {
  field.style.height = "auto";
  field.style.height = `${Math.min(MAX_HEIGHT_PX, field.scrollHeight)}px`;
}

export function Composer({ state: { texts }, actions }: Props) {
  const send = (event: Event & { currentTarget: HTMLFormElement | HTMLTextAreaElement }) => {
    event.preventDefault();
    const field = event.currentTarget.closest("form")?.querySelector("textarea");
    const text = field?.value.trim();
    if (!field || !text) return;
    field.value = "";
    fitHeight(field);
    actions.typed("");
    actions.send(text);
    field.focus();
  };
  return (
    <form key="composer" class="composer" onSubmit={send}>
      <textarea
        rows={1}
        dir="auto"
        name="message"
        maxLength={MAX_LENGTH}
        placeholder={texts.write}
        aria-label={texts.write}
        enterkeyhint="send"
        defaultValue={actions.readDraft()}
        onInput={({ currentTarget }) => {
          fitHeight(currentTarget);
          actions.typed(currentTarget.value);
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.shiftKey && !event.isComposing) send(event);
        }}
      />
      <button class="send" aria-label={texts.send}>
        <UpIcon />
      </button>
    </form>
  );
}
