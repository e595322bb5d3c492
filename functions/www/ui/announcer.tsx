import { signal } from "@preact/signals";

const announcement = signal<{ text: string; parity: number }>({ text: "", parity: 0 });

/** Announces a text to screen readers, also if it equals the previous one. */
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
