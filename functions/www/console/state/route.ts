import { signal } from "@preact/signals";

/** The console's pages. There are no pages yet for channels, bots, deliveries, agents and settings, so admins use the
 * API for them. */
export const SECTIONS = ["inbox", "visitors"] as const;
export type Section = (typeof SECTIONS)[number];

export interface Route {
  section: Section;
  /** The number of the open chat or the selected visitor; undefined if there is none. */
  id: number | undefined;
}

/** Converts a URL fragment such as `#/chat/7` or `#/visitors/12` to a route. Unknown fragments lead to the inbox. */
export function parseRoute(hash: string): Route {
  const [name = "", id = ""] = hash.replace(/^#\/?/, "").split("/");
  const number = /^[1-9]\d{0,15}$/.test(id) ? Number(id) : undefined;
  if (name === "chat") return { section: "inbox", id: number };
  const section = SECTIONS.find((section) => section === name) ?? "inbox";
  return { section, id: section === "visitors" ? number : undefined };
}

export function hrefOf({ section, id }: Route): string {
  if (section === "inbox") return id === undefined ? "#/" : `#/chat/${id}`;
  return id === undefined ? `#/${section}` : `#/${section}/${id}`;
}

export const chatHref = (id: number) => hrefOf({ section: "inbox", id });

export const route = signal<Route>({ section: "inbox", id: undefined });

export function startRouting(): void {
  const read = () => {
    route.value = parseRoute(location.hash);
  };
  addEventListener("hashchange", read);
  read();
}

/** Opens a route. If `replacesHistory` is true, the route replaces the current entry in the browser's history. */
export function navigate(to: Route, replacesHistory = false): void {
  const href = hrefOf(to);
  if (location.hash === href || (location.hash === "" && href === "#/")) return;
  if (replacesHistory) {
    history.replaceState(null, "", href);
    route.value = to;
  } else {
    location.hash = href;
    route.value = to;
  }
}

export const openChat = (id: number | undefined, replacesHistory = false) =>
  navigate({ section: "inbox", id }, replacesHistory);
