/* The functions that the page may declare, for example widget_onOpen. */

import { guarded, type Callback } from "./guarded";

export const CALLBACK_NAMES = [
  "onLoadCallback",
  "onOpen",
  "onClose",
  "onMessageSent",
  "onMessageReceived",
  "onClientStartChat",
  "onAccept",
  "onIntroduction",
  "onCallStart",
  "onCallEnd",
  "onResizeCallback",
  "onChangeState",
  "onWidgetDestroy",
] as const;
export type CallbackName = (typeof CALLBACK_NAMES)[number];
export type Emit = (name: CallbackName, ...args: unknown[]) => void;

/** Returns a function that calls a callback of the page, if the page has declared it. Before and during onLoadCallback,
 * the other callbacks wait. After onWidgetDestroy, none is called. */
export function createEmit(prefix: string): Emit {
  const waiting: Parameters<Emit>[] = [];
  let isLoaded = false;
  let isDestroyed = false;
  const emit: Emit = (name, ...args) => {
    const callback = (window as unknown as Record<string, unknown>)[`${prefix}_${name}`];
    if (typeof callback === "function") guarded(callback as Callback)(...args);
  };
  return (name, ...args) => {
    if (isDestroyed) return;
    isDestroyed = name === "onWidgetDestroy";
    if (isLoaded) return emit(name, ...args);
    if (name !== "onLoadCallback") return void waiting.push([name, ...args]);
    emit(name);
    for (let event = waiting.shift(); event; event = waiting.shift()) emit(...event);
    isLoaded = true;
  };
}
