/* What a bot was sent in a chat, and what came back. */

import type { Chat, Delivery, Entry } from "../../../api/types";
import { isTransfer } from "../../state/chat/timeline";

type Handover = NonNullable<Chat["handover"]>;

interface EventBase {
  key: string;
  chatId: number;
  /** Unix time in seconds. */
  at: number;
}
export type PlaygroundEvent = EventBase &
  (
    | { kind: "sent"; entry: Entry; delivery: Delivery }
    /** A message of the visitor that the bot does not get, because it does not have the chat. */
    | { kind: "kept"; entry: Entry }
    | { kind: "answer"; entry: Entry }
    /** The bot has told the agents why it hands over the chat. */
    | { kind: "handover"; entry: Entry }
    /** The bot has said nothing to the agents, or the service has taken the chat from it. */
    | { kind: "bare-handover"; isFallback: boolean }
    | { kind: "agent"; entry: Entry }
    | { kind: "transfer"; entry: Entry }
  );

/** Returns the events of a chat in order. `handover` is the last one of the chat. */
export function eventsOf(chatId: number, entries: readonly Entry[], handover: Handover | null): PlaygroundEvent[] {
  const events = entries.flatMap((entry) => eventOf(chatId, entry) ?? []);
  const isTold = events.some(({ kind, at }) => kind === "handover" && at >= (handover?.at ?? 0));
  if (handover === null || isTold) return events;
  const { at, is_fallback: isFallback } = handover;
  const following = events.findIndex((event) => event.at > at);
  const bare: PlaygroundEvent = { kind: "bare-handover", key: `${chatId}-handover-${at}`, chatId, at, isFallback };
  return events.toSpliced(following < 0 ? events.length : following, 0, bare);
}

/** Returns undefined for what does not concern the bot, such as notes and notifications of webhooks. */
function eventOf(chatId: number, entry: Entry): PlaygroundEvent | undefined {
  const base = { key: `${chatId}-${entry.seq}`, chatId, at: entry.timestamp };
  const { bot_delivery: delivery, from, type } = entry;
  if (delivery !== undefined) return { ...base, kind: "sent", entry, delivery };
  if (isTransfer(entry)) return { ...base, kind: "transfer", entry };
  if (type === "handover") return { ...base, kind: "handover", entry };
  if (type === "note" || entry.webhook_delivery !== undefined) return undefined;
  if (from === "visitor") return { ...base, kind: "kept", entry };
  if (from === "bot") return { ...base, kind: "answer", entry };
  return from === "agent" ? { ...base, kind: "agent", entry } : undefined;
}
