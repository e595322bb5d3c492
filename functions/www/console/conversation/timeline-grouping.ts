/* Groups timeline entries into the items of the message log: days, events, and turns. A turn is a series of messages
   from one author. */

import type { Entry } from "../../api/types";
import { localDay } from "../../ui/time";
import type { OutgoingItem } from "../state/chat/outbox";
import { t } from "../../texts/translate";

/** If the pause between two messages from the same author is longer than this, the second one starts a new turn. */
const MAX_TURN_GAP_SECONDS = 5 * 60;
/** Identical events that are at most this far apart are shown as one line, because the timeline contains one event per
 * webhook. */
const MAX_EVENT_GAP_SECONDS = 20;

const EVENT_TYPES = new Set([
  "agent_joined",
  "agent_unavailable",
  "callback_requested",
  "chat_closed",
  "chat_accepted",
  "chat_assigned",
  "chat_finished",
  "chat_returned",
  "chat_updated",
  "call_event",
  "offline_message",
]);

/** Events that only notify webhooks of what other entries show. */
const OPT_IN_EVENT_TYPES = new Set([
  "answer_due_soon",
  "chat_opened",
  "chat_waiting",
  "bot_handed_over",
  "chat_joined",
  "chat_transferred",
  "chat_rated",
  "chat_ended",
  "message",
  "delivery_failed",
  "delivered_late",
  "visitor_blacklisted",
]);

/** Whether an entry is hidden because it only notifies webhooks of what the call or another entry shows. An entry whose
 * delivery to a webhook has failed is not hidden. */
const isShownByOthers = ({ type, webhook_delivery }: Entry) =>
  (type === "call_event" || OPT_IN_EVENT_TYPES.has(type)) && webhook_delivery?.state !== "failed";

const isForAgents = ({ type }: Entry) => type === "note" || type === "handover";

export const isEvent = (entry: Entry) => entry.from === "system" || EVENT_TYPES.has(entry.type);

export type Side = "theirs" | "ours";

export interface Turn {
  kind: "turn";
  key: string;
  side: Side;
  author: { kind: "visitor" } | { kind: "bot"; name: string } | { kind: "agent"; id: number; name: string };
  /** Whether only agents see it: a note, or what a bot told the agents. */
  isNote: boolean;
  entries: Entry[];
  /** Messages in the outbox that the service has not confirmed yet. */
  outgoing: OutgoingItem[];
  at: number;
}

export type TimelineItem =
  | { kind: "day"; key: string; at: number }
  | { kind: "unread"; key: string }
  | { kind: "event"; key: string; entries: Entry[] }
  | Turn;

export interface GroupingInput {
  entries: readonly Entry[];
  outgoing: readonly OutgoingItem[];
  me: { id: number; name: string };
  /** Visitor messages with a higher `seq` are unread. */
  readUpTo: number | undefined;
  /** The outbox keys of the entries that this page sent, by entry id. */
  keys?: ReadonlyMap<string, string>;
}

const authorOf = (entry: Entry): Turn["author"] =>
  entry.from === "bot"
    ? { kind: "bot", name: entry.bot?.name ?? t`Bot` }
    : entry.from === "agent"
      ? { kind: "agent", id: entry.agent?.id ?? 0, name: entry.agent?.name ?? t`Agent` }
      : { kind: "visitor" };

const isSameAuthor = (a: Turn["author"], b: Turn["author"]) =>
  a.kind === b.kind &&
  (a.kind === "visitor" ||
    (a.kind === "agent" ? b.kind === "agent" && a.id === b.id : b.kind === "bot" && a.name === b.name));

/** Returns the first message from the visitor after `readUpTo`, or undefined if there is none. */
export function firstUnread(entries: readonly Entry[], readUpTo: number | undefined): Entry | undefined {
  if (readUpTo === undefined) return undefined;
  return entries.find((entry) => entry.seq > readUpTo && entry.from === "visitor" && !isEvent(entry));
}

export function groupTimeline({ entries, outgoing, me, readUpTo, keys }: GroupingInput): TimelineItem[] {
  const items: TimelineItem[] = [];
  const unread = firstUnread(entries, readUpTo);
  let currentDay = "";
  const addDayLine = (at: number) => {
    const entryDay = localDay(at);
    if (entryDay === currentDay) return;
    currentDay = entryDay;
    items.push({ kind: "day", key: `day-${entryDay}`, at });
  };
  const addToTurn = (
    at: number,
    author: Turn["author"],
    isNote: boolean,
    key: string,
    append: (turn: Turn) => void,
  ) => {
    addDayLine(at);
    const last = items.at(-1);
    if (
      last?.kind === "turn" &&
      isSameAuthor(last.author, author) &&
      last.isNote === isNote &&
      at - last.at <= MAX_TURN_GAP_SECONDS
    ) {
      append(last);
      last.at = at;
      return;
    }
    const turn: Turn = {
      kind: "turn",
      key,
      side: author.kind === "visitor" ? "theirs" : "ours",
      author,
      isNote,
      entries: [],
      outgoing: [],
      at,
    };
    append(turn);
    items.push(turn);
  };

  for (const entry of entries) {
    if (isShownByOthers(entry)) continue;
    if (isEvent(entry)) {
      addDayLine(entry.timestamp);
      const last = items.at(-1);
      const isRepeated = last?.kind === "event" && isSameEvent(last.entries.at(-1), entry);
      if (isRepeated) last.entries.push(entry);
      else items.push({ kind: "event", key: entry.id, entries: [entry] });
      continue;
    }
    if (entry === unread) {
      addDayLine(entry.timestamp);
      items.push({ kind: "unread", key: "unread" });
    }
    const key = keys?.get(entry.id) ?? entry.id;
    addToTurn(entry.timestamp, authorOf(entry), isForAgents(entry), key, (turn) => turn.entries.push(entry));
  }
  for (const item of withoutStoredEntry(entries, outgoing, me.id, keys)) {
    const author = { kind: "agent" as const, id: me.id, name: me.name };
    addToTurn(Math.floor(item.createdAt / 1000), author, item.kind === "note", item.key, (turn) =>
      turn.outgoing.push(item),
    );
  }
  return items;
}

/** Both events mean that the chat was closed: one is sent to the bot, the other to webhooks. */
const CHAT_END_EVENTS = new Set(["chat_closed", "chat_finished"]);

function isSameEvent(before: Entry | undefined, entry: Entry): boolean {
  if (before === undefined || entry.timestamp - before.timestamp > MAX_EVENT_GAP_SECONDS) return false;
  return before.type === entry.type || (CHAT_END_EVENTS.has(before.type) && CHAT_END_EVENTS.has(entry.type));
}

/** Returns the outbox items that are not in the timeline yet. The push with the agent's message often arrives before
 * the response to the request that sent it. */
function withoutStoredEntry(
  entries: readonly Entry[],
  outgoing: readonly OutgoingItem[],
  me: number,
  keys: GroupingInput["keys"],
): OutgoingItem[] {
  const matchedEntryIds = new Set<string>();
  const sentKeys = new Set(keys?.values());
  return outgoing.filter((item) => {
    if (sentKeys.has(item.key)) return false;
    if (item.state === "rejected") return true;
    const createdAtSeconds = Math.floor(item.createdAt / 1000);
    for (let index = entries.length - 1; index >= 0; index--) {
      const entry = entries[index];
      // Allow for a difference of up to two minutes between the browser's clock and the service's clock.
      if (entry === undefined || entry.timestamp < createdAtSeconds - 120) break;
      if (entry.from !== "agent" || entry.agent?.id !== me || matchedEntryIds.has(entry.id) || keys?.has(entry.id))
        continue;
      if (!isSameContent(entry, item)) continue;
      matchedEntryIds.add(entry.id);
      return false;
    }
    return true;
  });
}

function isSameContent(entry: Entry, item: OutgoingItem): boolean {
  if (item.kind === "note") return entry.type === "note" && entry.text === item.body.text;
  const { body } = item;
  const file = "file" in body ? body.file : undefined;
  return (
    entry.type === body.type &&
    (entry.text ?? "") === (body.text ?? "") &&
    (entry.file ?? undefined) === (file ?? undefined)
  );
}
