import { lazyComponent } from "../../ui/lazy-component";
import type { Section } from "../section";
import { DEPARTMENTS_ROUTE } from "../state/page/page-routes";
import { t } from "../../texts/translate";

export const TEAM: Section = {
  name: "team",
  title: t`Team`,
  icon: "users-round",
  keywords: t`agents password`,
  adminsOnly: t`Only admins manage the team`,
  Page: lazyComponent(() => import("./team").then(({ Team }) => Team)),
  furtherPages: [{ title: t`Departments`, route: DEPARTMENTS_ROUTE, keywords: t`team groups` }],
};
