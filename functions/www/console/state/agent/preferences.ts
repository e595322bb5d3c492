import { effect, signal, type Signal } from "@preact/signals";
import { persistentStorage } from "../../../ui/storage";

function persistedSignal<T>(name: string, defaultValue: T): Signal<T> {
  const value = signal<T>(persistentStorage.read<T>(name) ?? defaultValue);
  let isFirst = true;
  effect(() => {
    const current = value.value;
    if (!isFirst) persistentStorage.write(name, current);
    isFirst = false;
  });
  return value;
}

export const isSoundEnabled = persistedSignal("sound", true);
export const areDesktopNotificationsEnabled = persistedSignal("desktop", false);
/** Whether the browser is notified while the console is closed. */
export const isWebPushEnabled = persistedSignal("web-push", false);
/** Whether shortcuts without Ctrl or Cmd are enabled. WCAG 2.1.4 requires that users can disable them. */
export const areSingleKeyShortcutsEnabled = persistedSignal("keys", true);
export const isVisitorPaneOpen = persistedSignal("visitor-pane", true);
