import type { Frame } from "./types";

const PROTOCOL_VERSION = 1;
/** The types of frames. The body of a frame is in the field that is named after its type. */
const TYPES = ["message", "chat", "typing", "call"];

/** Parses a frame from the visitor's socket. Returns undefined if the frame is invalid or has an unknown version or
 * type. A frame arrives without a body if the body was too large for a socket. */
export function parseFrame(data: unknown): Frame | "pong" | undefined {
  if (typeof data !== "string") return undefined;
  try {
    const frame = JSON.parse(data);
    if (frame?.v !== PROTOCOL_VERSION) return undefined;
    if (frame.type === "pong") return "pong";
    if (!TYPES.includes(frame.type) || typeof frame.chat_id !== "number") return undefined;
    return frame[frame.type] === undefined ? { type: "incomplete" } : frame;
  } catch {
    return undefined;
  }
}
