/* Reports: the numbers of the last days, and the export of chats. */

import { PageTabs } from "../admin/list-page";
import { adminRoute, route } from "../state/route";
import { ExportPage } from "./export-page";
import { ReportPage } from "./report-page";
import { EXPORT_ROUTE } from "./report-routes";

const TABS = [
  { name: "Overview", title: "Reports", route: adminRoute("reports") },
  { name: "Export chats", route: EXPORT_ROUTE },
];

export function Reports() {
  const tabs = <PageTabs label="Reports" tabs={TABS} />;
  return route.value.path === EXPORT_ROUTE.path ? <ExportPage tabs={tabs} /> : <ReportPage tabs={tabs} />;
}
