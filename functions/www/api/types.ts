import type { components, operations } from "./schema";

type Schemas = components["schemas"];

/** The browser session and page of a widget's visitor, in the format of webhook events (specification, part C). */
interface WidgetSession {
  session?: {
    geoip?: { country?: string; country_code?: string; region?: string; city?: string; organization?: string } | null;
    utm_json?: { source?: string; campaign?: string; content?: string; medium?: string; term?: string } | null;
    ip_addr?: string | null;
    user_agent?: string | null;
  } | null;
  page?: { url: string; title?: string | null } | null;
  referrer?: string | null;
}

export type ChatState = Schemas["ChatState"];
export type PresenceStatus = Schemas["PresenceStatus"];
export type Role = Schemas["Role"];
export type AllowedVisitorData = Bot["visitor_data"][number];
export type VisitorFieldSource = Schemas["VisitorFieldSource"];
export type Delivery = Schemas["Delivery"];
export type Attempt = Delivery["attempts"][number];
export type ChatAgent = Schemas["ChatAgent"];
export type ChatRow = Schemas["ChatRow"];
export type ChatChanges = Schemas["ChatChanges"];
export type ChatUpdate = Schemas["ChatUpdate"];
export type Tag = Schemas["Tag"];
export type SavedView = Schemas["SavedView"];
export type Chat = Schemas["Chat"] & WidgetSession;
export type ChatVisitor = Chat["visitor"];
export type Visitor = Schemas["Visitor"];
export type VisitorChanges = Schemas["VisitorChanges"];
export type SuggestedAnswer = Schemas["SuggestedAnswer"];
export type AgentPanel = Schemas["AgentPanel"];
export type AgentMessage = Schemas["AgentMessage"];
export type NewNote = Schemas["NewNote"];
export type PlannedMessage = Schemas["PlannedMessage"];
export type FileType = Schemas["FileMessage"]["type"];
export type AgentSession = Schemas["AgentSession"];
export type LoginResponse = Schemas["LoginResponse"];
export type Call = Schemas["Call"];
export type Telephony = Schemas["Telephony"];
export type TelephonyChanges = Schemas["TelephonyChanges"];
export type Channel = Schemas["Channel"];
export type ApiChannel = Schemas["ChannelApi"];
export type WidgetChannel = Schemas["ChannelWidget"];
export type ApiChannelDetails = Schemas["ChannelDetailsApi"];
export type WidgetSettings = Schemas["WidgetSettings"];
export type ChannelChanges = Schemas["ChannelChanges"];
export type Colleague = Schemas["Colleague"];
export type CannedReply = Schemas["CannedReply"];
/** What the console does after a canned reply has been sent. */
export type ReplyActions = NonNullable<CannedReply["actions"]>;
export type DeliveryLogEntry = Schemas["DeliveryLogEntry"];
export type DeliveryState = Delivery["state"];
export type DeliveryTarget = Schemas["DeliveryTarget"];
export type DeliveryQuery = NonNullable<operations["deliveries"]["parameters"]["query"]>;
export type ReplayRequest = Schemas["ReplayRequest"];
export type Outage = Schemas["Outage"];
export type OutageTarget = Schemas["OutageTarget"];
export type Webhook = Schemas["Webhook"];
export type WebhookWithSecret = Schemas["WebhookWithSecret"];
export type WebhookEventName = Schemas["WebhookEvent"];
export type BusinessHours = Schemas["BusinessHours"];
export type AccountSettings = Schemas["AccountSettings"];
export type AccountSettingsChanges = Schemas["AccountSettingsChanges"];
export type TriggerRule = Schemas["TriggerRule"];
export type Bot = Schemas["Bot"];
export type CreatedBot = Schemas["CreatedBot"];
/** The response to a change does not contain when the agent was last seen. */
export type Agent = Schemas["Agent"] & Partial<Schemas["AgentWithLastSeen"]>;
export type AgentChanges = Schemas["AgentChanges"];
export type Department = Schemas["Department"];
export type VisitorData = operations["visitor"]["responses"][200]["content"]["application/json"];
export type SentRequest = Schemas["SentRequest"];
export type ShownDelivery = Schemas["ShownDelivery"];
export type WidgetMessage = Schemas["WidgetMessage"];
export type ServerClause = Schemas["ServerClause"];
export type ReceiverTestResult = Schemas["ReceiverTestResult"];
export type CappedCount = Schemas["CappedCount"];
export type Report = Schemas["Report"];
export type ReportTotals = Schemas["ReportTotals"];
export type DurationBuckets = Schemas["DurationBuckets"];
export type AuditEntry = Schemas["AuditEntry"];
export type AuditedKind = Schemas["AuditedKind"];
export type AuditQuery = NonNullable<operations["auditLog"]["parameters"]["query"]>;
export type ExportQuery = NonNullable<operations["exportChats"]["parameters"]["query"]>;
export type ExportedChat = Schemas["ExportedChat"];

/** A timeline entry. Its type may also be an event that openapi.json does not list yet. */
export type Entry = Omit<Schemas["TimelineEntry"], "type"> & { type: Schemas["MessageType"] | (string & {}) };
