/* Webhooks and deliveries: the delivery log, the list of webhooks, and the page of each webhook. */

import { deliveriesRoute, WEBHOOKS_ROUTE } from "../state/page/page-routes";
import { route } from "../state/page/route";
import { PageTabs } from "../admin/list-page";
import { DeliveryLog } from "./delivery-log";
import { WebhookPage } from "./webhook-page";
import { WebhooksPage } from "./webhooks-page";
import { t } from "../../texts/translate";

const TABS = [
  { name: t`Deliveries`, route: deliveriesRoute() },
  { name: t`Webhooks`, route: WEBHOOKS_ROUTE },
];

export function Deliveries() {
  const [page, id] = route.value.path?.split("/") ?? [];
  if (page === "webhooks" && id !== undefined) return <WebhookPage key={id} webhookId={id} />;
  const tabs = <PageTabs label={t`Webhooks and deliveries`} tabs={TABS} />;
  return page === "webhooks" ? <WebhooksPage tabs={tabs} /> : <DeliveryLog tabs={tabs} />;
}
