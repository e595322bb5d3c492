import "./channels.css";
import { lazyComponent } from "../../ui/lazy-component";
import type { Section } from "../section";
import { t } from "../../texts/translate";

export const CHANNELS: Section = {
  name: "channels",
  title: t`Channels`,
  icon: "plug",
  keywords: t`widget website settings`,
  adminsOnly: t`Only admins manage channels`,
  Page: lazyComponent(() => import("./channels").then(({ Channels }) => Channels)),
};
