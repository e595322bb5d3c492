/* Reports: the numbers of the last days, and the export of chats. */

import { PageTabs } from "../admin/list-page";
import { EXPORT_ROUTE, REPORTS_ROUTE } from "../state/page/page-routes";
import { route } from "../state/page/route";
import { ExportPage } from "./export-page";
import { ReportPage } from "./report-page";
import { t } from "../../texts/translate";

const TABS = [
  { name: t`Overview`, title: t`Reports`, route: REPORTS_ROUTE },
  { name: t`Export chats`, route: EXPORT_ROUTE },
];

export function Reports() {
  const tabs = <PageTabs label={t`Reports`} tabs={TABS} />;
  return route.value.path === EXPORT_ROUTE.path ? <ExportPage tabs={tabs} /> : <ReportPage tabs={tabs} />;
}
