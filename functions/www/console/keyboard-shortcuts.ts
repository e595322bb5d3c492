import { LOCKED_DIALOG } from "../ui/dialog";
import { acceptNext, openFilter, requestClose, openAdjacentChat } from "./chat-actions";
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

export const KEYBOARD_SHORTCUTS: readonly {
  keys: readonly string[];
  description: string;
  section: "Anywhere" | "In the list" | "In a chat" | "While writing";
}[] = [
  { keys: ["Ctrl", "K"], description: "Find a chat or an action", section: "Anywhere" },
  { keys: ["/"], description: "Search", section: "Anywhere" },
  { keys: ["?"], description: "Show keyboard shortcuts", section: "Anywhere" },
  { keys: ["j"], description: "Next chat", section: "In the list" },
  { keys: ["k"], description: "Previous chat", section: "In the list" },
  { keys: ["f"], description: "Filter the list", section: "In the list" },
  { keys: ["a"], description: "Accept the open chat, or the one that has waited longest", section: "In a chat" },
  { keys: ["r"], description: "Reply", section: "In a chat" },
  { keys: ["n"], description: "Add a private note", section: "In a chat" },
  { keys: ["c"], description: "Call the visitor", section: "In a chat" },
  { keys: ["t"], description: "Transfer", section: "In a chat" },
  { keys: ["l"], description: "Tags", section: "In a chat" },
  { keys: ["s"], description: "Snooze", section: "In a chat" },
  { keys: ["e"], description: "Close", section: "In a chat" },
  { keys: ["i"], description: "Show or hide visitor details", section: "In a chat" },
  { keys: ["Esc"], description: "Leave the field, or go back to the list", section: "In a chat" },
  { keys: ["Enter"], description: "Send", section: "While writing" },
  { keys: ["Shift", "Enter"], description: "New line", section: "While writing" },
  { keys: ["/"], description: "Canned replies", section: "While writing" },
];

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

function shortcutAction(workspace: Workspace, key: string): (() => void) | undefined {
  if (key === "?") return () => (overlay.value = { kind: "shortcuts" });
  if (key === "/") return focusSearch;
  if (route.peek().section !== "inbox") return undefined;
  const id = workspace.reading.openChatId.peek();
  const row = id === undefined ? undefined : workspace.headers.peek(id);
  const isMine = row !== undefined && workspace.chats.isMine(row);
  switch (key) {
    case "j":
      return () => openAdjacentChat(workspace, 1);
    case "k":
      return () => openAdjacentChat(workspace, -1);
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
