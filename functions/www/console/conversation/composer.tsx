import "./composer.css";
import { useRef, useState } from "preact/hooks";
import type { ReplyActions } from "../../api/types";
import { Icon } from "../../ui/icons";
import { handleListKey } from "../../ui/list-keys";
import { Popover } from "../../ui/popover";
import { overlay } from "../state/list/view-state";
import { describeActions } from "../state/chat/reply-actions";
import { isAnonymous } from "../state/list/chats";
import { useWorkspace } from "../workspace-context";
import { MAX_TEXT_CHARACTERS, SHOW_COUNT_FROM_CHARACTERS } from "./composer-text";
import { EmojiPicker } from "./emoji-picker";
import { MentionOptions } from "./mention-options";
import { hasCoarsePointer, isSendKey } from "./send-key";
import { SuggestedAnswer } from "./suggested-answer";
import { SuggestionList } from "./suggestion-list";
import { UploadTray, useFiles } from "./use-files";
import { CONFIRMATION_HINT, useComposer, type ComposerProps } from "./use-composer";
import { language, t } from "../../texts/translate";

type ComposerState = ReturnType<typeof useComposer>;
type Files = ReturnType<typeof useFiles>;

export function Composer(props: ComposerProps) {
  const { row, name, isNoteOnly = false, onDone } = props;
  const { messageChanges } = useWorkspace();
  const composer = useComposer(props);
  const files = useFiles(props.chatId, !isNoteOnly && !composer.isNote);
  const { text, isNote, length, excessCharacters, suggestions, suggested, textarea, typingNotice } = composer;
  const { isOpen, items, selectedIndex } = suggestions;
  const canPlan = !composer.isEmpty && !composer.isPlanning && excessCharacters <= 0 && composer.actions === undefined;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing || handleSuggestionKey(event, composer) || handleMentionKey(event, composer)) return;
    if (event.key === "Escape") {
      event.preventDefault();
      if (isOpen) suggestions.dismiss();
      else if (isNoteOnly && composer.isEmpty) onDone?.();
      else textarea.current?.blur();
    } else if (isSendKey(event)) {
      event.preventDefault();
      composer.send();
    } else if (event.key === "ArrowUp" && text === "" && !isNote && messageChanges.editLast(props.chatId)) {
      event.preventDefault();
    }
  };
  const invitation = isAnonymous(row.visitor.name)
    ? t`Write to the visitor`
    : t`Write to ${name.split(/\s+/)[0] ?? name}`;
  const classes = ["box", isNote ? "note" : "", excessCharacters > 0 ? "bad" : "", files.isOver ? "over" : ""]
    .filter(Boolean)
    .join(" ");
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        composer.send();
      }}
    >
      {suggested.suggestion !== undefined && !isNoteOnly && (
        <SuggestedAnswer
          suggestion={suggested.suggestion}
          isOutdated={suggested.isOutdated}
          onUse={composer.useSuggested}
          onDismiss={composer.dismissSuggested}
        />
      )}
      {isOpen && (
        <SuggestionList suggestions={suggestions} isTouch={hasCoarsePointer()} onChoose={composer.insertReply} />
      )}
      {composer.mentionList.items.length > 0 && (
        <MentionOptions list={composer.mentionList} onChoose={composer.insertMention} />
      )}
      {files.showsTray && !isNoteOnly && <UploadTray chatId={props.chatId} />}
      <div class={classes} {...files.dropTarget}>
        {!isNoteOnly && <KindChoice isNote={isNote} onChange={composer.chooseKind} />}
        <textarea
          ref={textarea}
          rows={1}
          dir="auto"
          value={text}
          aria-label={isNote ? t`Private note` : t`Message to ${name}`}
          placeholder={isNote ? t`Only agents see this note. @ mentions a colleague` : invitation}
          aria-autocomplete="list"
          aria-haspopup="listbox"
          aria-controls={isOpen && items.length > 0 ? "canned" : undefined}
          aria-activedescendant={isOpen && items.length > 0 ? `canned-${selectedIndex}` : undefined}
          aria-invalid={excessCharacters > 0}
          aria-describedby={length >= SHOW_COUNT_FROM_CHARACTERS ? "composer-count" : undefined}
          enterkeyhint={hasCoarsePointer() ? "enter" : "send"}
          onInput={(event) => composer.updateText(event.currentTarget.value, event.currentTarget.selectionStart)}
          onSelect={(event) => composer.setCaret(event.currentTarget.selectionStart)}
          onKeyDown={onKeyDown}
          onPaste={files.onPaste}
          onBlur={() => typingNotice.onBlur()}
        />
        {!isNote && composer.actions !== undefined && (
          <MacroActions actions={composer.actions} onDrop={composer.dropActions} />
        )}
        <div class="bar">
          <Tools chatId={props.chatId} composer={composer} files={files} />
          <Hints composer={composer} />
          {isNoteOnly && (
            <button type="button" class="btn" onClick={onDone}>
              {t`Cancel`}
            </button>
          )}
          {!isNote && (
            <button
              type="button"
              class="btn only-icon"
              aria-label={t`Send later`}
              title={composer.actions === undefined ? t`Send later` : t`A macro cannot be sent later`}
              aria-disabled={!canPlan}
              onClick={() => canPlan && (overlay.value = { kind: "send-later", chatId: props.chatId })}
            >
              <Icon name="clock" />
            </button>
          )}
          <button
            type="submit"
            class="btn primary"
            aria-disabled={composer.isEmpty || composer.isPlanning || excessCharacters > 0}
          >
            {isNote ? t`Add note` : t`Send`} <kbd aria-hidden="true">{t`Enter`}</kbd>
          </button>
        </div>
      </div>
    </form>
  );
}

/** Moves through the canned replies or inserts one. Returns whether the key has done this. */
function handleSuggestionKey(event: KeyboardEvent, { suggestions, insertReply }: ComposerState): boolean {
  const { isOpen, items, selectedIndex, select } = suggestions;
  if (!isOpen || items.length === 0) return false;
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  const reply = items[selectedIndex];
  if (step !== 0) {
    const next = (selectedIndex + step + items.length) % items.length;
    select(next);
    document.getElementById(`canned-${next}`)?.scrollIntoView({ block: "nearest" });
  } else if ((event.key === "Enter" || event.key === "Tab") && !event.shiftKey && reply !== undefined) {
    insertReply(reply);
  } else return false;
  event.preventDefault();
  return true;
}

/** Moves through the colleagues or mentions one. Returns whether the key has done this. */
function handleMentionKey(event: KeyboardEvent, { mentionList, insertMention }: ComposerState): boolean {
  const { items, selectedIndex, select, dismiss } = mentionList;
  const agent = items[selectedIndex];
  if (agent === undefined || event.shiftKey) return false;
  if (event.key === "Escape") dismiss();
  else if (event.key === "Tab") insertMention(agent);
  else
    handleListKey(event, {
      selectedIndex,
      count: items.length,
      optionIdPrefix: "mention",
      onSelect: select,
      onChoose: () => insertMention(agent),
    });
  if (event.key === "Escape" || event.key === "Tab") event.preventDefault();
  return event.defaultPrevented;
}

function KindChoice({ isNote, onChange }: { isNote: boolean; onChange: (isNote: boolean) => void }) {
  return (
    <div class="modes" role="radiogroup" aria-label={t`Message type`}>
      <button type="button" role="radio" aria-checked={!isNote} onClick={() => onChange(false)}>
        {t`Reply`}
      </button>
      <button type="button" role="radio" aria-checked={isNote} onClick={() => onChange(true)}>
        <Icon name="lock" />
        {t`Private note`}
      </button>
    </div>
  );
}

/** What happens after the message has been sent. */
function MacroActions({ actions, onDrop }: { actions: ReplyActions; onDrop: () => void }) {
  const { roster } = useWorkspace();
  return (
    <p class="macro-actions">
      <span>{t`Then:`}</span>
      {describeActions(actions, roster.people.value).map((text) => (
        <span key={text} class="chip" dir="auto">
          {text}
        </span>
      ))}
      <button
        type="button"
        class="btn only-icon"
        aria-label={t`Send only the text`}
        title={t`Send only the text`}
        onClick={onDrop}
      >
        <Icon name="x" />
      </button>
    </p>
  );
}

/** The buttons that add something to the text or send a file. */
function Tools({ chatId, composer, files }: { chatId: number; composer: ComposerState; files: Files }) {
  const [isEmojiOpen, setEmojiOpen] = useState(false);
  const emojiButton = useRef<HTMLButtonElement>(null);
  return (
    <>
      {!composer.isNote && (
        <>
          <button
            type="button"
            class="btn only-icon"
            aria-label={t`Canned replies`}
            title={t`Canned replies (/)`}
            onClick={composer.startCannedReply}
          >
            <Icon name="square-slash" />
          </button>
          <AttachButton files={files} />
          <button
            type="button"
            class="btn only-icon"
            aria-label={t`Send a link to a file`}
            title={t`Send a link to a file`}
            onClick={() => (overlay.value = { kind: "file", chatId })}
          >
            <Icon name="link" />
          </button>
        </>
      )}
      <button
        ref={emojiButton}
        type="button"
        class="btn only-icon"
        aria-label={t`Emoji`}
        title={t`Emoji`}
        aria-haspopup="dialog"
        aria-expanded={isEmojiOpen}
        onClick={() => setEmojiOpen(!isEmojiOpen)}
      >
        <Icon name="smile" />
      </button>
      {isEmojiOpen && (
        <Popover anchor={emojiButton} side="above" class="emoji" label={t`Emoji`} onClose={() => setEmojiOpen(false)}>
          <EmojiPicker
            onChoose={(emoji) => {
              setEmojiOpen(false);
              composer.insert(emoji);
            }}
          />
        </Popover>
      )}
    </>
  );
}

function AttachButton({ files }: { files: Files }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button
        type="button"
        class="btn only-icon"
        aria-label={t`Send files`}
        title={t`Send files (or paste them, or drop them here)`}
        onClick={() => input.current?.click()}
      >
        <Icon name="paperclip" />
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={({ currentTarget }) => {
          files.send(currentTarget.files ?? []);
          currentTarget.value = "";
        }}
      />
    </>
  );
}

/** What the agent should know about the text, between the buttons. */
function Hints({ composer }: { composer: ComposerState }) {
  const { length, excessCharacters, isConfirming, isRestored } = composer;
  const isLong = length >= SHOW_COUNT_FROM_CHARACTERS;
  return (
    <>
      {isLong && (
        <span id="composer-count" class={excessCharacters > 0 ? "hint bad" : "hint"} role="status">
          {excessCharacters > 0
            ? t`${excessCharacters.toLocaleString(language)} too many`
            : t`${length.toLocaleString(language)} of ${MAX_TEXT_CHARACTERS.toLocaleString(language)}`}
        </span>
      )}
      {!isLong && (isConfirming || isRestored) && (
        <span class={isConfirming ? "hint ask" : "hint"}>{isConfirming ? CONFIRMATION_HINT : t`Draft restored`}</span>
      )}
      <span class="grow" />
      {!isConfirming && (
        <span class="hint keys" aria-hidden="true">
          <kbd>{t`Shift`}</kbd> <kbd>{t`Enter`}</kbd> {t`new line`}
        </span>
      )}
    </>
  );
}
