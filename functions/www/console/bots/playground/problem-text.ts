import { ApiError, hasStatus } from "../../../api/client";
import { errorText } from "../../state/page/error-text";
import { plural, t } from "../../../texts/translate";

/** Returns what an admin reads when the service refuses the visitor of the playground. `host` is the console's. */
export function problemText(error: unknown, host: string): string {
  if (error instanceof ApiError && error.code === "site_not_allowed")
    return t`The channel's settings allow only certain sites. Add ${host} to them to use the playground.`;
  if (hasStatus(error, 404)) return t`The channel is switched off, or it was deleted.`;
  if (hasStatus(error, 401)) return t`The visitor of this conversation was erased. Start again.`;
  if (error instanceof ApiError && error.status === 429) {
    return error.retryAfter === undefined
      ? t`There were too many requests. Try again in a moment.`
      : plural(
          error.retryAfter,
          "There were too many requests. Try again in {count} second.",
          "There were too many requests. Try again in {count} seconds.",
        );
  }
  return errorText(error);
}
