/* Whether the account has no chats yet, so that the page with the first steps is shown. */

import type { Workspace } from "../workspace";

export function isFirstRun(workspace: Workspace): boolean {
  const { chats, isEmptyAccount } = workspace;
  if (chats.loadState.value !== "ready" || chats.rows.value.size > 0) return false;
  checkClosedChats(workspace);
  return isEmptyAccount.value === true;
}

function checkClosedChats({ chats, isEmptyAccount }: Workspace): void {
  if (chats.closedLoadState.peek() !== "idle") return;
  queueMicrotask(() => {
    if (chats.closedLoadState.peek() !== "idle") return;
    void chats.loadClosed().then(() => {
      isEmptyAccount.value = chats.closedLoadState.peek() === "ready" && chats.rows.peek().size === 0;
    });
  });
}
