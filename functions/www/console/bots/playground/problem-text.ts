import { ApiError, hasStatus } from "../../../api/client";
import { countText } from "../../../ui/words";
import { errorText } from "../../state/page/error-text";

/** Returns what an admin reads when the service refuses the visitor of the playground. `host` is the console's. */
export function problemText(error: unknown, host: string): string {
  if (error instanceof ApiError && error.code === "site_not_allowed")
    return `The channel's settings allow only certain sites. Add ${host} to them to use the playground.`;
  if (hasStatus(error, 404)) return "The channel is switched off, or it was deleted.";
  if (hasStatus(error, 401)) return "The visitor of this conversation was erased. Start again.";
  if (error instanceof ApiError && error.status === 429) {
    const wait = error.retryAfter === undefined ? "a moment" : countText(error.retryAfter, "second");
    return `There were too many requests. Try again in ${wait}.`;
  }
  return errorText(error);
}
