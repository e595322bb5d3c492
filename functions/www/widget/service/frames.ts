import type { Frame } from "./types";

const PROTOCOL_VERSION = 1;
/** The types of frames. The body of a frame is in the field that is named after its type, or, for "seen", in `seq`. */
const TYPES = ["message", "chat", "typing", "growing", "call", "mode", "seen"];

/** Parses a frame from the visitor's socket. Returns undefined if the frame is invalid or has an unknown version or
 * type. A frame arrives without a body if the body was too large for a socket. */
export function parseFrame(data: unknown): Frame | "pong" | undefined {
  if (typeof data !== "string") return undefined;
  try {
    const frame = JSON.parse(data);
    if (frame?.v !== PROTOCOL_VERSION) return undefined;
    if (frame.type === "pong") return "pong";
    const { type, chat_id } = frame;
    if (!TYPES.includes(type) || (typeof chat_id !== "number" && type !== "mode")) return undefined;
    return frame[type === "seen" ? "seq" : type] === undefined ? { type: "incomplete" } : frame;
  } catch {
    return undefined;
  }
}
