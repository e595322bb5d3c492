import type { components } from "./schema";
import type { ChatRowExtension, ChatExtension } from "./planned-endpoints";

type Schemas = components["schemas"];

export type ChatState = Schemas["ChatState"];
export type PresenceStatus = Schemas["PresenceStatus"];
export type Role = Schemas["Role"];
export type VisitorFieldSource = Schemas["VisitorFieldSource"];
export type Delivery = Schemas["Delivery"];
export type Attempt = Delivery["attempts"][number];
export type ChatAgent = Schemas["ChatAgent"];
export type ChatRow = Schemas["ChatRow"] & ChatRowExtension;
export type Chat = Schemas["Chat"] & ChatExtension;
export type ChatVisitor = Chat["visitor"];
export type VisitorChanges = Schemas["VisitorChanges"];
export type AgentPanel = Schemas["AgentPanel"];
export type AgentMessage = Schemas["AgentMessage"];
export type FileType = Schemas["FileMessage"]["type"];
export type LoginResponse = Schemas["LoginResponse"];
export type Channel = Schemas["Channel"];

/** A timeline entry. Its type may also be `note` or an event that openapi.json does not list yet. */
export type Entry = Omit<Schemas["TimelineEntry"], "type"> & { type: Schemas["MessageType"] | "note" | (string & {}) };
