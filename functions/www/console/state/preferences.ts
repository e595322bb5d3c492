import { effect, signal, type Signal } from "@preact/signals";
import { lasting } from "../../ui/storage";

function kept<T>(name: string, start: T): Signal<T> {
  const value = signal<T>(lasting.read<T>(name) ?? start);
  let isFirst = true;
  effect(() => {
    const current = value.value;
    if (!isFirst) lasting.write(name, current);
    isFirst = false;
  });
  return value;
}

export const hasSound = kept("sound", true);
export const hasDesktopNotices = kept("desktop", false);
/** Keys without Ctrl or Cmd can be switched off (WCAG 2.1.4). */
export const hasSingleKeys = kept("keys", true);
export const isVisitorPaneOpen = kept("visitor-pane", true);
