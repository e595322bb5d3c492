import type { Section } from "../section";
import { Visitors } from "./visitors";

export const VISITORS: Section = {
  name: "visitors",
  title: "Visitors",
  icon: "users",
  isInSmallRail: true,
  Page: Visitors,
};
