import { useState } from "preact/hooks";
import { Dialog } from "../ui/dialog";
import { toast } from "../ui/toast";
import { leavePage } from "./state/page/leave-guard";
import { openChat } from "./state/page/route";
import { signOut } from "./state/agent/session";
import { closeOverlay } from "./state/list/view-state";
import { useWorkspace } from "./workspace-context";
import { listText } from "../ui/words";
import { plural, t } from "../texts/translate";

export function SignOutDialog() {
  const workspace = useWorkspace();
  const drafts = workspace.drafts.chatIds.value.size;
  const unsentCount = workspace.outbox.items.value.length;
  const [isBusy, setBusy] = useState(false);
  const leaveConsole = async (discardsUnsent: boolean) => {
    if (isBusy) return;
    setBusy(true);
    if (discardsUnsent) workspace.discardUnsent();
    closeOverlay();
    if (workspace.presence.status.peek() === "online")
      await workspace.api.put("/agent/presence", { body: { status: "offline" } }).catch(() => {});
    await signOut().catch(() =>
      toast(t`Signed out here. The service did not respond, so the session ends there when it expires.`, {
        isBad: true,
      }),
    );
    openChat(undefined, true);
  };
  const askAndLeave = (discardsUnsent: boolean) => leavePage(() => void leaveConsole(discardsUnsent));
  const isOneText = drafts + unsentCount === 1;
  const keptText = listText(
    [
      drafts > 0 ? plural(drafts, "{count} draft", "{count} drafts") : "",
      unsentCount > 0 ? plural(unsentCount, "{count} unsent message", "{count} unsent messages") : "",
    ].filter(Boolean),
  );
  return (
    <Dialog title={t`Sign out?`} onClose={closeOverlay}>
      <div class="body">
        <p>
          {keptText === ""
            ? t`You will be offline: you receive no new chats.`
            : isOneText
              ? t`There is ${keptText} on this computer. Discard it if others use this computer.`
              : t`There are ${keptText} on this computer. Discard them if others use this computer.`}
        </p>
        <footer>
          <button type="button" class="btn line" onClick={closeOverlay}>
            {t`Cancel`}
          </button>
          {keptText !== "" && (
            <button type="button" class="btn danger" onClick={() => askAndLeave(true)}>
              {t`Discard and sign out`}
            </button>
          )}
          <button type="button" class="btn primary" data-autofocus onClick={() => askAndLeave(false)}>
            {keptText === "" ? t`Sign out` : t`Keep and sign out`}
          </button>
        </footer>
      </div>
    </Dialog>
  );
}
