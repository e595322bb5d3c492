import { effect, signal } from "@preact/signals";
import { persistentStorage } from "./storage";

export type Theme = "system" | "light" | "dark";

export const theme = signal<Theme>(persistentStorage.read<Theme>("theme") ?? "system");

/** Applies and stores the selected theme, now and whenever it changes. Before the first paint, `initial-theme.ts` has
 * already applied the stored theme. */
export function applyTheme(): void {
  effect(() => {
    const selected = theme.value;
    if (selected === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = selected;
    if (selected === "system") persistentStorage.remove("theme");
    else persistentStorage.write("theme", selected);
  });
}
