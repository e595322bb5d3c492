import { Dialog } from "../ui/dialog";
import { areSingleKeyShortcutsEnabled } from "./state/agent/preferences";
import { closeOverlay } from "./state/list/view-state";
import { t } from "../texts/translate";

/** What the keys do; see keyboard-shortcuts.ts. */
const KEYBOARD_SHORTCUTS: readonly {
  keys: readonly string[];
  description: string;
  section: string;
}[] = [
  { keys: ["Ctrl", "K"], description: t`Find a chat or an action`, section: t`Anywhere` },
  { keys: ["/"], description: t`Search`, section: t`Anywhere` },
  { keys: ["?"], description: t`Show keyboard shortcuts`, section: t`Anywhere` },
  { keys: ["j"], description: t`Next chat`, section: t`In the list` },
  { keys: ["k"], description: t`Previous chat`, section: t`In the list` },
  { keys: ["f"], description: t`Filter the list`, section: t`In the list` },
  { keys: ["x"], description: t`Select the chat`, section: t`In the list` },
  { keys: ["Shift", "X"], description: t`Select all chats, or none`, section: t`In the list` },
  { keys: ["a"], description: t`Accept the open chat, or the one that has waited longest`, section: t`In a chat` },
  { keys: ["r"], description: t`Reply`, section: t`In a chat` },
  { keys: ["n"], description: t`Add a private note`, section: t`In a chat` },
  { keys: ["c"], description: t`Call the visitor`, section: t`In a chat` },
  { keys: ["t"], description: t`Transfer the chat, or all selected ones`, section: t`In a chat` },
  { keys: ["l"], description: t`Tags of the chat, or of all selected ones`, section: t`In a chat` },
  { keys: ["s"], description: t`Snooze`, section: t`In a chat` },
  { keys: ["e"], description: t`Close the chat, or all selected ones`, section: t`In a chat` },
  { keys: ["i"], description: t`Show or hide visitor details`, section: t`In a chat` },
  { keys: ["Esc"], description: t`Leave the field, or go back to the list`, section: t`In a chat` },
  { keys: ["Enter"], description: t`Send`, section: t`While writing` },
  { keys: ["Shift", "Enter"], description: t`New line`, section: t`While writing` },
  { keys: ["@"], description: t`Mention a colleague in a note`, section: t`While writing` },
  { keys: ["/"], description: t`Canned replies and macros`, section: t`While writing` },
];

const SHORTCUT_GROUPS = [t`Anywhere`, t`In the list`, t`In a chat`, t`While writing`] as const;
const KEY_NAMES: Record<string, string> = { Ctrl: t`Ctrl`, Shift: t`Shift`, Enter: t`Enter`, Esc: t`Esc` };
const isApple = /Mac|iPhone|iPad/.test(navigator.platform);
const keyName = (key: string) => (isApple && key === "Ctrl" ? "⌘" : (KEY_NAMES[key] ?? key));

export function ShortcutsDialog() {
  return (
    <Dialog title={t`Keyboard shortcuts`} class="keys-dialog" onClose={closeOverlay}>
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
          {t`Enable single-key shortcuts. Switch them off if you use speech input.`}
        </label>
      </div>
    </Dialog>
  );
}
