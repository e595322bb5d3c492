import type { Push } from "../api/contract";

const VERSION = 1;
const TYPES = new Set<Push["type"]>([
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
const WITH_CHAT = new Set<Push["type"]>(["chat", "chat_gone", "message", "delivery", "panel", "visitor", "typing"]);

/** Reads a frame. What is of another version, unknown or broken is undefined: a push is only a hint. */
export function readPush(data: unknown): Push | "pong" | undefined {
  if (typeof data !== "string") return undefined;
  let frame: { v?: unknown; type?: unknown; chat_id?: unknown; chat?: unknown; message?: { seq?: unknown } | null };
  try {
    const parsed: unknown = JSON.parse(data);
    if (typeof parsed !== "object" || parsed === null) return undefined;
    frame = parsed;
  } catch {
    return undefined;
  }
  if (frame.v !== VERSION) return undefined;
  if (frame.type === "pong") return "pong";
  const type = frame.type as Push["type"];
  if (!TYPES.has(type)) return undefined;
  if (WITH_CHAT.has(type) && typeof frame.chat_id !== "number") return undefined;
  if (type === "chat" && typeof frame.chat !== "object") return undefined;
  if ((type === "message" || type === "delivery") && typeof frame.message?.seq !== "number") return undefined;
  return frame as Push;
}
