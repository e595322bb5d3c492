/* What the service must know about a file before it is uploaded. */

/** The types that browsers name differently, and those of files for which some browsers know none. */
const ALIASES: Record<string, string> = {
  "audio/mp3": "audio/mpeg",
  "audio/x-m4a": "audio/mp4",
  "audio/wave": "audio/wav",
  "audio/x-wav": "audio/wav",
  "application/x-zip-compressed": "application/zip",
};
const TYPES_OF_EXTENSIONS: Record<string, string> = {
  csv: "text/csv",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  m4a: "audio/mp4",
  md: "text/plain",
  mov: "video/quicktime",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  txt: "text/plain",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  zip: "application/zip",
};
/** The types that an account can allow. All others are files of which nothing is known. */
const KNOWN_TYPES = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "audio/mpeg",
  "audio/mp4",
  "audio/ogg",
  "audio/wav",
  "audio/webm",
  "video/mp4",
  "video/webm",
  "video/quicktime",
  "application/pdf",
  "text/plain",
  "text/csv",
  "application/zip",
  ...Object.values(TYPES_OF_EXTENSIONS),
]);
const UNKNOWN_TYPE = "application/octet-stream";
const SHOWN_IMAGES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** Returns the file's media type without parameters. A CSV file has the type of a spreadsheet if Excel is installed. */
export function uploadTypeOf({ name, type }: { name: string; type: string }): string {
  const extension = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? "";
  const bare = type.split(";")[0]?.trim().toLowerCase() ?? "";
  if (extension === "csv" || bare === "") return TYPES_OF_EXTENSIONS[extension] ?? UNKNOWN_TYPE;
  const known = ALIASES[bare] ?? bare;
  return KNOWN_TYPES.has(known) ? known : UNKNOWN_TYPE;
}

/** Returns the type of the message that shows a file of this media type. */
export function messageTypeOf(uploadType: string): "photo" | "video" | "audio" | "document" {
  if (SHOWN_IMAGES.has(uploadType)) return "photo";
  if (uploadType.startsWith("video/")) return "video";
  return uploadType.startsWith("audio/") ? "audio" : "document";
}
