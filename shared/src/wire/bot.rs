//! The events of the Bot API (specification, part B).

use serde_json::{Map, Value, json};

use crate::domain::bot::BotNotice;
use crate::domain::chat::Chat;
use crate::domain::content::{Button, ButtonId, Content, Kind, Media, Rich};
use crate::domain::entry::Entry;
use crate::domain::visitor::{Profile, Visitor};
use crate::error::Error;
use crate::wire::fields::Fields;

/// The events that a provider may send.
const EVENTS: &str = "BOT_MESSAGE, INVITE_AGENT, CLIENT_INFO";
/// Buttons of a message (specification, Limits).
const MAX_BUTTONS: usize = 3;
/// Characters of a bot's text.
const MAX_BOT_TEXT_CHARS: usize = 10_000;
/// Characters of an id, a name, a title or a button.
const MAX_SHORT_TEXT_CHARS: usize = 1_000;
/// Characters of a number that is given as a string.
const MAX_NUMBER_CHARS: usize = 20;

/// An event of a provider, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderEvent {
    /// What chat it is about.
    pub route: Route,
    /// What it says.
    pub kind: EventKind,
}

/// What a provider's event says.
#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// BOT_MESSAGE.
    Message(Box<Content>),
    /// INVITE_AGENT.
    InviteAgent,
    /// CLIENT_INFO: what the bot learned.
    ClientInfo(Box<Profile>),
}

/// How an event names its chat; at least one way, in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Route {
    /// The chat.
    pub chat_id: Option<u64>,
    /// The visitor's number.
    pub client_id: Option<u64>,
    /// The id of the event, which may repeat that of a CLIENT_MESSAGE.
    pub id: Option<String>,
}

/// Reads a body of B-1.
pub fn read(body: &Value) -> Result<ProviderEvent, Error> {
    let body = Fields::of(body)?;
    let event = body.required_text("event", MAX_SHORT_TEXT_CHARS)?;
    let route = Route {
        chat_id: id(body, "chat_id")?,
        client_id: id(body, "client_id")?,
        id: body.text_or_number("id", MAX_SHORT_TEXT_CHARS)?,
    };
    let kind = match event.as_str() {
        "BOT_MESSAGE" => EventKind::Message(Box::new(message(body.object("message")?)?)),
        "INVITE_AGENT" => EventKind::InviteAgent,
        "CLIENT_INFO" => EventKind::ClientInfo(Box::new(contacts(body)?)),
        _ => return Err(Error::EventNotSupported(EVENTS)),
    };
    Ok(ProviderEvent { route, kind })
}

/// An id of ours as it may come back: a number or its digits.
fn id(body: Fields<'_>, name: &str) -> Result<Option<u64>, Error> {
    let Some(value) = given(body, name) else { return Ok(None) };
    let number = value.as_u64().or_else(|| digits(value)?.parse().ok());
    number.map(Some).ok_or_else(|| body.refuse(name, "must be an id that the service sent"))
}

fn digits(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| text.len() <= MAX_NUMBER_CHARS)
}

/// A value; none when it is a blank string.
fn given<'a>(fields: Fields<'a>, name: &str) -> Option<&'a Value> {
    fields.value(name).filter(|value| value.as_str().is_none_or(|text| !text.trim().is_empty()))
}

fn message(message: Fields<'_>) -> Result<Content, Error> {
    timestamp(message)?;
    let kind = message.required_text("type", MAX_SHORT_TEXT_CHARS)?;
    let (kind, text, rich) = match kind.as_str() {
        "TEXT" => (Kind::Text, Some(required(message, "text", MAX_BOT_TEXT_CHARS)?), Rich::default()),
        "MARKDOWN" => {
            let content = Some(required(message, "content", MAX_BOT_TEXT_CHARS)?);
            (Kind::Markdown, message.text("text", MAX_BOT_TEXT_CHARS)?, Rich { content, ..Rich::default() })
        }
        "BUTTONS" => {
            let (title, buttons) = (message.text("title", MAX_SHORT_TEXT_CHARS)?, buttons(message)?);
            (Kind::Buttons, message.text("text", MAX_BOT_TEXT_CHARS)?, Rich { title, buttons, ..Rich::default() })
        }
        _ => return Err(message.refuse("type", "must be one of TEXT, MARKDOWN, BUTTONS")),
    };
    let rich = Rich { force_reply: message.flag("force_reply")?.unwrap_or(false), ..rich };
    let rich = (rich != Rich::default()).then(|| Box::new(rich));
    Ok(Content { kind, text, media: Media::default(), rich })
}

/// A required string of a bot; an empty or blank one counts as absent.
fn required(fields: Fields<'_>, name: &str, max_chars: usize) -> Result<String, Error> {
    fields.text(name, max_chars)?.ok_or_else(|| fields.refuse(name, "is required"))
}

fn buttons(message: Fields<'_>) -> Result<Vec<Button>, Error> {
    let list = message.value("buttons").ok_or_else(|| message.refuse("buttons", "is required"))?;
    let list = list.as_array().filter(|list| (1..=MAX_BUTTONS).contains(&list.len()));
    let list = list.ok_or_else(|| message.refuse("buttons", "must be a list of 1 to 3 buttons"))?;
    list.iter().enumerate().map(|(index, button)| read_button(message, index, button)).collect()
}

fn read_button(message: Fields<'_>, index: usize, button: &Value) -> Result<Button, Error> {
    let refuse = |what: &str, expected: &str| message.refuse(&format!("buttons[{index}]{what}"), expected);
    if !button.is_object() {
        return Err(refuse("", "must be an object"));
    }
    let text = button.get("text").and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let text = text.filter(|text| text.chars().count() <= MAX_SHORT_TEXT_CHARS).map(str::to_owned);
    let text = text.ok_or_else(|| refuse(".text", "must be a text of at most 1000 characters"))?;
    let id = match button.get("id") {
        None | Some(Value::Null) => None,
        Some(Value::String(id)) if id.chars().count() <= MAX_SHORT_TEXT_CHARS => Some(ButtonId::Text(id.clone())),
        Some(Value::Number(id)) => Some(ButtonId::Number(id.to_string())),
        Some(_) => return Err(refuse(".id", "must be a string of at most 1000 characters or a number")),
    };
    Ok(Button { text, id })
}

/// A number or its digits, seconds or milliseconds; read so that a wrong type is noticed. The service's own clock
/// orders a chat.
fn timestamp(message: Fields<'_>) -> Result<(), Error> {
    let Some(value) = given(message, "timestamp") else { return Ok(()) };
    let number = value.as_f64().or_else(|| digits(value)?.parse().ok());
    let number = number.filter(|number| number.is_finite() && *number >= 0.0);
    number.map(|_| ()).ok_or_else(|| message.refuse("timestamp", "must be unix time"))
}

/// Contacts at the top level or under `contacts`, which counts where both have one.
fn contacts(body: Fields<'_>) -> Result<Profile, Error> {
    let nested = if body.value("contacts").is_some() { Some(body.object("contacts")?) } else { None };
    let read = |name| {
        let first = nested.map(|fields| fields.text(name, MAX_SHORT_TEXT_CHARS)).transpose()?.flatten();
        Ok::<_, Error>(first.or(body.text(name, MAX_SHORT_TEXT_CHARS)?))
    };
    let profile = Profile { name: read("name")?, email: read("email")?, phone: read("phone")?, ..Profile::default() };
    if profile == Profile::default() {
        return Err(nested.unwrap_or(body).refuse("name", "or email or phone is required"));
    }
    Ok(profile)
}

/// CLIENT_MESSAGE.
pub fn client_message(entry: &Entry, chat: &Chat, visitor: &Visitor, agents_online: bool) -> Value {
    let Profile { phone, email, .. } = &visitor.profile;
    let mut event = envelope("CLIENT_MESSAGE", entry, chat);
    let mut sender = Map::from_iter([
        ("id".to_owned(), json!(visitor.number)),
        ("name".to_owned(), json!(visitor.profile.display_name())),
        ("has_contacts".to_owned(), json!(phone.is_some() || email.is_some())),
    ]);
    sender.extend(visitor.profile.page().map(|page| ("url".to_owned(), json!(page))));
    let text = entry.content.in_plain_text();
    event.extend([
        ("agents_online".to_owned(), json!(agents_online)),
        ("sender".to_owned(), Value::Object(sender)),
        ("channel".to_owned(), json!({ "id": chat.channel_id, "type": "api" })),
        ("message".to_owned(), json!({ "type": "TEXT", "text": text, "timestamp": entry.at.seconds() })),
    ]);
    Value::Object(event)
}

/// AGENT_JOINED, AGENT_UNAVAILABLE or CHAT_CLOSED.
pub fn notice(notice: BotNotice, entry: &Entry, chat: &Chat) -> Value {
    Value::Object(envelope(notice.event(), entry, chat))
}

fn envelope(event: &str, entry: &Entry, chat: &Chat) -> Map<String, Value> {
    let fields = [
        ("event", json!(event)),
        ("id", json!(entry.id)),
        ("site_id", json!(chat.account_id)),
        ("client_id", json!(chat.visitor_number.to_string())),
        ("chat_id", json!(chat.chat_id.to_string())),
    ];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    fn buttons_event() -> Value {
        json!({
            "event": "BOT_MESSAGE", "id": 7, "chat_id": "12", "client_id": 3,
            "message": {
                "type": "BUTTONS", "title": "Choose", "text": "1 or 2", "force_reply": true, "timestamp": "1700000000",
                "buttons": [{ "text": "One", "id": 1 }, { "text": "Two", "id": "b" }, { "text": "Three" }]
            }
        })
    }

    fn outcome(body: &Value) -> String {
        match read(body) {
            Ok(_) => "ok".into(),
            Err(error) => format!("{} {}", error.status(), error.wrong_field().unwrap_or("-")),
        }
    }

    #[test]
    fn buttons_are_read_with_ids_of_either_type() {
        let event = read(&buttons_event()).unwrap();
        assert_eq!(event.route, Route { chat_id: Some(12), client_id: Some(3), id: Some("7".into()) });
        let EventKind::Message(content) = event.kind else { panic!("not a message") };
        let rich = content.rich.unwrap();
        let ids: Vec<_> = rich.buttons.iter().map(|button| button.id.clone()).collect();
        let expected = vec![Some(ButtonId::Number("1".into())), Some(ButtonId::Text("b".into())), None];
        assert_eq!((ids, rich.force_reply), (expected, true));
    }

    #[test]
    fn blank_strings_of_a_bot_are_absent() {
        let info = json!({"event": "CLIENT_INFO", "contacts": {"name": " ", "email": "", "phone": "+1"}});
        let EventKind::ClientInfo(profile) = read(&info).unwrap().kind else { panic!("no contacts") };
        assert_eq!(*profile, Profile { phone: Some("+1".into()), ..Profile::default() });
        let both =
            json!({"event": "CLIENT_INFO", "name": "Top", "phone": "+1", "contacts": {"name": "Ada", "phone": ""}});
        let EventKind::ClientInfo(profile) = read(&both).unwrap().kind else { panic!("no contacts") };
        let expected = Profile { name: Some("Ada".into()), phone: Some("+1".into()), ..Profile::default() };
        assert_eq!(*profile, expected);
        for blank in ["", " ", "\t\n\u{a0}"] {
            let route =
                read(&json!({"event": "INVITE_AGENT", "chat_id": blank, "client_id": 3, "id": blank})).unwrap().route;
            assert_eq!(route, Route { client_id: Some(3), ..Route::default() }, "{blank:?}");
            let mut event = buttons_event();
            event["message"]["timestamp"] = json!(blank);
            event["message"]["text"] = json!(blank);
            event["message"]["title"] = json!(blank);
            let EventKind::Message(content) = read(&event).unwrap().kind else { panic!("no message") };
            assert_eq!((content.text, content.rich.unwrap().title), (None, None), "{blank:?}");
        }
    }

    #[test]
    fn the_bad_input_table_of_b1() {
        let set = |path: &[&str], value: Value| {
            let mut body = buttons_event();
            let mut at = &mut body;
            for name in path {
                at = &mut at[*name];
            }
            *at = value;
            body
        };
        let table = [
            (set(&["event"], Value::Null), "400 event"),
            (set(&["event"], json!("BOT_DANCE")), "405 -"),
            (set(&["event"], json!("CLIENT_MESSAGE")), "405 -"),
            (set(&["event"], json!(7)), "400 event"),
            (set(&["chat_id"], json!("x")), "400 chat_id"),
            (set(&["chat_id"], json!(-1)), "400 chat_id"),
            (set(&["client_id"], json!({})), "400 client_id"),
            (set(&["id"], json!(true)), "400 id"),
            (set(&["message"], Value::Null), "400 message"),
            (set(&["message"], json!("hi")), "400 message"),
            (set(&["message", "type"], json!("DANCE")), "400 message.type"),
            (set(&["message", "type"], Value::Null), "400 message.type"),
            (set(&["message", "title"], Value::Null), "ok"),
            (set(&["message", "title"], json!(1)), "400 message.title"),
            (set(&["message", "text"], json!(1)), "400 message.text"),
            (set(&["message", "text"], Value::Null), "ok"),
            (set(&["message", "force_reply"], json!("yes")), "400 message.force_reply"),
            (set(&["message", "timestamp"], json!("soon")), "400 message.timestamp"),
            (set(&["message", "timestamp"], json!(1_700_000_000_000_u64)), "ok"),
            (set(&["message", "buttons"], Value::Null), "400 message.buttons"),
            (set(&["message", "buttons"], json!([])), "400 message.buttons"),
            (
                set(&["message", "buttons"], json!([{"text":"1"},{"text":"2"},{"text":"3"},{"text":"4"}])),
                "400 message.buttons",
            ),
            (set(&["message", "buttons"], json!([{"text": ""}])), "400 message.buttons[0].text"),
            (set(&["message", "buttons"], json!([{"text": "1", "id": []}])), "400 message.buttons[0].id"),
            (
                set(&["message", "buttons"], json!([{"text": "1", "id": "x".repeat(1_001)}])),
                "400 message.buttons[0].id",
            ),
            (set(&["message", "buttons"], json!([{"text": "1", "id": "ж".repeat(1_000)}])), "ok"),
            (set(&["message", "buttons"], json!(["1"])), "400 message.buttons[0]"),
            (set(&["message", "text"], json!("x".repeat(10_001))), "400 message.text"),
            (set(&["message", "title"], json!("x".repeat(1_001))), "400 message.title"),
            (set(&["message", "timestamp"], json!("1".repeat(21))), "400 message.timestamp"),
            (set(&["id"], json!("x".repeat(1_001))), "400 id"),
            (set(&["chat_id"], json!("0".repeat(21))), "400 chat_id"),
            (set(&["client_id"], json!("0".repeat(21))), "400 client_id"),
            (json!({"event": "CLIENT_INFO", "client_id": 1, "name": " ", "contacts": null}), "400 name"),
            (json!({"event": "CLIENT_INFO", "client_id": 1, "name": "", "phone": "+1"}), "ok"),
            (json!({"event": "BOT_MESSAGE", "message": {"type": "TEXT"}}), "400 message.text"),
            (json!({"event": "BOT_MESSAGE", "message": {"type": "MARKDOWN", "text": "x"}}), "400 message.content"),
            (json!({"event": "CLIENT_INFO", "client_id": 1}), "400 name"),
            (json!({"event": "CLIENT_INFO", "client_id": 1, "contacts": {"email": 1}}), "400 contacts.email"),
            (json!({"event": "CLIENT_INFO", "client_id": 1, "phone": "+1"}), "ok"),
            (json!({"event": "CLIENT_INFO", "client_id": 1, "phone": " ", "name": ""}), "400 name"),
            (json!({"event": "BOT_MESSAGE", "message": {"type": "TEXT", "text": " \n"}}), "400 message.text"),
            (json!({"event": "BOT_MESSAGE", "message": {"type": "MARKDOWN", "content": " "}}), "400 message.content"),
            (set(&["message", "buttons"], json!([{"text": " "}])), "400 message.buttons[0].text"),
            (json!({"event": "INVITE_AGENT"}), "ok"),
            (json!([]), "400 -"),
        ];
        for (body, expected) in table {
            assert_eq!(outcome(&body), expected, "{body}");
        }
    }
}
