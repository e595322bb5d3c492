//! Parses the events that a bot provider sends (specification, B-1).

use serde_json::Value;

use crate::domain::chats::bot_handover::{HandoverDetails, HandoverPriority, HandoverReason};
use crate::domain::chats::media::MediaType;
use crate::domain::chats::message_content::{Button, ButtonId, Content, RichFormat, RichMessage, TypingNotice};
use crate::domain::named::Named;
use crate::domain::visitors::visitor::VisitorProfile;
use crate::error::Error;
use crate::wire::bots::bot_error::BotApiError;
use crate::wire::channels::message_content::{FileSource, parse_media_message};
use crate::wire::fields::json_fields::Fields;

const PROVIDER_EVENTS: &str = "BOT_MESSAGE, INVITE_AGENT, CLIENT_INFO, CLOSE_CHAT, TYPING, MESSAGE_CHUNK, DRAFT";
/// The maximum number of buttons in a message (specification, Limits).
const MAX_BUTTONS: usize = 3;
const MAX_BOT_TEXT_CHARS: usize = 10_000;
/// An agent's message cannot be longer.
pub(super) const MAX_DRAFT_CHARS: usize = 10_000;
pub(super) const MAX_SUMMARY_CHARS: usize = 4_000;
/// The maximum size of the data of a handover as JSON without whitespace.
const MAX_HANDOVER_DATA_BYTES: usize = 4_096;
/// The maximum length of an id, a name, a title or a button label.
const MAX_BOT_FIELD_CHARS: usize = 1_000;
/// The maximum length of a number that is sent as a string.
const MAX_NUMBER_CHARS: usize = 20;

#[derive(Clone, Debug, PartialEq)]
pub struct BotEvent {
    pub chat: ChatReference,
    /// The `seq` of the visitor's last message that a BOT_MESSAGE or an INVITE_AGENT takes into account.
    pub reply_to_seq: Option<u64>,
    pub kind: BotEventKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum BotEventKind {
    Message(Box<Content>),
    InviteAgent(Box<AgentInvitation>),
    CloseChat {
        /// The last words to the visitor.
        text: Option<String>,
    },
    /// The contact details that the visitor has given to the bot.
    ClientInfo(Box<VisitorProfile>),
    /// The beginning of an answer that the bot is still writing.
    Growing {
        text: String,
    },
    /// An answer that the bot suggests to the agent.
    Draft {
        text: String,
    },
    /// The bot prepares an answer, or has stopped.
    Typing(TypingNotice),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentInvitation {
    /// The last words to the visitor.
    pub text: Option<String>,
    pub details: HandoverDetails,
    /// `None` stands for the agents who receive the channel's chats.
    pub target: Option<InvitationTarget>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvitationTarget {
    Department(u64),
    Agent(u64),
}

/// How an event identifies its chat. If both `chat_id` and `client_id` are set, they must refer to the same chat. `id`
/// is used only if neither of them is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChatReference {
    pub chat_id: Option<u64>,
    /// The sequential number of the visitor within the account.
    pub client_id: Option<u64>,
    /// The id of the event. To answer a CLIENT_MESSAGE, a provider can send the id of that message here.
    pub id: Option<String>,
}

/// Parses the body of a request from a provider (specification, B-1).
pub fn parse_event(body: &Value) -> Result<BotEvent, BotApiError> {
    let body = Fields::of(body)?;
    let event = body.required_text("event", MAX_BOT_FIELD_CHARS)?;
    let chat = ChatReference {
        chat_id: parse_id(body, "chat_id")?,
        client_id: parse_id(body, "client_id")?,
        id: body.text_or_number("id", MAX_BOT_FIELD_CHARS)?,
    };
    let kind = match event.as_str() {
        "BOT_MESSAGE" => BotEventKind::Message(Box::new(parse_bot_message(body.object("message")?)?)),
        "INVITE_AGENT" => BotEventKind::InviteAgent(Box::new(parse_invitation(body)?)),
        "CLOSE_CHAT" => BotEventKind::CloseChat { text: body.text("text", MAX_BOT_TEXT_CHARS)? },
        "MESSAGE_CHUNK" => BotEventKind::Growing { text: required_text(body, "text", MAX_BOT_TEXT_CHARS)? },
        "DRAFT" => BotEventKind::Draft { text: required_text(body, "text", MAX_DRAFT_CHARS)? },
        "TYPING" => BotEventKind::Typing(parse_typing(body)?),
        "CLIENT_INFO" => BotEventKind::ClientInfo(Box::new(parse_contacts(body)?)),
        _ => return Err(BotApiError::UnsupportedEvent(PROVIDER_EVENTS)),
    };
    Ok(BotEvent { chat, reply_to_seq: parse_id(body, "reply_to_seq")?, kind })
}

/// Parses an id that the service sent to the provider as a number. The provider can return it as a number or as a
/// string of digits. Returns `Ok(None)` if the field is absent or blank.
fn parse_id(body: Fields<'_>, name: &str) -> Result<Option<u64>, Error> {
    let Some(value) = non_blank_value(body, name) else { return Ok(None) };
    let number = value.as_u64().or_else(|| as_short_text(value)?.parse().ok());
    number.map(Some).ok_or_else(|| body.invalid(name, "must be an id that the service sent"))
}

fn as_short_text(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| text.len() <= MAX_NUMBER_CHARS)
}

/// Returns the value of a field, or `None` if the field is absent, null or a blank string.
fn non_blank_value<'a>(fields: Fields<'a>, name: &str) -> Option<&'a Value> {
    fields.value(name).filter(|value| value.as_str().is_none_or(|text| !text.trim().is_empty()))
}

fn parse_invitation(body: Fields<'_>) -> Result<AgentInvitation, Error> {
    let details = HandoverDetails {
        reason: parse_name::<HandoverReason>(body, "reason")?,
        priority: parse_name::<HandoverPriority>(body, "priority")?,
        summary: body.text("summary", MAX_SUMMARY_CHARS)?,
        data: parse_handover_data(body)?,
    };
    let target = match (parse_id(body, "department_id")?, parse_id(body, "agent_id")?) {
        (Some(_), Some(_)) => return Err(body.invalid("agent_id", "cannot be combined with department_id")),
        (Some(department_id), None) => Some(InvitationTarget::Department(department_id)),
        (None, Some(agent_id)) => Some(InvitationTarget::Agent(agent_id)),
        (None, None) => None,
    };
    Ok(AgentInvitation { text: body.text("text", MAX_BOT_TEXT_CHARS)?, details, target })
}

/// Parses the optional name of a value. A blank string counts as absent.
fn parse_name<T: Named>(body: Fields<'_>, name: &str) -> Result<Option<T>, Error> {
    let Some(text) = body.text(name, MAX_BOT_FIELD_CHARS)? else { return Ok(None) };
    let value = T::parse(&text);
    value.map(Some).ok_or_else(|| body.invalid(name, format_args!("must be one of {}", T::names().join(", "))))
}

fn parse_handover_data(body: Fields<'_>) -> Result<Option<String>, Error> {
    let Some(data) = body.value("data") else { return Ok(None) };
    let json = Some(data).filter(|data| data.is_object()).map(Value::to_string);
    let json = json.filter(|json| json.len() <= MAX_HANDOVER_DATA_BYTES);
    let invalid = || body.invalid("data", format_args!("must be an object of at most {MAX_HANDOVER_DATA_BYTES} bytes"));
    json.map(Some).ok_or_else(invalid)
}

fn parse_typing(body: Fields<'_>) -> Result<TypingNotice, Error> {
    Ok(if body.boolean("typing")?.unwrap_or(true) { TypingNotice::Start } else { TypingNotice::End })
}

fn parse_bot_message(message: Fields<'_>) -> Result<Content, Error> {
    check_timestamp(message)?;
    let kind = message.required_text("type", MAX_BOT_FIELD_CHARS)?;
    let force_reply = || Ok::<_, Error>(message.boolean("force_reply")?.unwrap_or(false));
    let format = match kind.as_str() {
        "TEXT" => {
            let text = required_text(message, "text", MAX_BOT_TEXT_CHARS)?;
            return Ok(Content::Text { text, force_reply: force_reply()?, button_id: None });
        }
        "MARKDOWN" => RichFormat::Markdown(required_text(message, "content", MAX_BOT_TEXT_CHARS)?),
        "BUTTONS" => {
            RichFormat::Buttons { title: message.text("title", MAX_BOT_FIELD_CHARS)?, buttons: parse_buttons(message)? }
        }
        _ => return parse_bot_media(message, &kind),
    };
    let text = message.text("text", MAX_BOT_TEXT_CHARS)?;
    Ok(Content::Rich(RichMessage { format, text, force_reply: force_reply()?, not_displayable: false }))
}

/// Parses a file or a place, whose type has the name of the channel API in capital letters.
fn parse_bot_media(message: Fields<'_>, kind: &str) -> Result<Content, Error> {
    let media_type = MediaType::ALL.iter().copied().find(|media_type| media_type.name().to_uppercase() == kind);
    let media_type = media_type.ok_or_else(|| {
        let names = MediaType::names().join(", ").to_uppercase();
        message.invalid("type", format_args!("must be one of TEXT, MARKDOWN, BUTTONS, {names}"))
    })?;
    let text = message.text("text", MAX_BOT_TEXT_CHARS)?;
    let parsed = parse_media_message(message, media_type, text, FileSource::AddressOrUpload)?;
    Ok(Content::Media(Box::new(parsed)))
}

/// Returns a required string that must not be blank.
fn required_text(fields: Fields<'_>, name: &str, max_chars: usize) -> Result<String, Error> {
    fields.text(name, max_chars)?.ok_or_else(|| fields.invalid(name, "is required"))
}

fn parse_buttons(message: Fields<'_>) -> Result<Vec<Button>, Error> {
    let list = message.value("buttons").ok_or_else(|| message.invalid("buttons", "is required"))?;
    let list = list.as_array().filter(|list| (1..=MAX_BUTTONS).contains(&list.len()));
    let list = list.ok_or_else(|| message.invalid("buttons", "must be a list of 1 to 3 buttons"))?;
    list.iter().enumerate().map(|(index, button)| parse_button(message, index, button)).collect()
}

fn parse_button(message: Fields<'_>, index: usize, button: &Value) -> Result<Button, Error> {
    let invalid = |suffix: &str, expected: &str| message.invalid(&format!("buttons[{index}]{suffix}"), expected);
    if !button.is_object() {
        return Err(invalid("", "must be an object"));
    }
    let text = button.get("text").and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let text = text.filter(|text| text.chars().count() <= MAX_BOT_FIELD_CHARS).map(str::to_owned);
    let text = text.ok_or_else(|| invalid(".text", "must be a text of at most 1000 characters"))?;
    let id = match button.get("id") {
        None | Some(Value::Null) => None,
        Some(Value::String(id)) if id.chars().count() <= MAX_BOT_FIELD_CHARS => Some(ButtonId::Text(id.clone())),
        Some(Value::Number(id)) => Some(ButtonId::Number(id.to_string())),
        Some(_) => return Err(invalid(".id", "must be a string of at most 1000 characters or a number")),
    };
    Ok(Button { text, id })
}

/// Checks that `timestamp`, if present, is a number that is not negative, or the text of one. The value is not used,
/// because an entry stores the time at which the service received it.
fn check_timestamp(message: Fields<'_>) -> Result<(), Error> {
    let Some(value) = non_blank_value(message, "timestamp") else { return Ok(()) };
    let number = value.as_f64().or_else(|| as_short_text(value)?.parse().ok());
    let number = number.filter(|number| number.is_finite() && *number >= 0.0);
    number.map(|_| ()).ok_or_else(|| message.invalid("timestamp", "must be unix time"))
}

/// Parses the contact details, which can be at the top level or in `contacts`. If a field is present in both places,
/// the value in `contacts` takes precedence.
fn parse_contacts(body: Fields<'_>) -> Result<VisitorProfile, Error> {
    let nested = if body.value("contacts").is_some() { Some(body.object("contacts")?) } else { None };
    let field = |name| {
        let nested_value = nested.map(|fields| fields.text(name, MAX_BOT_FIELD_CHARS)).transpose()?.flatten();
        Ok::<_, Error>(nested_value.or(body.text(name, MAX_BOT_FIELD_CHARS)?))
    };
    let profile = VisitorProfile {
        name: field("name")?,
        email: field("email")?,
        phone: field("phone")?,
        ..VisitorProfile::default()
    };
    if profile == VisitorProfile::default() {
        return Err(nested.unwrap_or(body).invalid("name", "or email or phone is required"));
    }
    Ok(profile)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
    use serde_json::json;

    use super::*;
    use crate::error::ErrorResponse;

    fn buttons_event() -> Value {
        json!({
            "event": "BOT_MESSAGE", "id": 7, "chat_id": "12", "client_id": 3,
            "message": {
                "type": "BUTTONS", "title": "Choose", "text": "1 or 2", "force_reply": true, "timestamp": "1700000000",
                "buttons": [{ "text": "One", "id": 1 }, { "text": "Two", "id": "b" }, { "text": "Three" }]
            }
        })
    }

    /// Parses an event. Returns `ok`, or the status and the invalid field of the error.
    fn parse_result(body: &Value) -> String {
        match parse_event(body) {
            Ok(_) => "ok".into(),
            Err(error) => {
                let ErrorResponse { status, cause, .. } = error.into();
                format!("{status} {}", cause.as_ref().and_then(Error::invalid_field).unwrap_or("-"))
            }
        }
    }

    #[test]
    fn button_ids_may_be_strings_or_numbers() {
        let event = parse_event(&buttons_event()).unwrap();
        assert_eq!(event.chat, ChatReference { chat_id: Some(12), client_id: Some(3), id: Some("7".into()) });
        let BotEventKind::Message(content) = event.kind else { panic!("not a message") };
        let Content::Rich(message) = *content else { panic!("not rich") };
        let RichFormat::Buttons { buttons, .. } = message.format else { panic!("no buttons") };
        let ids: Vec<_> = buttons.iter().map(|button| button.id.clone()).collect();
        let expected = vec![Some(ButtonId::Number("1".into())), Some(ButtonId::Text("b".into())), None];
        assert_eq!((ids, message.force_reply), (expected, true));
    }

    #[test]
    fn bot_sends_every_type_of_file() {
        for media_type in MediaType::ALL {
            let message = json!({
                "type": media_type.name().to_uppercase(), "file": "https://x.example/f", "file_name": "f",
                "file_size": 7, "latitude": 1.5, "longitude": -2, "text": "Here",
            });
            let event = parse_event(&json!({ "event": "BOT_MESSAGE", "message": message })).unwrap();
            let BotEventKind::Message(content) = event.kind else { panic!("not a message") };
            let Content::Media(message) = *content else { panic!("not media") };
            assert_eq!((message.media_type, message.text.as_deref()), (*media_type, Some("Here")));
        }
    }

    #[test]
    fn invitation_contains_the_handover() {
        let event = json!({
            "event": "INVITE_AGENT", "text": "One moment", "reason": "sales", "summary": "**Refund**",
            "priority": "high", "department_id": "3", "data": {"order": 7},
        });
        let BotEventKind::InviteAgent(invitation) = parse_event(&event).unwrap().kind else { panic!("no invitation") };
        let details = HandoverDetails {
            reason: Some(HandoverReason::Sales),
            priority: Some(HandoverPriority::High),
            summary: Some("**Refund**".into()),
            data: Some(r#"{"order":7}"#.into()),
        };
        let target = Some(InvitationTarget::Department(3));
        assert_eq!(*invitation, AgentInvitation { text: Some("One moment".into()), details, target });
    }

    #[test]
    fn blank_strings_count_as_absent() {
        let info = json!({"event": "CLIENT_INFO", "contacts": {"name": " ", "email": "", "phone": "+1"}});
        let BotEventKind::ClientInfo(profile) = parse_event(&info).unwrap().kind else { panic!("no contacts") };
        assert_eq!(*profile, VisitorProfile { phone: Some("+1".into()), ..VisitorProfile::default() });
        let both =
            json!({"event": "CLIENT_INFO", "name": "Top", "phone": "+1", "contacts": {"name": "Ada", "phone": ""}});
        let BotEventKind::ClientInfo(profile) = parse_event(&both).unwrap().kind else { panic!("no contacts") };
        let expected =
            VisitorProfile { name: Some("Ada".into()), phone: Some("+1".into()), ..VisitorProfile::default() };
        assert_eq!(*profile, expected);
        for blank in ["", " ", "\t\n\u{a0}"] {
            let chat = parse_event(&json!({"event": "INVITE_AGENT", "chat_id": blank, "client_id": 3, "id": blank}))
                .unwrap()
                .chat;
            assert_eq!(chat, ChatReference { client_id: Some(3), ..ChatReference::default() }, "{blank:?}");
            let mut event = buttons_event();
            event["message"]["timestamp"] = json!(blank);
            event["message"]["text"] = json!(blank);
            event["message"]["title"] = json!(blank);
            let BotEventKind::Message(content) = parse_event(&event).unwrap().kind else { panic!("no message") };
            let Content::Rich(message) = *content else { panic!("not rich") };
            let RichFormat::Buttons { title, .. } = message.format else { panic!("no buttons") };
            assert_eq!((message.text, title), (None, None), "{blank:?}");
        }
    }

    #[test]
    fn error_names_the_invalid_field_of_an_event() {
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
            (set(&["message", "type"], json!("PHOTO")), "400 message.file"),
            (set(&["message", "type"], json!("photo")), "400 message.type"),
            (
                json!({"event": "BOT_MESSAGE", "message": {"type": "LOCATION", "latitude": 1, "longitude": 181}}),
                "400 message.longitude",
            ),
            (json!({"event": "INVITE_AGENT"}), "ok"),
            (json!({"event": "INVITE_AGENT", "text": 1}), "400 text"),
            (json!({"event": "INVITE_AGENT", "text": "x".repeat(10_001)}), "400 text"),
            (json!({"event": "INVITE_AGENT", "reason": "boredom"}), "400 reason"),
            (json!({"event": "INVITE_AGENT", "reason": " "}), "ok"),
            (json!({"event": "INVITE_AGENT", "priority": "top"}), "400 priority"),
            (json!({"event": "INVITE_AGENT", "summary": "x".repeat(4_001)}), "400 summary"),
            (json!({"event": "INVITE_AGENT", "department_id": 1, "agent_id": 2}), "400 agent_id"),
            (json!({"event": "INVITE_AGENT", "department_id": "sales"}), "400 department_id"),
            (json!({"event": "INVITE_AGENT", "data": "x"}), "400 data"),
            (json!({"event": "INVITE_AGENT", "data": {"x": "y".repeat(4_089)}}), "400 data"),
            (json!({"event": "INVITE_AGENT", "data": {"x": "y".repeat(4_088)}}), "ok"),
            (json!({"event": "MESSAGE_CHUNK", "text": "Hel"}), "ok"),
            (json!({"event": "MESSAGE_CHUNK", "text": " "}), "400 text"),
            (json!({"event": "DRAFT", "text": "At nine"}), "ok"),
            (json!({"event": "DRAFT", "text": "x".repeat(10_001)}), "400 text"),
            (json!({"event": "TYPING"}), "ok"),
            (json!({"event": "TYPING", "typing": "yes"}), "400 typing"),
            (json!({"event": "CLOSE_CHAT"}), "ok"),
            (json!({"event": "CLOSE_CHAT", "text": {}}), "400 text"),
            (json!([]), "400 -"),
        ];
        for (body, expected) in table {
            assert_eq!(parse_result(&body), expected, "{body}");
        }
    }
}
