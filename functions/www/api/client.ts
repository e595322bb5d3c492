/* The HTTP client for the API. The types of paths, parameters and bodies come from the OpenAPI document. */

import type { paths as DocumentedPaths } from "./schema";
import type { LocalHostPaths } from "./local-host-paths";

type Paths = DocumentedPaths & LocalHostPaths;
type Method = "get" | "post" | "put" | "patch" | "delete";
type PathsWith<M extends Method> = {
  [P in keyof Paths]: Paths[P] extends { [K in M]: object } ? P : never;
}[keyof Paths] &
  string;
type Operation<P extends keyof Paths, M extends Method> = Paths[P] extends { [K in M]: infer O } ? O : never;

type JsonOf<T> = T extends { content: { "application/json": infer Body } } ? Body : never;
type ResponsesOf<O> = O extends { responses: infer R } ? R : never;
type ResponseBodyOf<O> =
  ResponsesOf<O> extends infer R
    ? { [S in keyof R & (200 | 201 | 202)]: JsonOf<R[S]> }[keyof R & (200 | 201 | 202)]
    : never;

type PathParameters<O> = O extends { parameters: { path: infer V } } ? { path: V } : { path?: undefined };
type QueryParameters<O> = O extends { parameters: { query?: infer V } }
  ? [V] extends [undefined]
    ? { query?: undefined }
    : { query?: V }
  : { query?: undefined };
type BodyParameter<O> = O extends { requestBody: infer B }
  ? { body: JsonOf<B> }
  : O extends { requestBody?: infer B }
    ? { body?: JsonOf<B> }
    : { body?: undefined };

interface CommonOptions {
  idempotencyKey?: string;
  signal?: AbortSignal;
  /** Whether the request continues if the page is closed. */
  keepalive?: boolean;
  timeoutMs?: number;
}
type Options<O> = PathParameters<O> & QueryParameters<O> & BodyParameter<O> & CommonOptions;
/** The `options` argument is optional if all of its fields are. */
type Arguments<O> = object extends Options<O> ? [options?: Options<O>] : [options: Options<O>];

/**
 * An error response from the service, or a successful response that is not valid JSON. The `message` is taken from the
 * response body, or is a generic text if the body contains no message.
 */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly field: string | undefined,
    /** The Retry-After header in seconds, or undefined if the header is missing or is not a positive number. */
    readonly retryAfter: number | undefined,
  ) {
    super(message);
  }
}

/** Thrown if no response arrives because there is no network, the request times out, or the connection breaks. */
export class NetworkError extends Error {}

/** Returns whether the same request may succeed if it is sent again later. */
export function isRetryable(error: unknown): boolean {
  return error instanceof NetworkError || (error instanceof ApiError && (error.status === 429 || error.status >= 500));
}

export function hasStatus(error: unknown, ...statuses: number[]): boolean {
  return error instanceof ApiError && statuses.includes(error.status);
}

const REQUEST_TIMEOUT_MS = 20_000;

export class ApiClient {
  /** Called when a request with the current token gets a response with status 401. */
  onUnauthorized: () => void = () => {};
  /** Called when the operator has suspended the account of the current token. */
  onSuspended: () => void = () => {};

  constructor(
    private readonly token: () => string | undefined,
    private readonly baseUrl = "",
    private readonly fetchFunction: typeof fetch = (...request) => fetch(...request),
  ) {}

  get<P extends PathsWith<"get">>(path: P, ...[options]: Arguments<Operation<P, "get">>) {
    return this.send<Operation<P, "get">>("GET", path, options);
  }

  /** Sends a GET request. Returns the text of the response, without a byte-order mark, and its headers. */
  async getText<P extends PathsWith<"get">>(path: P, ...[options]: Arguments<Operation<P, "get">>) {
    const { text, response } = await this.request("GET", path, "*/*", options);
    return { text, headers: response.headers };
  }

  post<P extends PathsWith<"post">>(path: P, ...[options]: Arguments<Operation<P, "post">>) {
    return this.send<Operation<P, "post">>("POST", path, options);
  }

  put<P extends PathsWith<"put">>(path: P, ...[options]: Arguments<Operation<P, "put">>) {
    return this.send<Operation<P, "put">>("PUT", path, options);
  }

  patch<P extends PathsWith<"patch">>(path: P, ...[options]: Arguments<Operation<P, "patch">>) {
    return this.send<Operation<P, "patch">>("PATCH", path, options);
  }

  delete<P extends PathsWith<"delete">>(path: P, ...[options]: Arguments<Operation<P, "delete">>) {
    return this.send<Operation<P, "delete">>("DELETE", path, options);
  }

  private async send<O>(method: string, path: string, options?: UntypedOptions): Promise<ResponseBodyOf<O>> {
    const { text, response } = await this.request(method, path, "application/json", options);
    return parseJson(text, response.status) as ResponseBodyOf<O>;
  }

  private async request(method: string, path: string, accept: string, options: UntypedOptions = {}) {
    const token = this.token();
    const headers = new Headers({ accept });
    if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    if (options.body !== undefined) headers.set("content-type", "application/json");
    if (options.idempotencyKey !== undefined) headers.set("idempotency-key", options.idempotencyKey);
    const timeout = AbortSignal.timeout(options.timeoutMs ?? REQUEST_TIMEOUT_MS);
    const request: RequestInit = {
      method,
      headers,
      signal: options.signal ? AbortSignal.any([options.signal, timeout]) : timeout,
      keepalive: options.keepalive ?? false,
      credentials: "omit",
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    };
    let response: Response;
    let text: string;
    try {
      response = await this.fetchFunction(this.baseUrl + buildUrl(path, options.path, options.query), request);
      text = await response.text();
    } catch (error) {
      if (options.signal?.aborted) throw error;
      throw new NetworkError("The service does not respond.");
    }
    if (response.ok) return { text, response };
    if (response.status === 401 && token !== undefined && token === this.token()) this.onUnauthorized();
    const error = errorFromResponse(response, text);
    if (error.code === "account_suspended" && token !== undefined && token === this.token()) this.onSuspended();
    throw error;
  }
}

type UntypedOptions = CommonOptions & { path?: unknown; query?: unknown; body?: unknown };

function buildUrl(path: string, parameters: unknown, query: unknown): string {
  const values = new Map(Object.entries((parameters ?? {}) as object));
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values.get(name))));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries((query ?? {}) as object)) {
    if (value !== undefined && value !== null) search.set(name, String(value));
  }
  return search.size > 0 ? `${filled}?${search}` : filled;
}

function parseJson(text: string, status: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError(
      status,
      "invalid_response",
      "The response of the service is not valid JSON.",
      undefined,
      undefined,
    );
  }
}

function errorFromResponse(response: Response, text: string): ApiError {
  let body: { error?: { code?: unknown; message?: unknown; field?: unknown }; message?: unknown } = {};
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === "object" && parsed !== null) body = parsed;
  } catch {
    // The body is not JSON, for example because a gateway responded with HTML. The error then has a generic message.
  }
  const string = (value: unknown) => (typeof value === "string" ? value : undefined);
  const message =
    string(body.error?.message) ?? string(body.message) ?? `The service responded with status ${response.status}.`;
  const seconds = Number(response.headers.get("retry-after") ?? "");
  const retryAfter = Number.isFinite(seconds) && seconds > 0 ? seconds : undefined;
  return new ApiError(response.status, string(body.error?.code) ?? "", message, string(body.error?.field), retryAfter);
}
