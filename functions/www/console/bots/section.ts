import "./playground/playground.css";
import { lazyComponent } from "../../ui/lazy-component";
import type { Section } from "../section";

export const BOTS: Section = {
  name: "bots",
  title: "Bots",
  icon: "bot",
  keywords: "provider",
  adminsOnly: "Only admins manage bots",
  Page: lazyComponent(() => import("./bots").then(({ Bots }) => Bots)),
};
