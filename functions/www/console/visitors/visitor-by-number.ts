import { hasStatus, type ApiClient } from "../../api/client";
import type { Visitor } from "../../api/types";

/** Reads a visitor, completed by those with whom the visitor is merged. Returns undefined if the visitor does not exist,
 * or the agent does not see the visitor. */
export async function visitorByNumber(api: ApiClient, number: number): Promise<Visitor | undefined> {
  try {
    return await api.get("/agent/visitors/{number}", { path: { number } });
  } catch (error) {
    if (hasStatus(error, 403, 404)) return undefined;
    throw error;
  }
}
