/* How an agent who looks elsewhere hears of something: title, dot on the icon, sound, desktop notification. */

import { effect, type ReadonlySignal } from "@preact/signals";
import plainIcon from "../icon.svg";
import dottedIcon from "../icon-dot.svg";
import { hasDesktopNotices, hasSound } from "./preferences";

const TITLE = "Switchboard";
const MIN_SOUND_GAP_MS = 1500;
const MAX_NOTICE_TEXT = 140;

export function followAttention(attention: ReadonlySignal<number>): () => void {
  const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
  const stop = effect(() => {
    const count = attention.value;
    document.title = count > 0 ? `(${count}) ${TITLE}` : TITLE;
    if (icon !== null) icon.href = count > 0 ? dottedIcon : plainIcon;
  });
  return () => {
    stop();
    document.title = TITLE;
    if (icon !== null) icon.href = plainIcon;
  };
}

let context: AudioContext | undefined;
let lastSound = 0;

/** Two soft tones, made here: nothing is loaded for it. */
export function playSound(): void {
  if (!hasSound.peek() || Date.now() - lastSound < MIN_SOUND_GAP_MS) return;
  // A browser refuses sound before the first click; then there is none.
  if (navigator.userActivation?.hasBeenActive === false) return;
  lastSound = Date.now();
  context ??= new AudioContext();
  void context.resume();
  const start = context.currentTime;
  for (const [index, frequency] of [660, 880].entries()) {
    const tone = context.createOscillator();
    const volume = context.createGain();
    const at = start + index * 0.11;
    tone.frequency.value = frequency;
    tone.type = "sine";
    volume.gain.setValueAtTime(0, at);
    volume.gain.linearRampToValueAtTime(0.09, at + 0.015);
    volume.gain.exponentialRampToValueAtTime(0.0001, at + 0.32);
    tone.connect(volume).connect(context.destination);
    tone.start(at);
    tone.stop(at + 0.34);
  }
}

export const canNotify = () => typeof Notification !== "undefined";
export const isNotifyingAllowed = () => canNotify() && Notification.permission === "granted";

/** Only ever called from a click. */
export async function allowDesktopNotices(): Promise<boolean> {
  if (!canNotify()) return false;
  const permission = await Notification.requestPermission();
  hasDesktopNotices.value = permission === "granted";
  return hasDesktopNotices.peek();
}

/** Shown while the page is hidden, one for each chat. */
export function notify(title: string, text: string, chatId: number, open: () => void): void {
  if (!hasDesktopNotices.peek() || !isNotifyingAllowed() || !document.hidden) return;
  const notice = new Notification(title, {
    body: text.slice(0, MAX_NOTICE_TEXT),
    tag: `chat-${chatId}`,
    icon: plainIcon,
  });
  notice.onclick = () => {
    window.focus();
    open();
    notice.close();
  };
}
