/** @jsxImportSource #widget */
import type { Props } from "./props";
import { AttachButton, Uploads } from "./files";
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

/** Returns the files that the visitor pastes or drops, unless the text beside them is meant. */
const filesOf = (data: DataTransfer | null): File[] =>
  data?.types.includes("text/plain") ? [] : [...(data?.files ?? [])];

export function Composer({ state, actions }: Props) {
  const { texts, hasFiles } = state;
  const take = (event: Event, data: DataTransfer | null) => {
    const files = hasFiles ? filesOf(data) : [];
    if (files.length === 0) return;
    event.preventDefault();
    actions.sendFiles(files);
  };
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
    <form
      key="composer"
      class="composer"
      onSubmit={send}
      onDragOver={(event) => hasFiles && event.dataTransfer?.types.includes("Files") && event.preventDefault()}
      onDrop={(event) => take(event, event.dataTransfer)}
      onPaste={(event) => take(event, event.clipboardData)}
    >
      <Uploads state={state} actions={actions} />
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
      {hasFiles && <AttachButton state={state} actions={actions} />}
      <button class="send" aria-label={texts.send}>
        <UpIcon />
      </button>
      <TextLimit />
    </form>
  );
}
