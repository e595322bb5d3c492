import { signal } from "@preact/signals";

export const announcement = signal<{ text: string; parity: number }>({ text: "", parity: 0 });

/** Makes screen readers announce a text, even if it is the same as the previous one. */
export function announce(text: string): void {
  announcement.value = { text, parity: 1 - announcement.peek().parity };
}

export function Announcer() {
  const { text, parity } = announcement.value;
  return (
    <div class="sr" aria-live="polite" aria-atomic="true">
      <span key={parity}>{text}</span>
    </div>
  );
}
