/* The script that a page includes. Publishes the API, and imports the widget when the browser is idle. */

import { PageApi } from "./api/page-api";
import type { LoaderOptions } from "./parts";
import type { Mode } from "./service/types";
import { utmOf } from "./visitor/landing-page";

/** What the script of /widget/{widget_id} says about the widget. The service writes it before the loader. */
interface Configuration {
  id: string;
  /** Whether there is no such widget. */
  is_unknown?: true;
  prefix?: string;
  mode?: Mode;
  color?: string;
}

/** A widget that a script element has added to the page. */
interface Added {
  methods: object;
  destroy: () => void;
  /** Aborted when the widget is destroyed. Undefined from then on. */
  running?: AbortController | undefined;
}

/** The file name of the bundle of main.ts. The build replaces it. */
declare const MAIN_FILE: string;
const IDLE_TIMEOUT_MS = 2000;
/** The bundle is requested again after 1, 5 and 25 seconds. */
const MAX_RETRIES = 3;
const RETRY_DELAY_MS = 1000;
const SCRIPT_PATH = /\/(widget\.js|(script\/)?widget\/[^/?#]+)([?#]|$)/;

const page = window as unknown as Record<string, unknown> & {
  switchboardWidget?: Configuration;
  /** The widgets of the page by their prefix. Shared by the scripts of the page. */
  switchboardWidgets?: Record<string, Added | undefined>;
};
const configuration = page.switchboardWidget;
delete page.switchboardWidget;
// A script with type="module" is not the current script.
const script =
  (document.currentScript as HTMLScriptElement | null) ??
  [...document.scripts].find(({ src }) => SCRIPT_PATH.test(src) && src.includes(configuration?.id ?? "/widget.js"));
if (script) load(script, configuration);

function load(
  script: HTMLScriptElement,
  { id, is_unknown, prefix: ownPrefix, mode, color }: Partial<Configuration> = {},
): void {
  const { src } = script;
  const attribute = (...names: string[]) => names.map((name) => script.getAttribute(name)).find(Boolean);
  const parameters = new URL(src).searchParams;
  const widgetId =
    id ?? attribute("data-id", "data-jv-id", "jv-id") ?? (parameters.get("id") || parameters.get("widget_id"));
  const prefix = attribute("data-prefix") || parameters.get("prefix") || ownPrefix || "widget";

  const added = (page.switchboardWidgets ??= {});
  const [apiName, configName] = [`${prefix}_api`, `${prefix}_config`];
  const previous = added[prefix];
  // The element was added to the page again, or something else has this name. If the page has destroyed the widget or
  // deleted the object, it wants a new one.
  if (page[apiName] && (page[apiName] !== previous?.methods || previous?.running)) return;
  previous?.destroy();

  const { href } = location;
  const api = new PageApi(utmOf(href), mode);
  const { methods } = api;
  const destroy = () => {
    own.running?.abort();
    own.running = undefined;
    api.stop();
  };
  const options: LoaderOptions = {
    base: src.slice(0, src.search(SCRIPT_PATH)),
    widgetId: widgetId ?? "",
    prefix,
    href,
    destroy,
  };
  const start = async (signal: AbortSignal, failures = 0): Promise<void> => {
    if (signal.aborted) return;
    // Browsers do not request an address again whose import has failed.
    const retry = failures > 0 ? `?${Date.now()}` : "";
    const main: typeof import("./main") | void = await import(
      `${options.base}/widget/assets/${MAIN_FILE}${retry}`
    ).catch((error) => {
      if (failures < MAX_RETRIES) setTimeout(start, RETRY_DELAY_MS * 5 ** failures, signal, failures + 1);
      else if (!signal.aborted) api.stop("it cannot be loaded", error);
    });
    if (!signal.aborted) await main?.start(options, api, signal);
  };
  const init = () => {
    // Another script element may have replaced this widget.
    if (own.running || added[prefix] !== own) return;
    api.resume();
    page[apiName] = methods;
    if (!widgetId) return api.stop("its script element has no data-id", script);
    if (is_unknown) return api.stop(`there is no widget "${widgetId}"`, script);
    const { signal } = (own.running = new AbortController());
    // Safari has no requestIdleCallback. There, the options are not a delay.
    const startWhenIdle = () =>
      (window.requestIdleCallback ?? (setTimeout as never))(() => start(signal), { timeout: IDLE_TIMEOUT_MS });
    if (document.readyState === "loading") addEventListener("DOMContentLoaded", startWhenIdle);
    else startWhenIdle();
  };
  const own: Added = (added[prefix] = { methods, destroy });
  page[`${prefix}_init`] = init;
  page[`${prefix}_destroy`] = destroy;
  if (previous || !page[configName])
    page[configName] = {
      widget_id: widgetId,
      get chat_mode() {
        return methods["chatMode"]!();
      },
      get widget_color() {
        return api.read("widgetColor") ?? color;
      },
    };

  init();
}
