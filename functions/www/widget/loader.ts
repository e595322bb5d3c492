/* The script that a page includes. Publishes the API, and imports the widget when the browser is idle. */

import { PageApi, type Widget } from "./api/page-api";
import { readLanding, type Landing } from "./visitor/landing-page";

export interface LoaderOptions {
  /** The URL of the service, without a slash at its end. */
  base: string;
  widgetId: string;
  /** The prefix of the global names by which the page and the widget call each other, for example "jivo". */
  prefix: string;
  /** The first page of the visit. */
  landing: Landing;
}
export interface RunningWidget extends Widget {
  destroy: () => void;
}

/** The file name of the bundle of main.ts. The build replaces it. */
declare const MAIN_FILE: string;
const IDLE_TIMEOUT_MS = 2000;

const script =
  (document.currentScript as HTMLScriptElement | null) ??
  document.querySelector<HTMLScriptElement>("script[data-id][src*='/widget.js']");
if (script) load(script);

function load(script: HTMLScriptElement): void {
  const options: LoaderOptions = {
    base: script.src.replace(/\/widget\.js.*$/, ""),
    widgetId: script.dataset["id"] ?? "",
    prefix: script.dataset["prefix"] || "widget",
    landing: readLanding(),
  };
  const page = window as unknown as Record<string, unknown>;
  if (page[`${options.prefix}_api`]) return;
  const api = new PageApi(options.landing.utm);
  let current: Promise<RunningWidget | undefined> | undefined;

  const start = () => {
    current ??= import(`${options.base}/widget/assets/${MAIN_FILE}`).then(
      (module: typeof import("./main")) => module.start(options, api),
      (error) => void console.warn("The chat widget could not be loaded.", error),
    );
  };
  page[`${options.prefix}_api`] = api.methods;
  page[`${options.prefix}_init`] = start;
  page[`${options.prefix}_destroy`] = () => {
    const destroyed = current;
    current = undefined;
    api.disconnect();
    void destroyed?.then((widget) => widget?.destroy());
  };

  const startWhenIdle = () =>
    "requestIdleCallback" in window ? requestIdleCallback(start, { timeout: IDLE_TIMEOUT_MS }) : setTimeout(start);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", startWhenIdle, { once: true });
  else startWhenIdle();
}
