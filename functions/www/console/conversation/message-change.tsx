/* What an agent can do with a message that was sent: edit its text in place, or delete it. */

import type { Signal } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Entry } from "../../api/types";
import { Icon } from "../../ui/icons";
import { MenuItem } from "../../ui/menu-item";
import { Popover } from "../../ui/popover";
import { focusComposer, overlay } from "../state/list/view-state";
import { useWorkspace } from "../workspace-context";
import { countCharacters, MAX_TEXT_CHARACTERS } from "./composer-text";
import { isSendKey } from "./send-key";
import { useGrowingHeight } from "./use-growing-height";
import { t } from "../../texts/translate";

interface MessageProps {
  entry: Entry;
  chatId: number;
}

/** The button beside a message that lists what the agent can do with it. Absent if there is nothing. */
export function MessageMenu({ entry, chatId }: MessageProps) {
  const { messageChanges } = useWorkspace();
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const canEdit = messageChanges.canEdit(chatId, entry);
  if (!canEdit && !messageChanges.canDelete(chatId, entry)) return null;
  const edit = () => {
    setOpen(false);
    messageChanges.beginEditing(chatId, entry);
  };
  const askToDelete = () => {
    setOpen(false);
    overlay.value = { kind: "delete-message", chatId, seq: entry.seq };
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        class="message-menu"
        aria-label={t`Change the message`}
        title={t`Change the message`}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="ellipsis" />
      </button>
      {isOpen && (
        <Popover anchor={button} align="end" role="menu" label={t`Message`} onClose={() => setOpen(false)}>
          {canEdit && (
            <MenuItem icon="pencil" onClick={edit}>
              {t`Edit`}
            </MenuItem>
          )}
          <MenuItem icon="trash-2" isBad onClick={askToDelete}>
            {t`Delete…`}
          </MenuItem>
        </Popover>
      )}
    </>
  );
}

const isTyping = () =>
  (document.activeElement instanceof HTMLTextAreaElement || document.activeElement instanceof HTMLInputElement) &&
  document.activeElement.value !== "";

/** The text of a message while the agent edits it. Enter saves it, Escape keeps the earlier text. */
export function MessageEditor({ entry, chatId, typed }: MessageProps & { typed: Signal<string> }) {
  const { messageChanges } = useWorkspace();
  const text = typed.value;
  const textarea = useRef<HTMLTextAreaElement>(null);
  useGrowingHeight(textarea, text);
  useLayoutEffect(() => {
    // The editor is opened again after a failure, when the agent may be typing somewhere else.
    if (isTyping()) return;
    const length = textarea.current?.value.length ?? 0;
    textarea.current?.focus();
    textarea.current?.setSelectionRange(length, length);
  }, []);
  const isSavable = text.trim() !== "" && countCharacters(text) <= MAX_TEXT_CHARACTERS;
  const close = () => {
    messageChanges.stopEditing(chatId);
    focusComposer(chatId);
  };
  const save = () => {
    if (!isSavable) return;
    void messageChanges.edit(chatId, entry, text.trim());
    focusComposer(chatId);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    if (event.key === "Escape") close();
    else if (isSendKey(event)) save();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <form
      class="message-editor"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <textarea
        ref={textarea}
        rows={1}
        dir="auto"
        aria-label={t`Edit the message`}
        value={text}
        onInput={({ currentTarget }) => (typed.value = currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div class="bar">
        <button type="button" class="btn" onClick={close}>
          {t`Cancel`} <kbd aria-hidden="true">{t`Esc`}</kbd>
        </button>
        <button type="submit" class="btn primary" aria-disabled={!isSavable}>
          {t`Save`} <kbd aria-hidden="true">{t`Enter`}</kbd>
        </button>
      </div>
    </form>
  );
}
