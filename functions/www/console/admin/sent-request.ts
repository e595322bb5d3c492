import type { SentRequest } from "../../api/types";

/** Returns the text, indented if it is JSON. */
export function prettyBody(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2);
  } catch {
    return body;
  }
}

/** Returns a request as text: its method and address, its headers and its body. */
export function requestText({ method, url, headers, body, body_truncated }: SentRequest): string {
  const lines = [`${method} ${url}`.trim(), ...headers.map(({ name, value }) => `${name}: ${value}`)];
  return `${lines.join("\n")}\n\n${body_truncated ? `${body}…` : prettyBody(body)}`;
}

const shellQuoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Headers that curl sets itself. */
const OWN_HEADERS = new Set(["host", "content-length"]);

/** Whether curl can send the request: a message to a queue or an event bus needs a role, and a fetched request has no
 * address. */
export const isForCurl = ({ method, url, body_truncated }: SentRequest) =>
  method === "POST" && url !== "" && !body_truncated;

/** Returns a command that sends the request again. Secrets in it are shortened, like in the request that is shown. */
export function curlText({ method, url, headers, body }: SentRequest): string {
  return [
    `curl -X ${method} ${shellQuoted(url)}`,
    ...headers
      .filter(({ name }) => !OWN_HEADERS.has(name.toLowerCase()))
      .map(({ name, value }) => `-H ${shellQuoted(`${name}: ${value}`)}`),
    ...(body === "" ? [] : [`--data-raw ${shellQuoted(body)}`]),
  ].join(" \\\n  ");
}
