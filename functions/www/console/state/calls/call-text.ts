/* What agents read about a phone call (docs/telephony.md). */

import type { Call } from "../../../api/types";
import { capitalized } from "../../../ui/words";
import { t } from "../../../texts/translate";

export const isInProgress = ({ status }: Call): boolean => status !== "end" && status !== "error";

const TITLES: Record<Call["type"], string> = {
  callback: t`Callback`,
  incoming: t`Incoming call`,
  outgoing: t`Outgoing call`,
};

/** Returns the kind of a call, for example "Callback". */
export const callTitle = ({ type }: Call): string => TITLES[type];

/** Returns the status of a call. `me` is the agent who reads it. */
export function callStatus(call: Call, me: number): string {
  const called = call.agent?.id === me ? undefined : (call.agent?.name ?? t`an agent`);
  switch (call.status) {
    case "start":
      return called === undefined ? t`Calling you` : t`Calling ${called}`;
    case "agent_connected":
      // The visitor of an incoming call has been on the phone from the beginning.
      return call.type === "incoming" ? inConversation(called) : t`Calling the visitor`;
    case "client_connected":
      return inConversation(called);
    case "end":
      return call.duration === undefined ? t`Ended` : t`Ended after ${formatTalkTime(call.duration)}`;
    case "error":
      return capitalized(call.reason ?? t`failed`);
  }
}

/** `called` is undefined for the agent who reads it. */
const inConversation = (called: string | undefined) =>
  called === undefined ? t`You are talking` : t`Talking with ${called}`;

/** Formats seconds, for example as 2:05 or 1:02:05. */
export function formatTalkTime(seconds: number): string {
  const twoDigits = (number: number) => String(number).padStart(2, "0");
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return hours > 0 ? `${hours}:${twoDigits(minutes)}:${twoDigits(rest)}` : `${minutes}:${twoDigits(rest)}`;
}

/** Returns the text that alerts an agent whose phone a call rings, for example "Callback for Ada Lind". */
export const ringingText = (call: Call, name: string): string =>
  call.type === "incoming" ? t`${name} is calling you` : t`${callTitle(call)} for ${name}`;
