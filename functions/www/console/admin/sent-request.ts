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
  const lines = [`${method} ${url}`, ...headers.map(({ name, value }) => `${name}: ${value}`)];
  return `${lines.join("\n")}\n\n${body_truncated ? `${body}…` : prettyBody(body)}`;
}
