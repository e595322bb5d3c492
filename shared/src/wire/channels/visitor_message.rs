//! The request body of a visitor's message or typing notice (specification, tables A1 and A3).

use serde_json::Value;

use crate::domain::chats::message_content::Content;
use crate::domain::visitors::visitor::VisitorProfile;
use crate::error::Error;
use crate::wire::channels::message_content::{self, FileSource, MAX_VISITOR_TEXT_CHARS, ParsedMessage};
use crate::wire::fields::json_fields::{Fields, MAX_URL_CHARS};

pub(super) const MAX_SENDER_ID_CHARS: usize = 255;
/// The maximum length of `message.id` and of the sender's name, phone number, e-mail address and invitation.
const MAX_VISITOR_FIELD_CHARS: usize = 1_000;

/// A validated message or typing notice.
#[derive(Clone, Debug, PartialEq)]
pub struct VisitorMessage {
    /// The value of `sender.id`, as text. An integer and a string of the same digits identify the same visitor.
    pub external_id: String,
    pub has_numeric_id: bool,
    pub profile: VisitorProfile,
    /// The text of the invitation that the visitor accepted (`sender.invite`), if there was one.
    pub invite: Option<String>,
    pub message: ParsedMessage,
    /// The id of the earlier message whose text `message` replaces (`message.edits`). `None` for a new message.
    pub edits: Option<String>,
    /// The integrator's own id for the message (`message.id`). It is only written to the log.
    pub caller_message_id: Option<String>,
}

/// Parses the body of a request. For a typing notice, all fields except `sender.id` and `message.type` are ignored. If
/// `lenient` is true, invalid optional fields are also ignored.
pub fn parse(body: &Value, lenient: bool) -> Result<VisitorMessage, Error> {
    let body = Fields::of(body)?.with_lenient(lenient);
    let sender = body.object("sender")?;
    let (external_id, has_numeric_id) = parse_sender_id(sender)?;
    let fields = body.object("message")?;
    let message = message_content::parse_message_object(fields, MAX_VISITOR_TEXT_CHARS, FileSource::Address)?;
    let (profile, invite, edits, caller_message_id) = match &message {
        ParsedMessage::Content(content) => (
            parse_profile(sender)?,
            sender.text("invite", MAX_VISITOR_FIELD_CHARS)?,
            parse_edits(fields, content)?,
            fields.text_or_number("id", MAX_VISITOR_FIELD_CHARS)?,
        ),
        ParsedMessage::Typing(_) => (VisitorProfile::default(), None, None, None),
    };
    Ok(VisitorMessage { external_id, has_numeric_id, profile, invite, message, edits, caller_message_id })
}

/// An invalid value is also rejected on a lenient channel, because ignoring it would add the text as a new message.
fn parse_edits(message: Fields<'_>, content: &Content) -> Result<Option<String>, Error> {
    let edits = message.with_lenient(false).text("edits", MAX_VISITOR_FIELD_CHARS)?;
    if edits.is_some() && content.name() != Content::TEXT {
        return Err(message.invalid("edits", "is only possible if type is text"));
    }
    Ok(edits)
}

/// Returns `sender.id` as text, and whether it is a JSON number.
fn parse_sender_id(sender: Fields<'_>) -> Result<(String, bool), Error> {
    match sender.value("id") {
        Some(Value::Number(number)) if number.is_i64() || number.is_u64() => Ok((number.to_string(), true)),
        Some(Value::String(_)) | None => Ok((sender.required_text("id", MAX_SENDER_ID_CHARS)?, false)),
        Some(_) => Err(sender.invalid("id", "must be a string or an integer")),
    }
}

fn parse_profile(sender: Fields<'_>) -> Result<VisitorProfile, Error> {
    Ok(VisitorProfile {
        name: sender.text("name", MAX_VISITOR_FIELD_CHARS)?,
        phone: sender.text("phone", MAX_VISITOR_FIELD_CHARS)?,
        email: sender.text("email", MAX_VISITOR_FIELD_CHARS)?,
        photo: sender.url("photo")?,
        url: sender.text("url", MAX_URL_CHARS)?,
        description: None,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
    use serde_json::json;

    use super::*;
    use crate::domain::chats::media::Media;
    use crate::wire::channels::message_content::MessageFields;

    /// Returns a valid body with every field of tables A1 and A3 of the specification.
    fn full_body(kind: &str) -> Value {
        json!({
            "sender": {
                "id": "v1", "name": "Ann", "phone": "+1", "email": "a@b.c", "photo": "https://x.example/p.png",
                "url": "https://x.example/", "invite": "Hello?"
            },
            "message": {
                "type": kind, "id": "m1", "text": "hi", "file": "https://x.example/f", "thumb": "http://x.example/t",
                "emoji": "🙂", "file_size": 10, "file_name": "f.png", "duration": 3, "width": 4, "height": 5,
                "performer": "P", "title": "T", "latitude": 1.5, "longitude": -2.5
            }
        })
    }

    fn invalid_field(body: &Value) -> String {
        match parse(body, false) {
            Err(Error::Invalid { field, .. }) => field.unwrap_or_default(),
            other => panic!("not an invalid field: {other:?}"),
        }
    }

    #[test]
    fn every_message_type_keeps_all_its_fields() {
        for kind in ["text", "video", "audio", "voice", "photo", "sticker", "document", "location"] {
            let parsed = parse(&full_body(kind), false).unwrap();
            let ParsedMessage::Content(content) = parsed.message else { panic!("{kind}") };
            let mut expected = full_body(kind)["message"].as_object().unwrap().clone();
            expected.remove("id");
            if content.name() == Content::TEXT {
                expected.retain(|name, _| name == "type" || name == "text");
            }
            assert_eq!(json!(MessageFields::from(&*content)), json!(expected), "{kind}");
        }
    }

    #[test]
    fn error_names_the_invalid_field() {
        let wrong = [
            ("sender.id", json!(true)),
            ("sender.id", json!("")),
            ("sender.id", json!(1.5)),
            ("sender.name", json!(1)),
            ("sender.phone", json!([])),
            ("sender.email", json!({})),
            ("sender.photo", json!("ftp://x")),
            ("sender.url", json!(["https://x.example"])),
            ("sender.invite", json!(false)),
            ("message.type", json!("hologram")),
            ("message.type", json!(7)),
            ("message.id", json!(true)),
            ("message.edits", json!(7)),
            ("message.edits", json!("01a214d2-d7b1-7000-8000-04000000ab59")),
            ("message.text", json!(7)),
            ("message.file", json!("file:///etc/passwd")),
            ("message.thumb", json!("x")),
            ("message.emoji", json!(1)),
            ("message.file_size", json!(0)),
            ("message.file_size", json!(1_u64 << 53)),
            ("message.file_size", json!("10")),
            ("message.file_name", json!(1)),
            ("message.duration", json!(-1)),
            ("message.width", json!(1.5)),
            ("message.height", json!("x")),
            ("message.performer", json!(1)),
            ("message.title", json!(1)),
            ("message.latitude", json!(90.1)),
            ("message.longitude", json!("1")),
        ];
        for (path, value) in wrong {
            let mut body = full_body("video");
            let (object, name) = path.split_once('.').unwrap();
            body[object][name] = value.clone();
            assert_eq!(invalid_field(&body), path, "{value}");
        }
    }

    #[test]
    fn blank_optional_texts_count_as_absent() {
        for blank in ["", " ", "\t\u{a0}\n"] {
            for lenient in [false, true] {
                let mut body = full_body("video");
                for name in ["name", "phone", "email", "photo", "url", "invite"] {
                    body["sender"][name] = json!(blank);
                }
                for name in ["id", "text", "thumb", "emoji", "performer", "title"] {
                    body["message"][name] = json!(blank);
                }
                let parsed = parse(&body, lenient).unwrap();
                assert_eq!(
                    (parsed.profile, parsed.invite, parsed.caller_message_id),
                    (VisitorProfile::default(), None, None)
                );
                let ParsedMessage::Content(content) = parsed.message else { panic!("not content") };
                assert_eq!(content.own_text(), None);
                let Media { thumb, emoji, performer, title, .. } = content.media().unwrap().clone();
                assert_eq!([thumb, emoji, performer, title], [const { None }; 4]);
            }
        }
    }

    #[test]
    fn page_and_message_id_have_no_format() {
        let mut body = full_body("text");
        for (url, id, read_id) in
            [("app://cart", json!(7), "7"), ("Checkout", json!(1.5), "1.5"), ("/a b", json!("m"), "m")]
        {
            body["sender"]["url"] = json!(url);
            body["message"]["id"] = id;
            let parsed = parse(&body, false).unwrap();
            assert_eq!(
                (parsed.profile.url.as_deref(), parsed.caller_message_id.as_deref()),
                (Some(url), Some(read_id))
            );
        }
    }

    #[test]
    fn error_names_the_missing_field() {
        let required = [
            ("text", "sender"),
            ("text", "sender.id"),
            ("text", "message"),
            ("text", "message.type"),
            ("text", "message.text"),
            ("photo", "message.file"),
            ("photo", "message.file_name"),
            ("photo", "message.file_size"),
            ("location", "message.latitude"),
            ("location", "message.longitude"),
        ];
        for (kind, path) in required {
            let mut body = full_body(kind);
            match path.split_once('.') {
                Some((object, name)) => body[object].as_object_mut().unwrap().remove(name),
                None => body.as_object_mut().unwrap().remove(path),
            };
            assert_eq!(invalid_field(&body), path);
        }
    }

    #[test]
    fn lenient_channel_ignores_invalid_optional_fields() {
        let mut body = full_body("photo");
        body["message"].as_object_mut().unwrap().remove("file_size");
        body["message"]["file_name"] = json!(7);
        body["message"]["width"] = json!(-1);
        body["sender"]["photo"] = json!("nonsense");
        let parsed = parse(&body, true).unwrap();
        let ParsedMessage::Content(content) = parsed.message else { panic!("not content") };
        let Media { file_size, file_name, width, .. } = content.media().unwrap().clone();
        assert_eq!((file_size, file_name, width), (None, None, None));
        assert_eq!(parsed.profile.photo, None);
    }

    #[test]
    fn lenient_channel_rejects_an_edit_without_a_valid_id() {
        let mut body = full_body("text");
        for (edits, expected) in [(json!("x"), Some("x")), (json!(null), None), (json!(" "), None)] {
            body["message"]["edits"] = edits;
            assert_eq!(parse(&body, true).unwrap().edits.as_deref(), expected);
        }
        body["message"]["edits"] = json!(["x"]);
        assert!(matches!(parse(&body, true), Err(Error::Invalid { .. })));
    }

    #[test]
    fn typing_needs_only_the_sender_id_and_long_text_is_truncated() {
        let typing = json!({"sender": {"id": 7, "name": 1}, "message": {"type": "typein", "text": 7, "id": 7}});
        let typing = parse(&typing, false).unwrap();
        assert_eq!(
            (typing.external_id.as_str(), typing.message),
            ("7", ParsedMessage::Typing(crate::domain::chats::message_content::TypingNotice::Start))
        );
        let long = json!({"sender": {"id": "a"}, "message": {"type": "text", "text": "ß".repeat(1_001)}});
        let ParsedMessage::Content(content) = parse(&long, false).unwrap().message else { panic!("not content") };
        assert_eq!(content.own_text().unwrap().chars().count(), 1_000);
    }
}
