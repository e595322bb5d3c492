import "./reports.css";
import { lazyComponent } from "../../ui/lazy-component";
import type { Section } from "../section";
import { EXPORT_ROUTE } from "../state/page/page-routes";
import { t } from "../../texts/translate";

export const REPORTS: Section = {
  name: "reports",
  title: t`Reports`,
  icon: "chart-column",
  keywords: t`statistics charts numbers csv first answer ratings`,
  adminsOnly: t`Only admins see reports`,
  Page: lazyComponent(() => import("./reports").then(({ Reports }) => Reports)),
  furtherPages: [
    { title: t`Export chats`, icon: "download", route: EXPORT_ROUTE, keywords: t`reports save json csv file` },
  ],
};
