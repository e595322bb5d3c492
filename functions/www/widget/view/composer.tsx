/** @jsxImportSource #widget */
import type { Props } from "./props";
import { UpIcon } from "./icons";
import { isComposing } from "./is-composing";
import { keepEnd } from "./log";
import { limitAttributes, showLength, TextLimit } from "./text-limit";

const MAX_HEIGHT_PX = 140;

/** Fits the composer to the text of its field: sets its height to that of the text, but at most to `MAX_HEIGHT_PX`, and
 * shows the text's length. A log that is scrolled to its end stays there. */
export function fitComposer(field: HTMLTextAreaElement): void {
  keepEnd(field.closest(".window")?.querySelector(".log"), () => {
    showLength(field);
    field.style.height = "auto";
    field.style.height = `${Math.min(MAX_HEIGHT_PX, field.scrollHeight)}px`;
  });
}

export function Composer({ state: { texts }, actions }: Props) {
  const send = (event: Event & { currentTarget: HTMLFormElement | HTMLTextAreaElement }) => {
    event.preventDefault();
    const field = event.currentTarget.closest("form")?.querySelector("textarea");
    const text = field?.value.trim();
    if (!field || !text) return;
    field.value = "";
    fitComposer(field);
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
        placeholder={texts.write}
        aria-label={texts.write}
        enterkeyhint="send"
        defaultValue={actions.readDraft()}
        {...limitAttributes(texts)}
        onInput={({ currentTarget }) => {
          fitComposer(currentTarget);
          actions.typed(currentTarget.value);
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.shiftKey && !isComposing(event)) send(event);
        }}
      />
      <button class="send" aria-label={texts.send}>
        <UpIcon />
      </button>
      <TextLimit />
    </form>
  );
}
