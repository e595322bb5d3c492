import type { Section } from "../section";
import { Visitors } from "./visitors";
import { t } from "../../texts/translate";

export const VISITORS: Section = {
  name: "visitors",
  title: t`Visitors`,
  icon: "users",
  isInSmallRail: true,
  Page: Visitors,
};
