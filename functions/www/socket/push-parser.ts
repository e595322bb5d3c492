import type { Push } from "../api/pushes";

const PROTOCOL_VERSION = 1;
/** The field with the body, for each type of push that has a body. The service omits the body if the frame would be
 * too large. */
const BODY_FIELDS: Partial<Record<Push["type"], string>> = {
  changes: "chats",
  chat: "chat",
  message: "message",
  delivery: "message",
  panel: "panel",
  visitor: "visitor",
};
const CHAT_PUSH_TYPES = new Set<Push["type"]>([
  "chat",
  "chat_gone",
  "message",
  "delivery",
  "panel",
  "visitor",
  "typing",
  "viewers",
]);
const PUSH_TYPES = new Set<Push["type"]>([...CHAT_PUSH_TYPES, "changes", "presence", "settings", "subscribed"]);

/** Parses a frame. Returns undefined if the frame is invalid or has an unknown version or type. A push without its body
 * becomes a push of the type `incomplete`. */
export function parsePush(data: unknown): Push | "pong" | undefined {
  if (typeof data !== "string") return undefined;
  let frame: Record<string, unknown>;
  try {
    const parsed: unknown = JSON.parse(data);
    if (typeof parsed !== "object" || parsed === null) return undefined;
    frame = parsed as Record<string, unknown>;
  } catch {
    return undefined;
  }
  if (frame["v"] !== PROTOCOL_VERSION) return undefined;
  if (frame["type"] === "pong") return "pong";
  const type = frame["type"] as Push["type"];
  const chatId = frame["chat_id"];
  if (!PUSH_TYPES.has(type)) return undefined;
  if (CHAT_PUSH_TYPES.has(type) && typeof chatId !== "number") return undefined;
  const bodyField = BODY_FIELDS[type];
  const body = bodyField === undefined ? undefined : frame[bodyField];
  if (bodyField !== undefined && (typeof body !== "object" || body === null))
    return typeof chatId === "number" ? { type: "incomplete", chat_id: chatId } : { type: "incomplete" };
  if (bodyField === "message" && typeof (body as { seq?: unknown }).seq !== "number") return undefined;
  return frame as unknown as Push;
}
