import { adminRoute } from "../state/route";

export const AGENTS_ROUTE = adminRoute("team");
export const DEPARTMENTS_ROUTE = adminRoute("team", "departments");
export const agentRoute = (id: number) => adminRoute("team", String(id));
export const departmentRoute = (id: number) => adminRoute("team", `departments/${id}`);
