import { adminRoute } from "../state/route";

export const EXPORT_ROUTE = adminRoute("reports", "export");
