import type { FunctionComponent } from "preact";
import type { IconName } from "../ui/icons";
import type { Route } from "./state/page/route";

/** A part of the console with a link in the navigation rail. Each feature declares its own in its file `section.ts`.
 * The router, the rail, the command palette and the title of the browser's tab read the list of them. */
export interface Section {
  /** The first part of the addresses of its pages. */
  name: string;
  title: string;
  /** The title below the icon on a phone. */
  shortTitle?: string;
  icon: IconName;
  /** Whether the rail of a small window shows it. The rail lists the others in a menu. */
  isInSmallRail?: boolean;
  /** Further words by which the command palette finds the section. */
  keywords?: string;
  /** What agents who are not admins read in place of the page. Absent for a section that all agents can open. */
  adminsOnly?: string;
  /** What is shown for all addresses of the section. Absent for the inbox, whose panes fill the console. */
  Page?: FunctionComponent;
  /** The pages besides the first one that the command palette offers to admins. */
  furtherPages?: readonly FurtherPage[];
}

interface FurtherPage {
  title: string;
  /** The icon, unless it is the section's. */
  icon?: IconName;
  route: Route;
  keywords: string;
}
