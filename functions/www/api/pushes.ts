/* The frames that the service sends through the socket (docs/sockets.md). */

import type { components } from "./schema";
import type { ChatRow, Entry, PresenceStatus } from "./types";

/** A frame in which the server reports a change. If a push and an HTTP response differ, trust the response. */
export type Push =
  | { type: "chat"; chat_id: number; seq: number; chat: ChatRow }
  | { type: "chat_gone"; chat_id: number }
  /** The changes of the shown lists in the last second. */
  | { type: "changes"; chats: ChatRow[]; gone: number[]; visitor_messages: { chat_id: number; seq: number }[] }
  | { type: "message"; chat_id: number; seq: number; message: Entry }
  /** `result_in_ms`: the milliseconds until the failure of the delivery is shown. The message still shows the delivery
   * as pending. Nothing is pushed when the time has passed, so the client reads the message again. */
  | { type: "delivery"; chat_id: number; seq: number; message: Entry; result_in_ms?: number }
  | { type: "panel"; chat_id: number; seq?: number; panel: components["schemas"]["AgentPanel"] }
  | { type: "visitor"; visitor_number: number; chat_id: number; visitor: components["schemas"]["Chat"]["visitor"] }
  | { type: "typing"; chat_id: number; from: "visitor"; typing: boolean; text?: string }
  | { type: "typing"; chat_id: number; from: "agent"; typing: boolean; agent: { id: number; name: string } }
  /** Which agents show the chat that this client shows. */
  | { type: "viewers"; chat_id: number; agent_ids: number[] }
  | { type: "presence"; agent_id: number; status: PresenceStatus }
  | { type: "settings" }
  /** The response to a subscription. */
  | { type: "subscribed" }
  /** A push that was too large for a frame. The change must be read over HTTP. Without `chat_id`, many chats have
   * changed. */
  | { type: "incomplete"; chat_id?: number };
