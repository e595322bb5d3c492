//! A visitor's message on its way in (specification, A1 and A3).

use serde_json::Value;

use crate::domain::visitor::Profile;
use crate::error::Error;
use crate::wire::content::{self, MAX_VISITOR_TEXT_CHARS, Message};
use crate::wire::fields::{Fields, MAX_URL_CHARS};

/// Characters of `sender.id`.
const MAX_ID_CHARS: usize = 255;
/// Characters of the other texts about a sender.
const MAX_SHORT_TEXT_CHARS: usize = 1_000;

/// A visitor's message, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct VisitorMessage {
    /// `sender.id` as text: an integer is the same visitor as the string of its digits.
    pub external_id: String,
    /// Whether `sender.id` is a number.
    pub has_numeric_id: bool,
    /// What it says about the sender.
    pub profile: Profile,
    /// `sender.invite`.
    pub invite: Option<String>,
    /// What it says.
    pub message: Message,
    /// `message.id`: what the integrator calls it, for the log.
    pub their_id: Option<String>,
}

/// Reads a body. Typing notices need the sender's id alone, their other fields are ignored.
pub fn read(body: &Value, lenient: bool) -> Result<VisitorMessage, Error> {
    let body = Fields::of(body)?.tolerant(lenient);
    let sender = body.object("sender")?;
    let (external_id, has_numeric_id) = external_id(sender)?;
    let fields = body.object("message")?;
    let message = content::read(fields, MAX_VISITOR_TEXT_CHARS)?;
    let (profile, invite, their_id) = match message {
        Message::Content(_) => (
            profile(sender)?,
            sender.text("invite", MAX_SHORT_TEXT_CHARS)?,
            fields.text_or_number("id", MAX_SHORT_TEXT_CHARS)?,
        ),
        Message::Typing(_) => (Profile::default(), None, None),
    };
    Ok(VisitorMessage { external_id, has_numeric_id, profile, invite, message, their_id })
}

/// The id as text, and whether it is a number.
fn external_id(sender: Fields<'_>) -> Result<(String, bool), Error> {
    match sender.value("id") {
        Some(Value::Number(number)) if number.is_i64() || number.is_u64() => Ok((number.to_string(), true)),
        Some(Value::String(_)) | None => Ok((sender.required_text("id", MAX_ID_CHARS)?, false)),
        Some(_) => Err(sender.refuse("id", "must be a string or an integer")),
    }
}

fn profile(sender: Fields<'_>) -> Result<Profile, Error> {
    Ok(Profile {
        name: sender.text("name", MAX_SHORT_TEXT_CHARS)?,
        phone: sender.text("phone", MAX_SHORT_TEXT_CHARS)?,
        email: sender.text("email", MAX_SHORT_TEXT_CHARS)?,
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
    use crate::domain::content::{Kind, Media};

    /// A body with every field of A1 and A3 in order.
    fn full(kind: &str) -> Value {
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

    fn refused_field(body: &Value) -> String {
        match read(body, false) {
            Err(Error::Invalid { field, .. }) => field.unwrap_or_default(),
            other => panic!("not refused: {other:?}"),
        }
    }

    #[test]
    fn every_type_of_a3_is_read_with_all_its_fields() {
        for kind in ["text", "video", "audio", "voice", "photo", "sticker", "document", "location"] {
            let read = read(&full(kind), false).unwrap();
            let Message::Content(content) = read.message else { panic!("{kind}") };
            let mut expected = full(kind)["message"].as_object().unwrap().clone();
            expected.remove("id");
            if content.kind == Kind::Text {
                expected.retain(|name, _| name == "type" || name == "text");
            }
            assert_eq!(content::write(&content), expected, "{kind}");
        }
    }

    #[test]
    fn a_wrong_field_is_named() {
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
            let mut body = full("video");
            let (object, name) = path.split_once('.').unwrap();
            body[object][name] = value.clone();
            assert_eq!(refused_field(&body), path, "{value}");
        }
    }

    #[test]
    fn blank_optional_texts_are_absent() {
        for blank in ["", " ", "\t\u{a0}\n"] {
            for lenient in [false, true] {
                let mut body = full("video");
                for name in ["name", "phone", "email", "photo", "url", "invite"] {
                    body["sender"][name] = json!(blank);
                }
                for name in ["id", "text", "thumb", "emoji", "performer", "title"] {
                    body["message"][name] = json!(blank);
                }
                let read = read(&body, lenient).unwrap();
                assert_eq!((read.profile, read.invite, read.their_id), (Profile::default(), None, None));
                let Message::Content(content) = read.message else { panic!("not content") };
                assert_eq!(content.text, None);
                let Media { thumb, emoji, performer, title, .. } = content.media;
                assert_eq!([thumb, emoji, performer, title], [const { None }; 4]);
            }
        }
    }

    #[test]
    fn page_and_message_id_may_be_anything() {
        let mut body = full("text");
        for (url, id, read_id) in
            [("app://cart", json!(7), "7"), ("Checkout", json!(1.5), "1.5"), ("/a b", json!("m"), "m")]
        {
            body["sender"]["url"] = json!(url);
            body["message"]["id"] = id;
            let read = read(&body, false).unwrap();
            assert_eq!((read.profile.url.as_deref(), read.their_id.as_deref()), (Some(url), Some(read_id)));
        }
    }

    #[test]
    fn a_missing_required_field_is_named() {
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
            let mut body = full(kind);
            match path.split_once('.') {
                Some((object, name)) => body[object].as_object_mut().unwrap().remove(name),
                None => body.as_object_mut().unwrap().remove(path),
            };
            assert_eq!(refused_field(&body), path);
        }
    }

    #[test]
    fn lenient_channels_tolerate_a_missing_size_and_drop_bad_optional_fields() {
        let mut body = full("photo");
        body["message"].as_object_mut().unwrap().remove("file_size");
        body["message"]["file_name"] = json!(7);
        body["message"]["width"] = json!(-1);
        body["sender"]["photo"] = json!("nonsense");
        let read = read(&body, true).unwrap();
        let Message::Content(content) = read.message else { panic!("not content") };
        assert_eq!((content.media.file_size, content.media.file_name, content.media.width), (None, None, None));
        assert_eq!(read.profile.photo, None);
    }

    #[test]
    fn typing_ignores_every_other_field_and_a_long_text_is_cut() {
        let typing = json!({"sender": {"id": 7, "name": 1}, "message": {"type": "typein", "text": 7, "id": 7}});
        let typing = read(&typing, false).unwrap();
        assert_eq!(
            (typing.external_id.as_str(), typing.message),
            ("7", Message::Typing(crate::domain::content::Typing::Start))
        );
        let long = json!({"sender": {"id": "a"}, "message": {"type": "text", "text": "ß".repeat(1_001)}});
        let Message::Content(content) = read(&long, false).unwrap().message else { panic!("not content") };
        assert_eq!(content.text.unwrap().chars().count(), 1_000);
    }
}
