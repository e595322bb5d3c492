//! The server-side webhooks (specification, part C): the bodies of the events and what their answers mean.

use serde_json::{Map, Value, json};

use crate::domain::account::Agent;
use crate::domain::call::Call;
use crate::domain::chat::{Chat, Rating, Sender};
use crate::domain::content::cut;
use crate::domain::department::ChatDepartment;
use crate::domain::entry::Entry;
use crate::domain::panel::{CustomData, PanelChange, without_tags};
use crate::domain::visitor::{Profile, Visitor};
use crate::domain::webhook::{WebhookDispatch, WebhookEvent};
use crate::wire::channel_response;

/// Lines of custom data that are kept of an answer.
const MAX_CUSTOM_DATA_ITEMS: usize = 50;
/// Characters of a line's content (specification, part D), and of a description.
const MAX_CUSTOM_DATA_CHARS: usize = 1_000;
/// Characters of an answer that an entry keeps.
const MAX_EXCERPT_CHARS: usize = 200;
/// Characters of a title, a key, a name.
const MAX_SHORT_TEXT_CHARS: usize = 255;
/// Characters of an address.
const MAX_URL_CHARS: usize = 4_096;

/// Bytes of texts, names and what goes with them that chat_finished tells: each is in its body three times, in
/// `html_messages` an `&` as five bytes. So the largest body is some ten megabytes, of which a function of 256 MB has room for
/// a few copies, and the usual one three, which a receiver takes within a try.
pub const MAX_CHAT_LOG_BYTES: usize = 1024 * 1024;
/// Bytes of a record beside its text.
const MAX_RECORD_BYTES: usize = 100;
const OMITTED_LINE: &str = "The beginning of the chat is left out.";

/// What an entry weighs in the log, without the name of a visitor.
pub fn weight(entry: &Entry) -> usize {
    if is_said(entry) { entry.content.in_plain_text().len() + MAX_RECORD_BYTES } else { 0 }
}

/// Whether an entry is a message that the visitor wrote or got.
fn is_said(entry: &Entry) -> bool {
    entry.from != Sender::System && entry.content.is_shown()
}

/// What the events of a chat are made of.
pub struct Story<'a> {
    /// What happened, and who did it.
    pub occurrence: &'a WebhookDispatch,
    /// The chat.
    pub chat: &'a Chat,
    /// Its visitor.
    pub visitor: &'a Visitor,
    /// The agents whom the event names.
    pub agents: &'a [Agent],
    /// The timeline; only chat_finished and offline_message need it.
    pub timeline: &'a [Entry],
    /// The invitation that came with the chat; only chat_finished needs it.
    pub invite: Option<String>,
}

impl Story<'_> {
    /// The body of the event.
    pub fn body(&self) -> Value {
        let event = self.occurrence.event;
        let mut body = self.common();
        match event {
            WebhookEvent::ChatFinished => {
                body.extend(self.finished());
            }
            WebhookEvent::ChatAssigned => {
                body.insert("agent".to_owned(), self.agent());
                body.insert("assign_to".to_owned(), json!(self.occurrence.assign_to));
            }
            WebhookEvent::ChatAccepted | WebhookEvent::ChatUpdated => {
                body.insert("agent".to_owned(), self.agent());
            }
            WebhookEvent::CallEvent => {
                body.insert("agent".to_owned(), self.agent());
                body.insert("call".to_owned(), self.occurrence.call.as_ref().map_or(Value::Null, call));
                body.remove("user_token");
            }
            WebhookEvent::OfflineMessage => {
                body.extend(self.offline_message());
                body.remove("chat_id");
                body.remove("department");
            }
        }
        Value::Object(body)
    }

    fn common(&self) -> Map<String, Value> {
        let fields = [
            ("event_name", json!(self.occurrence.event.name())),
            ("chat_id", json!(self.chat.chat_id)),
            ("widget_id", json!(self.chat.channel_id)),
            ("visitor", visitor(self.visitor)),
            ("session", session()),
            ("page", json!({ "url": self.visitor.profile.page().unwrap_or_default() })),
            ("analytics", Value::Null),
            ("user_token", Value::Null),
        ];
        let department = self.chat.department.as_ref().map(|department| ("department", self::department(department)));
        fields.into_iter().chain(department).map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The agent who did it; null when nobody knows them any more.
    fn agent(&self) -> Value {
        self.agents.first().map_or(Value::Null, agent)
    }

    fn finished(&self) -> [(String, Value); 4] {
        let said: Vec<&Entry> = self.timeline.iter().filter(|entry| is_said(entry)).collect();
        let notifications = self.that_fit(&said);
        let begins = notifications.len() == said.len() && self.timeline.first().is_some_and(|entry| entry.seq == 1);
        let messages: Vec<Value> = notifications.iter().map(|entry| message(entry)).collect();
        let chat = json!({
            "messages": messages,
            "rate": self.chat.rating.map(Rating::name),
            "blacklisted": self.visitor.blacklisted,
            "invitation": self.invite,
            "beginning_missing": !begins,
        });
        let [plain, html] = if begins {
            [String::new(), String::new()]
        } else {
            [format!("({OMITTED_LINE})\n"), format!("<p><i>{OMITTED_LINE}</i></p>\n")]
        };
        [
            ("agents".to_owned(), self.agents.iter().map(agent).collect()),
            ("chat".to_owned(), chat),
            ("plain_messages".to_owned(), json!(plain + &self.log(notifications, plain_line))),
            ("html_messages".to_owned(), json!(html + &self.log(notifications, html_line))),
        ]
    }

    fn offline_message(&self) -> impl Iterator<Item = (String, Value)> {
        let message = self.timeline.iter().find(|entry| entry.from == Sender::Visitor);
        let fields = message
            .map(|entry| [("offline_message_id", json!(entry.id)), ("message", json!(entry.content.in_plain_text()))]);
        fields.into_iter().flatten().map(|(name, value)| (name.to_owned(), value))
    }

    fn log(&self, said: &[&Entry], line: fn(&str, &str) -> String) -> String {
        said.iter().map(|entry| line(self.name(entry), &entry.content.in_plain_text())).collect()
    }

    fn name<'a>(&'a self, entry: &'a Entry) -> &'a str {
        match &entry.from {
            Sender::Visitor | Sender::System => self.visitor.profile.display_name(),
            Sender::Agent(agent) => &agent.name,
            Sender::Bot(name) => name,
        }
    }

    /// The last messages that one log has room for.
    fn that_fit<'a, 'b>(&self, said: &'b [&'a Entry]) -> &'b [&'a Entry] {
        let mut room = MAX_CHAT_LOG_BYTES;
        let fits = |entry: &&&Entry| {
            let left = room.checked_sub(weight(entry) + self.name(entry).len());
            room = left.unwrap_or_default();
            left.is_some()
        };
        let fitting = said.iter().rev().take_while(fits).count();
        said.get(said.len() - fitting..).unwrap_or_default()
    }
}

fn plain_line(name: &str, text: &str) -> String {
    format!("{name}: {text}\n")
}

fn html_line(name: &str, text: &str) -> String {
    format!("<p><b>{}:</b> {}</p>\n", escaped(name), escaped(text).replace('\n', "<br>"))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn author(from: &Sender) -> Option<u64> {
    if let Sender::Agent(agent) = from { Some(agent.agent_id) } else { None }
}

/// A record of chat.messages. What a bot said is an agent's with the id 0.
fn message(entry: &Entry) -> Value {
    let text = entry.content.in_plain_text();
    let timestamp = entry.at.seconds();
    match &entry.from {
        Sender::Visitor | Sender::System => json!({ "message": text, "timestamp": timestamp, "type": "visitor" }),
        Sender::Agent(_) | Sender::Bot(_) => {
            let agent_id = author(&entry.from).unwrap_or(0);
            json!({ "message": text, "timestamp": timestamp, "type": "agent", "agent_id": agent_id })
        }
    }
}

fn visitor(visitor: &Visitor) -> Value {
    let Profile { name, phone, email, description, photo: _, url: _ } = &visitor.profile;
    let mut fields = Map::from_iter([
        ("number".to_owned(), json!(visitor.number.to_string())),
        ("description".to_owned(), json!(description.as_deref().unwrap_or_default())),
        ("social".to_owned(), json!({})),
        ("chats_count".to_owned(), json!(visitor.chats)),
    ]);
    let optional = [("name", name), ("email", email), ("phone", phone)];
    fields.extend(optional.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value.as_ref()?)))));
    Value::Object(fields)
}

/// The `department` of C1.
pub(super) fn department(department: &ChatDepartment) -> Value {
    let ChatDepartment { department_id, name } = department;
    json!({ "id": department_id, "name": name })
}

fn agent(agent: &Agent) -> Value {
    let Agent { agent_id, name, email, phone, .. } = agent;
    let mut fields = json!({ "id": agent_id, "name": name, "email": email });
    if let (Some(phone), Some(fields)) = (phone, fields.as_object_mut()) {
        fields.insert("phone".to_owned(), json!(phone));
    }
    fields
}

fn call(call: &Call) -> Value {
    let Call { kind, phone, status } = call;
    let fields = [
        ("type", Some(kind.name())),
        ("phone", Some(phone.as_str())),
        ("status", Some(status.name())),
        ("reason", status.reason()),
        ("record_url", status.record_url()),
    ];
    fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value?)))).collect()
}

/// What is known of the visitor's browser: nothing on an API channel, where only the integrator's server calls.
fn session() -> Value {
    let unknown = ["region_code", "country", "country_code", "region", "city", "latitude", "longitude", "organization"];
    let geoip: Map<String, Value> = unknown.iter().map(|name| ((*name).to_owned(), json!(""))).collect();
    json!({ "geoip": geoip, "utm": "", "utm_json": {}, "ip_addr": "", "user_agent": "" })
}

/// What a webhook's answer says.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// `result` is OK; what it brings, for the events that take data.
    Ok(Box<Brought>),
    /// A success without a `result`: the event has arrived, and nothing is brought. What was answered, for the entry.
    Unconfirmed(String),
    /// `result` is FAILURE or an error message: final, in words.
    Failure(String),
    /// No success, in words.
    TryAgain(String),
}

/// The data of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Brought {
    /// For the agent.
    pub panel: PanelChange,
    /// `contact_info`: as if the visitor had typed it.
    pub contacts: Profile,
}

/// Reads an answer. A field that is wrong is left out, one that is too long is cut; the rest still counts.
pub fn read(event: WebhookEvent, status: u16, body: &[u8]) -> Verdict {
    if !(200..=299).contains(&status) {
        return Verdict::TryAgain(format!("HTTP {status}"));
    }
    if event == WebhookEvent::CallEvent {
        return Verdict::Ok(Box::default());
    }
    let value = channel_response::json(body);
    let object = value.as_ref().and_then(Value::as_object);
    let result = object.and_then(|object| object.get("result")?.as_str()).map(str::trim);
    match (object, result) {
        (Some(object), Some(result)) if result.eq_ignore_ascii_case("ok") => {
            Verdict::Ok(Box::new(if event.takes_data() { brought(object) } else { Brought::default() }))
        }
        (Some(_), Some(result)) if !result.is_empty() => {
            Verdict::Failure(format!("the answer is: {}", cut(&without_tags(result), MAX_SHORT_TEXT_CHARS)))
        }
        _ => Verdict::Unconfirmed(excerpt(body)),
    }
}

/// The beginning of an answer on one line, without tags.
fn excerpt(body: &[u8]) -> String {
    let text = without_tags(&String::from_utf8_lossy(body));
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() { "(nothing)".to_owned() } else { cut(&line, MAX_EXCERPT_CHARS) }
}

fn brought(object: &Map<String, Value>) -> Brought {
    let contact = |name: &str, limit: usize| text(object.get("contact_info")?.get(name), limit);
    let panel = PanelChange {
        custom_data: object.get("custom_data").and_then(custom_data),
        enable_assign: object.get("enable_assign").and_then(Value::as_bool),
        crm_link: object.get("crm_link").and_then(|link| given(link, web_link)),
        page: object.get("page").and_then(|value| given(value, page)),
    };
    let contacts = Profile {
        name: contact("name", MAX_SHORT_TEXT_CHARS),
        phone: contact("phone", MAX_SHORT_TEXT_CHARS),
        email: contact("email", MAX_SHORT_TEXT_CHARS),
        description: contact("description", MAX_CUSTOM_DATA_CHARS),
        ..Profile::default()
    };
    Brought { panel, contacts }
}

/// A field of an answer: taken away where it is null or empty, left as it was where it is wrong.
fn given<T>(value: &Value, read: fn(Option<&Value>) -> Option<T>) -> Option<Option<T>> {
    let is_empty = match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    };
    if is_empty { Some(None) } else { read(Some(value)).map(Some) }
}

fn page(value: Option<&Value>) -> Option<(String, Option<String>)> {
    let page = value?;
    Some((web_link(page.get("url"))?, text(page.get("title"), MAX_SHORT_TEXT_CHARS)))
}

fn custom_data(value: &Value) -> Option<Vec<CustomData>> {
    let items = if value.is_null() { &[] } else { value.as_array()?.as_slice() };
    let read = |item: &Value| {
        Some(CustomData {
            title: text(item.get("title"), MAX_SHORT_TEXT_CHARS),
            content: cut(&as_text(item.get("content")?)?, MAX_CUSTOM_DATA_CHARS),
            link: web_link(item.get("link")),
            key: text(item.get("key"), MAX_SHORT_TEXT_CHARS),
        })
    };
    Some(items.iter().filter_map(read).take(MAX_CUSTOM_DATA_ITEMS).collect())
}

/// A text that is not blank.
fn text(value: Option<&Value>, limit: usize) -> Option<String> {
    as_text(value?).filter(|text| !text.trim().is_empty()).map(|text| cut(&text, limit))
}

/// A string without tags, or a number as it is written.
fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(without_tags(text)),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn web_link(value: Option<&Value>) -> Option<String> {
    let link = value?.as_str().filter(|link| link.len() <= MAX_URL_CHARS)?;
    let is_web = url::Url::parse(link).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    is_web.then(|| link.to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;

    fn accepted(body: &Value) -> Brought {
        let verdict = read(WebhookEvent::ChatAccepted, 200, body.to_string().as_bytes());
        let Verdict::Ok(brought) = verdict else { panic!("{verdict:?}") };
        *brought
    }

    #[test]
    fn an_ok_in_any_case_brings_everything_in_order() {
        let brought = accepted(&json!({
            "result": "ok",
            "custom_data": [{ "title": "Plan", "content": "<b>Gold</b>", "key": "plan", "link": "https://crm.example/1" }, { "content": "two" }],
            "contact_info": { "name": "Ann", "phone": "", "email": "a@b.c" },
            "enable_assign": true, "crm_link": "https://crm.example/card", "page": { "url": "https://x.example", "title": "Home" }
        }));
        let PanelChange { custom_data, enable_assign, crm_link, page } = brought.panel;
        let custom_data = custom_data.unwrap();
        let contents: Vec<&str> = custom_data.iter().map(|item| item.content.as_str()).collect();
        assert_eq!(contents, ["Gold", "two"]);
        assert_eq!(custom_data.first().unwrap().link.as_deref(), Some("https://crm.example/1"));
        assert_eq!(enable_assign, Some(true));
        assert_eq!(crm_link, Some(Some("https://crm.example/card".into())));
        assert_eq!(page, Some(Some(("https://x.example".into(), Some("Home".into())))));
        assert_eq!((brought.contacts.name.as_deref(), brought.contacts.phone.as_deref()), (Some("Ann"), None));
    }

    #[test]
    fn wrong_parts_of_an_answer_are_left_out() {
        let brought = accepted(&json!({
            "result": "OK", "contact_info": [], "crm_link": "javascript:alert(1)", "enable_assign": "yes",
            "custom_data": [{ "content": true }, "x", { "content": "ok", "link": "javascript:alert(1)", "title": [3] }],
            "page": { "url": 7 }
        }));
        let only = CustomData { title: None, content: "ok".into(), link: None, key: None };
        let panel = PanelChange { custom_data: Some(vec![only]), ..PanelChange::default() };
        assert_eq!(brought, Brought { panel, ..Brought::default() });
    }

    #[test]
    fn a_plain_ok_says_nothing_and_empty_values_take_away() {
        assert_eq!(accepted(&json!({ "result": "OK" })), Brought::default());
        let cleared = accepted(&json!({ "result": "OK", "custom_data": [], "crm_link": "", "page": null })).panel;
        let expected =
            PanelChange { custom_data: Some(Vec::new()), enable_assign: None, crm_link: Some(None), page: Some(None) };
        assert_eq!(cleared, expected);
    }

    #[test]
    fn numbers_are_taken_as_text() {
        let brought = accepted(&json!({
            "result": "OK",
            "custom_data": [{ "content": 7, "title": 1.5, "key": -3 }],
            "contact_info": { "name": 42, "phone": 31_612_345_678_u64, "email": null, "description": 0 },
        }));
        let line = CustomData { title: Some("1.5".into()), content: "7".into(), link: None, key: Some("-3".into()) };
        assert_eq!(brought.panel.custom_data, Some(vec![line]));
        let Profile { name, phone, email, description, .. } = brought.contacts;
        let expected = [Some("42"), Some("31612345678"), None, Some("0")];
        assert_eq!([&name, &phone, &email, &description].map(|text| text.as_deref()), expected);
    }

    #[test]
    fn what_an_answer_brings_is_bounded() {
        let long = "é<b>".repeat(5_000);
        let line = json!({ "content": long, "title": long, "key": long, "link": format!("https://x.example/{long}") });
        let contacts = json!({ "name": long, "phone": long, "email": long, "description": long });
        let brought = accepted(&json!({ "result": "OK", "custom_data": vec![line; 60], "contact_info": contacts }));
        let short = "é".repeat(MAX_SHORT_TEXT_CHARS);
        let line = CustomData {
            title: Some(short.clone()),
            content: "é".repeat(MAX_CUSTOM_DATA_CHARS),
            link: None,
            key: Some(short.clone()),
        };
        assert_eq!(brought.panel.custom_data, Some(vec![line; MAX_CUSTOM_DATA_ITEMS]));
        let Profile { name, phone, email, description, .. } = brought.contacts;
        assert_eq!([name, phone, email], [(); 3].map(|()| Some(short.clone())));
        assert_eq!(description, Some("é".repeat(MAX_CUSTOM_DATA_CHARS)));
    }

    #[test]
    fn only_a_success_with_result_ok_brings_something() {
        let unconfirmed = |answer: &str| Verdict::Unconfirmed(answer.to_owned());
        let failure = |words: &str| Verdict::Failure(format!("the answer is: {words}"));
        let again = |status: u16| Verdict::TryAgain(format!("HTTP {status}"));
        let ok = || Verdict::Ok(Box::default());
        let table = [
            (200, r#"{"result":"OK"}"#, ok()),
            (201, r#"{"result":"ok"}"#, ok()),
            (299, r#""{\"result\":\"OK\"}""#, ok()),
            (200, "<html>\n<h1>It  works!</h1></html>", unconfirmed("It works!")),
            (204, "", unconfirmed("(nothing)")),
            (200, "{}", unconfirmed("{}")),
            (200, r#"{"result":7}"#, unconfirmed(r#"{"result":7}"#)),
            (200, r#"{"result":null}"#, unconfirmed(r#"{"result":null}"#)),
            (200, r#"{"result":" "}"#, unconfirmed(r#"{"result":" "}"#)),
            (200, r#"[{"result":"OK"}]"#, unconfirmed(r#"[{"result":"OK"}]"#)),
            (200, r#"{"result":"OK","custom_da"#, unconfirmed(r#"{"result":"OK","custom_da"#)),
            (200, r#""\"{\\\"result\\\":\\\"OK\\\"}\"""#, unconfirmed(r#""\"{\\\"result\\\":\\\"OK\\\"}\"""#)),
            (200, r#"{"result":"FAILURE"}"#, failure("FAILURE")),
            (202, r#"{"result":"failure"}"#, failure("failure")),
            (200, r#"{"result":"<<i>img src=x> no card"}"#, failure("img src=x> no card")),
            (199, r#"{"result":"OK"}"#, again(199)),
            (302, r#"{"result":"OK"}"#, again(302)),
            (404, r#"{"result":"FAILURE"}"#, again(404)),
            (500, r#"{"result":"OK"}"#, again(500)),
        ];
        for (status, body, expected) in table {
            for event in [WebhookEvent::ChatAccepted, WebhookEvent::ChatFinished] {
                assert_eq!(read(event, status, body.as_bytes()), expected, "{status} {body}");
            }
        }
        for (status, expected) in [(200, ok()), (204, ok()), (302, again(302)), (503, again(503))] {
            assert_eq!(read(WebhookEvent::CallEvent, status, b"whatever"), expected, "{status}");
        }
    }

    #[test]
    fn an_entry_keeps_the_beginning_of_an_answer() {
        let Verdict::Unconfirmed(answer) = read(WebhookEvent::ChatFinished, 200, "é ".repeat(50_000).as_bytes())
        else {
            panic!("not unconfirmed")
        };
        assert_eq!(answer.chars().count(), MAX_EXCERPT_CHARS);
        let bytes = [b'a', 0xff, b'b'];
        assert_eq!(read(WebhookEvent::ChatFinished, 200, &bytes), Verdict::Unconfirmed("a\u{fffd}b".into()));
    }
}
