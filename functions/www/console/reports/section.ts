import "./reports.css";
import { lazyComponent } from "../../ui/lazy-component";
import type { Section } from "../section";
import { EXPORT_ROUTE } from "../state/page/page-routes";

export const REPORTS: Section = {
  name: "reports",
  title: "Reports",
  icon: "chart-column",
  keywords: "statistics charts numbers csv first answer ratings",
  adminsOnly: "Only admins see reports",
  Page: lazyComponent(() => import("./reports").then(({ Reports }) => Reports)),
  furtherPages: [
    { title: "Export chats", icon: "download", route: EXPORT_ROUTE, keywords: "reports save json csv file" },
  ],
};
