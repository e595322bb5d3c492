//! The bodies of the agents' endpoints (docs/openapi.json).

use serde_json::{Map, Value, json};

use crate::domain::account::{Agent, Author};
use crate::domain::chat::{Chat, Rating, Sender};
use crate::domain::content::{Content, Typing};
use crate::domain::delivery::{Attempt, Delivery, DeliveryState, Target};
use crate::domain::entry::Entry;
use crate::domain::link_filter::SafeUrls;
use crate::domain::panel::{Assignment, CustomData, Panel};
use crate::domain::presence::{Presence, Status};
use crate::domain::timestamp::Timestamp;
use crate::domain::visitor::{Profile, Sources, Visitor};
use crate::error::Error;
use crate::wire::content;
use crate::wire::fields::Fields;
use crate::wire::webhook::department;

/// Characters of an agent's text; a longer one is refused, because an agent would not notice a cut.
const MAX_AGENT_TEXT_CHARS: usize = 10_000;
/// Characters of an e-mail address or a password.
const MAX_SHORT_TEXT_CHARS: usize = 254;
/// Characters of a visitor's description.
const MAX_DESCRIPTION_CHARS: usize = 10_000;

/// Reads `email` and `password`.
pub fn credentials(body: &Value) -> Result<(String, String), Error> {
    let body = Fields::of(body)?;
    Ok((
        body.required_text("email", MAX_SHORT_TEXT_CHARS)?.trim().to_lowercase(),
        body.required_text("password", MAX_SHORT_TEXT_CHARS)?,
    ))
}

/// Reads `status`.
pub fn status(body: &Value) -> Result<Status, Error> {
    let body = Fields::of(body)?;
    let status = body.one_of("status", "online, away, offline", Status::parse)?;
    status.ok_or_else(|| body.refuse("status", "is required"))
}

/// Reads the `type` of a typing notice; typein when nothing is said.
pub fn typing(body: &Value) -> Result<Typing, Error> {
    Ok(Fields::of(body)?.one_of("type", "typein, typeout", Typing::parse)?.unwrap_or(Typing::Start))
}

/// Reads an agent's message: the fields of A3.
pub fn message(body: &Value) -> Result<Content, Error> {
    let body = Fields::of(body)?;
    let content::Message::Content(content) = content::read(body, usize::MAX)? else {
        return Err(body.refuse("type", "of a typing notice is sent to .../typing"));
    };
    let length = content.text.as_ref().map_or(0, |text| text.chars().count());
    if length > MAX_AGENT_TEXT_CHARS {
        return Err(body.refuse("text", format_args!("must have at most {MAX_AGENT_TEXT_CHARS} characters")));
    }
    Ok(*content)
}

/// To whom a chat is to be transferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferTo {
    /// The agent of that id.
    Agent(u64),
    /// The department of that id.
    Department(u64),
}

/// Reads POST /agent/chats/{chat_id}/transfer: exactly one of `agent_id` and `department_id`.
pub fn transfer(body: &Value) -> Result<TransferTo, Error> {
    let body = Fields::of(body)?;
    match (body.positive("agent_id")?, body.positive("department_id")?) {
        (Some(agent_id), None) => Ok(TransferTo::Agent(agent_id)),
        (None, Some(department_id)) => Ok(TransferTo::Department(department_id)),
        (None, None) => Err(body.refuse("agent_id", "or department_id is required")),
        (Some(_), Some(_)) => Err(body.refuse("department_id", "must not be given together with agent_id")),
    }
}

/// What a login answers.
pub fn logged_in(token: &str, agent: &Agent) -> Value {
    let Agent { account_id, agent_id, name, role, .. } = agent;
    json!({ "token": token, "agent": { "id": agent_id, "name": name, "role": role.name(), "account_id": account_id } })
}

/// An agent's presence; `online` says whether it counts now.
pub fn presence(presence: &Presence, now: Timestamp) -> Value {
    json!({ "status": presence.status.name(), "online": presence.is_online(now) })
}

/// A chat in a list, without links that Safe URL blocks.
pub fn chat_row(chat: Chat, safe_urls: &SafeUrls) -> Value {
    let chat = &safe_urls.chat(chat);
    let last_message = chat
        .last_message
        .as_ref()
        .map(|last| json!({ "from": last.from, "type": last.kind, "text": last.text, "timestamp": last.at.seconds() }));
    json!({
        "chat_id": chat.chat_id,
        "state": chat.state.name(),
        "visitor": { "number": chat.visitor_number, "name": chat.visitor_name },
        "channel": channel(chat),
        "agent": chat.state.agent().map(author),
        "department": chat.department.as_ref().map(department),
        "last_message": last_message,
        "updated_at": chat.updated_at.seconds(),
    })
}

/// A chat with everything that is known about its visitor, without links that Safe URL blocks.
pub fn chat_detail(chat: &Chat, visitor: Visitor, panel: Panel, safe_urls: &SafeUrls, now: Timestamp) -> Value {
    let (visitor, panel) = (safe_urls.visitor(visitor), safe_urls.panel(panel));
    let Profile { name: _, phone, email, photo, url: _, description } = &visitor.profile;
    json!({
        "chat_id": chat.chat_id,
        "state": chat.state.name(),
        "channel": channel(chat),
        "agent": chat.state.agent().map(author),
        "department": chat.department.as_ref().map(department),
        "opened_at": chat.opened_at.seconds(),
        "updated_at": chat.updated_at.seconds(),
        "visitor_typing": chat.visitor_is_typing(now),
        "rate": chat.rating.map(Rating::name),
        "visitor": {
            "number": visitor.number,
            "id": visitor.external_id,
            "name": visitor.profile.display_name(),
            "phone": phone,
            "email": email,
            "photo": photo,
            "url": visitor.profile.page(),
            "url_text": visitor.profile.url_text(),
            "invite": panel.invite,
            "description": description,
            "blacklisted": visitor.blacklisted,
            "chats_count": visitor.chats,
            "sources": sources(visitor.sources),
        },
        "panel": self::panel(&panel),
    })
}

/// Who said what is known of a visitor.
fn sources(sources: Sources) -> Value {
    let Sources { name, phone, email, description } = sources;
    let known = [("name", name), ("phone", phone), ("email", email), ("description", description)];
    known.into_iter().filter_map(|(field, source)| Some((field.to_owned(), json!(source?.name())))).collect()
}

/// What the customer's systems tell the agent.
fn panel(panel: &Panel) -> Value {
    let Panel { custom_data, enable_assign, crm_link, page, assignment, invite: _ } = panel;
    let lines: Vec<Value> = custom_data.iter().map(custom_data_line).collect();
    let page = page.as_ref().map(|(url, title)| json!({ "url": url, "title": title }));
    let assignment = assignment.as_ref().map(|assignment| match assignment {
        Assignment::Pending => json!({ "state": "pending" }),
        Assignment::Done => json!({ "state": "done" }),
        Assignment::Failed(message) => json!({ "state": "failed", "message": message }),
    });
    json!({
        "custom_data": lines, "enable_assign": enable_assign, "crm_link": crm_link, "page": page,
        "assignment": assignment,
    })
}

fn custom_data_line(line: &CustomData) -> Value {
    let CustomData { title, content, link, key } = line;
    json!({ "title": title, "content": content, "link": link, "key": key, "source": "crm" })
}

/// Reads PATCH /agent/visitors/{number}: what the agent knows, and whether the visitor is to be blacklisted. An agent
/// clears a field with an empty text.
pub fn visitor_changes(body: &Value) -> Result<(Profile, Option<bool>), Error> {
    let body = Fields::of(body)?;
    let profile = Profile {
        name: body.exact_text("name", MAX_SHORT_TEXT_CHARS)?,
        email: body.exact_text("email", MAX_SHORT_TEXT_CHARS)?,
        phone: body.exact_text("phone", MAX_SHORT_TEXT_CHARS)?,
        description: body.exact_text("description", MAX_DESCRIPTION_CHARS)?,
        ..Profile::default()
    };
    Ok((profile, body.flag("blacklisted")?))
}

/// A visitor as agents see them, without links that Safe URL blocks.
pub fn visitor(visitor: Visitor, safe_urls: &SafeUrls) -> Value {
    let visitor = safe_urls.visitor(visitor);
    let Profile { name: _, phone, email, description, .. } = &visitor.profile;
    json!({
        "number": visitor.number, "id": visitor.external_id, "name": visitor.profile.display_name(), "phone": phone,
        "email": email, "description": description, "blacklisted": visitor.blacklisted,
        "sources": sources(visitor.sources),
    })
}

/// An entry of a timeline, without links that Safe URL blocks.
pub fn entry(entry: Entry, safe_urls: &SafeUrls, now: Timestamp) -> Value {
    let entry = safe_urls.entry(entry);
    let mut fields = content::write(&entry.content);
    fields.insert("seq".to_owned(), json!(entry.seq));
    fields.insert("id".to_owned(), json!(entry.id));
    fields.insert("from".to_owned(), json!(entry.from.name()));
    fields.insert("timestamp".to_owned(), json!(entry.at.seconds()));
    match &entry.from {
        Sender::Agent(agent) => fields.insert("agent".to_owned(), author(agent)),
        Sender::Bot(name) => fields.insert("bot".to_owned(), json!({ "name": name })),
        Sender::Visitor | Sender::System => None,
    };
    if !entry.content.is_shown() {
        fields.insert("shown".to_owned(), json!(false));
    }
    if let Some(delivery) = &entry.delivery {
        // A visitor's message on its way to the bot is not a message on its way to the visitor.
        let name = match delivery.target {
            Target::Channel => "delivery",
            Target::Bot => "bot_delivery",
            Target::Webhook => "webhook_delivery",
        };
        fields.insert(name.to_owned(), self::delivery(delivery, now));
    }
    Value::Object(fields)
}

/// A delivery as it may be shown now: no failure before its verdict, no words that the channel hides.
pub fn delivery(delivery: &Delivery, now: Timestamp) -> Value {
    let state = delivery.shown_progress(now);
    let mut shown = Map::from_iter([
        ("state".to_owned(), json!(state.name())),
        ("attempts".to_owned(), delivery.attempts.iter().map(|attempt| self::attempt(attempt, delivery)).collect()),
    ]);
    if delivery.attempts_left_out > 0 {
        shown.insert("attempts_left_out".to_owned(), json!(delivery.attempts_left_out));
    }
    let failure = delivery.failure.as_ref().filter(|failure| state == DeliveryState::Failed && !failure.hidden);
    if let Some(failure) = failure {
        let code = failure.code.map(|code| ("code".to_owned(), json!(code)));
        let message = ("message".to_owned(), json!(failure.message));
        shown.insert("error".to_owned(), Value::Object(code.into_iter().chain([message]).collect()));
    }
    Value::Object(shown)
}

fn attempt(attempt: &Attempt, delivery: &Delivery) -> Value {
    let Attempt { at, status, ms, error, answer } = attempt;
    let hidden =
        delivery.failure.as_ref().is_some_and(|failure| failure.hidden && Some(&failure.message) == error.as_ref());
    let error = if hidden { Some("the integrator rejected the message") } else { error.as_deref() };
    let fields = [
        ("at", json!(at.0)),
        ("status", json!(status)),
        ("ms", json!(ms)),
        ("error", json!(error)),
        ("answer", json!(answer)),
    ];
    fields.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.to_owned(), value)).collect()
}

fn channel(chat: &Chat) -> Value {
    json!({ "channel_id": chat.channel_id, "name": chat.channel_name })
}

fn author(author: &Author) -> Value {
    let Author { agent_id, name, photo: _ } = author;
    json!({ "id": agent_id, "name": name })
}
