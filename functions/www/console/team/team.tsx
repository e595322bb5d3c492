/* The team: agents, departments, and the page of each. */

import { PageTabs } from "../admin/list-page";
import { route } from "../state/page/route";
import { AgentPage } from "./agent-page";
import { AgentsPage } from "./agents-page";
import { DepartmentPage } from "./department-page";
import { DepartmentsPage } from "./departments-page";
import { AGENTS_ROUTE, DEPARTMENTS_ROUTE } from "../state/page/page-routes";
import { t } from "../../texts/translate";

const TABS = [
  { name: t`Agents`, route: AGENTS_ROUTE },
  { name: t`Departments`, route: DEPARTMENTS_ROUTE },
];

export function Team() {
  const { path } = route.value;
  const [page, id] = path?.split("/") ?? [];
  const tabs = <PageTabs label={t`Team`} tabs={TABS} />;
  if (page === "departments")
    return id === undefined ? <DepartmentsPage tabs={tabs} /> : <DepartmentPage key={path} id={Number(id)} />;
  return page === undefined ? <AgentsPage tabs={tabs} /> : <AgentPage key={path} id={Number(page)} />;
}
