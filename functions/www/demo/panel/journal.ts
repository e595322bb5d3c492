/* The integrator's journal: what the receivers of the demo account have received. The local host keeps it. */

import { signal } from "@preact/signals";

export interface JournalEntry {
  number: number;
  /** Unix time in milliseconds. */
  at: number;
  receiver: "integrator" | "bot" | "webhook" | "gateway";
  request: Body;
  replies: Body[];
}
/** A JSON object of the specification. */
export type Body = Record<string, unknown>;

const POLL_INTERVAL_MS = 1000;
const MAX_ENTRIES = 50;

/** The entries, from the newest to the oldest. */
export const entries = signal<readonly JournalEntry[]>([]);
export const isUnreachable = signal(false);

/** Reads the journal every second while the page is visible. */
export function startJournal(): void {
  const poll = async () => {
    if (!document.hidden) await readNewEntries();
    setTimeout(poll, POLL_INTERVAL_MS);
  };
  void poll();
}

async function readNewEntries(): Promise<void> {
  try {
    const known = entries.peek();
    const [last] = known;
    const response = await fetch(`/_local/journal?after=${last ? last.number - 1 : 0}`);
    const body = (await response.json()) as { entries: JournalEntry[] };
    isUnreachable.value = false;
    const merged = withNewEntries(known, body.entries);
    if (merged[0] !== last) entries.value = merged;
  } catch {
    isUnreachable.value = true;
  }
}

/** Adds the entries that were read to the known ones. The first entry that was read should be the newest known one. If
 * it is a different one or missing, the local host was restarted and numbers its entries from 1 again. In that case,
 * returns no entries, so that the next poll reads all of them. */
export function withNewEntries(known: readonly JournalEntry[], read: readonly JournalEntry[]): readonly JournalEntry[] {
  const [last] = known;
  if (last === undefined) return [...read].reverse();
  const [first, ...added] = read;
  if (first?.number !== last.number || first.at !== last.at) return [];
  return [...added.reverse(), ...known].slice(0, MAX_ENTRIES);
}

/** Returns the name of the event in a request to a receiver. */
export function eventName({ receiver, request }: JournalEntry): string {
  const name =
    receiver === "bot" || receiver === "gateway"
      ? request["event"]
      : receiver === "webhook"
        ? request["event_name"]
        : messageOf(request)["type"];
  return typeof name === "string" ? name : "?";
}

export function chatIdOf({ request }: JournalEntry): string {
  const chatId = request["chat_id"];
  return typeof chatId === "string" || typeof chatId === "number" ? `chat ${chatId}` : "";
}

/** Summarizes a request in one line. */
export function summaryOf({ receiver, request }: JournalEntry): string {
  if (receiver === "gateway")
    return [fieldOf(request, "type"), fieldOf(request["client"], "phone")].filter(Boolean).join(" to ");
  if (receiver !== "webhook") return textOf(messageOf(request));
  const { call } = request;
  const names = [request["visitor"], request["agent"] ?? firstOf(request["agents"])].map((person) =>
    fieldOf(person, "name"),
  );
  const what = [fieldOf(call, "type"), fieldOf(call, "status"), fieldOf(call, "reason")].filter(Boolean).join(", ");
  return [names.filter(Boolean).join(", "), fieldOf(request, "message") || what].filter(Boolean).join(": ");
}

/** Summarizes a reply in one line, for example "BOT_MESSAGE: Which day?". */
export function replyText(reply: Body): string {
  const event = fieldOf(reply, "event");
  if (event === "")
    return [fieldOf(reply, "result"), reply["custom_data"] ? "with a CRM card" : ""].filter(Boolean).join(", ");
  return [event, textOf(messageOf(reply))].filter(Boolean).join(": ");
}

const messageOf = (body: Body): Body => {
  const message = body["message"];
  return typeof message === "object" && message !== null ? (message as Body) : {};
};
const textOf = (message: Body): string =>
  fieldOf(message, "text") || fieldOf(message, "title") || fieldOf(message, "file");
const firstOf = (list: unknown): unknown => (Array.isArray(list) ? list[0] : undefined);

function fieldOf(value: unknown, name: string): string {
  const field = typeof value === "object" && value !== null ? (value as Body)[name] : undefined;
  return typeof field === "string" ? field : "";
}
