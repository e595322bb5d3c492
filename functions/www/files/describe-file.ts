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
const SHOWN_IMAGES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** Returns the file's media type without parameters. A CSV file has the type of a spreadsheet if Excel is installed. */
export function uploadTypeOf({ name, type }: { name: string; type: string }): string {
  const extension = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? "";
  const bare = type.split(";")[0]?.trim().toLowerCase() ?? "";
  if (extension === "csv" || bare === "") return TYPES_OF_EXTENSIONS[extension] ?? "application/octet-stream";
  return ALIASES[bare] ?? bare;
}

/** Returns the type of the message that shows a file of this media type. */
export function messageTypeOf(uploadType: string): "photo" | "video" | "audio" | "document" {
  if (SHOWN_IMAGES.has(uploadType)) return "photo";
  if (uploadType.startsWith("video/")) return "video";
  return uploadType.startsWith("audio/") ? "audio" : "document";
}
