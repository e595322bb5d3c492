/* Reports: the numbers of the last days, and the export of chats. */

import { PageTabs } from "../admin/list-page";
import { EXPORT_ROUTE, REPORTS_ROUTE } from "../state/page/page-routes";
import { route } from "../state/page/route";
import { ExportPage } from "./export-page";
import { ReportPage } from "./report-page";

const TABS = [
  { name: "Overview", title: "Reports", route: REPORTS_ROUTE },
  { name: "Export chats", route: EXPORT_ROUTE },
];

export function Reports() {
  const tabs = <PageTabs label="Reports" tabs={TABS} />;
  return route.value.path === EXPORT_ROUTE.path ? <ExportPage tabs={tabs} /> : <ReportPage tabs={tabs} />;
}
