/* What agents read about a phone call (docs/telephony.md). */

import type { Call } from "../../../api/types";
import { capitalized } from "../../../ui/words";

export const isInProgress = ({ status }: Call): boolean => status !== "end" && status !== "error";

const TITLES: Record<Call["type"], string> = {
  callback: "Callback",
  incoming: "Incoming call",
  outgoing: "Outgoing call",
};

/** Returns the kind of a call, for example "Callback". */
export const callTitle = ({ type }: Call): string => TITLES[type];

/** Returns the status of a call. `me` is the agent who reads it. */
export function callStatus(call: Call, me: number): string {
  const called = call.agent === undefined ? "an agent" : call.agent.id === me ? "you" : call.agent.name;
  switch (call.status) {
    case "start":
      return `Calling ${called}`;
    case "agent_connected":
      // The visitor of an incoming call has been on the phone from the beginning.
      return call.type === "incoming" ? inConversation(called) : "Calling the visitor";
    case "client_connected":
      return inConversation(called);
    case "end":
      return call.duration === undefined ? "Ended" : `Ended after ${formatTalkTime(call.duration)}`;
    case "error":
      return capitalized(call.reason ?? "failed");
  }
}

const inConversation = (called: string) => (called === "you" ? "You are talking" : `Talking with ${called}`);

/** Formats seconds, for example as 2:05 or 1:02:05. */
export function formatTalkTime(seconds: number): string {
  const twoDigits = (number: number) => String(number).padStart(2, "0");
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return hours > 0 ? `${hours}:${twoDigits(minutes)}:${twoDigits(rest)}` : `${minutes}:${twoDigits(rest)}`;
}

/** Returns the text that alerts an agent whose phone a call rings, for example "Callback for Ada Lind". */
export const ringingText = (call: Call, name: string): string =>
  call.type === "incoming" ? `${name} is calling you` : `${callTitle(call)} for ${name}`;
