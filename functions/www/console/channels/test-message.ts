/* A test message that an admin sends to a channel's address as a visitor would. */

import type { SentRequest } from "../../api/types";

const TEST_MESSAGE = {
  sender: { id: "test-1", name: "Test visitor" },
  message: { type: "text", text: "Hello! This is a test." },
};

/** Returns the path of a channel's endpoint if it has the same origin as this page; otherwise, returns undefined. */
export function sameOriginPath(endpoint: string, origin: string): string | undefined {
  if (!URL.canParse(endpoint)) return undefined;
  const url = new URL(endpoint);
  return url.origin === origin ? url.pathname + url.search : undefined;
}

/** Returns a curl command that sends a test message as a visitor. */
export function curlCommand(endpoint: string): string {
  return `curl -d '${JSON.stringify(TEST_MESSAGE)}' ${endpoint}`;
}

export interface TestMessageResult {
  isSuccess: boolean;
  /** Undefined if there was no response. */
  status: number | undefined;
  ms: number;
  request: SentRequest;
  responseBody: string;
}

const MAX_SHOWN_CHARACTERS = 2000;

/** Sends a test message to an endpoint of this origin. */
export async function sendTestMessage(path: string): Promise<TestMessageResult> {
  const body = JSON.stringify(TEST_MESSAGE);
  const headers = { "content-type": "application/json" };
  const start = performance.now();
  const result = (isSuccess: boolean, status: number | undefined, responseBody: string) => ({
    isSuccess,
    status,
    ms: Math.round(performance.now() - start),
    request: {
      method: "POST" as const,
      url: new URL(path, location.origin).href,
      headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
      body,
      body_truncated: false,
    },
    responseBody: responseBody.slice(0, MAX_SHOWN_CHARACTERS),
  });
  try {
    const response = await fetch(path, { method: "POST", headers, body, credentials: "omit" });
    return result(response.ok, response.status, await response.text());
  } catch {
    return result(false, undefined, "");
  }
}
