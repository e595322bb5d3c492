/* Chat actions that can be triggered by both buttons and keyboard shortcuts. */

import { toast } from "../ui/toast";
import { errorText } from "./state/page/error-text";
import type { Workspace } from "./state/workspace";
import { openChat, route } from "./state/page/route";
import { focusComposer, overlay, activeTab, isFilterOpen, searchQuery } from "./state/list/view-state";
import { visibleChats } from "./inbox/inbox";
import { t } from "../texts/translate";

/** Accepts the chat, opens it and focuses the composer. */
export function acceptChat(workspace: Workspace, chatId: number): void {
  void workspace.ownership.accept(chatId);
  if (route.peek().id !== chatId) openChat(chatId);
  focusComposer(chatId);
}

/** Closes the chat. Asks for confirmation if a draft or an unsent message would be lost. */
export function requestClose(workspace: Workspace, chatId: number): void {
  if (workspace.hasUnsent(chatId)) overlay.value = { kind: "close", chatId };
  else closeAndOpenNext(workspace, chatId);
}

export function closeAndOpenNext(workspace: Workspace, chatId: number): void {
  const openNext = nextChatOpener(workspace, chatId);
  workspace.closing.close(chatId);
  openNext();
}

/** Returns a function that leaves the chat for the one that now follows it in the list. */
export function nextChatOpener(workspace: Workspace, chatId: number): () => void {
  const list = visibleChats(workspace.chats);
  const at = list.findIndex((row) => row.chat_id === chatId);
  const next = list[at + 1] ?? list[at - 1];
  return () => {
    if (matchMedia("(max-width: 719px)").matches) openChat(undefined, true);
    else if (route.peek().id === chatId && at >= 0) openChat(next?.chat_id, true);
  };
}

/** Returns the selected chats that the list shows. Others may have left it since, so they are not changed. */
export function selectedChats(workspace: Workspace): number[] {
  const selected = workspace.selection.chatIds.value;
  return selected.size === 0 ? [] : listedIds(workspace).filter((id) => selected.has(id));
}

const listedIds = (workspace: Workspace) => visibleChats(workspace.chats).map((row) => row.chat_id);

/** Selects the chat that has the focus in the list, or the open one, or ends its selection. */
export function toggleSelected(workspace: Workspace): void {
  const focused = document.activeElement?.closest<HTMLElement>("[data-chat]")?.dataset["chat"];
  const chatId = focused === undefined ? route.peek().id : Number(focused);
  if (chatId !== undefined && listedIds(workspace).includes(chatId)) workspace.selection.toggle(chatId);
}

/** Selects the chats from the one that was selected last to this one. */
export const extendSelection = (workspace: Workspace, chatId: number) =>
  workspace.selection.extendTo(chatId, listedIds(workspace));

export const selectAll = (workspace: Workspace) => workspace.selection.toggleAll(listedIds(workspace));

/** Changes these chats. Those that could not be changed stay selected. */
export async function changeSelected(
  { bulk, selection }: Workspace,
  label: string,
  chatIds: readonly number[],
  change: (chatId: number) => Promise<void>,
): Promise<void> {
  selection.remove(await bulk.run(label, chatIds, change));
}

/** Opens the next chat in the list if `by` is 1, or the previous one if it is -1. */
export function openAdjacentChat(workspace: Workspace, by: 1 | -1): void {
  const list = visibleChats(workspace.chats);
  if (list.length === 0) return;
  const at = list.findIndex((row) => row.chat_id === route.peek().id);
  const next = at < 0 ? (by === 1 ? 0 : list.length - 1) : Math.min(list.length - 1, Math.max(0, at + by));
  const row = list[next];
  if (row === undefined) return;
  openChat(row.chat_id, route.peek().id !== undefined);
  const element = document.querySelector<HTMLElement>(`[data-chat="${row.chat_id}"]`);
  element?.scrollIntoView({ block: "nearest" });
  // The focus follows, so that keys that act on the focused row do not act on the one before.
  const hasFocus = (document.activeElement?.closest("[data-chat]") ?? null) !== null;
  if (hasFocus) element?.focus({ preventScroll: true });
}

/** Accepts the open chat if it is with a bot or waiting for an agent. Otherwise, accepts the chat that has waited
 * longest. */
export function acceptNext(workspace: Workspace): void {
  const id = workspace.reading.openChatId.peek();
  const open = id === undefined ? undefined : workspace.headers.peek(id);
  // Until all open chats are loaded, it is not known which one has waited longest.
  const longestWaiting = workspace.chats.loadState.peek() === "ready" ? workspace.chats.waiting.peek()[0] : undefined;
  const target = open !== undefined && (open.state === "waiting" || open.state === "bot") ? open : longestWaiting;
  if (target === undefined) return;
  if (activeTab.peek() === "closed") activeTab.value = "waiting";
  acceptChat(workspace, target.chat_id);
}

/** Lets the agent choose a filter for the list. On a phone, shows the list first. */
export function openFilter(): void {
  searchQuery.value = "";
  if (route.peek().section !== "inbox" || matchMedia("(max-width: 719px)").matches) openChat(undefined);
  requestAnimationFrame(() => (isFilterOpen.value = true));
}

/** Blacklists the chat's visitor, or removes them from the blacklist. The agent can undo it. */
export async function setBlacklisted(
  workspace: Workspace,
  chatId: number,
  number: number,
  blacklisted: boolean,
): Promise<void> {
  try {
    await workspace.visitors.change(chatId, number, { blacklisted });
    const undo = { label: t`Undo`, run: () => void setBlacklisted(workspace, chatId, number, !blacklisted) };
    toast(
      blacklisted
        ? t`Blacklisted: new messages of this visitor are dropped.`
        : t`This visitor is no longer blacklisted.`,
      { action: undo },
    );
  } catch (error) {
    toast(t`The blacklist was not changed. ${errorText(error)}`, { isBad: true });
  }
}
