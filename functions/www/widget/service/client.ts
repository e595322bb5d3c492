/* Requests to the widget's endpoints. Bodies are sent as text/plain, so that browsers send no preflight request. */

export class ServiceError extends Error {
  constructor(
    readonly status: number,
    readonly field: string | undefined,
    /** The value of the Retry-After header in seconds. */
    readonly retryAfter: number | undefined,
    /** The service's name for the error. */
    readonly code?: string,
  ) {
    super(`status ${status}`);
  }

  /** Whether a repeated request can succeed. */
  get isTemporary(): boolean {
    return this.status === 429 || this.status >= 500;
  }
}

export type Post = <T>(endpoint: string, body: object) => Promise<T>;

/** Converts a value to JSON. Ignores methods `toJSON`, because old libraries add one to all arrays. Replaces unpaired
 * surrogates, which occur if a page has cut its title or other data within a character, because the service rejects
 * them. JSON.stringify writes only unpaired surrogates as `\ud` escape sequences. */
export const toJson = (value: unknown): string =>
  JSON.stringify(value, function (this: Record<string, unknown>, name) {
    return this[name];
  }).replace(/\\(ud[\da-f]{3}|.)/g, (all, code) => (code.length > 1 ? "\ufffd" : all));

const REQUEST_TIMEOUT_MS = 20_000;

/** Returns a function that posts to the widget's endpoints. It throws a ServiceError for a response with an error, and
 * another error if there is no response. */
export function createPost(base: string, widgetId: string): Post {
  return async (endpoint, body) => {
    const response = await fetch(`${base}/widget/${encodeURIComponent(widgetId)}/${endpoint}`, {
      method: "POST",
      headers: { "content-type": "text/plain" },
      body: toJson(body),
      credentials: "omit",
      referrerPolicy: "origin",
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    const result = await response.json().catch(() => undefined);
    if (!response.ok || result === undefined) {
      const retryAfter = Number(response.headers.get("retry-after")) || undefined;
      throw new ServiceError(
        response.ok ? 502 : response.status,
        result?.error?.field,
        retryAfter,
        result?.error?.code,
      );
    }
    return result;
  };
}
