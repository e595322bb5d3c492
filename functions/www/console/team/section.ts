import { lazyComponent } from "../../ui/lazy-component";
import type { Section } from "../section";
import { DEPARTMENTS_ROUTE } from "../state/page/page-routes";

export const TEAM: Section = {
  name: "team",
  title: "Team",
  icon: "users-round",
  keywords: "agents password",
  adminsOnly: "Only admins manage the team",
  Page: lazyComponent(() => import("./team").then(({ Team }) => Team)),
  furtherPages: [{ title: "Departments", route: DEPARTMENTS_ROUTE, keywords: "team groups" }],
};
