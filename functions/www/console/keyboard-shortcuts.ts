import { acceptNext, requestClose, step } from "./actions";
import { hasSingleKeys, isVisitorPaneOpen } from "./state/preferences";
import { openChat, route } from "./state/route";
import { askComposer, floating, isVisitorShown } from "./state/view";
import type { Workspace } from "./state/workspace";
import { searchInputId } from "./inbox/inbox";

export const KEYS: readonly {
  keys: readonly string[];
  does: string;
  group: "Anywhere" | "In the list" | "In a chat" | "While writing";
}[] = [
  { keys: ["Ctrl", "K"], does: "Find a chat or an action", group: "Anywhere" },
  { keys: ["/"], does: "Search chats", group: "Anywhere" },
  { keys: ["?"], does: "Show these keys", group: "Anywhere" },
  { keys: ["j"], does: "Next chat", group: "In the list" },
  { keys: ["k"], does: "Previous chat", group: "In the list" },
  { keys: ["a"], does: "Accept the open chat, or the one that has waited longest", group: "In a chat" },
  { keys: ["r"], does: "Reply", group: "In a chat" },
  { keys: ["n"], does: "Add a private note", group: "In a chat" },
  { keys: ["t"], does: "Transfer", group: "In a chat" },
  { keys: ["e"], does: "Close", group: "In a chat" },
  { keys: ["i"], does: "Show or hide visitor details", group: "In a chat" },
  { keys: ["Esc"], does: "Leave the field, or go back to the list", group: "In a chat" },
  { keys: ["Enter"], does: "Send", group: "While writing" },
  { keys: ["Shift", "Enter"], does: "New line", group: "While writing" },
  { keys: ["/"], does: "Canned replies", group: "While writing" },
];

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

const isSomethingOpen = () => document.querySelector("dialog[open], :popover-open") !== null;

export function followKeys(workspace: Workspace): () => void {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing) return;
    if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      floating.value = floating.peek()?.kind === "palette" ? undefined : { kind: "palette" };
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || isSomethingOpen()) return;
    if (event.key === "Escape") {
      if (isVisitorShown.peek()) isVisitorShown.value = false;
      else if (workspace.shownId.peek() !== undefined && matchMedia("(max-width: 719px)").matches) openChat(undefined);
      return;
    }
    if (!hasSingleKeys.peek()) return;
    const act = actionOf(workspace, event.key);
    if (act === undefined) return;
    event.preventDefault();
    act();
  };
  addEventListener("keydown", onKeyDown);
  return () => removeEventListener("keydown", onKeyDown);
}

function actionOf(workspace: Workspace, key: string): (() => void) | undefined {
  if (key === "?") return () => (floating.value = { kind: "keys" });
  if (route.peek().section !== "inbox") return undefined;
  const id = workspace.shownId.peek();
  const row = id === undefined ? undefined : workspace.header(id);
  const isMine = row !== undefined && workspace.chats.isMine(row);
  switch (key) {
    case "/":
      return () => document.getElementById(searchInputId)?.focus();
    case "j":
      return () => step(workspace, 1);
    case "k":
      return () => step(workspace, -1);
    case "a":
      return () => acceptNext(workspace);
    case "r":
      return id === undefined ? undefined : () => askComposer(id);
    case "n":
      return id === undefined ? undefined : () => askComposer(id, "note");
    case "e":
      return row !== undefined && row.state !== "closed" && (isMine || row.state !== "active" || workspace.isAdmin)
        ? () => requestClose(workspace, row.chat_id)
        : undefined;
    case "t":
      return row?.state === "active" && (isMine || workspace.isAdmin)
        ? () => (floating.value = { kind: "transfer", chatId: row.chat_id })
        : undefined;
    case "i":
      return id === undefined
        ? undefined
        : () => {
            if (matchMedia("(max-width: 1100px)").matches) isVisitorShown.value = !isVisitorShown.peek();
            else isVisitorPaneOpen.value = !isVisitorPaneOpen.peek();
          };
    default:
      return undefined;
  }
}
