import "./channels.css";
import { lazyComponent } from "../../ui/lazy-component";
import type { Section } from "../section";

export const CHANNELS: Section = {
  name: "channels",
  title: "Channels",
  icon: "plug",
  keywords: "widget website settings",
  adminsOnly: "Only admins manage channels",
  Page: lazyComponent(() => import("./channels").then(({ Channels }) => Channels)),
};
