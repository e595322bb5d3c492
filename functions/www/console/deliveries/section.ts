import "./deliveries.css";
import { lazyComponent } from "../../ui/lazy-component";
import type { Section } from "../section";
import { WEBHOOKS_ROUTE } from "../state/page/page-routes";
import { t } from "../../texts/translate";

export const DELIVERIES: Section = {
  name: "deliveries",
  title: t`Webhooks and deliveries`,
  shortTitle: t`Deliveries`,
  icon: "webhook",
  isInSmallRail: true,
  keywords: t`failed replay log events`,
  adminsOnly: t`Only admins see webhooks and deliveries`,
  Page: lazyComponent(() => import("./deliveries").then(({ Deliveries }) => Deliveries)),
  furtherPages: [{ title: t`Webhooks`, route: WEBHOOKS_ROUTE, keywords: t`events signing secret` }],
};
