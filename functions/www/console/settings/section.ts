import "./settings.css";
import { lazyComponent } from "../../ui/lazy-component";
import type { Section } from "../section";
import { AUDIT_ROUTE, RULES_ROUTE } from "../state/page/page-routes";

export const SETTINGS: Section = {
  name: "settings",
  title: "Settings",
  icon: "settings",
  keywords: "safe url limits retention idle callback hours time zone",
  adminsOnly: "Only admins change the settings",
  Page: lazyComponent(() => import("./settings").then(({ Settings }) => Settings)),
  furtherPages: [
    { title: "Trigger rules", route: RULES_ROUTE, keywords: "settings widget invitation" },
    { title: "Audit log", route: AUDIT_ROUTE, keywords: "settings history changes who" },
  ],
};
