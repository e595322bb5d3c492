import { lazyComponent } from "../../ui/lazy-component";
import type { Section } from "../section";
import { t } from "../../texts/translate";

export const VISITORS: Section = {
  name: "visitors",
  title: t`Visitors`,
  icon: "users",
  isInSmallRail: true,
  Page: lazyComponent(() => import("./visitors").then(({ Visitors }) => Visitors)),
};
