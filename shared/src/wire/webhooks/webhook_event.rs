//! The bodies of the events that are sent to webhooks (specification, part C).

use schemars::transform::Transform;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Value, json};

use crate::domain::accounts::agent;
use crate::domain::accounts::agent_presence::AgentStatus;
use crate::domain::accounts::status_watch::{StatusChange, StatusOwner};
use crate::domain::calls::phone_call::{CallKind, PhoneCall};
use crate::domain::chats::answer_timer::AnswerDue;
use crate::domain::chats::chat::{Chat, Rating, Sender};
use crate::domain::chats::chat_side_panel;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::webhook::WebhookDispatch;
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::named::Named;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::{Visitor, VisitorProfile};
use crate::domain::visitors::widget_visitor::{self, Utm, WidgetVisitor};
use crate::wire::agent::ChatDepartment;
use crate::wire::channels::integrator_request::WriterType;
use crate::wire::fields::described::{DigitString, Uuid};
use crate::wire::fields::urls::WebUrl;
use crate::wire::fields::values::{AnyObject, Name, SequentialNumber, UnixSeconds};

/// The maximum total of [`transcript_bytes`] and the senders' names for the messages in a chat_finished event. The body
/// contains each text three times, so it is usually at most three megabytes long. A receiver can accept a body of this
/// size within the timeout of an attempt. If many characters must be escaped, the body can grow to ten megabytes (a
/// double quote takes ten bytes in the three texts) or even 18 (a control character takes six bytes in each text). A
/// function with 256 MB of memory can hold a few copies of such a body.
pub const MAX_TRANSCRIPT_BYTES: usize = 1024 * 1024;
/// The assumed size of a transcript message in bytes, excluding its text.
const RECORD_OVERHEAD_BYTES: usize = 100;
const OMISSION_NOTICE: &str = "The beginning of the chat is left out.";

/// Returns how many bytes an entry adds to the transcript (the chat's messages in a chat_finished event). The sender's
/// name is not counted. Returns 0 if the entry is not part of the transcript.
pub fn transcript_bytes(entry: &TimelineEntry) -> usize {
    if is_visible_message(entry) { entry.content.to_plain_text().len() + RECORD_OVERHEAD_BYTES } else { 0 }
}

/// Whether an entry is a message that the visitor has sent or received. Private notes and calls are not.
fn is_visible_message(entry: &TimelineEntry) -> bool {
    entry.from != Sender::System && entry.content.is_visible_to_visitor()
}

pub struct WebhookPayload<'a> {
    pub webhook_dispatch: &'a WebhookDispatch,
    /// The number and the time of the event's entry.
    pub entry: (u64, Timestamp),
    pub chat: &'a Chat,
    pub visitor: &'a Visitor,
    /// The agents in the body: for chat_finished, the chat's participants; for chat_accepted and chat_assigned, the
    /// agent who did it; for chat_updated, the agent who has or had the chat; for call_event, the agent who is called;
    /// for offline_message, none.
    pub agents: &'a [agent::Agent],
    /// Entries of the chat, from the oldest to the newest: for chat_finished, the last ones; for offline_message, those
    /// before the notification; for events about a message, this message; none for other events.
    pub timeline: &'a [TimelineEntry],
    /// The text of the invitation that the visitor has accepted. Only chat_finished uses it.
    pub invite: Option<String>,
}

impl WebhookPayload<'_> {
    pub fn body(&self) -> Value {
        let common = self.common_fields();
        match self.webhook_dispatch.event {
            WebhookEvent::ChatFinished => json!(self.chat_finished(common)),
            WebhookEvent::ChatAssigned => {
                let assign_to = self.webhook_dispatch.assign_to.clone();
                json!(ChatAssigned { chat: self.chat_fields(common), agent: self.agent(), assign_to })
            }
            // These have no chat: see `StatusChanged`.
            WebhookEvent::AgentStatusChanged | WebhookEvent::ChannelStatusChanged => Value::Null,
            WebhookEvent::AnswerDueSoon
            | WebhookEvent::ChatJoined
            | WebhookEvent::BotHandedOver
            | WebhookEvent::ChatEnded
            | WebhookEvent::ChatOpened
            | WebhookEvent::ChatRated
            | WebhookEvent::ChatTransferred
            | WebhookEvent::ChatWaiting
            | WebhookEvent::DeliveredLate
            | WebhookEvent::DeliveryFailed
            | WebhookEvent::Message
            | WebhookEvent::VisitorBlacklisted => json!(self.opt_in_event(common)),
            WebhookEvent::ChatAccepted => json!(ChatAccepted { chat: self.chat_fields(common), agent: self.agent() }),
            WebhookEvent::ChatUpdated => {
                let rating = || ReportedRating { rate: self.chat.rating.map(Name) };
                let rated = self.webhook_dispatch.reports_rating.then(rating);
                json!(ChatUpdated { chat: self.chat_fields(common), agent: self.agent(), rated })
            }
            WebhookEvent::CallEvent => json!(CallEvent {
                common,
                chat_id: SequentialNumber(self.chat.chat_id),
                department: self.department(),
                agent: self.agent(),
                call: self.webhook_dispatch.call.as_ref().map(EventCall::from),
            }),
            WebhookEvent::OfflineMessage => {
                let message = self.timeline.iter().rfind(|entry| entry.from == Sender::Visitor);
                json!(OfflineMessage {
                    common,
                    chat_id: None,
                    user_token: self.user_token(),
                    offline_message_id: message.map(|entry| entry.id.clone()).unwrap_or_default(),
                    message: message.map(|entry| entry.content.to_plain_text()).unwrap_or_default(),
                })
            }
        }
    }

    fn common_fields(&self) -> EventFields {
        let analytics = self.visitor.widget.as_deref().and_then(|widget| widget.analytics.as_ref());
        EventFields {
            event_name: self.webhook_dispatch.event.name(),
            widget_id: self.chat.channel_id.clone(),
            visitor: WebhookVisitor::from(self.visitor),
            session: WebhookBrowserSession::with_every_key(self.visitor),
            page: WebhookPage::of(self.visitor),
            analytics: analytics.map(EventAnalytics::from),
        }
    }

    fn chat_fields(&self, common: EventFields) -> ChatEventFields {
        ChatEventFields {
            common,
            chat_id: SequentialNumber(self.chat.chat_id),
            department: self.department(),
            user_token: self.user_token(),
        }
    }

    fn department(&self) -> Option<ChatDepartment> {
        self.chat.department.clone().map(ChatDepartment::from)
    }

    fn user_token(&self) -> Option<String> {
        self.visitor.widget.as_deref()?.user_token.clone()
    }

    fn agent(&self) -> Option<WebhookAgent> {
        self.agents.first().map(WebhookAgent::from)
    }

    fn opt_in_event(&self, common: EventFields) -> OptInEvent {
        let (seq, at) = self.entry;
        let rate = self.webhook_dispatch.reports_rating.then(|| self.chat.rating.map(Name));
        let event = self.webhook_dispatch.event;
        let message = self.timeline.first().filter(|_| event.is_about_message());
        // A late event does not show the time limit of a later question.
        let is_announced = |due: &AnswerDue| event == WebhookEvent::AnswerDueSoon && due.asked_seq < seq;
        let owed_answer = self.chat.owed_answer().filter(is_announced);
        OptInEvent {
            chat: self.chat_fields(common),
            seq: SequentialNumber(seq),
            timestamp: at.into(),
            agent: self.agent(),
            rate,
            message: message.map(|entry| EventMessage::new(event, entry)),
            answer_due_at: owed_answer.map(|due| due.at.into()),
        }
    }

    fn chat_finished(&self, common: EventFields) -> ChatFinished {
        let messages: Vec<&TimelineEntry> = self.timeline.iter().filter(|entry| is_visible_message(entry)).collect();
        let included = self.newest_within_limit(&messages);
        let is_complete = included.len() == messages.len() && self.timeline.first().is_some_and(|entry| entry.seq == 1);
        let transcript = WebhookChatTranscript {
            messages: included.iter().map(|entry| TranscriptMessage::from(*entry)).collect(),
            rate: self.chat.rating.map(Name),
            blacklisted: self.visitor.blacklisted,
            invitation: self.invite.clone(),
            beginning_missing: !is_complete,
        };
        let [plain, html] = if is_complete {
            [String::new(), String::new()]
        } else {
            [format!("({OMISSION_NOTICE})\n"), format!("<p><i>{OMISSION_NOTICE}</i></p>\n")]
        };
        ChatFinished {
            event: self.chat_fields(common),
            agents: self.agents.iter().map(WebhookAgent::from).collect(),
            chat: transcript,
            plain_messages: plain + &self.transcript(included, plain_text_line),
            html_messages: html + &self.transcript(included, html_line),
        }
    }

    fn transcript(&self, entries: &[&TimelineEntry], format_line: fn(&str, &str) -> String) -> String {
        entries.iter().map(|entry| format_line(self.sender_name(entry), &entry.content.to_plain_text())).collect()
    }

    fn sender_name<'a>(&'a self, entry: &'a TimelineEntry) -> &'a str {
        match &entry.from {
            Sender::Visitor | Sender::System => self.visitor.profile.display_name(),
            Sender::Agent(agent) => &agent.name,
            Sender::Bot(name) => name,
        }
    }

    /// Returns the newest messages that together do not exceed [`MAX_TRANSCRIPT_BYTES`].
    fn newest_within_limit<'a, 'b>(&self, messages: &'b [&'a TimelineEntry]) -> &'b [&'a TimelineEntry] {
        let mut bytes_left = MAX_TRANSCRIPT_BYTES;
        let fits = |entry: &&&TimelineEntry| {
            let rest = bytes_left.checked_sub(transcript_bytes(entry) + self.sender_name(entry).len());
            bytes_left = rest.unwrap_or_default();
            rest.is_some()
        };
        let count = messages.iter().rev().take_while(fits).count();
        messages.get(messages.len() - count..).unwrap_or_default()
    }
}

fn plain_text_line(name: &str, text: &str) -> String {
    format!("{name}: {text}\n")
}

fn html_line(name: &str, text: &str) -> String {
    // Unlike `encode_text`, this function also escapes double quotes, so that a receiver can put the text into an HTML
    // attribute.
    let escape = html_escape::encode_double_quoted_attribute::<str>;
    format!("<p><b>{}:</b> {}</p>\n", escape(name), escape(text).replace('\n', "<br>"))
}

/// Makes the event's name a constant in the schema of its body.
struct EventNamed(&'static str);

impl Transform for EventNamed {
    fn transform(&mut self, schema: &mut Schema) {
        if let Some(name) = schema.pointer_mut("/properties/event_name") {
            *name = json!({ "type": "string", "const": self.0 });
        }
    }
}

/// The fields of every event about a visitor.
#[derive(Serialize, JsonSchema)]
pub struct EventFields {
    event_name: &'static str,
    /// The channel.
    widget_id: String,
    visitor: WebhookVisitor,
    session: WebhookBrowserSession,
    page: WebhookPage,
    analytics: Option<EventAnalytics>,
}

/// The fields of every event about a chat.
#[derive(Serialize, JsonSchema)]
pub struct ChatEventFields {
    #[serde(flatten)]
    common: EventFields,
    chat_id: SequentialNumber,
    #[serde(skip_serializing_if = "Option::is_none")]
    department: Option<ChatDepartment>,
    user_token: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(transform = EventNamed("chat_accepted"))]
pub struct ChatAccepted {
    #[serde(flatten)]
    chat: ChatEventFields,
    /// Null if the agent does not exist any more.
    agent: Option<WebhookAgent>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(transform = EventNamed("chat_updated"))]
pub struct ChatUpdated {
    #[serde(flatten)]
    chat: ChatEventFields,
    /// Null if the agent does not exist any more.
    agent: Option<WebhookAgent>,
    /// Present only if the visitor has rated the chat, or changed the rating, after chat_finished.
    #[serde(rename = "chat", skip_serializing_if = "Option::is_none")]
    rated: Option<ReportedRating>,
}

/// With `oneOf`, because the contract takes null from the `anyOf` of a field that can be absent.
fn rating_or_null(schemas: &mut SchemaGenerator) -> Schema {
    json_schema!({ "oneOf": [schemas.subschema_for::<Name<Rating>>(), { "type": "null" }] })
}

/// An event that only webhooks get which name it: the chat has another owner, somebody has written, ...
#[derive(Serialize, JsonSchema)]
#[schemars(transform = OptInEventNames)]
pub struct OptInEvent {
    #[serde(flatten)]
    chat: ChatEventFields,
    /// The number of the event in the chat. A later event has a higher number.
    seq: SequentialNumber,
    /// When it happened.
    timestamp: UnixSeconds,
    /// The agent who has the chat since the event, or who had it when it was closed or rated. In the events about a
    /// message and in visitor_blacklisted, the agent who has done it. Null if there is no such agent.
    agent: Option<WebhookAgent>,
    /// Only in chat_rated: the rating at the time of the request. Null if the visitor has removed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "rating_or_null")]
    rate: Option<Option<Name<Rating>>>,
    /// Only in message, delivery_failed and delivered_late.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<EventMessage>,
    /// Only in answer_due_soon, and only until an agent has answered: the end of the time limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer_due_at: Option<UnixSeconds>,
}

/// The message that an event is about.
#[derive(Serialize, JsonSchema)]
pub struct EventMessage {
    #[schemars(with = "Uuid")]
    id: String,
    /// The number of the message in the chat.
    seq: SequentialNumber,
    /// Only in delivery_failed: why the message could not be delivered.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(flatten)]
    content: TranscriptMessage,
}

impl EventMessage {
    fn new(event: WebhookEvent, entry: &TimelineEntry) -> Self {
        let failure = entry.delivery.as_ref().and_then(|delivery| delivery.failure.as_ref());
        let reported = failure.filter(|failure| event == WebhookEvent::DeliveryFailed && !failure.hidden);
        Self {
            id: entry.id.clone(),
            seq: SequentialNumber(entry.seq),
            reason: reported.map(|failure| failure.message.clone()),
            content: TranscriptMessage::from(entry),
        }
    }
}

/// An event of the account: the status of an agent or of a channel has changed.
#[derive(Serialize, JsonSchema)]
#[schemars(transform = StatusEventNames)]
pub struct StatusChanged {
    event_name: &'static str,
    /// The number of the event in the account. A later event has a higher number.
    seq: SequentialNumber,
    /// When the change was noticed, which is up to a minute after it happened.
    timestamp: UnixSeconds,
    /// Only in agent_status_changed. Null if the agent does not exist any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<Option<WebhookAgent>>,
    /// Only in channel_status_changed: the channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    widget_id: Option<String>,
    /// A channel is online or offline.
    status: Name<AgentStatus>,
}

impl StatusChanged {
    /// `agent` is the agent whose status has changed.
    pub fn new(
        (event, seq, at): (WebhookEvent, u64, Timestamp),
        change: &StatusChange,
        agent: Option<&agent::Agent>,
    ) -> Self {
        let (agent, widget_id) = match &change.owner {
            StatusOwner::Agent(_) => (Some(agent.map(WebhookAgent::from)), None),
            StatusOwner::Channel(channel_id) => (None, Some(channel_id.clone())),
        };
        let (event_name, seq, timestamp) = (event.name(), SequentialNumber(seq), at.into());
        Self { event_name, seq, timestamp, agent, widget_id, status: Name(change.status) }
    }
}

/// Makes the names of the events of an account the values of the event's name in the schema.
struct StatusEventNames;

impl Transform for StatusEventNames {
    fn transform(&mut self, schema: &mut Schema) {
        let names = [WebhookEvent::AgentStatusChanged, WebhookEvent::ChannelStatusChanged].map(WebhookEvent::name);
        if let Some(name) = schema.pointer_mut("/properties/event_name") {
            *name = json!({ "type": "string", "enum": names });
        }
    }
}

/// Makes the names of the events the values of the event's name in the schema.
struct OptInEventNames;

impl Transform for OptInEventNames {
    fn transform(&mut self, schema: &mut Schema) {
        let names: Vec<_> = WebhookEvent::ALL
            .iter()
            .filter(|event| event.must_be_named() && !event.is_about_account())
            .map(|it| it.name())
            .collect();
        if let Some(name) = schema.pointer_mut("/properties/event_name") {
            *name = json!({ "type": "string", "enum": names });
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct ReportedRating {
    rate: Option<Name<Rating>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(transform = EventNamed("chat_assigned"))]
pub struct ChatAssigned {
    #[serde(flatten)]
    chat: ChatEventFields,
    /// Null if the agent does not exist any more.
    agent: Option<WebhookAgent>,
    #[schemars(with = "WebUrl")]
    assign_to: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(transform = EventNamed("chat_finished"))]
pub struct ChatFinished {
    #[serde(flatten)]
    event: ChatEventFields,
    /// The agents who accepted the chat, received it by a transfer or closed it, including deleted agents; at most the
    /// last 30.
    agents: Vec<WebhookAgent>,
    chat: WebhookChatTranscript,
    plain_messages: String,
    html_messages: String,
}

#[derive(Serialize, JsonSchema)]
pub struct WebhookChatTranscript {
    messages: Vec<TranscriptMessage>,
    rate: Option<Name<Rating>>,
    blacklisted: bool,
    /// The invitation that the visitor sent with this chat.
    invitation: Option<String>,
    /// An addition to the specification: true when the first messages are missing, because the chat has more than 10000
    /// entries or a megabyte of text, or because they have expired. Both text logs then begin with a line that says so.
    beginning_missing: bool,
}

/// A message of the conversation. The specification does not define bot messages, so they are sent as messages from an
/// agent with the id 0.
#[derive(Serialize, JsonSchema)]
pub struct TranscriptMessage {
    /// The text. For a file, the caption and the address on separate lines; for a bot's message without text, its
    /// visible content.
    message: String,
    timestamp: UnixSeconds,
    r#type: TranscriptSender,
    /// Present unless the visitor has written the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    sender_type: Option<WriterType>,
    /// Present in an agent's message; 0 for a bot.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TranscriptSender {
    Visitor,
    Agent,
}

impl From<&TimelineEntry> for TranscriptMessage {
    fn from(entry: &TimelineEntry) -> Self {
        let (r#type, agent_id) = match &entry.from {
            Sender::Visitor | Sender::System => (TranscriptSender::Visitor, None),
            Sender::Agent(agent) => (TranscriptSender::Agent, Some(agent.agent_id)),
            Sender::Bot(_) => (TranscriptSender::Agent, Some(0)),
        };
        let sender_type = WriterType::of(&entry.from);
        Self { message: entry.content.to_plain_text(), timestamp: entry.at.into(), r#type, sender_type, agent_id }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(transform = EventNamed("call_event"))]
pub struct CallEvent {
    #[serde(flatten)]
    common: EventFields,
    chat_id: SequentialNumber,
    #[serde(skip_serializing_if = "Option::is_none")]
    department: Option<ChatDepartment>,
    /// Null if the agent does not exist any more.
    agent: Option<WebhookAgent>,
    #[schemars(with = "EventCall")]
    call: Option<EventCall>,
}

#[derive(Serialize, JsonSchema)]
pub struct EventCall {
    r#type: Name<CallKind>,
    phone: String,
    status: EventCallStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    record_url: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(transparent)]
pub struct EventCallStatus(
    #[schemars(extend("enum" = ["start", "end", "agent_connected", "client_connected", "error"]))] &'static str,
);

impl From<&PhoneCall> for EventCall {
    fn from(call: &PhoneCall) -> Self {
        let PhoneCall { kind, phone, status } = call;
        Self {
            r#type: Name(*kind),
            phone: phone.clone(),
            status: EventCallStatus(status.name()),
            reason: status.reason().map(str::to_owned),
            record_url: status.record_url().map(str::to_owned),
        }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(transform = EventNamed("offline_message"))]
pub struct OfflineMessage {
    #[serde(flatten)]
    common: EventFields,
    /// Always null, because an offline message belongs to no conversation yet.
    chat_id: Option<()>,
    user_token: Option<String>,
    #[schemars(with = "Uuid")]
    offline_message_id: String,
    message: String,
}

/// A visitor. Texts that are not known are empty, because receivers read these keys without checking whether they
/// exist.
#[derive(Serialize, JsonSchema)]
pub struct WebhookVisitor {
    #[schemars(with = "DigitString")]
    number: String,
    name: String,
    email: String,
    phone: String,
    description: String,
    social: AnyObject,
    /// The number of chats that the visitor has opened.
    chats_count: u64,
    /// For a visitor of an API channel, the integrator's own id (sender.id), as a string.
    #[serde(skip_serializing_if = "Option::is_none")]
    external_id: Option<String>,
    /// The visitor's answers to the custom fields of a widget's contacts form. Absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 5))]
    answers: Option<Vec<CustomDataItem>>,
}

impl From<&Visitor> for WebhookVisitor {
    fn from(visitor: &Visitor) -> Self {
        let VisitorProfile { name, phone, email, description, photo: _, url: _ } = visitor.profile.clone();
        let answers = visitor.widget.as_deref().map(|widget| widget.answers.as_slice()).unwrap_or_default();
        Self {
            number: visitor.number.to_string(),
            name: name.unwrap_or_default(),
            email: email.unwrap_or_default(),
            phone: phone.unwrap_or_default(),
            description: description.unwrap_or_default(),
            social: AnyObject::default(),
            chats_count: visitor.chats,
            external_id: visitor.widget.is_none().then(|| visitor.external_id.clone()),
            answers: Some(answers.iter().map(CustomDataItem::from).collect())
                .filter(|answers: &Vec<_>| !answers.is_empty()),
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct CustomDataItem {
    /// The label of the field.
    title: Option<String>,
    /// 'yes' for a ticked box.
    content: String,
    #[schemars(with = "Option<WebUrl>")]
    link: Option<String>,
    key: Option<String>,
}

impl From<&chat_side_panel::CustomData> for CustomDataItem {
    fn from(item: &chat_side_panel::CustomData) -> Self {
        let chat_side_panel::CustomData { title, content, link, key } = item.clone();
        Self { title, content, link, key }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct WebhookAgent {
    id: SequentialNumber,
    name: String,
    email: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    phone: Option<String>,
}

impl From<&agent::Agent> for WebhookAgent {
    fn from(agent: &agent::Agent) -> Self {
        let agent::Agent { agent_id, name, email, phone, .. } = agent.clone();
        Self { id: SequentialNumber(agent_id), name, email, phone }
    }
}

/// Data from the visitor's browser; empty for an API channel, whose messages come from the integrator's server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WebhookBrowserSession {
    geoip: EventGeoIp,
    #[schemars(extend("deprecated" = true))]
    utm: String,
    /// In events for webhooks, values that are not known are empty. Elsewhere they are absent.
    utm_json: EventUtm,
    ip_addr: String,
    user_agent: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EventGeoIp {
    region_code: String,
    country: String,
    country_code: String,
    region: String,
    city: String,
    latitude: String,
    longitude: String,
    organization: &'static str,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EventUtm {
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    campaign: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    medium: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    term: Option<String>,
}

impl From<&Visitor> for WebhookBrowserSession {
    fn from(visitor: &Visitor) -> Self {
        let WidgetVisitor { session, utm, .. } = visitor.widget.as_deref().cloned().unwrap_or_default();
        let widget_visitor::BrowserSession { ip_addr, user_agent, referrer: _, language: _, geoip } = session;
        let widget_visitor::GeoIp { region_code, country, country_code, region, city, latitude, longitude } = geoip;
        let geoip =
            EventGeoIp { region_code, country, country_code, region, city, latitude, longitude, organization: "" };
        let joined = utm.parameters().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("|");
        let Utm { source, campaign, content, medium, term } = utm;
        let utm_json = EventUtm { source, campaign, content, medium, term };
        Self { geoip, utm: joined, utm_json, ip_addr, user_agent }
    }
}

impl WebhookBrowserSession {
    /// Returns the session with an empty text for each UTM parameter that is not known.
    fn with_every_key(visitor: &Visitor) -> Self {
        let mut session = Self::from(visitor);
        let EventUtm { source, campaign, content, medium, term } = &mut session.utm_json;
        for parameter in [source, campaign, content, medium, term] {
            parameter.get_or_insert_default();
        }
        session
    }
}

/// Texts that are not known are empty.
#[derive(Serialize, JsonSchema)]
pub struct WebhookPage {
    url: String,
    title: String,
}

impl WebhookPage {
    fn of(visitor: &Visitor) -> Self {
        let title = visitor.widget.as_deref().and_then(|widget| widget.page_title.clone());
        Self { url: visitor.profile.page().unwrap_or_default().to_owned(), title: title.unwrap_or_default() }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct EventAnalytics {
    ga: Option<String>,
    ym: Option<String>,
}

impl From<&widget_visitor::Analytics> for EventAnalytics {
    fn from(analytics: &widget_visitor::Analytics) -> Self {
        let widget_visitor::Analytics { ga, ym } = analytics.clone();
        Self { ga, ym }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_line_escapes_markup_and_keeps_line_breaks() {
        let line = html_line("A & \"B\"", "<i>\n'x'");
        assert_eq!(line, "<p><b>A &amp; &quot;B&quot;:</b> &lt;i&gt;<br>'x'</p>\n");
    }
}
