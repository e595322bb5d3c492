/* The settings of the account: general settings, the trigger rules of the widget, and who changed what. */

import { PageTabs } from "../admin/list-page";
import { AUDIT_ROUTE, RULES_ROUTE, SETTINGS_ROUTE } from "../state/page/page-routes";
import { route } from "../state/page/route";
import { AuditPage } from "./audit-page";
import { GeneralSettings } from "./general-settings";
import { RulesPage } from "./rules-page";
import { t } from "../../texts/translate";

const TABS = [
  { name: t`General`, title: t`Settings`, route: SETTINGS_ROUTE },
  { name: t`Trigger rules`, route: RULES_ROUTE },
  { name: t`Audit log`, route: AUDIT_ROUTE },
];

export function Settings() {
  const tabs = <PageTabs label={t`Settings`} tabs={TABS} />;
  if (route.value.path === AUDIT_ROUTE.path) return <AuditPage tabs={tabs} />;
  return route.value.path === RULES_ROUTE.path ? <RulesPage tabs={tabs} /> : <GeneralSettings tabs={tabs} />;
}
