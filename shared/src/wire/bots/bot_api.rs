//! The Bot API (specification, part B): its operations, and the schemas of the bodies that [`bot`](super::bot) reads
//! leniently.

use schemars::{JsonSchema, Schema, json_schema};
use serde::Serialize;
use serde_json::json;

use crate::contract::Operation;
use crate::contract::failure::{BotErrorCode, BotErrorDetails};
use crate::domain::chats::bot_handover::{HandoverPriority, HandoverReason};
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::named::Named;
use crate::error::Error;
use crate::wire::bots::bot::{MAX_DRAFT_CHARS, MAX_SUMMARY_CHARS};
use crate::wire::bots::bot_event::{BotEvent, MessageFromVisitor};
use crate::wire::bots::bot_transcript;
use crate::wire::channels::channel_api::FileFields;
use crate::wire::fields::described::ResultOk;
use crate::wire::fields::values::{
    AnyObject, AnyText, False, NotNull, Optional, OptionalText, OptionalTextOrNumber, True, inline_schema,
};

pub(crate) fn operations() -> Vec<Operation> {
    let mut operations = vec![
Operation::post("/bot/webhooks/{provider_id}/{token}", "botEvent", "B-1: an event from a bot provider")
    .describe(
            "The chat is identified by chat_id, or else by client_id, or else by the id of a CLIENT_MESSAGE. By \
             default a bot may send 300 requests in 10 seconds.")
    .body::<ProviderEvent>()
    .example("text", "Plain text", json!({"event": "BOT_MESSAGE", "chat_id": "17", "message": {"type": "TEXT", "text": "From 9 to 5."}}))
    .example("markdown", "Markdown with a fallback", json!({"event": "BOT_MESSAGE", "chat_id": "17", "message": {"type": "MARKDOWN", "content": "From **9** to **5**, see [our page](https://shop.example/hours).", "text": "From 9 to 5, see https://shop.example/hours."}}))
    .example("buttons", "Buttons with a fallback", json!({"event": "BOT_MESSAGE", "chat_id": "17", "message": {"type": "BUTTONS", "title": "Which day?", "text": "Which day? Today or at the weekend?", "buttons": [{"text": "Today", "id": 1}, {"text": "At the weekend", "id": 2}]}}))
    .example("photo", "A picture", json!({"event": "BOT_MESSAGE", "chat_id": "17", "message": {"type": "PHOTO", "file": "https://bots.example/map.png", "file_name": "map.png", "file_size": 18204, "text": "The way to us"}}))
    .example("invite", "The bot hands over", json!({"event": "INVITE_AGENT", "chat_id": "17"}))
    .example("handover", "The bot hands over with its context", json!({"event": "INVITE_AGENT", "chat_id": "17", "text": "I am getting a colleague.", "reason": "complaint", "summary": "Order **4711** arrived broken. Wants a *refund*, has sent a photo.", "priority": "high", "department_id": 3, "data": {"order": 4711}}))
    .example("close", "The bot closes the chat", json!({"event": "CLOSE_CHAT", "chat_id": "17", "text": "Have a nice day!"}))
    .example("chunk", "The beginning of an answer", json!({"event": "MESSAGE_CHUNK", "chat_id": "17", "reply_to_seq": 3, "text": "From 9 to"}))
    .example("typing", "The bot prepares an answer", json!({"event": "TYPING", "chat_id": "17", "typing": true}))
    .example("draft", "A suggestion for the agent", json!({"event": "DRAFT", "chat_id": "17", "reply_to_seq": 9, "text": "On Sundays from 10 to 2."}))
    .example("contacts", "The visitor has told the bot contact data", json!({"event": "CLIENT_INFO", "chat_id": "17", "name": "Charles Babbage", "email": "charles@example.com"}))
    .answers::<BotEventAccepted>(200, "Accepted.")
    .answer_example("ok", None, json!({"result": "ok"}))
    .answer_example("not_shown", Some("The channel cannot show the message, and it has no fallback"), json!({"result": "ok", "shown": false}))
    .answer_example("duplicate", Some("The visitor has this answer already"), json!({"result": "ok", "duplicate": true}))
    .answer_example("stopped", Some("The visitor has stopped the answer"), json!({"result": "ok", "stopped": true}))
    .answers::<SupersededAnswer>(409, "superseded: the visitor has written after the message with reply_to_seq.")
    .with_idempotency_key(),


    ];
    operations.extend(bot_transcript::operations());
    operations
}

/// Returns the request that the service sends to a bot provider.
pub(crate) fn outgoing_operations() -> Vec<Operation> {
    vec![
Operation::outgoing("botEvent", "providerEvent",
        "B-2: a visitor sent a message, or the chat's owner changed; POST <endpoint>/<token>, or <endpoint> with the \
         token in place of {token}")
    .describe(
            "If a CLIENT_MESSAGE, AGENT_UNAVAILABLE or CHAT_RETURNED gets no valid response within 9 seconds, the chat \
             is handed over to the agents.")
    .body::<BotEvent>()
    .example("message", "A visitor has written", json!({"event": "CLIENT_MESSAGE", "id": "01a214d2-d7b1-7000-8000-04000000ab59", "site_id": "3Cgnvk966hqkpx8B", "client_id": "2", "chat_id": "17", "agents_online": true, "sender": {"id": 2, "name": "Ada Lovelace", "has_contacts": true, "url": "https://shop.example/cart"}, "channel": {"id": "ft3f9ss9z9hqx7d8", "type": "api"}, "shows": {"markdown": true, "buttons": false, "media": true}, "message": {"type": "TEXT", "text": "When are you open?", "timestamp": 1790331234}, "up_to_seq": 3, "messages": [{"seq": 3, "type": "text", "text": "When are you open?", "timestamp": 1790331234}]}))
    .example("joined", "An agent has taken the chat", json!({"event": "AGENT_JOINED", "id": "01a214d2-d7b1-7000-8000-04000000ab59", "site_id": "3Cgnvk966hqkpx8B", "client_id": "2", "chat_id": "17", "agent": {"id": 3, "name": "Grace Hopper"}}))
    .example("unavailable", "The bot has invited an agent, but none is online", json!({"event": "AGENT_UNAVAILABLE", "id": "01a214d2-d7b1-7000-8000-04000000ab59", "site_id": "3Cgnvk966hqkpx8B", "client_id": "2", "chat_id": "17"}))
    .example("returned", "An agent has given the chat to the bot", json!({"event": "CHAT_RETURNED", "id": "01a214d2-d7b1-7000-8000-04000000ab59", "site_id": "3Cgnvk966hqkpx8B", "client_id": "2", "chat_id": "17", "agent": {"id": 3, "name": "Grace Hopper"}, "up_to_seq": 9, "messages": [{"seq": 9, "type": "text", "text": "And on Sunday?", "timestamp": 1790331234}]}))
    .example("standby", "A message in a chat that an agent has, for its bot on standby", json!({"event": "STANDBY_MESSAGE", "id": "01a214d2-d7b1-7000-8000-04000000ab59", "site_id": "3Cgnvk966hqkpx8B", "client_id": "2", "chat_id": "17", "message": {"seq": 9, "from": "visitor", "type": "text", "text": "And on Sunday?", "timestamp": 1790331234}}))
    .example("closed", "The chat was closed", json!({"event": "CHAT_CLOSED", "id": "01a214d2-d7b1-7000-8000-04000000ab59", "site_id": "3Cgnvk966hqkpx8B", "client_id": "2", "chat_id": "17", "reason": "agent"}))
    .answers::<BotEventResponse>(200, "Accepted. The body is ignored unless it contains an error."),

    ]
}

/// Table B1, provider to service.
#[derive(JsonSchema)]
#[serde(tag = "event", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ProviderEvent {
    BotMessage(BotMessageEvent),
    InviteAgent(InviteAgentEvent),
    ClientInfo(ClientInfoEvent),
    CloseChat(CloseChatEvent),
    Typing(TypingEvent),
    MessageChunk(MessageChunkEvent),
    Draft(DraftEvent),
}

/// An answer that the bot suggests to the agent who has its chat. The agent sees the last one only, and decides what
/// becomes of it. Requires the bot's setting standby.
#[derive(JsonSchema)]
pub struct DraftEvent {
    #[serde(flatten)]
    pub chat: ChatReference,
    /// Without it, the draft answers the visitor's last message.
    #[serde(default)]
    pub reply_to_seq: ReplyToSeq,
    pub text: VisibleText<MAX_DRAFT_CHARS>,
}

/// The beginning of the answer that the bot is writing. A widget shows it until the bot's next BOT_MESSAGE, which it
/// must send; the visitor of an API channel sees that the bot is typing. Nothing is stored. Join the pieces: a widget
/// gets at most one in 200 ms.
#[derive(JsonSchema)]
pub struct MessageChunkEvent {
    #[serde(flatten)]
    pub chat: ChatReference,
    #[serde(default)]
    pub reply_to_seq: ReplyToSeq,
    /// The whole text so far, not only its end.
    pub text: VisibleText<10_000>,
}

/// The bot prepares an answer. The visitor sees this for some seconds, until the bot's next message or `false`: send it
/// again every five seconds. Nothing is stored.
#[derive(JsonSchema)]
pub struct TypingEvent {
    #[serde(flatten)]
    pub chat: ChatReference,
    #[schemars(extend("default" = true))]
    pub typing: Option<bool>,
}

#[derive(JsonSchema)]
pub struct BotMessageEvent {
    #[serde(flatten)]
    pub chat: ChatReference,
    #[serde(default)]
    pub reply_to_seq: ReplyToSeq,
    pub message: BotMessage,
}

/// At most one of department_id and agent_id may be present. Without either, the agents who receive the channel's chats
/// are invited. If none of them is online, the bot gets AGENT_UNAVAILABLE, and only text is kept.
#[derive(JsonSchema)]
pub struct InviteAgentEvent {
    #[serde(flatten)]
    pub chat: ChatReference,
    #[serde(default)]
    pub reply_to_seq: ReplyToSeq,
    /// Last words, which the visitor gets like the text of a BOT_MESSAGE.
    #[serde(default)]
    pub text: OptionalText<10_000>,
    /// Why the bot invites an agent.
    #[serde(default)]
    pub reason: ReasonOrBlank,
    /// Markdown for the agents. The visitor never sees it.
    #[serde(default)]
    pub summary: OptionalText<MAX_SUMMARY_CHARS>,
    /// How urgent the bot considers the chat.
    #[serde(default)]
    pub priority: PriorityOrBlank,
    /// Offers the chat to the members of this department only.
    #[serde(default)]
    pub department_id: ServiceAssignedId,
    /// Gives the chat to this agent at once if the agent is online.
    #[serde(default)]
    pub agent_id: ServiceAssignedId,
    /// Data for the agents, at most 4,096 bytes of JSON.
    pub data: Option<AnyObject>,
}

/// The bot that has the chat closes it.
#[derive(JsonSchema)]
pub struct CloseChatEvent {
    #[serde(flatten)]
    pub chat: ChatReference,
    /// Last words, which the visitor gets like the text of a BOT_MESSAGE.
    #[serde(default)]
    pub text: OptionalText<10_000>,
}

/// Why the bot invites an agent.
#[derive(Default)]
pub struct ReasonOrBlank;

inline_schema!(ReasonOrBlank, "ReasonOrBlank", names_or_blank(&HandoverReason::names()));

/// How urgent the bot considers the chat.
#[derive(Default)]
pub struct PriorityOrBlank;

inline_schema!(PriorityOrBlank, "PriorityOrBlank", names_or_blank(&HandoverPriority::names()));

fn names_or_blank(names: &[&str]) -> Schema {
    json_schema!({ "type": ["string", "null"], "pattern": format!("^({}|\\s*)$", names.join("|")) })
}

/// The visitor's contact data, at the top level or in contacts. At least one of the three fields is required.
#[derive(JsonSchema)]
pub struct ClientInfoEvent {
    #[serde(flatten)]
    pub chat: ChatReference,
    #[serde(flatten)]
    pub contact: BotContacts,
    pub contacts: Option<BotContacts>,
}

#[derive(JsonSchema)]
pub struct ChatReference {
    /// The provider's own id, or the id of a CLIENT_MESSAGE.
    #[serde(default)]
    pub id: OptionalTextOrNumber<1000>,
    #[serde(default)]
    pub chat_id: ServiceAssignedId,
    #[serde(default)]
    pub client_id: ServiceAssignedId,
}

#[derive(JsonSchema)]
pub struct BotContacts {
    #[serde(default)]
    pub name: OptionalText<1000>,
    #[serde(default)]
    pub email: OptionalText<1000>,
    #[serde(default)]
    pub phone: OptionalText<1000>,
}

/// An id as the service sent it.
#[derive(Default)]
pub struct ServiceAssignedId;

inline_schema!(
    ServiceAssignedId,
    "ServiceAssignedId",
    json_schema!({
        "type": ["integer", "string", "null"], "minimum": 0, "pattern": "^([0-9]{1,18}|\\s*)$",
        "description": "An id as the service sent it.",
    })
);

/// The number of the visitor's last message that an event takes into account.
#[derive(Default)]
pub struct ReplyToSeq;

inline_schema!(
    ReplyToSeq,
    "ReplyToSeq",
    json_schema!({
        "type": ["integer", "string", "null"], "minimum": 0, "pattern": "^([0-9]{1,18}|\\s*)$",
        "description": "The up_to_seq of the CLIENT_MESSAGE or CHAT_RETURNED that the event answers. If the visitor has \
                        written since, the event is rejected with 409, and the answer has the newer messages.",
    })
);

/// Table B2.
#[derive(JsonSchema)]
#[serde(tag = "type", rename_all = "UPPERCASE")]
pub enum BotMessage {
    Text(BotText),
    Markdown(BotMarkdown),
    Buttons(BotButtons),
    Photo(BotFile),
    Video(BotFile),
    Audio(BotFile),
    Voice(BotFile),
    Sticker(BotFile),
    Document(BotFile),
    Location(BotPlace),
}

/// A file at an address of the bot (`file`, `file_name` and `file_size` are required), or one that it has uploaded
/// (`file_id` is required; the address, the name and the size are those of the upload).
#[derive(JsonSchema)]
pub struct BotFile {
    #[serde(flatten)]
    pub file: Option<FileFields>,
    #[serde(default)]
    pub file_id: OptionalText<1000>,
    /// The preview, if the bot has uploaded one.
    #[serde(default)]
    pub thumb_id: OptionalText<1000>,
    #[serde(default)]
    pub text: OptionalText<10_000>,
    #[serde(default)]
    pub timestamp: BotTimestamp,
}

#[derive(JsonSchema)]
pub struct BotPlace {
    #[schemars(range(min = -90, max = 90))]
    pub latitude: f64,
    #[schemars(range(min = -180, max = 180))]
    pub longitude: f64,
    #[serde(default)]
    pub text: OptionalText<10_000>,
    #[serde(default)]
    pub timestamp: BotTimestamp,
}

#[derive(JsonSchema)]
pub struct BotText {
    pub text: VisibleText<10_000>,
    #[serde(default)]
    pub timestamp: BotTimestamp,
    pub force_reply: Option<bool>,
}

/// If text is absent, the message is not sent to channels that cannot show it.
#[derive(JsonSchema)]
pub struct BotMarkdown {
    pub content: VisibleText<10_000>,
    pub text: Option<AnyText<10_000>>,
    #[serde(default)]
    pub timestamp: BotTimestamp,
    pub force_reply: Option<bool>,
}

/// If text is absent, the message is not sent to channels that cannot show it.
#[derive(JsonSchema)]
pub struct BotButtons {
    #[serde(default)]
    pub title: OptionalText<1000>,
    pub text: Option<AnyText<10_000>>,
    #[schemars(length(min = 1, max = 3))]
    pub buttons: Vec<BotButton>,
    #[serde(default)]
    pub timestamp: BotTimestamp,
    pub force_reply: Option<bool>,
}

#[derive(JsonSchema)]
pub struct BotButton {
    pub text: VisibleText<1_000>,
    #[serde(default)]
    pub id: OptionalTextOrNumber<1000>,
}

/// A text that is not blank.
pub struct VisibleText<const MAX: usize>;

inline_schema!([const MAX: usize] VisibleText<MAX>, format!("VisibleText{MAX}"), json_schema!({
    "type": "string", "pattern": "\\S", "maxLength": MAX,
}));

/// Unix time, seconds or milliseconds.
#[derive(Default)]
pub struct BotTimestamp;

inline_schema!(
    BotTimestamp,
    "BotTimestamp",
    json_schema!({
        "type": ["number", "string", "null"], "minimum": 0, "pattern": "^([0-9]{1,20}|\\s*)$",
        "description": "Unix time, seconds or milliseconds.",
    })
);

#[derive(Serialize, JsonSchema)]
pub struct BotEventAccepted {
    result: ResultOk,
    /// False if the channel cannot show the BOT_MESSAGE and the message has no fallback; the visitor then does not get
    /// it, and the message does not count as an answer.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    shown: Optional<False>,
    /// True if the bot got the visitor's last message more than once and has already sent an equal BOT_MESSAGE since
    /// that message. The visitor does not get it again.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    duplicate: Optional<True>,
    /// True if the visitor wants no more of the answer: send what there is of it as BOT_MESSAGE.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    stopped: Optional<True>,
}

impl BotEventAccepted {
    pub fn ok() -> Self {
        Self { result: ResultOk::Ok, shown: Optional(None), duplicate: Optional(None), stopped: Optional(None) }
    }

    /// The response to a message that the channel cannot show.
    pub fn not_shown() -> Self {
        Self { shown: Optional(Some(False)), ..Self::ok() }
    }

    /// The response to a piece of an answer that the visitor may have stopped.
    pub fn growing(is_stopped: bool) -> Self {
        Self { stopped: Optional(is_stopped.then_some(True)), ..Self::ok() }
    }

    /// The response to an answer that the visitor has already.
    pub fn duplicate() -> Self {
        Self { duplicate: Optional(Some(True)), ..Self::ok() }
    }
}

/// The visitor has written after the message that the event answers. Nothing was stored.
#[derive(Serialize, JsonSchema)]
pub struct SupersededAnswer {
    error: BotErrorDetails,
    /// The visitor's messages after reply_to_seq, oldest first.
    messages: Vec<MessageFromVisitor>,
    /// The reply_to_seq of an answer to them. Equal to the refused one if the newer message is just being stored: send
    /// the answer again a second later.
    up_to_seq: u64,
}

impl SupersededAnswer {
    pub fn new(newer: &[TimelineEntry], up_to_seq: u64) -> Self {
        let (code, message) = (BotErrorCode::Superseded, Error::Superseded.to_string());
        Self {
            error: BotErrorDetails { code, message, field: None },
            messages: newer.iter().map(MessageFromVisitor::from).collect(),
            up_to_seq,
        }
    }
}

#[derive(JsonSchema)]
pub struct BotEventResponse {
    #[serde(default)]
    pub error: NotNull<AnyObject>,
}
