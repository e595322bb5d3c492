import "./composer.css";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { CannedReply, ChatRow } from "../../api/types";
import { announce } from "../../ui/announcer";
import { Icon } from "../../ui/icons";
import { Popover } from "../../ui/popover";
import { useWorkspace } from "../workspace-context";
import { TypingNotice } from "../state/typing-notice";
import { composerFocusRequest, overlay } from "../state/view-state";
import { isAnonymous } from "../state/visitor-name";
import { EmojiPicker } from "./emoji-picker";
import {
  findCannedQuery,
  SHOW_COUNT_FROM_CHARACTERS,
  countCharacters,
  fillPlaceholders,
  isForgottenShortcut,
  matchCannedReplies,
  MAX_TEXT_CHARACTERS,
} from "./composer-text";

interface ComposerProps {
  chatId: number;
  row: ChatRow;
  name: string;
  startsAsNote?: boolean;
  isNoteOnly?: boolean;
  onDone?: () => void;
}

const MAX_SUGGESTIONS = 30;
const CONFIRMATION_HINT = "This looks like a canned reply. Send again to send it.";
const hasCoarsePointer = () => matchMedia("(pointer: coarse)").matches;

export function Composer({ chatId, row, name, startsAsNote = false, isNoteOnly = false, onDone }: ComposerProps) {
  const workspace = useWorkspace();
  const [draft] = useState(() => workspace.drafts.read(chatId));
  const [text, setText] = useState(draft.text);
  const [isNote, setNote] = useState(isNoteOnly || startsAsNote || draft.isNote);
  const [caret, setCaret] = useState(draft.text.length);
  const [dismissedAt, setDismissedAt] = useState<number>();
  /** The text that looked like a shortcut when the agent sent it, so that it is sent only if the agent repeats this. */
  const [confirmed, setConfirmed] = useState<string>();
  const [selected, setSelected] = useState(0);
  const [isEmojiOpen, setEmojiOpen] = useState(false);
  const [isRestored, setRestored] = useState(draft.text !== "");
  const textarea = useRef<HTMLTextAreaElement>(null);
  const emojiButton = useRef<HTMLButtonElement>(null);
  const [typingNotice] = useState(() => new TypingNotice((type) => void sendTyping(type)));

  const sendTyping = async (type: "typein" | "typeout") => {
    if (workspace.sync.sendTyping(chatId, type)) return;
    await workspace.api
      .post("/agent/chats/{chat_id}/typing", { path: { chat_id: chatId }, body: { type } })
      .catch(() => {});
  };

  const length = countCharacters(text);
  const excessCharacters = length - MAX_TEXT_CHARACTERS;
  const isEmpty = text.trim() === "";
  const isConfirming = confirmed === text;
  const replies = workspace.cannedReplies.items.value;
  const query = findCannedQuery(text, caret);
  const isSuggesting = query !== undefined && query.from !== dismissedAt && !isNote;
  const suggestions = isSuggesting ? matchCannedReplies(replies ?? [], query.searchText).slice(0, MAX_SUGGESTIONS) : [];
  const isOpen = isSuggesting && (replies === undefined || suggestions.length > 0 || query.searchText === "");
  const selectedIndex = Math.min(selected, Math.max(0, suggestions.length - 1));

  // Load the canned replies again if the first request failed.
  const areRepliesMissing = isOpen && replies === undefined;
  useEffect(() => {
    if (areRepliesMissing) void workspace.cannedReplies.load().catch(() => {});
  }, [areRepliesMissing]);

  const resizeToContent = () => {
    const element = textarea.current;
    if (element === null) return;
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight}px`;
  };
  useLayoutEffect(resizeToContent, [text]);
  useEffect(() => {
    const element = textarea.current;
    if (element === null) return;
    let width = element.clientWidth;
    const resizeObserver = new ResizeObserver(() => {
      if (element.clientWidth === width) return;
      width = element.clientWidth;
      resizeToContent();
    });
    resizeObserver.observe(element);
    return () => {
      resizeObserver.disconnect();
      typingNotice.stop();
    };
  }, []);

  // Move the focus to the composer if `composerFocusRequest` names this chat. This must be a layout effect, so that the
  // composer has the focus before the next key is pressed.
  const request = composerFocusRequest.value;
  useLayoutEffect(() => {
    if (request?.chatId !== chatId) return;
    composerFocusRequest.value = undefined;
    if (request.kind === "note") setNote(true);
    const storedDraft = workspace.drafts.read(chatId);
    if (storedDraft.text !== text) {
      setText(storedDraft.text);
      setCaret(storedDraft.text.length);
    }
    textarea.current?.focus();
  }, [request]);
  useLayoutEffect(() => {
    if (isNoteOnly || startsAsNote) textarea.current?.focus();
  }, []);

  const updateText = (value: string, position: number) => {
    setText(value);
    setCaret(position);
    setSelected(0);
    setRestored(false);
    // Esc closes the replies only for the slash at the caret. Another slash opens them again.
    if (findCannedQuery(value, position)?.from !== dismissedAt) setDismissedAt(undefined);
    setConfirmed(undefined);
    workspace.drafts.write(chatId, value, isNote);
    if (!isNote && workspace.chats.isMine(row)) typingNotice.onInput(value.trim() !== "");
  };

  const replace = (from: number, to: number, insertedText: string) => {
    const element = textarea.current;
    const value = text.slice(0, from) + insertedText + text.slice(to);
    const position = from + insertedText.length;
    updateText(value, position);
    requestAnimationFrame(() => {
      element?.focus();
      element?.setSelectionRange(position, position);
    });
  };

  const insertReply = (reply: CannedReply) => {
    if (query === undefined) return;
    const visitor = isAnonymous(row.visitor.name) ? undefined : row.visitor.name;
    replace(query.from, caret, fillPlaceholders(reply.text, { visitor, agent: workspace.me.name }));
    announce(`Reply ${reply.shortcut} inserted`);
  };

  const startCannedReply = () => {
    const element = textarea.current;
    if (element === null) return;
    const before = text.slice(0, caret);
    const insertedText = before === "" || /\s$/.test(before) ? "/" : " /";
    setNote(isNoteOnly);
    setDismissedAt(undefined);
    replace(caret, caret, insertedText);
  };

  const send = () => {
    if (isEmpty || excessCharacters > 0) return;
    const trimmedText = text.trim();
    if (!isNote && !isConfirming && isForgottenShortcut(trimmedText, replies)) {
      setConfirmed(text);
      setDismissedAt(undefined);
      announce(CONFIRMATION_HINT);
      return;
    }
    typingNotice.stop();
    workspace.outbox.add(
      chatId,
      isNote
        ? { kind: "note", body: { text: trimmedText } }
        : { kind: "message", body: { type: "text", text: trimmedText } },
    );
    setText("");
    setCaret(0);
    workspace.drafts.write(chatId, "", false);
    if (isNoteOnly) onDone?.();
    else if (isNote) setNote(false);
    textarea.current?.focus();
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    if (isOpen && suggestions.length > 0) {
      const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
      if (step !== 0) {
        event.preventDefault();
        const next = (selectedIndex + step + suggestions.length) % suggestions.length;
        setSelected(next);
        document.getElementById(`canned-${next}`)?.scrollIntoView({ block: "nearest" });
        return;
      }
      const reply = suggestions[selectedIndex];
      if ((event.key === "Enter" || event.key === "Tab") && !event.shiftKey && reply !== undefined) {
        event.preventDefault();
        insertReply(reply);
        return;
      }
    }
    if (event.key === "Escape") {
      event.preventDefault();
      if (isOpen) setDismissedAt(query?.from);
      else if (isNoteOnly && isEmpty) onDone?.();
      else textarea.current?.blur();
    } else if (
      event.key === "Enter" &&
      !event.shiftKey &&
      !event.altKey &&
      (!hasCoarsePointer() || event.ctrlKey || event.metaKey)
    ) {
      event.preventDefault();
      send();
    }
  };

  const shortName = isAnonymous(row.visitor.name) ? "the visitor" : (name.split(/\s+/)[0] ?? name);
  const classes = ["box", isNote ? "note" : "", excessCharacters > 0 ? "bad" : ""].filter(Boolean).join(" ");
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {isOpen && (
        <div class="suggestions scroll">
          {replies !== undefined && (
            <ul id="canned" role="listbox" aria-label="Canned replies">
              {suggestions.map((reply, index) => (
                <li
                  key={reply.id}
                  id={`canned-${index}`}
                  role="option"
                  aria-selected={index === selectedIndex}
                  onMouseDown={(event) => {
                    event.preventDefault();
                    insertReply(reply);
                  }}
                  onMouseMove={() => setSelected(index)}
                >
                  <b>/{reply.shortcut.replace(/^\//, "")}</b>
                  <span dir="auto">{reply.text}</span>
                </li>
              ))}
            </ul>
          )}
          <div class="foot">
            <span>
              {replies === undefined
                ? "Loading…"
                : suggestions.length === 0
                  ? "There are no canned replies yet."
                  : hasCoarsePointer()
                    ? ""
                    : "Enter inserts, Esc closes"}
            </span>
            {workspace.isAdmin && (
              <button type="button" onClick={() => (overlay.value = { kind: "canned" })}>
                Manage replies
              </button>
            )}
          </div>
        </div>
      )}
      <div class={classes}>
        {!isNoteOnly && (
          <div class="modes" role="radiogroup" aria-label="Message type">
            <button
              type="button"
              role="radio"
              aria-checked={!isNote}
              onClick={() => (setNote(false), textarea.current?.focus())}
            >
              Reply
            </button>
            <button
              type="button"
              role="radio"
              aria-checked={isNote}
              onClick={() => (setNote(true), typingNotice.stop(), textarea.current?.focus())}
            >
              <Icon name="lock" />
              Private note
            </button>
          </div>
        )}
        <textarea
          ref={textarea}
          rows={1}
          dir="auto"
          value={text}
          aria-label={isNote ? "Private note" : `Message to ${name}`}
          placeholder={isNote ? "Only agents see this note" : `Write to ${shortName}`}
          aria-autocomplete="list"
          aria-haspopup="listbox"
          aria-controls={isOpen && suggestions.length > 0 ? "canned" : undefined}
          aria-activedescendant={isOpen && suggestions.length > 0 ? `canned-${selectedIndex}` : undefined}
          aria-invalid={excessCharacters > 0}
          aria-describedby={length >= SHOW_COUNT_FROM_CHARACTERS ? "composer-count" : undefined}
          enterkeyhint={hasCoarsePointer() ? "enter" : "send"}
          onInput={(event) => updateText(event.currentTarget.value, event.currentTarget.selectionStart)}
          onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
          onKeyDown={onKeyDown}
          onBlur={() => typingNotice.onBlur()}
        />
        <div class="bar">
          {!isNote && (
            <>
              <button
                type="button"
                class="btn only-icon"
                aria-label="Canned replies"
                title="Canned replies (/)"
                onClick={startCannedReply}
              >
                <Icon name="square-slash" />
              </button>
              <button
                type="button"
                class="btn only-icon"
                aria-label="Send a link to a file"
                title="Send a link to a file"
                onClick={() => (overlay.value = { kind: "file", chatId })}
              >
                <Icon name="paperclip" />
              </button>
            </>
          )}
          <button
            ref={emojiButton}
            type="button"
            class="btn only-icon"
            aria-label="Emoji"
            title="Emoji"
            aria-haspopup="dialog"
            aria-expanded={isEmojiOpen}
            onClick={() => setEmojiOpen(!isEmojiOpen)}
          >
            <Icon name="smile" />
          </button>
          {length >= SHOW_COUNT_FROM_CHARACTERS ? (
            <span id="composer-count" class={excessCharacters > 0 ? "hint bad" : "hint"} role="status">
              {excessCharacters > 0
                ? `${excessCharacters.toLocaleString("en")} too many`
                : `${length.toLocaleString("en")} of ${MAX_TEXT_CHARACTERS.toLocaleString("en")}`}
            </span>
          ) : (
            (isConfirming || isRestored) && (
              <span class={isConfirming ? "hint ask" : "hint"}>
                {isConfirming ? CONFIRMATION_HINT : "Draft restored"}
              </span>
            )
          )}
          <span class="grow" />
          {!isConfirming && (
            <span class="hint keys" aria-hidden="true">
              <kbd>Shift</kbd> <kbd>Enter</kbd> new line
            </span>
          )}
          {isNoteOnly && (
            <button type="button" class="btn" onClick={onDone}>
              Cancel
            </button>
          )}
          <button type="submit" class="btn primary" aria-disabled={isEmpty || excessCharacters > 0}>
            {isNote ? "Add note" : "Send"} <kbd aria-hidden="true">Enter</kbd>
          </button>
        </div>
      </div>
      {isEmojiOpen && (
        <Popover anchor={emojiButton} side="above" class="emoji" label="Emoji" onClose={() => setEmojiOpen(false)}>
          <EmojiPicker
            onChoose={(emoji) => {
              setEmojiOpen(false);
              replace(caret, caret, emoji);
            }}
          />
        </Popover>
      )}
    </form>
  );
}
