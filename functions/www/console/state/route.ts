import { signal } from "@preact/signals";
import { isPageGuarded, leavePage } from "./leave-guard";

/** The console's sections: those for all agents, and those for admins only. */
const AGENT_SECTIONS = ["inbox", "visitors"] as const;
const ADMIN_SECTIONS = ["channels", "bots", "deliveries", "team", "telephony", "reports", "settings"] as const;
export type AdminSection = (typeof ADMIN_SECTIONS)[number];
export type Section = (typeof AGENT_SECTIONS)[number] | AdminSection;

const adminSection = (name: string) => ADMIN_SECTIONS.find((section) => section === name);

/** Returns the sections that an agent can open. */
export const visibleSections = (isAdmin: boolean): readonly Section[] =>
  isAdmin ? [...AGENT_SECTIONS, ...ADMIN_SECTIONS] : AGENT_SECTIONS;

export interface Route {
  section: Section;
  /** The number of the open chat or the selected visitor; undefined if there is none. */
  id: number | undefined;
  /** The rest of the address, for example a channel's id or "webhooks/3". Absent for the first page of a section. */
  path?: string;
  /** What the page shows of its subject, for example "state=failed". Absent if it shows everything. */
  query?: string;
}

const PATH = /^[\w-]+(?:\/[\w-]+)*$/;

/** Converts a URL fragment such as `#/chat/7`, `#/visitors/12` or `#/channels/x1` to a route. Unknown fragments lead to
 * the inbox. */
export function parseRoute(hash: string): Route {
  const [address = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [name = "", ...rest] = address.split("/");
  const ofAdmins = adminSection(name);
  if (ofAdmins !== undefined) return adminRoute(ofAdmins, rest.join("/"), query);
  const [id = "", ...page] = rest;
  const number = /^[1-9]\d{0,15}$/.test(id) ? Number(id) : undefined;
  if (name === "chat") return { section: "inbox", id: number };
  if (name !== "visitors") return { section: "inbox", id: undefined };
  return { section: "visitors", id: number, ...(number !== undefined && page[0] === "erase" ? { path: "erase" } : {}) };
}

export function hrefOf({ section, id, path, query }: Route): string {
  const end = (path === undefined ? "" : `/${path}`) + (query === undefined ? "" : `?${query}`);
  if (section === "inbox") return id === undefined ? "#/" : `#/chat/${id}`;
  return id === undefined ? `#/${section}${end}` : `#/${section}/${id}${end}`;
}

export const chatHref = (id: number) => hrefOf({ section: "inbox", id });

/** Returns the route of a page for admins. An invalid path leads to the first page of the section. */
export const adminRoute = (section: AdminSection, path = "", query = ""): Route => ({
  section,
  id: undefined,
  ...(PATH.test(path) ? { path } : {}),
  ...(query === "" ? {} : { query }),
});
/** Returns the route of a channel's page. */
export const channelRoute = (channelId: string): Route => adminRoute("channels", channelId);
/** The route of the list of channels. */
export const CHANNELS_ROUTE = adminRoute("channels");
/** Returns the route of the page on which an admin erases a visitor. */
export const erasureRoute = (number: number): Route => ({ section: "visitors", id: number, path: "erase" });

export const route = signal<Route>({ section: "inbox", id: undefined });

export function startRouting(): void {
  const read = () => {
    const to = parseRoute(location.hash);
    const current = hrefOf(route.peek());
    if (!isPageGuarded() || hrefOf(to) === current) {
      route.value = to;
      return;
    }
    // The browser has already gone back or forward, so return to the page until the question is answered.
    history.pushState(null, "", current);
    navigate(to);
  };
  addEventListener("hashchange", read);
  addEventListener("click", askBeforeLink);
  read();
}

/** Asks before the browser follows a link, so that the history keeps its order. */
function askBeforeLink(event: MouseEvent): void {
  const { target, button, ctrlKey, metaKey, shiftKey, altKey } = event;
  if (!isPageGuarded() || event.defaultPrevented || button !== 0 || ctrlKey || metaKey || shiftKey || altKey) return;
  const href = target instanceof Element ? target.closest('a[href^="#/"]')?.getAttribute("href") : undefined;
  if (typeof href !== "string") return;
  event.preventDefault();
  navigate(parseRoute(href));
}

/** Shows another part of the same page. The browser's history keeps one entry for the page. */
export function replaceQuery(query: string): void {
  const { query: _, ...page } = route.peek();
  navigate(query === "" ? page : { ...page, query }, true);
}

/** Opens a route, after a question if something on the page would be lost. If `replacesHistory` is true, the route
 * replaces the current entry in the browser's history without a question, because the subject of the page no longer
 * exists. */
export function navigate(to: Route, replacesHistory = false): void {
  const href = hrefOf(to);
  if (location.hash === href || (location.hash === "" && href === "#/")) return;
  if (replacesHistory) {
    history.replaceState(null, "", href);
    route.value = to;
    return;
  }
  leavePage(() => {
    location.hash = href;
    route.value = to;
  });
}

export const openChat = (id: number | undefined, replacesHistory = false) =>
  navigate({ section: "inbox", id }, replacesHistory);
