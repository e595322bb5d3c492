/* The routes of pages that other pages link to. */

import { pageRoute, type Route } from "./route";

export const VISITORS_ROUTE: Route = { section: "visitors", id: undefined };
/** Returns the route of the page on which an admin erases a visitor. */
export const erasureRoute = (number: number): Route => ({ section: "visitors", id: number, path: "erase" });
/** Returns the route of the page on which an agent merges a visitor with others, and separates them again. */
export const mergeRoute = (number: number): Route => ({ section: "visitors", id: number, path: "merge" });

export const CHANNELS_ROUTE = pageRoute("channels");
export const channelRoute = (channelId: string) => pageRoute("channels", channelId);

export const BOTS_ROUTE = pageRoute("bots");
export const botRoute = (botId: string) => pageRoute("bots", botId);
/** Returns the route of the page on which an admin tries a bot. */
export const playgroundRoute = (botId: string) => pageRoute("bots", `${botId}/playground`);

/** Returns the route of the delivery log, which shows the deliveries that the query selects. */
export const deliveriesRoute = (query = "") => pageRoute("deliveries", "", query);
export const WEBHOOKS_ROUTE = pageRoute("deliveries", "webhooks");
export const webhookRoute = (webhookId: string) => pageRoute("deliveries", `webhooks/${webhookId}`);

export const AGENTS_ROUTE = pageRoute("team");
export const agentRoute = (id: number | string) => pageRoute("team", String(id));
export const DEPARTMENTS_ROUTE = pageRoute("team", "departments");
export const departmentRoute = (id: number | string) => pageRoute("team", `departments/${id}`);

export const TELEPHONY_ROUTE = pageRoute("telephony");

export const REPORTS_ROUTE = pageRoute("reports");
export const EXPORT_ROUTE = pageRoute("reports", "export");

export const SETTINGS_ROUTE = pageRoute("settings");
export const RULES_ROUTE = pageRoute("settings", "rules");
export const AUDIT_ROUTE = pageRoute("settings", "audit");
