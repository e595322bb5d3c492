import type { components } from "./schema";
import type { ChatRowExtension, ChatExtension } from "./planned-endpoints";

type Schemas = components["schemas"];

export type ChatState = Schemas["ChatState"];
export type PresenceStatus = Schemas["PresenceStatus"];
export type Role = Schemas["Role"];
export type Source = Schemas["VisitorFieldSource"];
export type Delivery = Schemas["Delivery"];
export type Attempt = Delivery["attempts"][number];
export type Author = Schemas["ChatAgent"];
export type ChatRow = Schemas["ChatRow"] & ChatRowExtension;
export type Chat = Schemas["Chat"] & ChatExtension;
export type ChatVisitor = Chat["visitor"];
export type VisitorChanges = Schemas["VisitorChanges"];
export type Panel = Schemas["AgentPanel"];
export type AgentMessage = Schemas["AgentMessage"];
export type FileType = Schemas["FileMessage"]["type"];
export type LoginResponse = Schemas["LoginResponse"];
export type Channel = Schemas["Channel"];

/** An entry of a timeline. Notes and events that openapi.json does not list yet come with a type of their own. */
export type Entry = Omit<Schemas["TimelineEntry"], "type"> & { type: Schemas["MessageType"] | "note" | (string & {}) };
