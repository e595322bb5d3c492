/* The message types of files and places (specification, A3), for the console and the widget. */

/** The types that the pages show. The others are shown as links. */
export const SHOWN_TYPES: ReadonlySet<string> = new Set(["photo", "sticker", "video", "audio", "voice"]);

export const MEDIA_TYPES: ReadonlySet<string> = new Set([...SHOWN_TYPES, "document", "location"]);
