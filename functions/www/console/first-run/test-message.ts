/** Returns the path of a channel's endpoint if it has the same origin as this page; otherwise, returns undefined. */
export function sameOriginPath(endpoint: string, origin: string): string | undefined {
  if (!URL.canParse(endpoint)) return undefined;
  const url = new URL(endpoint);
  return url.origin === origin ? url.pathname + url.search : undefined;
}

/** Returns a curl command that sends a test message as a visitor. */
export function curlCommand(endpoint: string): string {
  const body = JSON.stringify({
    sender: { id: "test-1", name: "Test visitor" },
    message: { type: "text", text: "Hello!" },
  });
  return `curl -d '${body}' ${endpoint}`;
}
