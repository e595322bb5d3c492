//! Builds the bodies of the events that are sent to webhooks, and interprets the responses (specification, part C).

use serde_json::{Map, Value, json};

use crate::domain::agent::Agent;
use crate::domain::chat::{Chat, Rating, Sender};
use crate::domain::chat_side_panel::{CustomData, PanelUpdate, strip_tags};
use crate::domain::department::ChatDepartment;
use crate::domain::message_content::truncate_chars;
use crate::domain::phone_call::PhoneCall;
use crate::domain::timeline_entry::TimelineEntry;
use crate::domain::visitor::{Visitor, VisitorProfile};
use crate::domain::webhook::WebhookDispatch;
use crate::domain::webhook_event::WebhookEvent;
use crate::domain::widget_visitor::{Analytics, BrowserSession, GeoIp, Utm, WidgetVisitor};
use crate::wire::integrator_response;
use crate::wire::json_object::without_nulls;
use crate::wire::widget;

/// The maximum number of custom data items in a response. Further items are ignored.
const MAX_CUSTOM_DATA_ITEMS: usize = 50;
/// The maximum length of a custom data item's content (specification, part D) and of a visitor's description.
const MAX_CUSTOM_DATA_CHARS: usize = 1_000;
/// The maximum length of the excerpt that is stored if a response does not confirm the event.
const MAX_EXCERPT_CHARS: usize = 200;
/// The maximum length of a title, a key, a name, a phone number or an e-mail address.
const MAX_WEBHOOK_FIELD_CHARS: usize = 255;
const MAX_URL_BYTES: usize = 4_096;

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
    pub chat: &'a Chat,
    pub visitor: &'a Visitor,
    /// The agents in the body: for chat_finished, the chat's participants; for chat_accepted and chat_assigned, the
    /// agent who did it; for chat_updated, the agent who has or had the chat; for call_event, the agent who is called;
    /// for offline_message, none.
    pub agents: &'a [Agent],
    /// Entries of the chat, from the oldest to the newest: for chat_finished, the last ones; for offline_message, those
    /// before the notification; none for other events.
    pub timeline: &'a [TimelineEntry],
    /// The text of the invitation that the visitor has accepted. Only chat_finished uses it.
    pub invite: Option<String>,
}

impl WebhookPayload<'_> {
    pub fn body(&self) -> Value {
        let event = self.webhook_dispatch.event;
        let mut body = self.common_fields();
        match event {
            WebhookEvent::ChatFinished => {
                body.extend(self.chat_finished_fields());
            }
            WebhookEvent::ChatAssigned => {
                body.insert("agent".to_owned(), self.agent_or_null());
                body.insert("assign_to".to_owned(), json!(self.webhook_dispatch.assign_to));
            }
            WebhookEvent::ChatAccepted => {
                body.insert("agent".to_owned(), self.agent_or_null());
            }
            WebhookEvent::ChatUpdated => {
                body.insert("agent".to_owned(), self.agent_or_null());
                if self.webhook_dispatch.reports_rating {
                    body.insert("chat".to_owned(), json!({ "rate": self.chat.rating.map(Rating::name) }));
                }
            }
            WebhookEvent::CallEvent => {
                body.insert("agent".to_owned(), self.agent_or_null());
                body.insert("call".to_owned(), self.webhook_dispatch.call.as_ref().map_or(Value::Null, call_json));
                body.remove("user_token");
            }
            WebhookEvent::OfflineMessage => {
                body.extend(self.offline_message_fields());
                body.insert("chat_id".to_owned(), Value::Null);
                body.remove("department");
            }
        }
        Value::Object(body)
    }

    fn common_fields(&self) -> Map<String, Value> {
        let widget = self.visitor.widget.as_deref();
        let fields = [
            ("event_name", json!(self.webhook_dispatch.event.name())),
            ("chat_id", json!(self.chat.chat_id)),
            ("widget_id", json!(self.chat.channel_id)),
            ("visitor", visitor_json(self.visitor)),
            ("session", with_every_utm_key(session_json(self.visitor))),
            ("page", page_json(self.visitor)),
            ("analytics", widget.and_then(|widget| widget.analytics.as_ref()).map_or(Value::Null, analytics_json)),
            ("user_token", json!(widget.and_then(|widget| widget.user_token.as_deref()))),
        ];
        let department = self.chat.department.as_ref().map(|department| ("department", department_json(department)));
        fields.into_iter().chain(department).map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Returns the first of `agents` as JSON, or null if the list is empty.
    fn agent_or_null(&self) -> Value {
        self.agents.first().map_or(Value::Null, agent_json)
    }

    fn chat_finished_fields(&self) -> [(String, Value); 4] {
        let messages: Vec<&TimelineEntry> = self.timeline.iter().filter(|entry| is_visible_message(entry)).collect();
        let included = self.newest_within_limit(&messages);
        let is_complete = included.len() == messages.len() && self.timeline.first().is_some_and(|entry| entry.seq == 1);
        let records: Vec<Value> = included.iter().map(|entry| message_record(entry)).collect();
        let chat = json!({
            "messages": records,
            "rate": self.chat.rating.map(Rating::name),
            "blacklisted": self.visitor.blacklisted,
            "invitation": self.invite,
            "beginning_missing": !is_complete,
        });
        let [plain, html] = if is_complete {
            [String::new(), String::new()]
        } else {
            [format!("({OMISSION_NOTICE})\n"), format!("<p><i>{OMISSION_NOTICE}</i></p>\n")]
        };
        [
            ("agents".to_owned(), self.agents.iter().map(agent_json).collect()),
            ("chat".to_owned(), chat),
            ("plain_messages".to_owned(), json!(plain + &self.transcript(included, plain_text_line))),
            ("html_messages".to_owned(), json!(html + &self.transcript(included, html_line))),
        ]
    }

    fn offline_message_fields(&self) -> impl Iterator<Item = (String, Value)> {
        let message = self.timeline.iter().rfind(|entry| entry.from == Sender::Visitor);
        let fields = message
            .map(|entry| [("offline_message_id", json!(entry.id)), ("message", json!(entry.content.to_plain_text()))]);
        fields.into_iter().flatten().map(|(name, value)| (name.to_owned(), value))
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

/// Returns an item of `chat.messages`. The specification does not define bot messages, so they are sent as messages
/// from an agent with the id 0.
fn message_record(entry: &TimelineEntry) -> Value {
    let text = entry.content.to_plain_text();
    let timestamp = entry.at.seconds();
    match &entry.from {
        Sender::Visitor | Sender::System => json!({ "message": text, "timestamp": timestamp, "type": "visitor" }),
        Sender::Agent(_) | Sender::Bot(_) => {
            let agent_id = if let Sender::Agent(agent) = &entry.from { agent.agent_id } else { 0 };
            json!({ "message": text, "timestamp": timestamp, "type": "agent", "agent_id": agent_id })
        }
    }
}

/// Returns the `visitor` object (specification, table C1). Values that are not known are empty texts, because receivers
/// read these keys without checking whether they exist. Visitors of API channels also have the integrator's id.
fn visitor_json(visitor: &Visitor) -> Value {
    let VisitorProfile { name, phone, email, description, photo: _, url: _ } = &visitor.profile;
    let text = |value: &Option<String>| json!(value.as_deref().unwrap_or_default());
    let external_id = visitor.widget.is_none().then_some(&visitor.external_id);
    let answers = visitor.widget.as_deref().map(|widget| widget.answers.as_slice()).filter(|lines| !lines.is_empty());
    let answers = answers.map(|lines| lines.iter().map(widget::custom_data_json).collect::<Value>());
    Value::Object(without_nulls([
        ("number", json!(visitor.number.to_string())),
        ("name", text(name)),
        ("email", text(email)),
        ("phone", text(phone)),
        ("description", text(description)),
        ("social", json!({})),
        ("chats_count", json!(visitor.chats)),
        ("external_id", json!(external_id)),
        ("answers", json!(answers)),
    ]))
}

/// Adds the keys of `utm_json` that are not known, with empty texts.
fn with_every_utm_key(mut session: Value) -> Value {
    if let Some(utm) = session.get_mut("utm_json").and_then(Value::as_object_mut) {
        for key in Utm::NAMES {
            utm.entry(key).or_insert_with(|| json!(""));
        }
    }
    session
}

/// Returns the `department` object (specification, table C1).
pub(super) fn department_json(department: &ChatDepartment) -> Value {
    let ChatDepartment { department_id, name } = department;
    json!({ "id": department_id, "name": name })
}

fn agent_json(agent: &Agent) -> Value {
    let Agent { agent_id, name, email, phone, .. } = agent;
    let fields = [("id", json!(agent_id)), ("name", json!(name)), ("email", json!(email)), ("phone", json!(phone))];
    Value::Object(without_nulls(fields))
}

fn call_json(call: &PhoneCall) -> Value {
    let PhoneCall { kind, phone, status } = call;
    Value::Object(without_nulls([
        ("type", json!(kind.name())),
        ("phone", json!(phone)),
        ("status", json!(status.name())),
        ("reason", json!(status.reason())),
        ("record_url", json!(status.record_url())),
    ]))
}

/// Returns the `session` object, which describes the visitor's browser. Its fields are empty for the visitor of an API
/// channel, whose messages come from the integrator's server.
pub(super) fn session_json(visitor: &Visitor) -> Value {
    let WidgetVisitor { session, utm, .. } = visitor.widget.as_deref().cloned().unwrap_or_default();
    let BrowserSession { ip_addr, user_agent, referrer: _, geoip } = session;
    let GeoIp { region_code, country, country_code, region, city, latitude, longitude } = geoip;
    let utm_json: Map<String, Value> = utm.parameters().map(|(name, value)| (name.to_owned(), json!(value))).collect();
    let utm = utm.parameters().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("|");
    json!({
        "geoip": {
            "region_code": region_code, "country": country, "country_code": country_code, "region": region,
            "city": city, "latitude": latitude, "longitude": longitude, "organization": "",
        },
        "utm": utm, "utm_json": utm_json, "ip_addr": ip_addr, "user_agent": user_agent,
    })
}

/// Returns the `page` object (specification, table C1).
fn page_json(visitor: &Visitor) -> Value {
    let title = visitor.widget.as_deref().and_then(|widget| widget.page_title.as_deref());
    let url = visitor.profile.page().unwrap_or_default();
    json!({ "url": url, "title": title.unwrap_or_default() })
}

fn analytics_json(analytics: &Analytics) -> Value {
    let Analytics { ga, ym } = analytics;
    json!({ "ga": ga, "ym": ym })
}

#[derive(Clone, Debug, PartialEq)]
pub enum WebhookResponse {
    /// The webhook confirmed the event: `result` is OK, or the event is call_event, for which every 2xx response counts
    /// as a confirmation. The data is empty for events whose response does not contain data.
    Confirmed(Box<WebhookResponseData>),
    /// The response has a 2xx status but no text in `result`. The event counts as delivered, but the data in the
    /// response is ignored. The field contains the beginning of the body.
    Unconfirmed(String),
    /// The webhook rejected the event: `result` is FAILURE or an error message. The event is not sent again. The field
    /// contains the error text.
    Rejected(String),
    /// The status is not 2xx, so the event is sent again if an attempt is left. The field contains the error text.
    Retry(String),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct WebhookResponseData {
    pub panel: PanelUpdate,
    pub contact_info: VisitorProfile,
}

/// Interprets the HTTP response to an event. Invalid fields are ignored and long texts are truncated, but the rest of
/// the response is still used.
pub fn interpret_response(event: WebhookEvent, status: u16, body: &[u8]) -> WebhookResponse {
    if !(200..=299).contains(&status) {
        return WebhookResponse::Retry(format!("HTTP {status}"));
    }
    if event == WebhookEvent::CallEvent {
        return WebhookResponse::Confirmed(Box::default());
    }
    let value = integrator_response::parse_json(body);
    let object = value.as_ref().and_then(Value::as_object);
    let result = object.and_then(|object| object.get("result")?.as_str()).map(str::trim);
    match (object, result) {
        (Some(object), Some(result)) if result.eq_ignore_ascii_case("ok") => {
            WebhookResponse::Confirmed(Box::new(if event.accepts_panel_data() {
                response_data(object)
            } else {
                WebhookResponseData::default()
            }))
        }
        (Some(_), Some(result)) if !result.is_empty() => WebhookResponse::Rejected(format!(
            "the response is: {}",
            truncate_chars(&strip_tags(result), MAX_WEBHOOK_FIELD_CHARS)
        )),
        _ => WebhookResponse::Unconfirmed(excerpt(body)),
    }
}

/// Returns the beginning of a body as one line without HTML tags, or `(nothing)` if there is no text.
fn excerpt(body: &[u8]) -> String {
    let text = strip_tags(&String::from_utf8_lossy(body));
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() { "(nothing)".to_owned() } else { truncate_chars(&line, MAX_EXCERPT_CHARS) }
}

fn response_data(object: &Map<String, Value>) -> WebhookResponseData {
    let contact_field = |name: &str, max_chars: usize| non_blank_text(object.get("contact_info")?.get(name), max_chars);
    let panel = PanelUpdate {
        custom_data: object.get("custom_data").and_then(parse_custom_data),
        enable_assign: object.get("enable_assign").and_then(Value::as_bool),
        crm_link: object.get("crm_link").and_then(|link| field_update(link, web_link)),
        page: object.get("page").and_then(|value| field_update(value, parse_page)),
    };
    let contact_info = VisitorProfile {
        name: contact_field("name", MAX_WEBHOOK_FIELD_CHARS),
        phone: contact_field("phone", MAX_WEBHOOK_FIELD_CHARS),
        email: contact_field("email", MAX_WEBHOOK_FIELD_CHARS),
        description: contact_field("description", MAX_CUSTOM_DATA_CHARS),
        ..VisitorProfile::default()
    };
    WebhookResponseData { panel, contact_info }
}

/// Returns the update to an optional panel field. If the value is null or empty, returns `Some(None)`, which clears the
/// field. If the value is invalid, returns `None`, which leaves the field unchanged.
fn field_update<T>(value: &Value, parse: fn(Option<&Value>) -> Option<T>) -> Option<Option<T>> {
    let is_empty = match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    };
    if is_empty { Some(None) } else { parse(Some(value)).map(Some) }
}

fn parse_page(value: Option<&Value>) -> Option<(String, Option<String>)> {
    let page = value?;
    Some((web_link(page.get("url"))?, non_blank_text(page.get("title"), MAX_WEBHOOK_FIELD_CHARS)))
}

fn parse_custom_data(value: &Value) -> Option<Vec<CustomData>> {
    let items = if value.is_null() { &[] } else { value.as_array()?.as_slice() };
    let parse_item = |item: &Value| {
        Some(CustomData {
            title: non_blank_text(item.get("title"), MAX_WEBHOOK_FIELD_CHARS),
            content: truncate_chars(&plain_text(item.get("content")?)?, MAX_CUSTOM_DATA_CHARS),
            link: web_link(item.get("link")),
            key: non_blank_text(item.get("key"), MAX_WEBHOOK_FIELD_CHARS),
        })
    };
    Some(items.iter().filter_map(parse_item).take(MAX_CUSTOM_DATA_ITEMS).collect())
}

/// Returns a text, truncated to `max_chars` characters, or `None` if the value is blank or is neither a string nor a
/// number.
fn non_blank_text(value: Option<&Value>, max_chars: usize) -> Option<String> {
    plain_text(value?).filter(|text| !text.trim().is_empty()).map(|text| truncate_chars(&text, max_chars))
}

/// Returns a string without its HTML tags, or a number as text. Returns `None` for other JSON types.
fn plain_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(strip_tags(text)),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn web_link(value: Option<&Value>) -> Option<String> {
    let link = value?.as_str().filter(|link| link.len() <= MAX_URL_BYTES)?;
    let is_web = url::Url::parse(link).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    is_web.then(|| link.to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;

    fn accepted(body: &Value) -> WebhookResponseData {
        let answer = interpret_response(WebhookEvent::ChatAccepted, 200, body.to_string().as_bytes());
        let WebhookResponse::Confirmed(data) = answer else { panic!("{answer:?}") };
        *data
    }

    #[test]
    fn confirmed_response_is_read_completely() {
        let data = accepted(&json!({
            "result": "ok",
            "custom_data": [{ "title": "Plan", "content": "<b>Gold</b>", "key": "plan", "link": "https://crm.example/1" }, { "content": "two" }],
            "contact_info": { "name": "Ann", "phone": "", "email": "a@b.c" },
            "enable_assign": true, "crm_link": "https://crm.example/card", "page": { "url": "https://x.example", "title": "Home" }
        }));
        let PanelUpdate { custom_data, enable_assign, crm_link, page } = data.panel;
        let custom_data = custom_data.unwrap();
        let contents: Vec<&str> = custom_data.iter().map(|item| item.content.as_str()).collect();
        assert_eq!(contents, ["Gold", "two"]);
        assert_eq!(custom_data.first().unwrap().link.as_deref(), Some("https://crm.example/1"));
        assert_eq!(enable_assign, Some(true));
        assert_eq!(crm_link, Some(Some("https://crm.example/card".into())));
        assert_eq!(page, Some(Some(("https://x.example".into(), Some("Home".into())))));
        assert_eq!((data.contact_info.name.as_deref(), data.contact_info.phone.as_deref()), (Some("Ann"), None));
    }

    #[test]
    fn invalid_fields_of_a_response_are_ignored() {
        let data = accepted(&json!({
            "result": "OK", "contact_info": [], "crm_link": "javascript:alert(1)", "enable_assign": "yes",
            "custom_data": [{ "content": true }, "x", { "content": "ok", "link": "javascript:alert(1)", "title": [3] }],
            "page": { "url": 7 }
        }));
        let only = CustomData { title: None, content: "ok".into(), link: None, key: None };
        let panel = PanelUpdate { custom_data: Some(vec![only]), ..PanelUpdate::default() };
        assert_eq!(data, WebhookResponseData { panel, ..WebhookResponseData::default() });
    }

    #[test]
    fn absent_fields_are_preserved_and_empty_ones_cleared() {
        assert_eq!(accepted(&json!({ "result": "OK" })), WebhookResponseData::default());
        let cleared = accepted(&json!({ "result": "OK", "custom_data": [], "crm_link": "", "page": null })).panel;
        let expected =
            PanelUpdate { custom_data: Some(Vec::new()), enable_assign: None, crm_link: Some(None), page: Some(None) };
        assert_eq!(cleared, expected);
    }

    #[test]
    fn numbers_are_read_as_text() {
        let data = accepted(&json!({
            "result": "OK",
            "custom_data": [{ "content": 7, "title": 1.5, "key": -3 }],
            "contact_info": { "name": 42, "phone": 31_612_345_678_u64, "email": null, "description": 0 },
        }));
        let line = CustomData { title: Some("1.5".into()), content: "7".into(), link: None, key: Some("-3".into()) };
        assert_eq!(data.panel.custom_data, Some(vec![line]));
        let VisitorProfile { name, phone, email, description, .. } = data.contact_info;
        let expected = [Some("42"), Some("31612345678"), None, Some("0")];
        assert_eq!([&name, &phone, &email, &description].map(|text| text.as_deref()), expected);
    }

    #[test]
    fn data_of_a_response_is_limited() {
        let long = "é<b>".repeat(5_000);
        let line = json!({ "content": long, "title": long, "key": long, "link": format!("https://x.example/{long}") });
        let contact_info = json!({ "name": long, "phone": long, "email": long, "description": long });
        let data = accepted(&json!({ "result": "OK", "custom_data": vec![line; 60], "contact_info": contact_info }));
        let short = "é".repeat(MAX_WEBHOOK_FIELD_CHARS);
        let line = CustomData {
            title: Some(short.clone()),
            content: "é".repeat(MAX_CUSTOM_DATA_CHARS),
            link: None,
            key: Some(short.clone()),
        };
        assert_eq!(data.panel.custom_data, Some(vec![line; MAX_CUSTOM_DATA_ITEMS]));
        let VisitorProfile { name, phone, email, description, .. } = data.contact_info;
        assert_eq!([name, phone, email], [(); 3].map(|()| Some(short.clone())));
        assert_eq!(description, Some("é".repeat(MAX_CUSTOM_DATA_CHARS)));
    }

    #[test]
    fn only_2xx_with_result_ok_is_confirmed() {
        let unconfirmed = |answer: &str| WebhookResponse::Unconfirmed(answer.to_owned());
        let rejected = |text: &str| WebhookResponse::Rejected(format!("the response is: {text}"));
        let retry = |status: u16| WebhookResponse::Retry(format!("HTTP {status}"));
        let confirmed = || WebhookResponse::Confirmed(Box::default());
        let table = [
            (200, r#"{"result":"OK"}"#, confirmed()),
            (201, r#"{"result":"ok"}"#, confirmed()),
            (299, r#""{\"result\":\"OK\"}""#, confirmed()),
            (200, "<html>\n<h1>It  works!</h1></html>", unconfirmed("It works!")),
            (204, "", unconfirmed("(nothing)")),
            (200, "{}", unconfirmed("{}")),
            (200, r#"{"result":7}"#, unconfirmed(r#"{"result":7}"#)),
            (200, r#"{"result":null}"#, unconfirmed(r#"{"result":null}"#)),
            (200, r#"{"result":" "}"#, unconfirmed(r#"{"result":" "}"#)),
            (200, r#"[{"result":"OK"}]"#, unconfirmed(r#"[{"result":"OK"}]"#)),
            (200, r#"{"result":"OK","custom_da"#, unconfirmed(r#"{"result":"OK","custom_da"#)),
            (200, r#""\"{\\\"result\\\":\\\"OK\\\"}\"""#, unconfirmed(r#""\"{\\\"result\\\":\\\"OK\\\"}\"""#)),
            (200, r#"{"result":"FAILURE"}"#, rejected("FAILURE")),
            (202, r#"{"result":"failure"}"#, rejected("failure")),
            (200, r#"{"result":"<<i>img src=x> no card"}"#, rejected("img src=x> no card")),
            (199, r#"{"result":"OK"}"#, retry(199)),
            (302, r#"{"result":"OK"}"#, retry(302)),
            (404, r#"{"result":"FAILURE"}"#, retry(404)),
            (500, r#"{"result":"OK"}"#, retry(500)),
        ];
        for (status, body, expected) in table {
            for event in [WebhookEvent::ChatAccepted, WebhookEvent::ChatFinished] {
                assert_eq!(interpret_response(event, status, body.as_bytes()), expected, "{status} {body}");
            }
        }
        for (status, expected) in [(200, confirmed()), (204, confirmed()), (302, retry(302)), (503, retry(503))] {
            assert_eq!(interpret_response(WebhookEvent::CallEvent, status, b"whatever"), expected, "{status}");
        }
    }

    #[test]
    fn html_line_escapes_markup_and_keeps_line_breaks() {
        let line = html_line("A & \"B\"", "<i>\n'x'");
        assert_eq!(line, "<p><b>A &amp; &quot;B&quot;:</b> &lt;i&gt;<br>'x'</p>\n");
    }

    #[test]
    fn unconfirmed_response_is_truncated_to_an_excerpt() {
        let WebhookResponse::Unconfirmed(answer) =
            interpret_response(WebhookEvent::ChatFinished, 200, "é ".repeat(50_000).as_bytes())
        else {
            panic!("not unconfirmed")
        };
        assert_eq!(answer.chars().count(), MAX_EXCERPT_CHARS);
        let bytes = [b'a', 0xff, b'b'];
        assert_eq!(
            interpret_response(WebhookEvent::ChatFinished, 200, &bytes),
            WebhookResponse::Unconfirmed("a\u{fffd}b".into())
        );
    }
}
