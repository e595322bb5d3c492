/* The first page of the visit: which campaign and which other site have brought the visitor. It is kept in the history
   of the tab, which ends with the tab and is no storage of the browser, so that it is known on later pages, also before
   the visitor acts. */

import { attempt } from "../attempt";

export interface Landing {
  utm: Utm | null;
  /** The URL of the other site, or "" if it is not known. */
  referrer: string;
  /** When the visit and its last page have begun, as Unix times in milliseconds. */
  start: number;
  seen: number;
}
export type Utm = Record<string, string>;

/** The part of the Navigation API that is used. Not all browsers have it. */
interface Navigation {
  entries: () => { getState: () => unknown }[];
  currentEntry: { getState: () => unknown } | null;
  updateCurrentEntry: (options: { state: unknown }) => void;
}

const KEY = "switchboard";
const UTM_FIELDS = ["source", "campaign", "content", "medium", "term"];
const VISIT_GAP_MS = 30 * 60_000;

/** Returns the utm_ parameters of an address without their prefix, or null if it has none. */
export function utmOf(address: string): Utm | null {
  const parameters = attempt(() => new URL(address).searchParams);
  const found = UTM_FIELDS.flatMap((field) => {
    const value = parameters?.get(`utm_${field}`);
    return value ? [[field, value]] : [];
  });
  return found.length > 0 ? (Object.fromEntries(found) as Utm) : null;
}

/** Returns the value of getUtm: all fields, with null for the unknown ones. */
export const allUtmFields = (utm: Utm | null) =>
  Object.fromEntries(UTM_FIELDS.map((field) => [field, utm?.[field] ?? null]));

const navigationApi = () => (globalThis as { navigation?: Navigation }).navigation;
const landingIn = (state: unknown) => (state as Record<string, Landing> | null | undefined)?.[KEY];

/** Returns the landing page of the present visit, and keeps it for later pages. `href` is the address under which the
 * page was loaded. */
export function readLanding(href: string, now = Date.now()): Landing {
  const states =
    attempt(() =>
      navigationApi()
        ?.entries()
        .map((entry) => entry.getState()),
    ) ?? [];
  const [kept] = [attempt(() => history.state as unknown), ...states]
    .flatMap((state) => landingIn(state) ?? [])
    .sort((one, other) => other.seen - one.seen);
  const { referrer } = document;
  // Without the Navigation API, the page before this one is the only other page that is known.
  const isInternal = attempt(() => new URL(referrer).origin) === location.origin;
  const landing =
    kept && now - kept.seen < VISIT_GAP_MS
      ? { ...kept, seen: now }
      : {
          utm: utmOf(href) ?? (isInternal ? utmOf(referrer) : null),
          referrer: isInternal ? "" : referrer,
          start: now,
          seen: now,
        };
  keepLanding(landing);
  return landing;
}

/** Writes the landing page into the present entry of the tab's history, beside what the page has stored there. */
export function keepLanding(landing: Landing): void {
  attempt(() => {
    const api = navigationApi();
    const state = api ? api.currentEntry?.getState() : history.state;
    // The page's state can be anything. Only a plain object can take another field.
    if (state && Object.getPrototypeOf(state) !== Object.prototype) return;
    if (landingIn(state)?.seen === landing.seen) return;
    const merged = { ...(state as object | null), [KEY]: landing };
    if (api) api.updateCurrentEntry({ state: merged });
    // The page may take a state for its own, so there is none unless it is useful.
    else if (landing.utm || landing.referrer) History.prototype.replaceState.call(history, merged, "");
  });
}
