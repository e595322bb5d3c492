import { signal } from "@preact/signals";

const spoken = signal<{ text: string; turn: number }>({ text: "", turn: 0 });

/** Says something to screen readers. The same words twice are said twice. */
export function announce(text: string): void {
  spoken.value = { text, turn: 1 - spoken.peek().turn };
}

export function Announcer() {
  const { text, turn } = spoken.value;
  return (
    <div class="sr" aria-live="polite" aria-atomic="true">
      <span key={turn}>{text}</span>
    </div>
  );
}
