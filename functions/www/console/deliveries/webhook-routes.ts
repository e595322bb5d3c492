import { adminRoute } from "../state/route";

export const WEBHOOKS_ROUTE = adminRoute("deliveries", "webhooks");
export const webhookRoute = (webhookId: string) => adminRoute("deliveries", `webhooks/${webhookId}`);
