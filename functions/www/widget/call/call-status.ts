/* What the status of a call means to the page and to the visitor. */

import type { Result } from "../api/arguments";
import type { Call } from "../service/types";
import type { CallTexts } from "./call-texts";

export const isFinal = ({ status }: Call): boolean => status === "end" || status === "error";

const ORDER: readonly Call["status"][] = ["start", "agent_connected", "client_connected", "end", "error"];

/** Whether the status of one call comes before the status of the other in the course of a call. */
export const isBefore = (one: Call, other: Call): boolean => ORDER.indexOf(one.status) < ORDER.indexOf(other.status);

/** Returns the argument of widget_onCallEnd. */
export const endResult = ({ status, reason }: Call): Result =>
  status === "end" ? { result: "ok" } : { result: "fail", reason: reason ?? "failed" };

/** What the visitor reads about a call. */
export interface CallMessage {
  title: string;
  hint: string;
}

export function callMessage(call: Call, texts: CallTexts): CallMessage {
  switch (call.status) {
    case "start":
      return { title: texts.callStarting, hint: texts.callStartingHint };
    case "agent_connected":
      // The visitor of an incoming call has been on the phone from the beginning.
      if (call.type === "incoming") return { title: texts.callConnected, hint: texts.callConnectedHint };
      return { title: texts.callRinging, hint: texts.callRingingHint };
    case "client_connected":
      return { title: texts.callConnected, hint: texts.callConnectedHint };
    case "end":
      return { title: texts.callEnded, hint: texts.callEndedHint };
    case "error":
      return { title: texts.callFailed, hint: failureHint(call.reason, texts) };
  }
}

/** Explains only the reasons that the service documents (docs/telephony.md). Providers may report others. */
function failureHint(reason: string | undefined, texts: CallTexts): string {
  if (reason === "no answer from the client") return texts.callMissed;
  if (reason === "no answer from the agent" || reason === "no agent is available") return texts.callNoAgent;
  return texts.callFailedHint;
}
