import "./playground/playground.css";
import { lazyComponent } from "../../ui/lazy-component";
import type { Section } from "../section";
import { t } from "../../texts/translate";

export const BOTS: Section = {
  name: "bots",
  title: t`Bots`,
  icon: "bot",
  keywords: t`provider`,
  adminsOnly: t`Only admins manage bots`,
  Page: lazyComponent(() => import("./bots").then(({ Bots }) => Bots)),
};
