import { Dialog } from "../ui/dialog";
import { areSingleKeyShortcutsEnabled } from "./state/agent/preferences";
import { closeOverlay } from "./state/list/view-state";

/** What the keys do; see keyboard-shortcuts.ts. */
const KEYBOARD_SHORTCUTS: readonly {
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
  { keys: ["x"], description: "Select the chat", section: "In the list" },
  { keys: ["Shift", "X"], description: "Select all chats, or none", section: "In the list" },
  { keys: ["a"], description: "Accept the open chat, or the one that has waited longest", section: "In a chat" },
  { keys: ["r"], description: "Reply", section: "In a chat" },
  { keys: ["n"], description: "Add a private note", section: "In a chat" },
  { keys: ["c"], description: "Call the visitor", section: "In a chat" },
  { keys: ["t"], description: "Transfer the chat, or all selected ones", section: "In a chat" },
  { keys: ["l"], description: "Tags of the chat, or of all selected ones", section: "In a chat" },
  { keys: ["s"], description: "Snooze", section: "In a chat" },
  { keys: ["e"], description: "Close the chat, or all selected ones", section: "In a chat" },
  { keys: ["i"], description: "Show or hide visitor details", section: "In a chat" },
  { keys: ["Esc"], description: "Leave the field, or go back to the list", section: "In a chat" },
  { keys: ["Enter"], description: "Send", section: "While writing" },
  { keys: ["Shift", "Enter"], description: "New line", section: "While writing" },
  { keys: ["@"], description: "Mention a colleague in a note", section: "While writing" },
  { keys: ["/"], description: "Canned replies and macros", section: "While writing" },
];

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
