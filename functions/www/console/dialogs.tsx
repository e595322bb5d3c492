import "./dialogs.css";
import { useState } from "preact/hooks";
import { Dialog } from "../ui/dialog";
import { toast } from "../ui/toast";
import { closeAndOpenNext } from "./chat-actions";
import { useWorkspace } from "./workspace-context";
import { KEYBOARD_SHORTCUTS } from "./keyboard-shortcuts";
import { answerLeaveRequest, leavePage, leaveRequest } from "./state/page/leave-guard";
import { areSingleKeyShortcutsEnabled } from "./state/agent/preferences";
import { openChat } from "./state/page/route";
import { signOut } from "./state/agent/session";
import { closeOverlay } from "./state/list/view-state";
import { visitorName } from "./state/list/chats";

const SHORTCUT_GROUPS = ["Anywhere", "In the list", "In a chat", "While writing"] as const;
const isApple = /Mac|iPhone|iPad/.test(navigator.platform);
const keyName = (key: string) => (isApple && key === "Ctrl" ? "⌘" : key);

export function ShortcutsDialog() {
  return (
    <Dialog title="Keyboard shortcuts" class="keys-dialog" onClose={closeOverlay}>
      <div class="body scroll">
        <div class="groups">
          {SHORTCUT_GROUPS.map((group) => (
            <section key={group}>
              <h3>{group}</h3>
              <dl>
                {KEYBOARD_SHORTCUTS.filter((key) => key.section === group).map(({ keys, description }) => (
                  <div key={description}>
                    <dt>{description}</dt>
                    <dd>
                      {keys.map((key) => (
                        <kbd key={key}>{keyName(key)}</kbd>
                      ))}
                    </dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
        </div>
        <label class="switch">
          <input
            type="checkbox"
            role="switch"
            checked={areSingleKeyShortcutsEnabled.value}
            onChange={(event) => (areSingleKeyShortcutsEnabled.value = event.currentTarget.checked)}
          />
          Enable single-key shortcuts. Switch them off if you use speech input.
        </label>
      </div>
    </Dialog>
  );
}

export function CloseDialog({ chatId }: { chatId: number }) {
  const workspace = useWorkspace();
  const row = workspace.chats.row(chatId);
  const unsentCount = workspace.outbox.items.value.filter((item) => item.chatId === chatId).length;
  const hasDraft = workspace.drafts.chatIds.value.has(chatId);
  const name = row === undefined ? "the visitor" : visitorName(row);
  const lostText = [
    unsentCount > 0 ? `${unsentCount} ${unsentCount === 1 ? "message that is" : "messages that are"} not sent` : "",
    hasDraft ? "the draft" : "",
  ]
    .filter(Boolean)
    .join(" and ");
  const close = () => {
    for (const item of workspace.outbox.items.peek()) if (item.chatId === chatId) workspace.outbox.discard(item.key);
    workspace.drafts.write(chatId, "", false);
    closeOverlay();
    closeAndOpenNext(workspace, chatId);
  };
  return (
    <Dialog title={`Close the chat with ${name}?`} onClose={closeOverlay}>
      <div class="body">
        <p>You would lose {lostText || "nothing"}.</p>
        <footer>
          <button type="button" class="btn line" data-autofocus onClick={closeOverlay}>
            Keep it open
          </button>
          <button type="button" class="btn danger" onClick={close}>
            Close and discard
          </button>
        </footer>
      </div>
    </Dialog>
  );
}

/** Asks for confirmation before unsaved changes on the page are lost. */
export function LeaveDialog() {
  const request = leaveRequest.value;
  if (request === undefined) return null;
  const { title, text, stay, leave } = request.question;
  return (
    <Dialog title={title} onClose={() => answerLeaveRequest(false)}>
      <div class="body">
        <p>{text}</p>
        <footer>
          <button type="button" class="btn line" data-autofocus onClick={() => answerLeaveRequest(false)}>
            {stay}
          </button>
          <button type="button" class="btn danger" onClick={() => answerLeaveRequest(true)}>
            {leave}
          </button>
        </footer>
      </div>
    </Dialog>
  );
}

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
      toast("Signed out here. The service did not respond, so the session ends there when it expires.", {
        isBad: true,
      }),
    );
    openChat(undefined, true);
  };
  const askAndLeave = (discardsUnsent: boolean) => leavePage(() => void leaveConsole(discardsUnsent));
  const isOneText = drafts + unsentCount === 1;
  const keptText = [
    drafts > 0 ? `${drafts} ${drafts === 1 ? "draft" : "drafts"}` : "",
    unsentCount > 0 ? `${unsentCount} unsent ${unsentCount === 1 ? "message" : "messages"}` : "",
  ]
    .filter(Boolean)
    .join(" and ");
  return (
    <Dialog title="Sign out?" onClose={closeOverlay}>
      <div class="body">
        <p>
          {keptText === ""
            ? "You will be offline: you receive no new chats."
            : isOneText
              ? `There is ${keptText} on this computer. Discard it if others use this computer.`
              : `There are ${keptText} on this computer. Discard them if others use this computer.`}
        </p>
        <footer>
          <button type="button" class="btn line" onClick={closeOverlay}>
            Cancel
          </button>
          {keptText !== "" && (
            <button type="button" class="btn danger" onClick={() => askAndLeave(true)}>
              Discard and sign out
            </button>
          )}
          <button type="button" class="btn primary" data-autofocus onClick={() => askAndLeave(false)}>
            {keptText === "" ? "Sign out" : "Keep and sign out"}
          </button>
        </footer>
      </div>
    </Dialog>
  );
}
