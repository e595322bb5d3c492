import { signal } from "@preact/signals";
import { isPageGuarded, leavePage } from "./leave-guard";

export interface Route {
  /** The name of a section, see `section.ts`. */
  section: string;
  /** The number of the open chat or the selected visitor; undefined if there is none. */
  id: number | undefined;
  /** The rest of the address, for example a channel's id or "webhooks/3". Absent for the first page of a section. */
  path?: string;
  /** What the page shows of its subject, for example "state=failed". Absent if it shows everything. */
  query?: string;
}

/** Matches the path of a page within its section. */
const PATH = /^[\w-]+(?:\/[\w-]+)*$/;

/** Converts a URL fragment such as `#/chat/7?unread=true`, `#/visitors/12` or `#/channels/x1` to a route. Fragments of other sections
 * than `sections` lead to the inbox. */
export function parseRoute(hash: string, sections: readonly string[]): Route {
  const [address = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [name = "", ...rest] = address.split("/");
  const [id = "", page] = rest;
  const number = /^[1-9]\d{0,15}$/.test(id) ? Number(id) : undefined;
  const filter = query === "" ? {} : { query };
  if (name === "chat") return { section: "inbox", id: number, ...filter };
  if (name === "") return { section: "inbox", id: undefined, ...filter };
  if (name === "visitors") {
    const hasPage = number !== undefined && (page === "erase" || page === "merge");
    return { section: "visitors", id: number, ...(hasPage ? { path: page } : {}) };
  }
  return sections.includes(name) ? pageRoute(name, rest.join("/"), query) : { section: "inbox", id: undefined };
}

export function hrefOf({ section, id, path, query }: Route): string {
  const shown = query === undefined ? "" : `?${query}`;
  const end = (path === undefined ? "" : `/${path}`) + shown;
  if (section === "inbox") return (id === undefined ? "#/" : `#/chat/${id}`) + shown;
  return id === undefined ? `#/${section}${end}` : `#/${section}/${id}${end}`;
}

export const chatHref = (id: number) => hrefOf({ section: "inbox", id });

/** Returns the route of a page of a section. An invalid path leads to the first page of the section. */
export const pageRoute = (section: string, path = "", query = ""): Route => ({
  section,
  id: undefined,
  ...(PATH.test(path) ? { path } : {}),
  ...(query === "" ? {} : { query }),
});

export const route = signal<Route>({ section: "inbox", id: undefined });

/** Follows the browser's address. `sections` are the names of all sections. */
export function startRouting(sections: readonly string[]): void {
  const read = () => {
    const to = parseRoute(location.hash, sections);
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
  addEventListener("click", (event) => {
    const href = guardedLink(event);
    if (href !== undefined) navigate(parseRoute(href, sections));
  });
  read();
}

/** Keeps the browser from following a link away from a guarded page, so that the question comes first and the history
 * keeps its order. Returns the link's address. */
function guardedLink(event: MouseEvent): string | undefined {
  const { target, button, ctrlKey, metaKey, shiftKey, altKey } = event;
  if (!isPageGuarded() || event.defaultPrevented || button !== 0 || ctrlKey || metaKey || shiftKey || altKey)
    return undefined;
  const link = target instanceof Element ? target.closest('a[href^="#/"]')?.getAttribute("href") : undefined;
  if (typeof link !== "string") return undefined;
  event.preventDefault();
  return link;
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

/** Opens a chat, or the list without one. Within the inbox, the address keeps its filter. */
export const openChat = (id: number | undefined, replacesHistory = false) => {
  const { section, query } = route.peek();
  const filter = section === "inbox" && query !== undefined ? { query } : {};
  navigate({ section: "inbox", id, ...filter }, replacesHistory);
};
