//! The /agent endpoints: bodies and operations.

mod presence;
mod sessions;
mod visitors;

pub use presence::{AgentPresence, Colleagues, NewAgentPresence, SocketTicket};
pub use sessions::{
    AgentSessions, ChangedPassword, CurrentAgent, EndedSession, EndedSessions, LoggedOut, LoginRequest, LoginResponse,
    PasswordChange,
};
pub use visitors::{Visitor, VisitorChanges};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::contract::Operation;
use crate::domain::department;

use crate::domain::agent::AgentSnapshot;
use crate::domain::chat::{Chat, MessagePreview, Rating, Sender};
use crate::domain::chat_changes::ChangesCursor;
use crate::domain::chat_search::{MAX_SEARCH_CHARS, SearchCursor, SearchQuery};
use crate::domain::chat_side_panel::{CrmCardAssignment, CustomData, Panel};
use crate::domain::delivery::{Attempt, Delivery, DeliveryState};
use crate::domain::link_filter::LinkFilter;
use crate::domain::message_content::{Content, TypingNotice};
use crate::domain::phone_call::Call;
use crate::domain::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitor::{self, ProfileSource, ProfileSources, VisitorProfile};
use crate::domain::widget_visitor::WidgetVisitor;
use crate::error::Error;
use crate::wire::json_fields::Fields;
use crate::wire::json_object::{with_fields, without_nulls};
use crate::wire::message_content;
use crate::wire::query_parameters::CURSOR_RULE;
use crate::wire::values::SequentialNumber;
use crate::wire::webhook_event::{department_json, session_json};

/// The maximum length of an agent's message or note. A longer text is rejected rather than truncated, because the agent
/// would not notice the truncation.
const MAX_AGENT_TEXT_CHARS: usize = 10_000;
/// The maximum length of a name, a phone number, an e-mail address or a password.
const MAX_AGENT_FIELD_CHARS: usize = 254;
/// Long enough that the rules for passwords report a password that is too long.
const MAX_TEXT_FIELD_CHARS: usize = 10_000;

/// Returns the operations of the /agent endpoints.
pub(super) fn operations() -> Vec<Operation> {
    [sessions::operations(), presence::operations(), visitors::operations()].into_iter().flatten().collect()
}

/// An agent, as chats, messages and audit entries name them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChatAgent {
    id: SequentialNumber,
    name: String,
}

impl From<AgentSnapshot> for ChatAgent {
    fn from(AgentSnapshot { agent_id, name, photo: _ }: AgentSnapshot) -> Self {
        Self { id: SequentialNumber(agent_id), name }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChatDepartment {
    id: SequentialNumber,
    name: String,
}

impl From<department::ChatDepartment> for ChatDepartment {
    fn from(department::ChatDepartment { department_id, name }: department::ChatDepartment) -> Self {
        Self { id: SequentialNumber(department_id), name }
    }
}

/// Parses the body of POST /agent/chats/{chat_id}/typing. The default type is `typein`.
pub fn parse_typing(body: &Value) -> Result<TypingNotice, Error> {
    Ok(Fields::of(body)?.enumerated("type", "typein, typeout", TypingNotice::parse)?.unwrap_or(TypingNotice::Start))
}

/// Parses the body of POST /agent/chats/{chat_id}/messages, which is a `message` object (specification, table A3).
pub fn parse_agent_message(body: &Value) -> Result<Content, Error> {
    let body = Fields::of(body)?;
    let message_content::ParsedMessage::Content(content) = message_content::parse_message_object(body, usize::MAX)?
    else {
        return Err(body.invalid("type", "of a typing notice is sent to .../typing"));
    };
    let text_chars = content.own_text().map_or(0, |text| text.chars().count());
    if text_chars > MAX_AGENT_TEXT_CHARS {
        return Err(body.invalid("text", format_args!("must have at most {MAX_AGENT_TEXT_CHARS} characters")));
    }
    Ok(*content)
}

/// Parses the body of POST /agent/chats/{chat_id}/notes.
pub fn parse_note(body: &Value) -> Result<String, Error> {
    Fields::of(body)?.required_text("text", MAX_AGENT_TEXT_CHARS)
}

/// Parses the body of POST /agent/chats/{chat_id}/call. Returns the number to call, or `None` for the visitor's own
/// number.
pub fn parse_call(body: &Value) -> Result<Option<String>, Error> {
    Fields::of(body)?.text("phone", MAX_AGENT_FIELD_CHARS)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferRequest {
    Agent(u64),
    Department(u64),
}

/// Parses the body of POST /agent/chats/{chat_id}/transfer, which must contain exactly one of `agent_id` and
/// `department_id`.
pub fn parse_transfer(body: &Value) -> Result<TransferRequest, Error> {
    let body = Fields::of(body)?;
    match (body.positive("agent_id")?, body.positive("department_id")?) {
        (Some(agent_id), None) => Ok(TransferRequest::Agent(agent_id)),
        (None, Some(department_id)) => Ok(TransferRequest::Department(department_id)),
        (None, None) => Err(body.invalid("agent_id", "or department_id is required")),
        (Some(_), Some(_)) => Err(body.invalid("department_id", "cannot be combined with agent_id")),
    }
}

/// Parses the `cursor` parameter of GET /agent/changes. Fails with `CursorExpired` if the cursor is too old.
pub fn parse_changes_cursor(text: &str, now: Timestamp) -> Result<ChangesCursor, Error> {
    let cursor = ChangesCursor::parse(text, now).ok_or_else(|| Error::field("cursor", CURSOR_RULE))?;
    if cursor.is_expired(now) { Err(Error::CursorExpired) } else { Ok(cursor) }
}

/// Parses the `q` parameter of GET /agent/search.
pub fn parse_search_text(text: Option<&str>) -> Result<SearchQuery, Error> {
    let query = text.and_then(SearchQuery::parse);
    query.ok_or_else(|| Error::field("q", format_args!("must have 1 to {MAX_SEARCH_CHARS} characters")))
}

/// Parses the `cursor` parameter of GET /agent/search.
pub fn parse_search_cursor(text: &str) -> Result<SearchCursor, Error> {
    SearchCursor::parse(text).ok_or_else(|| Error::field("cursor", CURSOR_RULE))
}

pub fn chat_rows_json(chats: Vec<Chat>, safe_urls: &LinkFilter, now: Timestamp) -> Vec<Value> {
    chats.into_iter().map(|chat| chat_row_json(chat, safe_urls, now)).collect()
}

/// Returns a chat as a list item. Links that Safe URL (the link filter) blocks are replaced. The preview of an expired
/// message is left out.
pub fn chat_row_json(chat: Chat, safe_urls: &LinkFilter, now: Timestamp) -> Value {
    let chat = &safe_urls.filter_chat(chat.without_expired_preview(now));
    let last_message = chat.last_message.as_ref().map(|last| {
        let MessagePreview { from, agent_id, kind, text, at } = last;
        json!({ "from": from, "agent_id": agent_id, "type": kind, "text": text, "timestamp": at.seconds() })
    });
    json!({
        "chat_id": chat.chat_id,
        "state": chat.state.name(),
        "visitor": { "number": chat.visitor_number, "name": chat.visitor_name },
        "channel": channel_json(chat),
        "agent": chat.state.agent().map(author_json),
        "department": chat.department.as_ref().map(department_json),
        "last_message": last_message,
        "failed_messages": chat.undelivered.len(),
        "updated_at": chat.updated_at.seconds(),
        "seq": chat.seq,
        "waiting_since": chat.waiting_since.map(Timestamp::seconds),
    })
}

/// Returns a chat with its visitor and its panel. Links that Safe URL (the link filter) blocks are replaced or left
/// out.
pub fn chat_detail_json(
    chat: &Chat,
    visitor: visitor::Visitor,
    panel: Panel,
    safe_urls: &LinkFilter,
    now: Timestamp,
) -> Value {
    let (panel, visitor) = (safe_urls.filter_panel(panel), safe_urls.filter_visitor(visitor));
    let detail = json!({
        "chat_id": chat.chat_id,
        "state": chat.state.name(),
        "channel": channel_json(chat),
        "agent": chat.state.agent().map(author_json),
        "department": chat.department.as_ref().map(department_json),
        "opened_at": chat.opened_at.seconds(),
        "updated_at": chat.updated_at.seconds(),
        "seq": chat.seq,
        "waiting_since": chat.waiting_since.map(Timestamp::seconds),
        "visitor_typing": chat.is_visitor_typing(now),
        "rate": chat.rating.map(Rating::name),
        "visitor": chat_visitor_json(&visitor, panel.invite.as_deref()),
        "panel": filtered_panel_json(&panel, Some(&visitor)),
    });
    match visitor.widget.as_deref() {
        Some(widget) => with_fields(detail, browser_fields(&visitor, widget)),
        None => detail,
    }
}

/// Returns the fields that only chats of a widget have.
fn browser_fields(visitor: &visitor::Visitor, widget: &WidgetVisitor) -> [(&'static str, Value); 3] {
    let page = visitor.profile.page().map(|url| json!({ "url": url, "title": widget.page_title }));
    [("session", session_json(visitor)), ("page", json!(page)), ("referrer", json!(widget.session.referrer))]
}

/// Returns the visitor of a chat. The links in `visitor` and in `invite`, the invitation in the chat's panel, must
/// already be filtered.
fn chat_visitor_json(visitor: &visitor::Visitor, invite: Option<&str>) -> Value {
    let VisitorProfile { name: _, phone, email, photo, url: _, description } = &visitor.profile;
    json!({
        "number": visitor.number,
        "id": visitor.external_id,
        "name": visitor.profile.display_name(),
        "phone": phone,
        "email": email,
        "photo": photo,
        "url": visitor.profile.page(),
        "url_text": visitor.profile.url_text(),
        "invite": invite,
        "description": description,
        "blacklisted": visitor.blacklisted,
        "chats_count": visitor.chats,
        "sources": sources_json(visitor.sources),
    })
}

/// Returns the field `visitor` of [`chat_detail_json`].
pub(crate) fn visitor_of_chat_json(visitor: visitor::Visitor, panel: Panel, safe_urls: &LinkFilter) -> Value {
    chat_visitor_json(&safe_urls.filter_visitor(visitor), safe_urls.filter_panel(panel).invite.as_deref())
}

/// Returns the field `panel` of [`chat_detail_json`].
pub(crate) fn panel_json(panel: Panel, visitor: Option<visitor::Visitor>, safe_urls: &LinkFilter) -> Value {
    let visitor = visitor.map(|visitor| safe_urls.filter_visitor(visitor));
    filtered_panel_json(&safe_urls.filter_panel(panel), visitor.as_ref())
}

/// Returns where each profile value came from: the visitor, the integrator or an agent, for example. Values without a
/// source are left out.
fn sources_json(sources: ProfileSources) -> Value {
    let ProfileSources { name, phone, email, description } = sources;
    let fields = [("name", name), ("phone", phone), ("email", email), ("description", description)];
    Value::Object(without_nulls(fields.map(|(field, source)| (field, json!(source.map(ProfileSource::name))))))
}

/// Returns the data that is shown in the panel beside the chat: what a script on the visitor's page has set, what
/// the visitor has answered in the contacts form, what webhooks have returned, and the state of the chat's assignment
/// to a CRM card. The links must already be filtered.
fn filtered_panel_json(panel: &Panel, visitor: Option<&visitor::Visitor>) -> Value {
    let Panel { custom_data, enable_assign, crm_link, page, assignment, invite: _ } = panel;
    let widget = visitor.and_then(|visitor| visitor.widget.as_deref());
    let from_page = widget.map(|widget| widget.custom_data.as_slice()).unwrap_or_default();
    let answers = widget.map(|widget| widget.answers.as_slice()).unwrap_or_default();
    let lines = [
        (from_page, ProfileSource::Script),
        (answers, ProfileSource::Visitor),
        (custom_data.as_slice(), ProfileSource::Crm),
    ];
    let lines: Vec<Value> = lines
        .into_iter()
        .flat_map(|(lines, source)| lines.iter().map(move |line| custom_data_json(line, source)))
        .collect();
    let page = page.as_ref().map(|(url, title)| json!({ "url": url, "title": title }));
    let assignment = assignment.as_ref().map(|assignment| match assignment {
        CrmCardAssignment::Pending => json!({ "state": "pending" }),
        CrmCardAssignment::Done => json!({ "state": "done" }),
        CrmCardAssignment::Failed(message) => json!({ "state": "failed", "message": message }),
    });
    json!({
        "custom_data": lines, "enable_assign": enable_assign, "crm_link": crm_link, "page": page,
        "assignment": assignment,
    })
}

fn custom_data_json(line: &CustomData, source: ProfileSource) -> Value {
    let CustomData { title, content, link, key } = line;
    json!({ "title": title, "content": content, "link": link, "key": key, "source": source.name() })
}

/// Returns an entry as agents see it. Links that Safe URL blocks are replaced or left out.
pub fn entry_json(entry: TimelineEntry, safe_urls: &LinkFilter, now: Timestamp) -> Value {
    let entry = safe_urls.filter_entry(entry);
    let mut fields = message_content::message_fields(&entry.content);
    fields.insert("seq".to_owned(), json!(entry.seq));
    fields.insert("id".to_owned(), json!(entry.id));
    fields.insert("from".to_owned(), json!(entry.from.name()));
    fields.insert("timestamp".to_owned(), json!(entry.at.seconds()));
    match &entry.from {
        Sender::Agent(agent) => fields.insert("agent".to_owned(), author_json(agent)),
        Sender::Bot(name) => fields.insert("bot".to_owned(), json!({ "name": name })),
        Sender::Visitor | Sender::System => {
            entry.caused_by.as_ref().and_then(|agent| fields.insert("agent".to_owned(), author_json(agent)))
        }
    };
    if let Some(call) = entry.content.call() {
        fields.insert("call".to_owned(), call_json(call));
    }
    if !entry.content.is_displayable() {
        fields.insert("shown".to_owned(), json!(false));
    }
    if let Some(delivery) = &entry.delivery {
        fields.insert(delivery.target.entry_field().to_owned(), delivery_json(delivery, now));
    }
    Value::Object(fields)
}

fn call_json(call: &Call) -> Value {
    let Call { kind, phone, agent, status, talk_time, .. } = call;
    Value::Object(without_nulls([
        ("type", json!(kind.name())),
        ("phone", json!(phone)),
        ("status", json!(status.name())),
        ("reason", json!(status.reason())),
        ("record_url", json!(status.record_url())),
        ("duration", json!(talk_time.map(|time| time.as_secs()))),
        ("agent", json!(agent.as_ref().map(|called| author_json(&called.agent)))),
    ]))
}

/// Returns a delivery as agents see it in a chat: without the receivers' responses to failed attempts, which can be
/// long and are of use only to admins.
pub fn delivery_json(delivery: &Delivery, now: Timestamp) -> Value {
    let without_answer = |attempt: &Attempt| match attempt.error {
        Some(_) => Attempt { answer: None, ..attempt.clone() },
        None => attempt.clone(),
    };
    let attempts = delivery.attempts.iter().map(without_answer).collect();
    logged_delivery_json(&Delivery { attempts, ..delivery.clone() }, now)
}

/// Returns a delivery as admins see it in the delivery log. A failure is shown as pending until `result_visible_at`.
/// Error texts that the channel hides are left out of the failure, and replaced in the attempts.
pub fn logged_delivery_json(delivery: &Delivery, now: Timestamp) -> Value {
    let state = delivery.visible_state(now);
    let mut fields = Map::from_iter([
        ("state".to_owned(), json!(state.name())),
        ("attempts".to_owned(), delivery.attempts.iter().map(|attempt| attempt_json(attempt, delivery)).collect()),
    ]);
    if delivery.attempts_left_out > 0 {
        fields.insert("attempts_left_out".to_owned(), json!(delivery.attempts_left_out));
    }
    let failure = delivery.failure.as_ref().filter(|failure| state == DeliveryState::Failed && !failure.hidden);
    if let Some(failure) = failure {
        let error = without_nulls([("code", json!(failure.code)), ("message", json!(failure.message))]);
        fields.insert("error".to_owned(), Value::Object(error));
    }
    Value::Object(fields)
}

fn attempt_json(attempt: &Attempt, delivery: &Delivery) -> Value {
    let Attempt { at, status, duration_ms, error, answer } = attempt;
    let hidden =
        delivery.failure.as_ref().is_some_and(|failure| failure.hidden && Some(&failure.message) == error.as_ref());
    let error = if hidden { Some("the integrator rejected the message") } else { error.as_deref() };
    let answer = answer.as_deref().filter(|_| !hidden);
    Value::Object(without_nulls([
        ("at", json!(at.0)),
        ("status", json!(status)),
        ("ms", json!(duration_ms)),
        ("error", json!(error)),
        ("answer", json!(answer)),
    ]))
}

fn channel_json(chat: &Chat) -> Value {
    json!({ "channel_id": chat.channel_id, "name": chat.channel_name })
}

pub(super) fn author_json(author: &AgentSnapshot) -> Value {
    let AgentSnapshot { agent_id, name, photo: _ } = author;
    json!({ "id": agent_id, "name": name })
}
