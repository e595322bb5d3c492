/* The settings of the account: general settings, the trigger rules of the widget, and who changed what. */

import { PageTabs } from "../admin/list-page";
import { adminRoute, route } from "../state/route";
import { AuditPage } from "./audit-page";
import { GeneralSettings } from "./general-settings";
import { RulesPage } from "./rules-page";
import { AUDIT_ROUTE, RULES_ROUTE } from "./settings-routes";

const TABS = [
  { name: "General", title: "Settings", route: adminRoute("settings") },
  { name: "Trigger rules", route: RULES_ROUTE },
  { name: "Audit log", route: AUDIT_ROUTE },
];

export function Settings() {
  const tabs = <PageTabs label="Settings" tabs={TABS} />;
  if (route.value.path === "audit") return <AuditPage tabs={tabs} />;
  return route.value.path === "rules" ? <RulesPage tabs={tabs} /> : <GeneralSettings tabs={tabs} />;
}
