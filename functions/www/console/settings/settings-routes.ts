import { adminRoute } from "../state/route";

export const RULES_ROUTE = adminRoute("settings", "rules");
export const AUDIT_ROUTE = adminRoute("settings", "audit");
