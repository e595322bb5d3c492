import "./dialogs.css";
import { useState } from "preact/hooks";
import { Dialog } from "../ui/dialog";
import { toast } from "../ui/toast";
import { closeAndOpenNext } from "./chat-actions";
import { useWorkspace } from "./workspace-context";
import { KEYBOARD_SHORTCUTS } from "./keyboard-shortcuts";
import { areSingleKeyShortcutsEnabled } from "./state/preferences";
import { openChat } from "./state/route";
import { signOut } from "./state/session";
import { closeOverlay } from "./state/view-state";
import { visitorName, errorText } from "./state/workspace";

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
    if (workspace.presence.peek() === "online")
      await workspace.api.put("/agent/presence", { body: { status: "offline" } }).catch(() => {});
    await signOut().catch(() =>
      toast("Signed out here. The service did not respond, so the session ends there when it expires.", {
        isBad: true,
      }),
    );
    openChat(undefined, true);
  };
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
            : `There ${drafts + unsentCount === 1 ? "is" : "are"} ${keptText} on this computer. You can keep them for the next time, or discard them if others use it.`}
        </p>
        <footer>
          <button type="button" class="btn line" onClick={closeOverlay}>
            Cancel
          </button>
          {keptText !== "" && (
            <button type="button" class="btn danger" onClick={() => void leaveConsole(true)}>
              Discard and sign out
            </button>
          )}
          <button type="button" class="btn primary" data-autofocus onClick={() => void leaveConsole(false)}>
            {keptText === "" ? "Sign out" : "Keep and sign out"}
          </button>
        </footer>
      </div>
    </Dialog>
  );
}

export function EraseDialog({ number, name, chatId }: { number: number; name: string; chatId: number }) {
  const workspace = useWorkspace();
  const visitor = workspace.timeline(chatId).chatDetails.value?.visitor;
  const [typedName, setTypedName] = useState("");
  const [erasureProgress, setErasureProgress] = useState<{ chats: number; entries: number }>();
  const [problem, setProblem] = useState<string>();
  const isBusy = erasureProgress !== undefined;
  const canErase = typedName.trim() === name.trim() && !isBusy;
  const chats = visitor?.chats_count;
  const erase = async (event: Event) => {
    event.preventDefault();
    if (!canErase) return;
    setProblem(undefined);
    setErasureProgress({ chats: 0, entries: 0 });
    try {
      let removed = { chats: 0, entries: 0 };
      await workspace.eraseVisitor(number, (progress) => setErasureProgress((removed = progress)));
      closeOverlay();
      openChat(undefined, true);
      toast(
        `${name} is erased: ${removed.chats} ${removed.chats === 1 ? "chat" : "chats"} with ${removed.entries} entries.`,
      );
    } catch (error) {
      setErasureProgress(undefined);
      setProblem(errorText(error));
    }
  };
  const erasedFields = [
    visitor?.email && "e-mail address",
    visitor?.phone && "phone number",
    visitor?.photo && "picture",
    visitor?.description && "description",
  ]
    .filter(Boolean)
    .join(", ");
  return (
    <Dialog title={`Erase ${name}?`} onClose={() => !isBusy && closeOverlay()}>
      <form class="body" onSubmit={(event) => void erase(event)}>
        <div>
          <p>This permanently deletes:</p>
          <ul class="erased-data">
            <li>
              {chats === undefined ? "all chats" : chats === 1 ? "1 chat" : `all ${chats} chats`} of visitor {number},
              with every message, note and event
            </li>
            <li>name{erasedFields === "" ? "" : `, ${erasedFields}`}, and the data from your systems</li>
            <li>the blacklist entry, if there is one</li>
          </ul>
        </div>
        <p>Data that was delivered to your own systems is not deleted there.</p>
        <div class="field">
          <label for="erase-name">
            Type <b dir="auto">{name}</b> to confirm
          </label>
          <input
            id="erase-name"
            class="input"
            data-autofocus
            autocomplete="off"
            spellcheck={false}
            dir="auto"
            value={typedName}
            onInput={(event) => setTypedName(event.currentTarget.value)}
          />
        </div>
        {problem !== undefined && (
          <p class="notice bad" role="alert">
            {problem}
          </p>
        )}
        <footer>
          <button type="button" class="btn line" aria-disabled={isBusy} onClick={closeOverlay}>
            Cancel
          </button>
          <button type="submit" class="btn danger" aria-disabled={!canErase}>
            {isBusy ? `Erasing… ${erasureProgress.entries} entries` : "Erase permanently"}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
