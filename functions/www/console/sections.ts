/* The sections of the console, in the order of the navigation rail. The styles of their pages override those that all
 * pages for admins share. */

import "./table-page.css";
import "./admin/admin.css";
import { INBOX } from "./inbox/section";
import { VISITORS } from "./visitors/section";
import { CHANNELS } from "./channels/section";
import { BOTS } from "./bots/section";
import { DELIVERIES } from "./deliveries/section";
import { TEAM } from "./team/section";
import { TELEPHONY } from "./telephony/section";
import { REPORTS } from "./reports/section";
import { SETTINGS } from "./settings/section";
import type { Section } from "./section";

export const SECTIONS: readonly Section[] = [
  INBOX,
  VISITORS,
  CHANNELS,
  BOTS,
  DELIVERIES,
  TEAM,
  TELEPHONY,
  REPORTS,
  SETTINGS,
];

/** Returns the sections that an agent can open. */
export const visibleSections = (isAdmin: boolean): readonly Section[] =>
  SECTIONS.filter(({ adminsOnly }) => isAdmin || adminsOnly === undefined);

/** Returns the section of a route. */
export const sectionNamed = (name: string): Section => SECTIONS.find((section) => section.name === name) ?? INBOX;
