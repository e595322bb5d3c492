/* Determines a file's name, type and size from its URL and the agent's input. */

import type { FileType } from "../../api/types";

const EXTENSIONS: readonly (readonly [FileType, readonly string[]])[] = [
  ["photo", ["png", "jpg", "jpeg", "gif", "webp", "avif", "heic", "bmp"]],
  ["video", ["mp4", "mov", "webm", "mkv", "avi", "m4v"]],
  ["audio", ["mp3", "m4a", "wav", "flac", "aac"]],
  ["voice", ["ogg", "oga", "opus"]],
  ["sticker", ["tgs"]],
];

/** Returns the decoded last segment of the URL's path, or an empty string if the URL is invalid. */
export function fileNameFromUrl(url: string): string {
  if (!URL.canParse(url)) return "";
  const last = new URL(url).pathname.split("/").pop() ?? "";
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

/** Returns the message type to use for sending this file. It depends on the file name extension. */
export function fileTypeFromUrl(url: string): FileType {
  const extension = /\.([a-z0-9]+)$/i.exec(fileNameFromUrl(url))?.[1]?.toLowerCase();
  return (
    EXTENSIONS.find(([, extensions]) => extension !== undefined && extensions.includes(extension))?.[0] ?? "document"
  );
}

const BYTES_PER_UNIT: Record<string, number> = {
  "": 1,
  b: 1,
  byte: 1,
  bytes: 1,
  k: 1e3,
  kb: 1e3,
  kib: 1024,
  m: 1e6,
  mb: 1e6,
  mib: 1024 ** 2,
  g: 1e9,
  gb: 1e9,
  gib: 1024 ** 3,
};

/** Converts a file size such as "1.2 MB", "840 kB" or "912" to bytes. Returns undefined if the text is not a file
 * size. */
export function parseFileSize(text: string): number | undefined {
  const match = /^\s*(\d+(?:[.,]\d+)?)\s*([a-z]*)\s*$/i.exec(text);
  const unit = BYTES_PER_UNIT[match?.[2]?.toLowerCase() ?? "?"];
  if (match?.[1] === undefined || unit === undefined) return undefined;
  const bytes = Math.round(Number(match[1].replace(",", ".")) * unit);
  return bytes >= 1 && Number.isSafeInteger(bytes) ? bytes : undefined;
}
