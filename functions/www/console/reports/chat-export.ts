/* The export of chats as one file. The service returns it in pages. */

import type { ApiClient } from "../../api/client";
import type { ExportedChat, ExportQuery } from "../../api/types";
import { BYTE_ORDER_MARK, countCsvLines } from "../../ui/csv";
import { chatNumber } from "../admin/chat-number";
import { t } from "../../texts/translate";

export type ExportFormat = "json" | "csv";

export interface ExportProgress {
  /** The number of chats that have been read. Undefined if the format does not show where a chat ends. */
  chats: number | undefined;
  entries: number;
  isComplete: boolean;
}

/** An export that is read page by page. */
export interface ChatExport {
  readonly progress: ExportProgress;
  /** Reads the next page. */
  readPage(): Promise<void>;
  /** The parts of the file. */
  readonly parts: readonly string[];
}

type Client = Pick<ApiClient, "get" | "getText">;

class JsonExport implements ChatExport {
  private readonly chats = new Map<number, ExportedChat>();
  private next: string | null | undefined;

  constructor(
    private readonly api: Client,
    private readonly query: ExportQuery,
  ) {}

  async readPage(): Promise<void> {
    const page = await this.api.get("/admin/chats/export", { query: withCursor(this.query, this.next) });
    for (const chat of page.chats) this.chats.set(chat.chat_id, joined(this.chats.get(chat.chat_id), chat));
    this.next = page.next;
  }

  get progress() {
    const entries = [...this.chats.values()].reduce((sum, { messages }) => sum + messages.length, 0);
    return { chats: this.chats.size, entries, isComplete: this.next === null };
  }

  get parts() {
    const chats = [...this.chats.values()].map((chat) => JSON.stringify(chat, undefined, 1));
    return ["[\n", chats.join(",\n"), "\n]\n"];
  }
}

/** Joins two parts of a chat. A long chat continues on the next page, and a chat that has changed during the export is
 * repeated. */
export function joined(before: ExportedChat | undefined, chat: ExportedChat): ExportedChat {
  if (before === undefined) return chat;
  const messages = new Map(before.messages.map((message) => [message.seq, message]));
  for (const message of chat.messages) messages.set(message.seq, message);
  return { ...chat, messages: [...messages.values()].sort((a, b) => a.seq - b.seq) };
}

class CsvExport implements ChatExport {
  readonly parts = [BYTE_ORDER_MARK];
  private lines = 0;
  private next: string | null | undefined;

  constructor(
    private readonly api: Client,
    private readonly query: ExportQuery,
  ) {}

  async readPage(): Promise<void> {
    const { text, headers } = await this.api.getText("/admin/chats/export.csv", {
      query: withCursor(this.query, this.next),
    });
    this.parts.push(text);
    this.lines += countCsvLines(text);
    this.next = headers.get("x-next-cursor");
  }

  get progress() {
    // The first line has the names of the columns.
    return { chats: undefined, entries: Math.max(0, this.lines - 1), isComplete: this.next === null };
  }
}

const withCursor = (query: ExportQuery, cursor: string | null | undefined): ExportQuery =>
  cursor === undefined || cursor === null ? query : { ...query, cursor };

export const createExport = (api: Client, query: ExportQuery, format: ExportFormat): ChatExport =>
  format === "json" ? new JsonExport(api, query) : new CsvExport(api, query);

/** What an admin has chosen to export. */
export interface ExportDraft {
  what: "chat" | "range";
  /** The number of a chat as it is typed. */
  chat: string;
  /** The first and the last day, as values of `date` fields. Either may be empty. */
  from: string;
  to: string;
  /** Empty for all channels. */
  channelId: string;
  format: ExportFormat;
}

/** Returns the start of the day `daysLater` days after `day`, in the browser's time zone and in Unix seconds. Returns
 * undefined if `day` is empty. */
function dayStart(day: string, daysLater = 0): number | undefined {
  const [year, month, date] = day.split("-").map(Number);
  if (year === undefined || month === undefined || date === undefined) return undefined;
  return Math.floor(new Date(year, month - 1, date + daysLater).getTime() / 1000);
}

/** Returns the query of an export, or what is wrong with a field. */
export function exportQuery(draft: ExportDraft): ExportQuery | { field: "chat_id" | "to"; problem: string } {
  if (draft.what === "chat") {
    const number = chatNumber(draft.chat);
    return number === undefined ? { field: "chat_id", problem: t`Enter the number of a chat.` } : { chat_id: number };
  }
  const [from, end] = [dayStart(draft.from), dayStart(draft.to, 1)];
  if (from !== undefined && end !== undefined && from >= end)
    return { field: "to", problem: t`The last day must not be before the first.` };
  return {
    ...(from === undefined ? {} : { from }),
    ...(end === undefined ? {} : { to: end - 1 }),
    ...(draft.channelId === "" ? {} : { channel_id: draft.channelId }),
  };
}

/** Returns the file name of an export. */
export function exportFileName({ what, chat, from, to, format }: ExportDraft): string {
  if (what === "chat") return `chat-${chat.trim().replace("#", "")}.${format}`;
  const range = [from && `from-${from}`, to && `to-${to}`].filter(Boolean);
  return `${["chats", ...range].join("-")}.${format}`;
}
