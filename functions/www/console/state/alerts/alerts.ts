/* Alerts for an agent who is not looking at the page: the page title, a dot on the icon, a sound, and desktop
   notifications. */

import { effect, type ReadonlySignal } from "@preact/signals";
import plainIcon from "../../icon.svg";
import dottedIcon from "../../icon-dot.svg";
import { pageTitle } from "../page/page-title";
import { areDesktopNotificationsEnabled, isSoundEnabled } from "../agent/preferences";

const MIN_SOUND_INTERVAL_MS = 1500;
const MAX_NOTIFICATION_CHARACTERS = 140;

export function showAttentionCount(attentionCount: ReadonlySignal<number>): () => void {
  const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
  const stop = effect(() => {
    const count = attentionCount.value;
    document.title = count > 0 ? `(${count}) ${pageTitle.value}` : pageTitle.value;
    if (icon !== null) icon.href = count > 0 ? dottedIcon : plainIcon;
  });
  return () => {
    stop();
    if (icon !== null) icon.href = plainIcon;
  };
}

let audioContext: AudioContext | undefined;
let lastSoundAt = 0;

/** Plays two synthesized tones, so that no audio file is needed. */
export function playSound(): void {
  if (!isSoundEnabled.peek() || Date.now() - lastSoundAt < MIN_SOUND_INTERVAL_MS) return;
  // Browsers block sound until the user has clicked or pressed a key on the page.
  if (navigator.userActivation?.hasBeenActive === false) return;
  lastSoundAt = Date.now();
  audioContext ??= new AudioContext();
  void audioContext.resume();
  const start = audioContext.currentTime;
  for (const [index, frequency] of [660, 880].entries()) {
    const tone = audioContext.createOscillator();
    const volume = audioContext.createGain();
    const at = start + index * 0.11;
    tone.frequency.value = frequency;
    tone.type = "sine";
    volume.gain.setValueAtTime(0, at);
    volume.gain.linearRampToValueAtTime(0.09, at + 0.015);
    volume.gain.exponentialRampToValueAtTime(0.0001, at + 0.32);
    tone.connect(volume).connect(audioContext.destination);
    tone.start(at);
    tone.stop(at + 0.34);
  }
}

export const areNotificationsSupported = () => typeof Notification !== "undefined";
/** Whether the browser can show notifications while the console is closed. */
export const isWebPushSupported = () =>
  areNotificationsSupported() && "serviceWorker" in navigator && "PushManager" in window;
export const areNotificationsAllowed = () => areNotificationsSupported() && Notification.permission === "granted";

/** Asks the agent to allow notifications, and returns whether they are allowed. Must be called from a click handler,
 * because browsers ignore all other permission requests. */
export async function requestNotificationPermission(): Promise<boolean> {
  if (!areNotificationsSupported()) return false;
  const permission = await Notification.requestPermission();
  areDesktopNotificationsEnabled.value = permission === "granted";
  return areDesktopNotificationsEnabled.peek();
}

/** Shows a desktop notification if the page is hidden and the agent has enabled notifications. It replaces any earlier
 * notification for the same chat. */
export function showDesktopNotification(title: string, text: string, chatId: number, open: () => void): void {
  if (!areDesktopNotificationsEnabled.peek() || !areNotificationsAllowed() || !document.hidden) return;
  const notification = new Notification(title, {
    body: text.slice(0, MAX_NOTIFICATION_CHARACTERS),
    tag: `chat-${chatId}`,
    icon: plainIcon,
  });
  notification.onclick = () => {
    window.focus();
    open();
    notification.close();
  };
}
