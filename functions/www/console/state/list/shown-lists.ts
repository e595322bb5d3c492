import { route } from "../page/route";
import type { OpenList } from "../subscription";
import { activeTab, searchQuery } from "./view-state";

/** Returns the lists that the console shows. The waiting chats always count, because every page shows their number and
 * alerts the agent to their messages. The agent's own chats are pushed anyway. */
export function shownLists(): OpenList[] {
  if (route.value.section !== "inbox") return ["waiting"];
  if (searchQuery.value.trim() !== "" || activeTab.value === "all") return ["waiting", "bot", "active"];
  return activeTab.value === "bot" ? ["waiting", "bot"] : ["waiting"];
}
