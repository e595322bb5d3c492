//! The frames of the sockets (docs/sockets.md), and the channels of the AsyncAPI document.

use schemars::{JsonSchema, json_schema};

use crate::contract::{Channel, Message};
use crate::domain::agent_presence::AgentStatus;
use crate::domain::message_content::TypingNotice;
use crate::wire::bot_api::BotEvent;
use crate::wire::call_gateway::CallOrder;
use crate::wire::channel_api::IntegratorMessage;
use crate::wire::values::{AnyObject, Name, SequentialNumber, inline_schema};
use crate::wire::webhook_api::WebhookTest;
use crate::wire::webhook_event::{CallEvent, ChatAccepted, ChatAssigned, ChatFinished, ChatUpdated, OfflineMessage};

/// Returns the channels of the AsyncAPI document: both sockets, and the addresses that the service calls.
pub fn channels() -> Vec<Channel> {
    vec![
        Channel::new(
            "AgentSocket",
            "sockets",
            "/",
            "The socket of an agent's client. The query parameter ticket is from POST /agent/socket-ticket.",
        )
        .receives(vec![
            Message::of::<PingFrame>("AgentPing", "Keeps the session and the agent's presence alive"),
            Message::of::<AgentTypingFrame>("AgentTyping", "The agent has started or stopped typing"),
            Message::of::<AgentSeenFrame>("AgentSeen", "The agent has seen the messages of a chat up to a number"),
        ])
        .sends(vec![
            Message::of::<PongFrame>("AgentPong", "The response to a ping"),
            Message::of::<ErrorFrame>("AgentFrameRejected", "A frame was rejected"),
            Message::of::<EntryPush>("EntryPush", "An entry is new or has changed"),
            Message::of::<ChatRowPush>("ChatRowPush", "The row of a chat is new or has changed"),
            Message::of::<ChatGonePush>("ChatGonePush", "The agent cannot see the chat any more"),
            Message::of::<PanelPush>("PanelPush", "A webhook has changed the panel"),
            Message::of::<VisitorPush>("VisitorPush", "The data of a visitor has changed"),
            Message::of::<TypingPush>("TypingPush", "The visitor or a colleague has started or stopped typing"),
            Message::of::<PresencePush>("PresencePush", "An agent has a new status"),
            Message::of::<SettingsPush>("SettingsPush", "Settings of the account have changed"),
        ]),
        Channel::new(
            "VisitorSocket",
            "sockets",
            "/",
            "The socket of a widget. The query parameter ticket is from POST /widget/{widget_id}/socket-ticket.",
        )
        .receives(vec![
            Message::of::<PingFrame>("WidgetPing", "Keeps the socket open"),
            Message::of::<VisitorTypingFrame>("WidgetTyping", "The visitor has started or stopped typing"),
        ])
        .sends(vec![
            Message::of::<PongFrame>("WidgetPong", "The response to a ping"),
            Message::of::<ErrorFrame>("WidgetFrameRejected", "A frame was rejected"),
            Message::of::<WidgetMessagePush>("WidgetMessagePush", "An agent or the bot has written"),
            Message::of::<WidgetChatPush>("WidgetChatPush", "The chat's state, agent or rating has changed"),
            Message::of::<WidgetCallPush>("WidgetCallPush", "A call is new or has a new status"),
            Message::of::<WidgetTypingPush>("WidgetTypingPush", "The agent has started or stopped typing"),
            Message::of::<WidgetSeenPush>("WidgetSeenPush", "The agent has seen the visitor's messages"),
            Message::of::<WidgetModePush>(
                "WidgetModePush",
                "The first agent has come online, or the last one has gone",
            ),
        ]),
        Channel::new(
            "Integrator",
            "customer",
            "{integrator_url}/{channel_id}",
            "POST of a message or a typing notice to the integrator's server (specification, A-3).",
        )
        .sends(vec![Message::of::<IntegratorMessage>("IntegratorMessage", "A message or a typing notice")]),
        Channel::new(
            "BotProvider",
            "customer",
            "{endpoint}/{token}",
            "POST of an event to the bot provider (specification, B-2).",
        )
        .sends(vec![Message::of::<BotEvent>("BotEvent", "A visitor has written, or the chat's owner has changed")]),
        Channel::new("Webhook", "customer", "{webhook_url}", "POST of an event to a webhook (specification, part C).")
            .sends(vec![
                Message::of::<ChatAccepted>("ChatAccepted", "An agent has accepted a chat"),
                Message::of::<ChatUpdated>("ChatUpdated", "The visitor's data or the rating has changed"),
                Message::of::<ChatAssigned>("ChatAssigned", "The agent binds the visitor to a CRM card"),
                Message::of::<ChatFinished>("ChatFinished", "A chat has ended"),
                Message::of::<CallEvent>("CallEvent", "A call starts, changes or ends"),
                Message::of::<OfflineMessage>(
                    "OfflineMessage",
                    "A visitor has left a message while no agent was online",
                ),
                Message::of::<WebhookTest>("WebhookTest", "An admin tests the address"),
            ]),
        Channel::new(
            "CallGateway",
            "customer",
            "{url}",
            "POST of an order to the gateway for phone calls (docs/telephony.md).",
        )
        .sends(vec![Message::of::<CallOrder>("CallOrder", "The gateway shall place a call")]),
    ]
}

/// Declares a type that stands for a component of the OpenAPI document.
macro_rules! components {
    ($($type:ident = $name:literal,)+) => {$(
        pub struct $type;

        inline_schema!($type, $name, json_schema!({ "$ref": concat!("#/components/schemas/", $name) }));
    )+};
}

components! {
    Entry = "TimelineEntry",
    Row = "ChatRow",
    Panel = "AgentPanel",
    MessageOfWidget = "WidgetMessage",
    ChatOfWidget = "OptionalWidgetChat",
    CallOfWidget = "WidgetCall",
    AgentOfWidget = "WidgetAgent",
    Author = "ChatAgent",
}

/// The version of the protocol.
pub struct Version;

inline_schema!(Version, "Version", json_schema!({ "type": "integer", "const": 1 }));

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TypingFrom {
    Visitor,
    Agent,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WidgetMode {
    Online,
    Offline,
}

/// A push about an entry. A push that would be too large has no message; the client then reads it over HTTP.
#[derive(JsonSchema)]
pub struct EntryPush {
    pub v: Version,
    pub r#type: EntryPushType,
    pub chat_id: SequentialNumber,
    pub seq: SequentialNumber,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Entry>,
    /// In how many milliseconds the entry shows that its delivery has failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_in_ms: Option<u64>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EntryPushType {
    /// The entry is new.
    Message,
    /// The entry has changed, because of an attempt to deliver it or because a call has a new status.
    Delivery,
}

/// Declares frames: each has the version (if the service sends it) and its type.
macro_rules! frames {
    ($($(#[$attribute:meta])* $name:ident($type:literal) { $($(#[$field_attribute:meta])* $field:ident: $field_type:ty,)* })+) => {$(
        $(#[$attribute])*
        #[derive(JsonSchema)]
        pub struct $name {
            #[schemars(extend("const" = $type))]
            pub r#type: String,
            $($(#[$field_attribute])* pub $field: $field_type,)*
        }
    )+};
}

frames! {
    PingFrame("ping") {}
    AgentTypingFrame("typing") { chat_id: SequentialNumber, typing: Name<TypingNotice>, }
    AgentSeenFrame("seen") { chat_id: SequentialNumber, seq: SequentialNumber, }
    VisitorTypingFrame("typing") {
        typing: Name<TypingNotice>,
        /// The text so far, of which agents see at most 300 characters.
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    }
    PongFrame("pong") { v: Version, }
    ErrorFrame("error") {
        v: Version,
        code: String,
        message: String,
        field: Option<String>,
    }
    ChatGonePush("chat_gone") { v: Version, chat_id: SequentialNumber, seq: SequentialNumber, }
    PresencePush("presence") { v: Version, agent_id: SequentialNumber, status: Name<AgentStatus>, }
    SettingsPush("settings") { v: Version, }
    ChatRowPush("chat") {
        v: Version,
        chat_id: SequentialNumber,
        seq: SequentialNumber,
        #[serde(skip_serializing_if = "Option::is_none")]
        chat: Option<Row>,
    }
    PanelPush("panel") {
        v: Version,
        chat_id: SequentialNumber,
        seq: SequentialNumber,
        #[serde(skip_serializing_if = "Option::is_none")]
        panel: Option<Panel>,
    }
    VisitorPush("visitor") {
        v: Version,
        chat_id: SequentialNumber,
        seq: SequentialNumber,
        visitor_number: SequentialNumber,
        /// The visitor as in GET /agent/chats/{chat_id}.
        #[serde(skip_serializing_if = "Option::is_none")] visitor: Option<AnyObject>,
    }
    TypingPush("typing") {
        v: Version,
        chat_id: SequentialNumber,
        seq: SequentialNumber,
        from: TypingFrom,
        typing: bool,
        /// What the visitor of a widget has typed so far, if known.
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// The colleague who is typing.
        #[serde(skip_serializing_if = "Option::is_none")]
        agent: Option<Author>,
    }
    WidgetMessagePush("message") {
        v: Version,
        chat_id: SequentialNumber,
        seq: SequentialNumber,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<MessageOfWidget>,
    }
    WidgetChatPush("chat") {
        v: Version,
        chat_id: SequentialNumber,
        seq: SequentialNumber,
        #[serde(skip_serializing_if = "Option::is_none")]
        chat: Option<ChatOfWidget>,
    }
    WidgetCallPush("call") { v: Version, chat_id: SequentialNumber, seq: SequentialNumber, call: CallOfWidget, }
    WidgetTypingPush("typing") {
        v: Version,
        chat_id: SequentialNumber,
        seq: SequentialNumber,
        from: TypingFrom,
        typing: bool,
    }
    WidgetModePush("mode") {
        v: Version,
        mode: WidgetMode,
        #[serde(skip_serializing_if = "Option::is_none")]
        agents: Option<Vec<AgentOfWidget>>,
    }
    WidgetSeenPush("seen") { v: Version, chat_id: SequentialNumber, seq: SequentialNumber, }
}
