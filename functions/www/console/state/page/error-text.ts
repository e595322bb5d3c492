import { ApiError, NetworkError } from "../../../api/client";
import { sentence } from "../../../ui/words";
import { t } from "../../../texts/translate";

/** Returns what an agent reads about an error. */
export function errorText(error: unknown): string {
  if (error instanceof ApiError && error.status >= 500)
    return t`The service failed (status ${error.status}). Try again in a moment.`;
  if (error instanceof ApiError) return sentence(error.message);
  if (error instanceof NetworkError) return t`The service does not respond. Check the network and try again.`;
  return t`Something went wrong in this page. Reload it if this happens again.`;
}
