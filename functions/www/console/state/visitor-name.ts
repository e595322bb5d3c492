import type { ChatRow } from "../../api/types";
import { shownName } from "../../ui/confirm-name";

export const isAnonymous = (name: string) => name === "Anonymous" || shownName(name) === "";

/** Returns the visitor's name, or "Visitor" and the visitor's number if the name is unknown. */
export function visitorName(row: Pick<ChatRow, "visitor">): string {
  return isAnonymous(row.visitor.name) ? `Visitor ${row.visitor.number}` : row.visitor.name;
}
