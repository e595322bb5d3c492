import {
  acceptNext,
  openAdjacentChat,
  openFilter,
  requestClose,
  selectAll,
  selectedChats,
  toggleSelected,
} from "./chat-actions";
import type { BulkKind } from "./organizing/bulk-dialogs";
import { areSingleKeyShortcutsEnabled, isVisitorPaneOpen } from "./state/agent/preferences";
import { openChat, route } from "./state/page/route";
import {
  closeVisitorPane,
  focusComposer,
  followBackButton,
  overlay,
  isVisitorPaneOverlayOpen,
  toggleVisitorPane,
} from "./state/list/view-state";
import type { Workspace } from "./state/workspace";
import { SEARCH_INPUT_ID } from "./inbox/inbox";

/** Matches a dialog that only its own buttons close, see `Dialog`. */
const LOCKED_DIALOG = "dialog[open][closedby=none]";

function isTextField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

const isOverlayOpen = () => document.querySelector("dialog[open], :popover-open") !== null;

export function listenForShortcuts(workspace: Workspace): () => void {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing) return;
    if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      if (document.querySelector(LOCKED_DIALOG) !== null) return;
      overlay.value = overlay.peek()?.kind === "palette" ? undefined : { kind: "palette" };
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || isTextField(event.target) || isOverlayOpen()) return;
    if (event.key === "Escape") {
      if (isVisitorPaneOverlayOpen.peek()) closeVisitorPane();
      else if (workspace.selection.chatIds.peek().size > 0) workspace.selection.clear();
      else if (workspace.reading.openChatId.peek() !== undefined && matchMedia("(max-width: 719px)").matches)
        openChat(undefined);
      return;
    }
    if (!areSingleKeyShortcutsEnabled.peek()) return;
    const action = shortcutAction(workspace, event.key);
    if (action === undefined) return;
    event.preventDefault();
    action();
  };
  addEventListener("keydown", onKeyDown);
  const stopFollowing = followBackButton();
  return () => {
    stopFollowing();
    removeEventListener("keydown", onKeyDown);
  };
}

/** Moves the focus to the page's search field. On a page without one, and on a phone in a chat, the chats are searched. */
function focusSearch(): void {
  const field = [...document.querySelectorAll<HTMLElement>("main input[type=search]")].find(isShown);
  if (field !== undefined) return field.focus();
  openChat(undefined);
  requestAnimationFrame(() => document.getElementById(SEARCH_INPUT_ID)?.focus());
}
const isShown = (element: HTMLElement) => element.offsetParent !== null;

/** What these keys do with the selected chats. */
const BULK_KEYS: Readonly<Record<string, BulkKind>> = { l: "bulk-tags", t: "bulk-transfer", e: "bulk-close" };

function shortcutAction(workspace: Workspace, key: string): (() => void) | undefined {
  if (key === "?") return () => (overlay.value = { kind: "shortcuts" });
  if (key === "/") return focusSearch;
  if (route.peek().section !== "inbox") return undefined;
  const bulkKind = BULK_KEYS[key];
  if (bulkKind !== undefined && selectedChats(workspace).length > 0) return () => (overlay.value = { kind: bulkKind });
  const id = workspace.reading.openChatId.peek();
  const row = id === undefined ? undefined : workspace.headers.peek(id);
  const isMine = row !== undefined && workspace.chats.isMine(row);
  switch (key) {
    case "j":
      return () => openAdjacentChat(workspace, 1);
    case "k":
      return () => openAdjacentChat(workspace, -1);
    case "x":
      return () => toggleSelected(workspace);
    case "X":
      return () => selectAll(workspace);
    case "a":
      return () => acceptNext(workspace);
    case "r":
      return id === undefined ? undefined : () => focusComposer(id);
    case "n":
      return id === undefined ? undefined : () => focusComposer(id, "note");
    case "e":
      return row !== undefined && row.state !== "closed" && (isMine || row.state !== "active" || workspace.isAdmin)
        ? () => requestClose(workspace, row.chat_id)
        : undefined;
    case "c":
      return isMine && !workspace.runningCalls.byChat.peek().has(row.chat_id)
        ? () => (overlay.value = { kind: "call", chatId: row.chat_id })
        : undefined;
    case "t":
      return row?.state === "active" && (isMine || workspace.isAdmin)
        ? () => (overlay.value = { kind: "transfer", chatId: row.chat_id })
        : undefined;
    case "f":
      return openFilter;
    case "l":
      return row === undefined ? undefined : () => (overlay.value = { kind: "tags", chatId: row.chat_id });
    case "s":
      return isMine ? () => (overlay.value = { kind: "snooze", chatId: row.chat_id }) : undefined;
    case "i":
      return id === undefined
        ? undefined
        : () => {
            if (matchMedia("(max-width: 1100px)").matches) toggleVisitorPane();
            else isVisitorPaneOpen.value = !isVisitorPaneOpen.peek();
          };
    default:
      return undefined;
  }
}
