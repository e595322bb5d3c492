/* The functions that the page may declare, for example widget_onOpen. */

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

/** Returns a function that calls a callback of the page, if the page has declared it. An error in it is reported, and
 * does not stop the widget. Before and during onLoadCallback, the other callbacks wait. */
export function createEmit(prefix: string): Emit {
  const waiting: Parameters<Emit>[] = [];
  let isLoaded = false;
  const emit: Emit = (name, ...args) => {
    const callback = (window as unknown as Record<string, unknown>)[`${prefix}_${name}`];
    if (typeof callback !== "function") return;
    try {
      callback(...args);
    } catch (error) {
      setTimeout(() => {
        throw error;
      });
    }
  };
  return (name, ...args) => {
    if (isLoaded) return emit(name, ...args);
    if (name !== "onLoadCallback") return void waiting.push([name, ...args]);
    emit(name);
    for (let event = waiting.shift(); event; event = waiting.shift()) emit(...event);
    isLoaded = true;
  };
}
