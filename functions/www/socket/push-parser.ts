import type { Push } from "../api/planned-endpoints";

const PROTOCOL_VERSION = 1;
const PUSH_TYPES = new Set<Push["type"]>([
  "chat",
  "chat_gone",
  "message",
  "delivery",
  "panel",
  "visitor",
  "typing",
  "presence",
  "settings",
]);
const CHAT_PUSH_TYPES = new Set<Push["type"]>([
  "chat",
  "chat_gone",
  "message",
  "delivery",
  "panel",
  "visitor",
  "typing",
]);

/** Parses a frame. Returns undefined if the frame is invalid or has an unknown version or type. */
export function parsePush(data: unknown): Push | "pong" | undefined {
  if (typeof data !== "string") return undefined;
  let frame: { v?: unknown; type?: unknown; chat_id?: unknown; chat?: unknown; message?: { seq?: unknown } | null };
  try {
    const parsed: unknown = JSON.parse(data);
    if (typeof parsed !== "object" || parsed === null) return undefined;
    frame = parsed;
  } catch {
    return undefined;
  }
  if (frame.v !== PROTOCOL_VERSION) return undefined;
  if (frame.type === "pong") return "pong";
  const type = frame.type as Push["type"];
  if (!PUSH_TYPES.has(type)) return undefined;
  if (CHAT_PUSH_TYPES.has(type) && typeof frame.chat_id !== "number") return undefined;
  if (type === "chat" && typeof frame.chat !== "object") return undefined;
  if ((type === "message" || type === "delivery") && typeof frame.message?.seq !== "number") return undefined;
  return frame as Push;
}
