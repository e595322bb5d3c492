/* The widget's API as this page uses it (docs/widget.md). */

import { CALLBACK_NAMES } from "../widget/api/callbacks";

type Method = (...args: unknown[]) => unknown;

export type WidgetApi = Record<string, Method>;

/** Returns the widget's API, or undefined if the widget's script has not run yet. */
export const widgetApi = (): WidgetApi | undefined => (window as unknown as { widget_api?: WidgetApi }).widget_api;

/** Returns a global function of the widget. */
export const widgetGlobal = (name: string): Method | undefined =>
  (window as unknown as Record<string, Method | undefined>)[name];

/** Declares all callbacks on the page. `onCall` is called with the name and the arguments of each call. */
export function declareCallbacks(onCall: (name: string, args: unknown[]) => void): void {
  for (const callback of CALLBACK_NAMES) {
    const name = `widget_${callback}`;
    Object.assign(window, { [name]: (...args: unknown[]) => onCall(name, args) });
  }
}
