//! The events that a bot provider receives (specification, B-2).

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::bots::bot::{BotNotification, CLIENT_MESSAGE, CloseReason};
use crate::domain::calls::phone_call::CallKind;
use crate::domain::channels::channel::ChannelKind;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::message_content::RichSupport;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::wire::agent::ChatAgent;
use crate::wire::bots::bot_transcript::TranscriptMessage;
use crate::wire::bots::client_message_sender::ClientMessageSender;
use crate::wire::channels::message_content::MessageFields;
use crate::wire::fields::described::{DigitString, Uuid};
use crate::wire::fields::values::{Name, Optional, SequentialNumber, UnixSeconds};

/// Table B1, service to provider.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum BotEvent {
    ClientMessage(Box<ClientMessageEvent>),
    Returned(Box<ChatReturnedEvent>),
    Notice(BotNotice),
    Standby(Box<StandbyMessageEvent>),
}

/// The event that brings a copy of a message to a bot on standby.
const STANDBY_MESSAGE: &str = "STANDBY_MESSAGE";

/// The maximum number of messages in a CHAT_RETURNED.
const MAX_RETURNED_MESSAGES: usize = 20;

/// A visitor's message, or a request for a callback, whose text is the phone number.
#[derive(Serialize, JsonSchema)]
pub struct ClientMessageEvent {
    #[schemars(extend("const" = CLIENT_MESSAGE))]
    event: &'static str,
    #[serde(flatten)]
    ids: BotEventIds,
    agents_online: bool,
    sender: ClientMessageSender,
    channel: ClientMessageChannel,
    /// What the channel shows of a BOT_MESSAGE. What it does not show is replaced with the message's text.
    shows: ShownFormats,
    /// All messages as one text.
    message: ClientMessageContent,
    /// The number of the last message. A bot that sends it as reply_to_seq does not answer a visitor who has written
    /// since.
    up_to_seq: SequentialNumber,
    /// The visitor's messages of this turn, oldest first: one, unless the bot has set quiet_ms. Empty if the visitor
    /// has asked for a callback.
    messages: Vec<MessageFromVisitor>,
    /// Present if the visitor has asked for a callback. The text of the message is then the phone number.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    call: Optional<RequestedCall>,
}

/// The ids that every event contains.
#[derive(Serialize, JsonSchema)]
pub struct BotEventIds {
    #[schemars(with = "Uuid")]
    id: String,
    /// The account.
    site_id: String,
    #[schemars(with = "DigitString")]
    client_id: String,
    #[schemars(with = "DigitString")]
    chat_id: String,
}

/// What the channel shows besides text.
#[derive(Serialize, JsonSchema)]
pub struct ShownFormats {
    markdown: bool,
    buttons: bool,
    /// Files and places.
    media: bool,
}

#[derive(Serialize, JsonSchema)]
pub struct ClientMessageChannel {
    id: String,
    r#type: Name<ChannelKind>,
}

#[derive(Serialize, JsonSchema)]
pub struct ClientMessageContent {
    #[schemars(extend("const" = "TEXT"))]
    r#type: &'static str,
    text: String,
    timestamp: UnixSeconds,
}

#[derive(Serialize, JsonSchema)]
pub struct RequestedCall {
    #[schemars(extend("const" = CallKind::Callback.name()))]
    r#type: &'static str,
    phone: String,
}

#[derive(Serialize, JsonSchema)]
pub struct BotNotice {
    event: BotNoticeName,
    #[serde(flatten)]
    ids: BotEventIds,
    /// AGENT_JOINED: the agent who has the chat.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    agent: Optional<ChatAgent>,
    /// CHAT_CLOSED: who closed the chat.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    reason: Optional<Name<CloseReason>>,
    /// AGENT_UNAVAILABLE after an INVITE_AGENT outside the business hours: when they begin.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    opens_at: Optional<UnixSeconds>,
}

/// An agent has given the chat to the bot.
#[derive(Serialize, JsonSchema)]
pub struct ChatReturnedEvent {
    #[schemars(extend("const" = BotNotification::ChatReturned.event()))]
    event: &'static str,
    #[serde(flatten)]
    ids: BotEventIds,
    #[serde(skip_serializing_if = "Optional::is_absent")]
    agent: Optional<ChatAgent>,
    /// The seq of the visitor's last message in messages. 0 if there is none.
    up_to_seq: u64,
    /// The visitor's messages that the bot has not got, oldest first. Only the last 20.
    #[schemars(length(max = MAX_RETURNED_MESSAGES))]
    messages: Vec<MessageFromVisitor>,
}

/// A copy of a message of the visitor or the agent, for the chat's bot on standby. It is sent once. The bot must not
/// answer the visitor, but may suggest an answer with DRAFT.
#[derive(Serialize, JsonSchema)]
pub struct StandbyMessageEvent {
    #[schemars(extend("const" = STANDBY_MESSAGE))]
    event: &'static str,
    #[serde(flatten)]
    ids: BotEventIds,
    message: TranscriptMessage,
}

/// A visitor's message as part A of the specification describes it.
#[derive(Serialize, JsonSchema)]
pub struct MessageFromVisitor {
    seq: SequentialNumber,
    #[serde(flatten)]
    message: MessageFields,
    timestamp: UnixSeconds,
}

#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum BotNoticeName {
    AgentJoined,
    AgentUnavailable,
    ChatClosed,
}

impl BotNoticeName {
    /// Returns `None` for the notifications that contain messages.
    pub fn of(notification: BotNotification) -> Option<Self> {
        match notification {
            BotNotification::AgentJoined => Some(Self::AgentJoined),
            BotNotification::AgentUnavailable => Some(Self::AgentUnavailable),
            BotNotification::ChatClosed => Some(Self::ChatClosed),
            BotNotification::CallbackRequested | BotNotification::ChatReturned => None,
        }
    }
}

/// What is true of the chat's channel at the moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChannelNow {
    pub agents_online: bool,
    pub shows: RichSupport,
}

impl From<RichSupport> for ShownFormats {
    fn from(RichSupport { markdown, buttons }: RichSupport) -> Self {
        Self { markdown, buttons, media: true }
    }
}

impl BotEvent {
    pub fn notice(event: BotNoticeName, entry: &TimelineEntry, chat: &Chat) -> Self {
        let agent = entry.caused_by.clone().filter(|_| matches!(event, BotNoticeName::AgentJoined));
        Self::Notice(BotNotice {
            event,
            ids: BotEventIds::new(entry, chat),
            agent: Optional(agent.map(ChatAgent::from)),
            reason: Optional(entry.content.closed_by().map(Name)),
            opens_at: Optional(entry.content.opens_at().map(UnixSeconds::from)),
        })
    }

    /// Returns `None` for an entry that is not a message.
    pub fn standby(entry: &TimelineEntry, chat: &Chat) -> Option<Self> {
        let (ids, message) = (BotEventIds::new(entry, chat), TranscriptMessage::new(entry)?);
        Some(Self::Standby(Box::new(StandbyMessageEvent { event: STANDBY_MESSAGE, ids, message })))
    }

    /// `missed` are the visitor's messages that the bot has not got.
    pub fn chat_returned(entry: &TimelineEntry, chat: &Chat, missed: &[TimelineEntry]) -> Self {
        let first = missed.len().saturating_sub(MAX_RETURNED_MESSAGES);
        Self::Returned(Box::new(ChatReturnedEvent {
            event: BotNotification::ChatReturned.event(),
            ids: BotEventIds::new(entry, chat),
            agent: Optional(entry.caused_by.clone().map(ChatAgent::from)),
            up_to_seq: missed.last().map_or(0, |entry| entry.seq),
            messages: missed.iter().skip(first).map(MessageFromVisitor::from).collect(),
        }))
    }

    /// `earlier` are the messages of the same turn before `entry`, oldest first.
    pub fn client_message(
        entry: &TimelineEntry,
        earlier: &[&TimelineEntry],
        chat: &Chat,
        sender: ClientMessageSender,
        channel: ChannelNow,
    ) -> Self {
        let turn = || earlier.iter().copied().chain([entry]);
        let text = turn().map(|entry| entry.content.to_plain_text()).collect::<Vec<_>>().join("\n");
        let call = || RequestedCall { r#type: CallKind::Callback.name(), phone: text.clone() };
        Self::ClientMessage(Box::new(ClientMessageEvent {
            event: CLIENT_MESSAGE,
            ids: BotEventIds::new(entry, chat),
            agents_online: channel.agents_online,
            sender,
            channel: ClientMessageChannel { id: chat.channel_id.clone(), r#type: chat.channel_kind.into() },
            shows: channel.shows.into(),
            call: Optional(entry.content.is_callback_request().then(call)),
            message: ClientMessageContent { r#type: "TEXT", text, timestamp: entry.at.into() },
            up_to_seq: SequentialNumber(entry.seq),
            messages: turn().filter(|entry| entry.is_visitor_message()).map(MessageFromVisitor::from).collect(),
        }))
    }
}

impl From<&TimelineEntry> for MessageFromVisitor {
    fn from(entry: &TimelineEntry) -> Self {
        let message = MessageFields::from(&entry.content);
        Self { seq: SequentialNumber(entry.seq), message, timestamp: entry.at.into() }
    }
}

impl BotEventIds {
    fn new(entry: &TimelineEntry, chat: &Chat) -> Self {
        Self {
            id: entry.id.clone(),
            site_id: chat.account_id.clone(),
            client_id: chat.visitor_number.to_string(),
            chat_id: chat.chat_id.to_string(),
        }
    }
}
