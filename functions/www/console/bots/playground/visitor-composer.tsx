import type { RefObject } from "preact";
import { useState } from "preact/hooks";
import { isSendKey } from "../../conversation/send-key";
import { useGrowingHeight } from "../../conversation/use-growing-height";
import { t } from "../../../texts/translate";

/** The service cuts longer messages of visitors (docs/openapi.json, widgetMessage). */
const MAX_MESSAGE_CHARACTERS = 1000;

interface VisitorComposerProps {
  textarea: RefObject<HTMLTextAreaElement | null>;
  onSend: (text: string) => void;
}

export function VisitorComposer({ textarea, onSend }: VisitorComposerProps) {
  const [text, setText] = useState("");
  useGrowingHeight(textarea, text);
  const send = (event: Event) => {
    event.preventDefault();
    if (text.trim() === "") return;
    onSend(text.trim());
    setText("");
    textarea.current?.focus();
  };
  return (
    <form class="composer" onSubmit={send}>
      <div class="box">
        <textarea
          ref={textarea}
          rows={1}
          dir="auto"
          maxLength={MAX_MESSAGE_CHARACTERS}
          value={text}
          aria-label={t`Message of the visitor`}
          placeholder={t`Write as a visitor`}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (!event.isComposing && isSendKey(event)) send(event);
          }}
        />
        <div class="bar">
          <span class="grow" />
          <button type="submit" class="btn primary" aria-disabled={text.trim() === ""}>
            {t`Send`} <kbd aria-hidden="true">{t`Enter`}</kbd>
          </button>
        </div>
      </div>
    </form>
  );
}
