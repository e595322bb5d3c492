/* The pages for admins. Agents do not need their code, so each section is loaded when it is first opened. */

import "../table-page.css";
import "./admin.css";
import "../channels/channels.css";
import "../deliveries/deliveries.css";
import "../reports/reports.css";
import "../settings/settings.css";
import type { FunctionComponent } from "preact";
import { Icon } from "../../ui/icons";
import { lazyComponent } from "../../ui/lazy-component";
import { route, type AdminSection } from "../state/route";
import { useWorkspace } from "../workspace-context";

const PAGES: Record<AdminSection | "visitors", FunctionComponent> = {
  channels: lazyComponent(() => import("../channels/channels").then(({ Channels }) => Channels)),
  bots: lazyComponent(() => import("../bots/bots").then(({ Bots }) => Bots)),
  deliveries: lazyComponent(() => import("../deliveries/deliveries").then(({ Deliveries }) => Deliveries)),
  team: lazyComponent(() => import("../team/team").then(({ Team }) => Team)),
  reports: lazyComponent(() => import("../reports/reports").then(({ Reports }) => Reports)),
  telephony: lazyComponent(() => import("../telephony/telephony").then(({ Telephony }) => Telephony)),
  settings: lazyComponent(() => import("../settings/settings").then(({ Settings }) => Settings)),
  visitors: lazyComponent(() => import("../erasure/erasure-page").then(({ Erasure }) => Erasure)),
};

const FORBIDDEN: Record<AdminSection | "visitors", string> = {
  channels: "Only admins manage channels",
  bots: "Only admins manage bots",
  deliveries: "Only admins see webhooks and deliveries",
  team: "Only admins manage the team",
  reports: "Only admins see reports",
  telephony: "Only admins change the telephony",
  settings: "Only admins change the settings",
  visitors: "Only admins erase visitors",
};

export function AdminPages() {
  const { section } = route.value;
  if (section === "inbox") return null;
  const Page = PAGES[section];
  if (useWorkspace().isAdmin) return <Page key={section} />;
  return (
    <div class="blank">
      <Icon name="lock" />
      <h2>{FORBIDDEN[section]}</h2>
    </div>
  );
}
