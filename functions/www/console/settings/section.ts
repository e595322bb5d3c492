import "./settings.css";
import { lazyComponent } from "../../ui/lazy-component";
import type { Section } from "../section";
import { AUDIT_ROUTE, RULES_ROUTE } from "../state/page/page-routes";
import { t } from "../../texts/translate";

export const SETTINGS: Section = {
  name: "settings",
  title: t`Settings`,
  icon: "settings",
  keywords: t`safe url limits retention idle callback hours time zone`,
  adminsOnly: t`Only admins change the settings`,
  Page: lazyComponent(() => import("./settings").then(({ Settings }) => Settings)),
  furtherPages: [
    { title: t`Trigger rules`, route: RULES_ROUTE, keywords: t`settings widget invitation` },
    { title: t`Audit log`, route: AUDIT_ROUTE, keywords: t`settings history changes who` },
  ],
};
