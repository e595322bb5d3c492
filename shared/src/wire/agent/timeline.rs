//! The timeline of a chat, as agents see it: messages, notes, calls and events with their deliveries.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::domain::bots::bot::CloseReason;
use crate::domain::calls::phone_call::{self, CallKind};
use crate::domain::chats::chat::Sender;
use crate::domain::chats::mention::MAX_MENTIONS_PER_NOTE;
use crate::domain::chats::message_receipt::ReceiptTimes;
use crate::domain::chats::timeline_entry;
use crate::domain::deliveries::delivery::{self, DeliveryState, MAX_STORED_ATTEMPTS, Target};
use crate::domain::named::Named;
use crate::domain::text::link_filter::{BLOCKED_LINK_TEXT, LinkFilter};
use crate::domain::timestamp::Timestamp;
use crate::wire::agent::ChatAgent;
use crate::wire::agent::handover::HandoverContext;
use crate::wire::channels::message_content::MessageFields;
use crate::wire::fields::urls::WebUrl;
use crate::wire::fields::values::{False, Name, SequentialNumber, UnixSeconds};

/// An entry of a timeline. Fields that do not apply to its type are absent.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(transform = with_blocked_file)]
pub struct TimelineEntry {
    seq: SequentialNumber,
    #[schemars(extend("format" = "uuid"))]
    id: String,
    from: EntrySender,
    /// The agent who wrote the message or note, or who accepted, transferred or closed the chat. Absent in other
    /// events, and in events stored before the service recorded it.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<ChatAgent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bot: Option<MessageBot>,
    timestamp: UnixSeconds,
    /// When the author last edited the message: an agent, or the visitor if the integrator of the chat's channel
    /// reported it. The earlier texts are not kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    edited_at: Option<UnixSeconds>,
    /// When the message was deleted. Its type is then deleted, and its text and its files are gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted_at: Option<UnixSeconds>,
    #[serde(flatten)]
    message: MessageFields,
    /// False if the channel cannot show a bot's rich message and the message has no fallback; it was then not
    /// delivered.
    #[serde(skip_serializing_if = "Option::is_none")]
    shown: Option<False>,
    /// Only in entries of the type handover, whose text is the bot's summary in Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    handover: Option<HandoverContext>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<Call>,
    /// Only in entries of the type note: the agents whom it mentions. Absent if there are none.
    #[schemars(length(max = MAX_MENTIONS_PER_NOTE))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    mentions: Vec<SequentialNumber>,
    /// Only in entries of the type chat_closed, which chats with a bot have: who closed the chat.
    #[serde(skip_serializing_if = "Option::is_none")]
    closed_by: Option<Name<CloseReason>>,
    /// When the message reached the visitor and was read, if the integrator of the chat's channel reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<Receipt>,
    #[serde(flatten)]
    delivery: EntryDelivery,
}

/// Safe URL replaces the address of a file that it blocks.
fn with_blocked_file(entry: &mut Schema) {
    if let Some(file) = entry.pointer_mut("/properties/file") {
        *file = json!({
            "description": "Blocked unless its domain is one of safe_urls.",
            "anyOf": [file.clone(), { "type": "string", "const": BLOCKED_LINK_TEXT }],
        });
    }
}

impl TimelineEntry {
    /// Links that Safe URL (the link filter) blocks are replaced or left out.
    pub fn new(entry: timeline_entry::TimelineEntry, safe_urls: &LinkFilter, now: Timestamp) -> Self {
        let entry = safe_urls.filter_entry(entry);
        let from = EntrySender(entry.from.name().into());
        let (agent, bot) = match entry.from {
            Sender::Agent(agent) => (Some(agent), None),
            Sender::Bot(name) => (None, Some(MessageBot { name })),
            Sender::Visitor | Sender::System => (entry.caused_by, None),
        };
        Self {
            seq: SequentialNumber(entry.seq),
            from,
            agent: agent.map(ChatAgent::from),
            bot,
            timestamp: entry.at.into(),
            edited_at: entry.edited_at.map(UnixSeconds::from),
            deleted_at: entry.deleted_at.map(UnixSeconds::from),
            shown: (!entry.content.is_displayable()).then_some(False),
            handover: entry.content.handover().map(|details| HandoverContext::new(details, safe_urls)),
            mentions: entry.content.mentions().iter().copied().map(SequentialNumber).collect(),
            call: entry.content.call().map(Call::from),
            closed_by: entry.content.closed_by().map(Name),
            receipt: Receipt::new(entry.receipt),
            delivery: EntryDelivery::new(entry.delivery.as_ref(), now),
            message: MessageFields::from(&entry.content),
            id: entry.id,
        }
    }
}

/// Unix seconds. A message that was read is also delivered.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Receipt {
    delivered_at: UnixSeconds,
    #[serde(skip_serializing_if = "Option::is_none")]
    read_at: Option<UnixSeconds>,
}

impl Receipt {
    fn new(times: ReceiptTimes) -> Option<Self> {
        Some(Self { delivered_at: times.delivered_at?.into(), read_at: times.read_at.map(UnixSeconds::from) })
    }
}

/// The kind of sender, as [`Sender::name`] returns it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct EntrySender(pub Cow<'static, str>);

impl JsonSchema for EntrySender {
    fn schema_name() -> Cow<'static, str> {
        "EntrySender".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": ["visitor", "agent", "bot", "system"] })
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MessageBot {
    name: String,
}

/// The delivery of an entry, in the field of its target; see [`Target::entry_field`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct EntryDelivery(BTreeMap<&'static str, Delivery>);

impl EntryDelivery {
    fn new(delivery: Option<&delivery::Delivery>, now: Timestamp) -> Self {
        let field =
            |delivery: &delivery::Delivery| (delivery.target.entry_field(), Delivery::without_answers(delivery, now));
        Self(delivery.map(field).into_iter().collect())
    }
}

impl JsonSchema for EntryDelivery {
    fn schema_name() -> Cow<'static, str> {
        "EntryDelivery".into()
    }

    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        let delivery: Value = schemas.subschema_for::<Delivery>().into();
        let fields: Map<String, Value> =
            Target::ALL.iter().map(|target| (target.entry_field().to_owned(), delivery.clone())).collect();
        json_schema!({ "type": "object", "properties": fields })
    }
}

/// A delivery and its attempts.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Delivery {
    state: Name<DeliveryState>,
    attempts: DeliveryAttempts,
    /// The number of attempts after the first that are not kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    attempts_left_out: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<DeliveryError>,
    /// Whether the entry was delivered after its failure had been shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    late: bool,
    /// Until when a failed delivery is attempted again, in Unix milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    late_until: Option<u64>,
    /// Until when a pending delivery waits for its receiver, which fetches it, in Unix milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    fetch_until: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DeliveryError {
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<i64>,
    message: String,
}

/// The first and the newest attempts of a delivery.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct DeliveryAttempts(#[schemars(length(max = MAX_STORED_ATTEMPTS))] Vec<DeliveryAttempt>);

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DeliveryAttempt {
    /// Unix milliseconds.
    at: u64,
    /// The HTTP status of the response, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    /// The duration in milliseconds.
    ms: u64,
    /// Why the attempt failed: a message in the receiver's response, or the service's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// What the receiver said. After a failed attempt, the beginning of the response body, up to 2,048 bytes; only the
    /// delivery log contains it. If a webhook's 2xx response contained no result, the first 200 characters of the
    /// response, without tags.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2_048))]
    answer: Option<String>,
}

impl Delivery {
    /// Returns a delivery as admins see it in the delivery log. A failure is shown as pending until
    /// `result_visible_at`. Error texts that the channel hides are left out of the failure, and replaced in the
    /// attempts.
    pub fn new(delivery: &delivery::Delivery, now: Timestamp) -> Self {
        let state = delivery.visible_state(now);
        let failure = delivery.failure.as_ref().filter(|failure| state == DeliveryState::Failed && !failure.hidden);
        let attempts = delivery.attempts.iter().map(|attempt| DeliveryAttempt::new(attempt, delivery));
        Self {
            state: Name(state),
            attempts: DeliveryAttempts(attempts.collect()),
            attempts_left_out: Some(delivery.attempts_left_out).filter(|count| *count > 0),
            error: failure.map(|failure| DeliveryError { code: failure.code, message: failure.message.clone() }),
            late: delivery.was_late(),
            late_until: delivery.late_until.filter(|_| delivery.is_late(now)).map(|until| until.0),
            fetch_until: delivery.fetch_until.filter(|_| state == DeliveryState::Pending).map(|until| until.0),
        }
    }

    /// Returns a delivery as agents see it in a chat: without the receivers' responses to failed attempts, which can be
    /// long and are of use only to admins.
    fn without_answers(delivery: &delivery::Delivery, now: Timestamp) -> Self {
        let mut shown = Self::new(delivery, now);
        for attempt in shown.attempts.0.iter_mut().filter(|attempt| attempt.error.is_some()) {
            attempt.answer = None;
        }
        shown
    }
}

impl DeliveryAttempt {
    fn new(attempt: &delivery::Attempt, delivery: &delivery::Delivery) -> Self {
        let delivery::Attempt { at, status, duration_ms, error, answer } = attempt.clone();
        let is_hidden =
            delivery.failure.as_ref().is_some_and(|failure| failure.hidden && Some(&failure.message) == error.as_ref());
        let error = if is_hidden { Some("the integrator rejected the message".to_owned()) } else { error };
        Self { at: at.0, status, ms: duration_ms, error, answer: answer.filter(|_| !is_hidden) }
    }
}

/// A phone call. reason is present if the status is error. record_url and duration are present if the call has ended
/// and they are known.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Call {
    r#type: Name<CallKind>,
    phone: PhoneNumber,
    status: CallStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 200))]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    record_url: Option<WebUrl>,
    /// How long the agent and the visitor have talked, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    duration: Option<u64>,
    /// Absent if no agent was available.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<ChatAgent>,
}

impl From<&phone_call::Call> for Call {
    fn from(call: &phone_call::Call) -> Self {
        let phone_call::Call { kind, phone, agent, status, talk_time, .. } = call;
        Self {
            r#type: Name(*kind),
            phone: PhoneNumber(phone.clone()),
            status: status.into(),
            reason: status.reason().map(str::to_owned),
            record_url: status.record_url().map(|url| WebUrl(url.to_owned())),
            duration: talk_time.map(|time| time.as_secs()),
            agent: agent.as_ref().map(|called| called.agent.clone().into()),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    Start,
    AgentConnected,
    ClientConnected,
    End,
    Error,
}

impl From<&phone_call::CallStatus> for CallStatus {
    fn from(status: &phone_call::CallStatus) -> Self {
        match status {
            phone_call::CallStatus::Start => Self::Start,
            phone_call::CallStatus::AgentConnected => Self::AgentConnected,
            phone_call::CallStatus::ClientConnected => Self::ClientConnected,
            phone_call::CallStatus::End(_) => Self::End,
            phone_call::CallStatus::Error(_) => Self::Error,
        }
    }
}

/// In E.164 format, such as +31201234567, if the number is valid. Empty if a caller hides it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct PhoneNumber(#[schemars(length(max = 64))] pub String);
