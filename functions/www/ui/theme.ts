import { effect, signal } from "@preact/signals";
import { lasting } from "./storage";

export type Theme = "system" | "light" | "dark";

export const theme = signal<Theme>(lasting.read<Theme>("theme") ?? "system");

/** Follows the choice, from now on. boot.ts has set it once before the first paint. */
export function followTheme(): void {
  effect(() => {
    const chosen = theme.value;
    if (chosen === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = chosen;
    if (chosen === "system") lasting.remove("theme");
    else lasting.write("theme", chosen);
  });
}
