//! Request and response bodies of the /widget endpoints (docs/openapi.json), which the widget in a visitor's browser
//! calls.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::domain::agent::{Agent, AgentSnapshot};
use crate::domain::callback_availability::CallbackAvailability;
use crate::domain::chat::{Chat, Rating, Sender};
use crate::domain::chat_side_panel::CustomData;
use crate::domain::contacts_form::Answer;
use crate::domain::department::Department;
use crate::domain::message_content::{Content, truncate_chars};
use crate::domain::phone_call::Call;
use crate::domain::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitor::{ProfileSource, Visitor, VisitorProfile};
use crate::domain::widget::WidgetSettings;
use crate::domain::widget_visitor::{Analytics, HistoryPosition, Page, Utm};
use crate::error::Error;
use crate::wire::agent::ChatDepartment;
use crate::wire::contacts_form::parse_answers;
use crate::wire::json_fields::{Fields, MAX_URL_CHARS};
use crate::wire::json_object::{with_fields, without_nulls};
use crate::wire::message_content::{self, MAX_VISITOR_TEXT_CHARS, ParsedMessage};
use crate::wire::widget_settings::widget_settings_json;

/// The maximum number of fields that a page can set with setCustomData (specification, part D).
const MAX_CUSTOM_DATA_FIELDS: usize = 10;
const MAX_CUSTOM_DATA_CHARS: usize = 1_000;
/// The maximum length of a name, an e-mail address, a phone number, or the title or key of custom data.
const MAX_CONTACT_CHARS: usize = 255;
const MAX_DESCRIPTION_CHARS: usize = 1_000;
/// The maximum length of a link in custom data. It limits the size of the visitor's item.
const MAX_LINK_CHARS: usize = 1_000;
const MAX_TOKEN_CHARS: usize = 100;
const MAX_MESSAGE_ID_CHARS: usize = 64;
const MAX_USER_TOKEN_CHARS: usize = 2_048;
/// The length to which a page title, a UTM parameter or a web analytics id is truncated.
const MAX_TRACKING_CHARS: usize = 255;
const MAX_INVITE_CHARS: usize = 1_000;
const ANY_LENGTH: usize = usize::MAX;

/// Returns the visitor's token, which all endpoints except `session` and `callback` require.
pub fn parse_token(body: &Value) -> Result<String, Error> {
    Fields::of(body)?.required_text("token", MAX_TOKEN_CHARS)
}

/// The body of POST .../session.
pub struct SessionRequest {
    pub token: Option<String>,
    /// Whether a visitor is created if there is no token.
    pub identify: bool,
    /// The number of the last entry of the current chat that the widget already has, or 0 if it has none.
    pub after: u64,
    pub page: Option<Page>,
    pub referrer: Option<String>,
    /// The user whom the page names; see [`VisitorUpdate::user_token`].
    pub user_token: Option<Option<String>>,
}

pub fn parse_session(body: &Value) -> Result<SessionRequest, Error> {
    let fields = Fields::of(body)?;
    Ok(SessionRequest {
        token: fields.text("token", MAX_TOKEN_CHARS)?,
        identify: fields.boolean("identify")?.unwrap_or(false),
        after: parse_after(fields)?,
        page: parse_page(fields)?,
        referrer: truncated(fields, "referrer", MAX_URL_CHARS)?,
        user_token: parse_user_token(fields)?,
    })
}

/// Returns `None` if the field is absent, and `Some(None)` if it is null.
fn parse_user_token(fields: Fields<'_>) -> Result<Option<Option<String>>, Error> {
    let user_token = fields.text("user_token", MAX_USER_TOKEN_CHARS)?;
    Ok(fields.has("user_token").then_some(user_token))
}

fn parse_after(fields: Fields<'_>) -> Result<u64, Error> {
    let Some(value) = fields.value("after") else { return Ok(0) };
    value.as_u64().ok_or_else(|| fields.invalid("after", "must be a whole number"))
}

/// Parses the body of POST .../history: the entry before which messages are read.
pub fn parse_history_request(body: &Value) -> Result<HistoryPosition, Error> {
    let before = Fields::of(body)?.object("before")?;
    Ok(HistoryPosition { chat_id: before.required_positive("chat_id")?, seq: before.required_positive("seq")? })
}

/// The body of POST .../message.
pub struct MessageRequest {
    pub token: String,
    pub message_id: String,
    pub content: Content,
    /// The invitation that the visitor has accepted.
    pub invite: Option<String>,
    /// The department that the invitation names for the new chat.
    pub department_id: Option<u64>,
    pub page: Option<Page>,
}

pub fn parse_message(body: &Value) -> Result<MessageRequest, Error> {
    let fields = Fields::of(body)?;
    let message = fields.object("message")?;
    let ParsedMessage::Content(content) = message_content::parse_message_object(message, MAX_VISITOR_TEXT_CHARS)?
    else {
        return Err(message.invalid("type", "of a typing notice is sent through the socket"));
    };
    Ok(MessageRequest {
        token: parse_token(body)?,
        message_id: fields.required_text("message_id", MAX_MESSAGE_ID_CHARS)?,
        content: *content,
        invite: fields.text("invite", MAX_INVITE_CHARS)?,
        department_id: fields.positive("department_id")?,
        page: parse_page(fields)?,
    })
}

/// The body of POST .../call.
pub struct CallRequest {
    pub token: String,
    pub message_id: String,
    /// The visitor's phone number as it was typed.
    pub phone: String,
    pub page: Option<Page>,
}

pub fn parse_call_request(body: &Value) -> Result<CallRequest, Error> {
    let fields = Fields::of(body)?;
    Ok(CallRequest {
        token: parse_token(body)?,
        message_id: fields.required_text("message_id", MAX_MESSAGE_ID_CHARS)?,
        phone: fields.required_text("phone", MAX_CONTACT_CHARS)?,
        page: parse_page(fields)?,
    })
}

/// Returns the visitor's token from a request to `callback`. A browser that has no token can also make this request.
pub fn parse_optional_token(body: &Value) -> Result<Option<String>, Error> {
    Fields::of(body)?.text("token", MAX_TOKEN_CHARS)
}

/// Returns the response of `callback`, and of `call` if no call was started (specification, part D).
pub fn callback_json(availability: CallbackAvailability) -> Value {
    match availability.failure_reason() {
        None => json!({ "result": "ok" }),
        Some(reason) => json!({ "result": "fail", "reason": reason }),
    }
}

pub fn started_call_json(entry: &TimelineEntry) -> Value {
    json!({ "result": "ok", "chat_id": entry.chat_id, "seq": entry.seq, "call": call_json(entry) })
}

/// Returns a call as the visitor sees it, or `None` if the entry is not a call.
pub fn call_json(entry: &TimelineEntry) -> Option<Value> {
    let Call { kind, phone, status, .. } = entry.content.call()?;
    let (name, phone, status_name) = (json!(kind.name()), json!(phone), json!(status.name()));
    let fields = [("type", name), ("phone", phone), ("status", status_name), ("reason", json!(status.reason()))];
    Some(Value::Object(without_nulls(fields)))
}

/// The body of POST .../visitor. Absent fields leave the visitor unchanged.
pub struct VisitorUpdate {
    /// Empty texts clear the values.
    pub contact_info: VisitorProfile,
    pub source: ProfileSource,
    /// The answers to the custom fields of the contacts form, by key. They replace the earlier ones.
    pub answers: Option<BTreeMap<String, Answer>>,
    pub custom_data: Option<Vec<CustomData>>,
    /// The user whom the page names. `None` leaves the user unchanged; `Some(None)` means that the page names no user
    /// any more.
    pub user_token: Option<Option<String>>,
    pub page: Option<Page>,
    pub utm: Option<Utm>,
    pub analytics: Option<Analytics>,
    pub clear_history: bool,
}

pub fn parse_visitor_update(body: &Value) -> Result<VisitorUpdate, Error> {
    let fields = Fields::of(body)?;
    let contact_info =
        fields.optional_object("contact_info", "contact_info")?.map(parse_contact_changes).transpose()?;
    let source = fields.enumerated("source", "visitor, script", |name| {
        ProfileSource::parse(name).filter(|source| matches!(source, ProfileSource::Visitor | ProfileSource::Script))
    })?;
    Ok(VisitorUpdate {
        contact_info: contact_info.unwrap_or_default(),
        source: source.unwrap_or(ProfileSource::Visitor),
        answers: parse_answers(fields)?,
        custom_data: parse_custom_data(fields)?,
        user_token: parse_user_token(fields)?,
        page: parse_page(fields)?,
        utm: fields.optional_object("utm", "utm")?.map(parse_utm).transpose()?,
        analytics: fields.optional_object("analytics", "analytics")?.map(parse_analytics).transpose()?,
        clear_history: fields.boolean("clear_history")?.unwrap_or(false),
    })
}

/// The body of POST .../offline-message.
pub struct OfflineMessageRequest {
    pub token: String,
    pub message_id: String,
    pub contacts: VisitorProfile,
    pub answers: Option<BTreeMap<String, Answer>>,
    pub text: String,
}

pub fn parse_offline_message(body: &Value) -> Result<OfflineMessageRequest, Error> {
    let fields = Fields::of(body)?;
    let mut contacts = parse_contacts(fields)?;
    if contacts.email.is_none() && contacts.phone.is_none() {
        return Err(fields.invalid("email", "or phone is required"));
    }
    if let Some(email) = &mut contacts.email {
        *email = fields.email_address("email", email)?;
    }
    if contacts.phone.as_deref().is_some_and(|phone| !is_phone(phone)) {
        return Err(fields.invalid("phone", "must be a phone number"));
    }
    let text = fields.text("message", ANY_LENGTH)?.ok_or_else(|| fields.invalid("message", "is required"))?;
    Ok(OfflineMessageRequest {
        token: parse_token(body)?,
        message_id: fields.required_text("message_id", MAX_MESSAGE_ID_CHARS)?,
        contacts,
        answers: parse_answers(fields)?,
        text: truncate_chars(&text, MAX_VISITOR_TEXT_CHARS),
    })
}

/// Whether a text looks like a phone number. Only obvious mistakes are rejected.
fn is_phone(text: &str) -> bool {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    digits >= 3 && text.chars().all(|c| c.is_ascii_digit() || c.is_whitespace() || "+-()./#*".contains(c))
}

/// Parses the body of POST .../rating. Returns the chat and the rating; `None` removes the rating.
pub fn parse_rating(body: &Value) -> Result<(u64, Option<Rating>), Error> {
    let fields = Fields::of(body)?;
    if !fields.has("rate") {
        return Err(fields.invalid("rate", "is required"));
    }
    Ok((fields.required_positive("chat_id")?, fields.enumerated("rate", "positive, negative", Rating::parse)?))
}

fn parse_contacts(fields: Fields<'_>) -> Result<VisitorProfile, Error> {
    Ok(VisitorProfile {
        name: fields.text("name", MAX_CONTACT_CHARS)?,
        email: fields.text("email", MAX_CONTACT_CHARS)?,
        phone: fields.text("phone", MAX_CONTACT_CHARS)?,
        description: fields.text("description", MAX_DESCRIPTION_CHARS)?,
        ..VisitorProfile::default()
    })
}

/// Returns changes to the contact data. Absent fields stay unchanged; null and blank texts clear the value.
fn parse_contact_changes(fields: Fields<'_>) -> Result<VisitorProfile, Error> {
    let contacts = parse_contacts(fields)?;
    let change = |name, value: Option<String>| fields.has(name).then(|| value.unwrap_or_default());
    Ok(VisitorProfile {
        name: change("name", contacts.name),
        email: change("email", contacts.email),
        phone: change("phone", contacts.phone),
        description: change("description", contacts.description),
        ..VisitorProfile::default()
    })
}

fn parse_custom_data(fields: Fields<'_>) -> Result<Option<Vec<CustomData>>, Error> {
    let Some(value) = fields.value("custom_data") else { return Ok(None) };
    let list = value.as_array().filter(|list| list.len() <= MAX_CUSTOM_DATA_FIELDS);
    let invalid =
        || fields.invalid("custom_data", format_args!("must be a list of at most {MAX_CUSTOM_DATA_FIELDS} objects"));
    let lines = list.ok_or_else(invalid)?.iter().enumerate();
    lines
        .map(|(index, line)| parse_custom_data_line(line, &format!("custom_data[{index}]")))
        .collect::<Result<_, _>>()
        .map(Some)
}

fn parse_custom_data_line(line: &Value, path: &str) -> Result<CustomData, Error> {
    let fields = Fields::of_item(line, path)?;
    let link = fields.url("link")?;
    if link.as_ref().is_some_and(|link| link.chars().count() > MAX_LINK_CHARS) {
        return Err(fields.invalid("link", format_args!("must have at most {MAX_LINK_CHARS} characters")));
    }
    let content = fields.text_or_number("content", MAX_CUSTOM_DATA_CHARS)?;
    Ok(CustomData {
        title: fields.text_or_number("title", MAX_CONTACT_CHARS)?,
        content: content.ok_or_else(|| fields.invalid("content", "is required"))?,
        link,
        key: fields.text_or_number("key", MAX_CONTACT_CHARS)?,
    })
}

/// Parses the page that the visitor is viewing.
fn parse_page(fields: Fields<'_>) -> Result<Option<Page>, Error> {
    let Some(page) = fields.optional_object("page", "page")? else { return Ok(None) };
    let url = page.text("url", MAX_URL_CHARS)?;
    let title = truncated(page, "title", MAX_TRACKING_CHARS)?;
    Ok(url.map(|url| Page { url, title }))
}

fn parse_utm(fields: Fields<'_>) -> Result<Utm, Error> {
    let text = |name| truncated(fields, name, MAX_TRACKING_CHARS);
    Ok(Utm {
        source: text("source")?,
        campaign: text("campaign")?,
        content: text("content")?,
        medium: text("medium")?,
        term: text("term")?,
    })
}

fn parse_analytics(fields: Fields<'_>) -> Result<Analytics, Error> {
    let text = |name| truncated(fields, name, MAX_TRACKING_CHARS);
    Ok(Analytics { ga: text("ga")?, ym: text("ym")? })
}

fn truncated(fields: Fields<'_>, name: &str, max_chars: usize) -> Result<Option<String>, Error> {
    Ok(fields.text(name, ANY_LENGTH)?.map(|text| truncate_chars(&text, max_chars)))
}

/// The response of POST .../session.
pub struct SessionResponse<'a> {
    pub settings: &'a WidgetSettings,
    pub rules: &'a Value,
    pub is_online: bool,
    /// Whether new chats start with a bot, so that messages are answered even while no agent is online.
    pub has_bot: bool,
    pub departments: &'a [Department],
    /// Some of the agents who are online.
    pub agents: &'a [Agent],
    /// `None` if the browser has no visitor.
    pub visitor: Option<&'a Visitor>,
    /// The token of a visitor that was just created.
    pub token: Option<&'a str>,
    pub chat: Option<&'a Chat>,
    /// The photo of the agent who has the chat.
    pub agent_photo: Option<&'a str>,
    pub messages: &'a [Value],
    /// The call in progress, or `None` if there is none among the newest entries.
    pub call: Option<&'a Value>,
    /// Whether there may be further messages between the request's `after` and the first of `messages`. Without
    /// `after`, the visitor's earlier chats count too.
    pub has_earlier: bool,
    pub callback: CallbackAvailability,
}

impl SessionResponse<'_> {
    pub fn json(&self) -> Value {
        let departments = self.departments.iter().map(|department| json!(ChatDepartment::from(department.snapshot())));
        let departments: Vec<Value> = departments.collect();
        let agents = online_agents_json(self.agents, self.departments);
        let visitor = self.visitor.map(|visitor| visitor_with_token_json(visitor, self.token));
        json!({
            "v": 1,
            "widget": public_settings_json(self.settings),
            "rules": self.rules,
            "mode": mode_name(self.is_online),
            "bot": self.has_bot,
            "departments": departments,
            "agents": agents,
            "visitor": visitor,
            "chat": self.chat.map(|chat| chat_json(chat, self.agent_photo)),
            "messages": self.messages,
            "call": self.call,
            "has_earlier": self.has_earlier,
            "callback": self.callback != CallbackAvailability::Disabled,
            "callback_available": self.callback == CallbackAvailability::Available,
        })
    }
}

pub fn mode_name(is_online: bool) -> &'static str {
    if is_online { "online" } else { "offline" }
}

/// Returns agents who are online, with the ids of those of `departments` that they belong to.
pub(super) fn online_agents_json(agents: &[Agent], departments: &[Department]) -> Value {
    let agent_json = |agent: &Agent| {
        let departments = departments.iter().filter(|department| department.agent_ids.contains(&agent.agent_id));
        let department_ids: Vec<u64> = departments.map(|department| department.department_id).collect();
        json!({ "name": agent.name, "photo": agent.photo, "department_ids": department_ids })
    };
    agents.iter().map(agent_json).collect()
}

/// Returns the settings for the widget, without those that it does not need.
fn public_settings_json(settings: &WidgetSettings) -> Value {
    let mut settings = widget_settings_json(settings);
    if let Some(fields) = settings.as_object_mut() {
        fields.remove("allowed_sites");
        fields.remove("moved_from");
    }
    settings
}

fn visitor_json(visitor: &Visitor) -> Value {
    let VisitorProfile { name, email, phone, description, .. } = &visitor.profile;
    // A value that was cleared is stored as an empty text.
    let known = |value: &Option<String>| json!(value.as_deref().filter(|value| !value.is_empty()));
    let contact_info = json!({
        "client_name": known(name), "email": known(email), "phone": known(phone), "description": known(description),
    });
    let custom_data = visitor.widget.as_deref().map(|widget| widget.custom_data.as_slice()).unwrap_or_default();
    let custom_data: Vec<Value> = custom_data.iter().map(custom_data_json).collect();
    json!({
        "number": visitor.number,
        "contact_info": contact_info,
        "custom_data": custom_data,
    })
}

/// Returns a visitor, with the token if the visitor was just created.
pub fn visitor_with_token_json(visitor: &Visitor, token: Option<&str>) -> Value {
    let visitor = visitor_json(visitor);
    match token {
        Some(token) => with_fields(visitor, [("token", json!(token))]),
        None => visitor,
    }
}

pub(super) fn custom_data_json(line: &CustomData) -> Value {
    let CustomData { title, content, link, key } = line;
    json!({ "title": title, "content": content, "link": link, "key": key })
}

/// Returns a chat as the visitor sees it. `photo` is the photo of the chat's agent, which chats do not store.
pub fn chat_json(chat: &Chat, photo: Option<&str>) -> Value {
    // A chat that an earlier version of the service stored does not contain when its agent got it.
    let joined_at = chat.agent_joined_at.unwrap_or(chat.opened_at);
    let agent = |agent: &AgentSnapshot| json!({ "name": agent.name, "photo": photo, "joined_at": joined_at.0 });
    json!({
        "chat_id": chat.chat_id,
        "state": chat.state.name(),
        "agent": chat.state.agent().map(agent),
        "last_seq": chat.seq,
        "rated": chat.rating.is_some(),
        "rate": chat.rating.map(Rating::name),
    })
}

/// Returns a message as the visitor sees it. Returns `None` for entries that are not shown as messages: private notes,
/// calls, entries of the system, notifications, and messages that cannot be displayed.
pub fn message_json(entry: &TimelineEntry) -> Option<Value> {
    let author = match &entry.from {
        Sender::Visitor => Map::new(),
        Sender::Agent(agent) => without_nulls([("name", json!(agent.name)), ("photo", json!(agent.photo))]),
        Sender::Bot(name) => without_nulls([("name", json!(name))]),
        Sender::System => return None,
    };
    if !entry.content.is_visible_to_visitor() {
        return None;
    }
    let mut fields = message_content::message_fields(&entry.content);
    fields.extend(author);
    let place = [
        ("seq", json!(entry.seq)),
        ("chat_id", json!(entry.chat_id)),
        ("at", json!(entry.at.0)),
        ("from", json!(entry.from.name())),
    ];
    Some(with_fields(Value::Object(fields), place))
}

/// Returns the visitor's own message with the id that the widget has given it.
pub fn own_message_json(entry: &TimelineEntry, message_id: &str) -> Value {
    let message = message_json(entry).unwrap_or_default();
    json!({ "chat_id": entry.chat_id, "message": with_fields(message, [("message_id", json!(message_id))]) })
}

/// Returns the response to a message that was dropped because its visitor is blacklisted. The widget shows the message
/// as sent. The numbers of the message and of its chat are 0.
pub fn blacklisted_message_json(content: &Content, message_id: &str, now: Timestamp) -> Value {
    let mut message = message_content::message_fields(content);
    message.extend(without_nulls([
        ("seq", json!(0)),
        ("chat_id", json!(0)),
        ("at", json!(now.0)),
        ("from", json!(Sender::Visitor.name())),
        ("message_id", json!(message_id)),
    ]));
    json!({ "chat_id": 0, "message": message })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn invalid_field<T>(parsed: Result<T, Error>) -> Option<String> {
        parsed.err().and_then(|error| error.invalid_field().map(str::to_owned))
    }

    #[test]
    fn custom_data_is_limited_and_its_tags_stay_text() {
        let line = json!({ "content": "<b>x</b>", "title": "T", "key": 7, "link": "https://a.example/" });
        let parsed = parse_visitor_update(&json!({ "custom_data": vec![line.clone(); 10] })).unwrap().custom_data;
        let first = parsed.unwrap().swap_remove(0);
        assert_eq!((&*first.content, first.key.as_deref()), ("<b>x</b>", Some("7")));
        for (field, custom_data) in [
            ("custom_data", json!("x")),
            ("custom_data", json!({})),
            ("custom_data", json!(vec![line; 11])),
            ("custom_data[0]", json!(["x"])),
            ("custom_data[1].content", json!([{ "content": "x" }, { "title": "x" }])),
            ("custom_data[0].content", json!([{ "content": "x".repeat(1_001) }])),
            ("custom_data[0].content", json!([{ "content": [] }])),
            ("custom_data[0].link", json!([{ "content": "x", "link": "javascript:alert(1)" }])),
            (
                "custom_data[0].link",
                json!([{ "content": "x", "link": format!("https://a.example/{}", "x".repeat(1_000)) }]),
            ),
            ("custom_data[0].title", json!([{ "content": "x", "title": "x".repeat(256) }])),
        ] {
            let parsed = parse_visitor_update(&json!({ "custom_data": custom_data }));
            assert_eq!(invalid_field(parsed).as_deref(), Some(field), "{custom_data}");
        }
    }

    #[test]
    fn error_names_the_invalid_field_of_a_visitor() {
        for (field, body) in [
            ("contact_info", json!({ "contact_info": [] })),
            ("contact_info.name", json!({ "contact_info": { "name": 7 } })),
            ("contact_info.email", json!({ "contact_info": { "email": "x".repeat(256) } })),
            ("source", json!({ "source": "agent" })),
            ("user_token", json!({ "user_token": 7 })),
            ("user_token", json!({ "user_token": "x".repeat(2_049) })),
            ("page", json!({ "page": "https://a.example" })),
            ("page.url", json!({ "page": { "url": 7 } })),
            ("page.url", json!({ "page": { "url": format!("https://a.example/{}", "x".repeat(4_079)) } })),
            ("answers", json!({ "answers": [] })),
            ("answers", json!({ "answers": { "a": 7 } })),
            ("answers", json!({ "answers": { "a": "x".repeat(1_001) } })),
            ("answers", json!({ "answers": { "a": "", "b": "", "c": "", "d": "", "e": "", "f": "" } })),
            ("utm.source", json!({ "utm": { "source": {} } })),
            ("analytics.ga", json!({ "analytics": { "ga": 7 } })),
            ("clear_history", json!({ "clear_history": 1 })),
        ] {
            assert_eq!(invalid_field(parse_visitor_update(&body)).as_deref(), Some(field), "{body}");
        }
        let tracking = json!({ "page": { "url": "https://a.example", "title": "x".repeat(300) } });
        let page = parse_visitor_update(&tracking).unwrap().page.unwrap();
        assert_eq!(page.title.unwrap().len(), MAX_TRACKING_CHARS, "a long title is truncated");
    }

    #[test]
    fn empty_contact_field_clears_the_value() {
        let contact_info = json!({ "name": "", "email": null, "phone": " +31 20 " });
        let parsed = parse_visitor_update(&json!({ "contact_info": contact_info })).unwrap().contact_info;
        let cleared = Some(String::new());
        assert_eq!((parsed.name, parsed.email), (cleared.clone(), cleared));
        assert_eq!((parsed.phone.as_deref(), parsed.description), (Some(" +31 20 "), None));
    }

    #[test]
    fn answers_are_texts_or_ticked_boxes() {
        let answers = json!({ "order": "7", "terms": true, "topic": null, "note": " ", "more": false });
        let parsed = parse_visitor_update(&json!({ "answers": answers })).unwrap().answers.unwrap();
        let expected = [("order", Answer::Text("7".into())), ("terms", Answer::Agreed)];
        assert_eq!(parsed, expected.map(|(key, answer)| (key.to_owned(), answer)).into());
        assert_eq!(parse_visitor_update(&json!({ "answers": null })).unwrap().answers, None);
    }

    #[test]
    fn offline_message_needs_a_way_to_answer() {
        let valid = json!({ "token": "t", "message_id": "m", "message": "Hi", "email": " ada@x.example " });
        assert_eq!(parse_offline_message(&valid).unwrap().contacts.email.as_deref(), Some("ada@x.example"));
        for (field, change) in [
            ("token", json!({ "token": null })),
            ("message_id", json!({ "message_id": "" })),
            ("message_id", json!({ "message_id": "x".repeat(65) })),
            ("message", json!({ "message": " " })),
            ("email", json!({ "email": null })),
            ("email", json!({ "email": "ada" })),
            ("email", json!({ "email": "a b@x.example" })),
            ("phone", json!({ "phone": "call me" })),
            ("phone", json!({ "phone": "1" })),
        ] {
            let mut body = valid.clone();
            body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
            assert_eq!(invalid_field(parse_offline_message(&body)).as_deref(), Some(field), "{change}");
        }
        let by_phone = json!({ "token": "t", "message_id": "m", "message": "Hi", "phone": "+31 (6) 12-34" });
        assert!(parse_offline_message(&by_phone).is_ok());
    }

    #[test]
    fn history_needs_a_position() {
        let parse = |before: Value| parse_history_request(&json!({ "before": before }));
        let position = HistoryPosition { chat_id: 7, seq: 3 };
        assert_eq!(parse(json!({ "chat_id": 7, "seq": 3 })).unwrap(), position);
        for (field, before) in [
            ("before", json!(null)),
            ("before", json!(3)),
            ("before.chat_id", json!({ "seq": 3 })),
            ("before.seq", json!({ "chat_id": 7 })),
            ("before.seq", json!({ "chat_id": 7, "seq": 0 })),
        ] {
            assert_eq!(invalid_field(parse(before.clone())).as_deref(), Some(field), "{before}");
        }
    }

    #[test]
    fn rating_must_be_given_and_can_be_removed() {
        let parse = |rate: Value| parse_rating(&json!({ "chat_id": 7, "rate": rate }));
        assert_eq!(parse(json!("positive")).unwrap(), (7, Some(Rating::Positive)));
        assert_eq!(parse(json!(null)).unwrap(), (7, None));
        assert_eq!(invalid_field(parse(json!("good"))).as_deref(), Some("rate"));
        assert_eq!(invalid_field(parse_rating(&json!({ "chat_id": 7 }))).as_deref(), Some("rate"));
    }
}
