import "./deliveries.css";
import { lazyComponent } from "../../ui/lazy-component";
import type { Section } from "../section";
import { WEBHOOKS_ROUTE } from "../state/page/page-routes";

export const DELIVERIES: Section = {
  name: "deliveries",
  title: "Webhooks and deliveries",
  shortTitle: "Deliveries",
  icon: "webhook",
  isInSmallRail: true,
  keywords: "failed replay log events",
  adminsOnly: "Only admins see webhooks and deliveries",
  Page: lazyComponent(() => import("./deliveries").then(({ Deliveries }) => Deliveries)),
  furtherPages: [{ title: "Webhooks", route: WEBHOOKS_ROUTE, keywords: "events signing secret" }],
};
