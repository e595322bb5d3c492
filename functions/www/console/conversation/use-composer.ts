import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { CannedReply, ChatRow, Colleague } from "../../api/types";
import { announce } from "../../ui/announcer";
import { mentionedIds } from "../state/chat/mentions";
import { TypingNotice } from "../state/chat/typing-notice";
import { composerFocusRequest } from "../state/list/view-state";
import { isAnonymous } from "../state/list/chats";
import type { Workspace } from "../state/workspace";
import { useWorkspace } from "../workspace-context";
import { countCharacters, fillPlaceholders, isForgottenShortcut, MAX_TEXT_CHARACTERS } from "./composer-text";
import { useGrowingHeight } from "./use-growing-height";
import { useMentionList } from "./use-mention-list";
import { useSuggestedAnswer } from "./use-suggested-answer";
import { useSuggestions } from "./use-suggestions";
import { t } from "../../texts/translate";

export interface ComposerProps {
  chatId: number;
  row: ChatRow;
  name: string;
  startsAsNote?: boolean;
  isNoteOnly?: boolean;
  onDone?: () => void;
}

/** What the agent reads after sending a text that looks like a shortcut. */
export const CONFIRMATION_HINT = t`This looks like a canned reply. Send again to send it.`;

/** The state of a composer: its text, which is stored as a draft, and what the agent can do with it. */
export function useComposer({ chatId, row, startsAsNote = false, isNoteOnly = false, onDone }: ComposerProps) {
  const workspace = useWorkspace();
  const [draft] = useState(() => workspace.drafts.read(chatId));
  const [text, setText] = useState(draft.text);
  const [isNote, setNote] = useState(isNoteOnly || startsAsNote || draft.isNote);
  const [caret, setCaret] = useState(draft.text.length);
  /** The text that looked like a shortcut when the agent sent it, so that it is sent only if the agent repeats this. */
  const [confirmed, setConfirmed] = useState<string>();
  /** What is done after the message has been sent, because it contains a macro. */
  const [actions, setActions] = useState(draft.actions);
  const [isRestored, setRestored] = useState(draft.text !== "");
  const textarea = useRef<HTMLTextAreaElement>(null);
  const typingNotice = useTypingNotice(workspace, chatId);
  const suggestions = useSuggestions(text, caret, isNote);
  const mentionList = useMentionList(text, caret, isNote);
  const suggested = useSuggestedAnswer(chatId);
  useGrowingHeight(textarea, text);

  const length = countCharacters(text);
  const excessCharacters = length - MAX_TEXT_CHARACTERS;
  const isEmpty = text.trim() === "";
  const isConfirming = confirmed === text;
  const isPlanning = !isNote && workspace.plannedMessages.planningChatIds.value.has(chatId);

  const focus = () => textarea.current?.focus();

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
      setActions(storedDraft.actions);
      // A reply that returns to the composer must not become a note.
      if (storedDraft.text !== "") setNote(isNoteOnly || storedDraft.isNote);
    }
    focus();
  }, [request]);
  useLayoutEffect(() => {
    if (isNoteOnly || startsAsNote) focus();
  }, []);

  const updateText = (value: string, position: number, asNote = isNote, newActions = actions) => {
    const keptActions = value.trim() === "" ? undefined : newActions;
    setText(value);
    setActions(keptActions);
    setCaret(position);
    setRestored(false);
    suggestions.follow(value, position);
    setConfirmed(undefined);
    workspace.drafts.write(chatId, value, asNote, keptActions);
    if (value.trim() === "") suggested.forget();
    if (!asNote && workspace.chats.isMine(row)) typingNotice.onInput(value.trim() !== "");
  };

  const replace = (from: number, to: number, insertedText: string, asNote = isNote, newActions = actions) => {
    const position = from + insertedText.length;
    updateText(text.slice(0, from) + insertedText + text.slice(to), position, asNote, newActions);
    const element = textarea.current;
    requestAnimationFrame(() => {
      element?.focus();
      element?.setSelectionRange(position, position);
    });
  };
  const insert = (insertedText: string) => replace(caret, caret, insertedText);

  const insertReply = (reply: CannedReply) => {
    if (suggestions.from === undefined) return;
    const visitor = isAnonymous(row.visitor.name) ? undefined : row.visitor.name;
    const filled = fillPlaceholders(reply.text, { visitor, agent: workspace.me.name });
    replace(suggestions.from, caret, filled, isNote, reply.actions ?? actions);
    announce(t`Reply ${reply.shortcut} inserted`);
  };

  const insertMention = (agent: Colleague) => {
    if (mentionList.from === undefined) return;
    replace(mentionList.from, caret, `@${agent.name} `);
    announce(t`${agent.name} is mentioned`);
  };

  const dropActions = () => {
    setActions(undefined);
    workspace.drafts.write(chatId, text, isNote);
    focus();
  };

  const startCannedReply = () => {
    if (textarea.current === null) return;
    const before = text.slice(0, caret);
    setNote(isNoteOnly);
    suggestions.reopen();
    insert(before === "" || /\s$/.test(before) ? "/" : " /");
  };

  const useSuggested = () => {
    if (suggested.suggestion === undefined) return;
    setNote(isNoteOnly);
    // What the agent has typed stays.
    const separator = text === "" || /\s$/.test(text) ? "" : " ";
    replace(text.length, text.length, separator + suggested.suggestion.text, false);
    suggested.use();
    announce(t`Suggestion inserted`);
  };

  const dismissSuggested = () => {
    suggested.dismiss();
    focus();
  };

  const chooseKind = (asNote: boolean) => {
    setNote(asNote);
    if (asNote) typingNotice.stop();
    focus();
  };

  const send = () => {
    if (isEmpty || isPlanning || excessCharacters > 0) return;
    const trimmedText = text.trim();
    if (!isNote && !isConfirming && isForgottenShortcut(trimmedText, suggestions.replies)) {
      setConfirmed(text);
      suggestions.reopen();
      announce(CONFIRMATION_HINT);
      return;
    }
    typingNotice.stop();
    const draft = isNote ? undefined : suggested.useOf(trimmedText);
    const mentions = mentionedIds(trimmedText, workspace.roster.people.peek()?.agents ?? []);
    workspace.outbox.add(
      chatId,
      isNote
        ? { kind: "note", body: { text: trimmedText, ...(mentions.length === 0 ? {} : { mentions }) } }
        : {
            kind: "message",
            body: { type: "text", text: trimmedText, ...(draft === undefined ? {} : { draft }) },
            actions,
          },
    );
    setText("");
    setActions(undefined);
    setCaret(0);
    workspace.drafts.write(chatId, "", false);
    if (isNoteOnly) onDone?.();
    else if (isNote) setNote(false);
    focus();
  };

  const state = { text, actions, isNote, isEmpty, length, excessCharacters, isConfirming, isPlanning, isRestored };
  const handlers = {
    updateText,
    setCaret,
    insert,
    insertReply,
    insertMention,
    dropActions,
    startCannedReply,
    useSuggested,
    dismissSuggested,
    chooseKind,
    send,
  };
  return { ...state, ...handlers, textarea, typingNotice, suggestions, mentionList, suggested };
}

/** Tells the visitor and the colleagues that the agent is typing. */
function useTypingNotice({ sync, api }: Workspace, chatId: number): TypingNotice {
  const send = async (type: "typein" | "typeout") => {
    if (sync.sendTyping(chatId, type)) return;
    await api.post("/agent/chats/{chat_id}/typing", { path: { chat_id: chatId }, body: { type } }).catch(() => {});
  };
  const [notice] = useState(() => new TypingNotice((type) => void send(type)));
  useEffect(() => () => notice.stop(), []);
  return notice;
}
