/* Endpoints and pushes that the console uses but docs/openapi.json does not describe yet. They have the same structure
   as the generated `paths`. Once an endpoint has been added to the document, remove it here: `npm run types` then
   generates it. */

import type { components } from "./schema";
import type { ChatRow, Entry, PresenceStatus, Role } from "./types";

interface JsonContent<Body> {
  content: { "application/json": Body };
}

interface ChatPage {
  chats: ChatRow[];
  next: string | number | null;
}

/** Optional chat row fields that the document's `ChatRow` does not have yet. */
export interface ChatRowExtension {
  /** The number of the chat's last entry. */
  seq?: number;
  /** When the visitor started waiting for an agent, as Unix time in seconds. */
  waiting_since?: number;
}

/** The visitor's browser session and page, in the format of webhook events (specification, part C). */
export interface ChatExtension {
  session?: {
    geoip?: { country?: string; country_code?: string; region?: string; city?: string; organization?: string } | null;
    utm_json?: { source?: string; campaign?: string; content?: string; medium?: string; term?: string } | null;
    ip_addr?: string | null;
    user_agent?: string | null;
  } | null;
  page?: { url: string; title?: string | null } | null;
  referrer?: string | null;
}

export interface CurrentAgent {
  agent: { id: number; name: string; email: string; photo: string | null; phone: string | null };
  role: Role;
  account: { account_id: string; name: string };
}

export interface Colleague {
  id: number;
  name: string;
  photo: string | null;
  status: PresenceStatus;
}

export interface CannedReply {
  id: number | string;
  shortcut: string;
  text: string;
}

export interface ChatChanges {
  cursor: string;
  chats: ChatRow[];
  gone: number[];
  complete: boolean;
}

type CannedReplyBody = JsonContent<{ shortcut?: string; text?: string }>;

export interface PlannedPaths {
  "/agent/me": { get: { responses: { 200: JsonContent<CurrentAgent> } } };
  "/agent/logout": { post: { responses: { 200: JsonContent<unknown> } } };
  "/agent/agents": {
    get: { responses: { 200: JsonContent<{ agents: Colleague[]; departments: { id: number; name: string }[] }> } };
  };
  "/agent/socket-ticket": {
    post: { responses: { 201: JsonContent<{ ticket: string; url: string; expires_in: number }> } };
  };
  "/agent/changes": {
    get: { parameters: { query?: { cursor?: string } }; responses: { 200: JsonContent<ChatChanges> } };
  };
  "/agent/canned-replies": {
    get: { responses: { 200: JsonContent<{ canned_replies: CannedReply[] }> } };
    post: { requestBody: CannedReplyBody; responses: { 201: JsonContent<CannedReply> } };
  };
  "/agent/canned-replies/{id}": {
    patch: {
      parameters: { path: { id: string | number } };
      requestBody: CannedReplyBody;
      responses: { 200: JsonContent<CannedReply> };
    };
    delete: { parameters: { path: { id: string | number } }; responses: { 200: JsonContent<unknown> } };
  };
  "/agent/chats/{chat_id}/notes": {
    post: {
      parameters: { path: { chat_id: number } };
      requestBody: JsonContent<{ text: string }>;
      responses: { 201: JsonContent<{ seq: number; id: string }> };
    };
  };
  "/agent/search": {
    get: { parameters: { query: { q: string; cursor?: string } }; responses: { 200: JsonContent<ChatPage> } };
  };
  "/agent/visitors/{number}/chats": {
    get: {
      parameters: { path: { number: number }; query?: { cursor?: string } };
      responses: { 200: JsonContent<ChatPage> };
    };
  };
  "/_local/sign-in": {
    post: {
      requestBody: JsonContent<{ code: string }>;
      responses: { 200: JsonContent<components["schemas"]["LoginResponse"]> };
    };
  };
}

/** A frame in which the server reports a change. If it conflicts with an HTTP response, the response is correct. */
export type Push =
  | { type: "chat"; chat_id: number; seq: number; chat: ChatRow }
  | { type: "chat_gone"; chat_id: number }
  | { type: "message"; chat_id: number; seq: number; message: Entry }
  | { type: "delivery"; chat_id: number; seq: number; message: Entry }
  | { type: "panel"; chat_id: number; seq?: number; panel: components["schemas"]["AgentPanel"] }
  | { type: "visitor"; visitor_number: number; chat_id: number; visitor: components["schemas"]["Chat"]["visitor"] }
  | { type: "typing"; chat_id: number; from: "visitor" | "agent"; agent_id?: number; typing: boolean; text?: string }
  | { type: "presence"; agent_id: number; status: PresenceStatus }
  | { type: "settings" };
