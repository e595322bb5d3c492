import { effect, signal } from "@preact/signals";
import { persistentStorage } from "./storage";

export type Theme = "system" | "light" | "dark";

export const theme = signal<Theme>(persistentStorage.read<Theme>("theme") ?? "system");

/** Applies and stores the selected theme whenever it changes. `initial-theme.ts` has set it before the first paint. */
export function applyTheme(): void {
  effect(() => {
    const selected = theme.value;
    if (selected === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = selected;
    if (selected === "system") persistentStorage.remove("theme");
    else persistentStorage.write("theme", selected);
  });
}
