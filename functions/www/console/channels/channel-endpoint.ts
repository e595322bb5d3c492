/** The address that a channel's endpoint has from this page, when both are of one origin; else undefined. */
export function sameOriginPath(endpoint: string, origin: string): string | undefined {
  if (!URL.canParse(endpoint)) return undefined;
  const url = new URL(endpoint);
  return url.origin === origin ? url.pathname + url.search : undefined;
}

/** A visitor's message as a line for a terminal. */
export function curlCommand(endpoint: string): string {
  const body = JSON.stringify({
    sender: { id: "test-1", name: "Test visitor" },
    message: { type: "text", text: "Hello!" },
  });
  return `curl -d '${body}' ${endpoint}`;
}
