//! The frames that a client sends through a socket, and the responses to them. The frames that report changes are in
//! [`push`](super::push). A frame is a JSON text.

use serde_json::{Value, json};

use crate::domain::message_content::{TypingNotice, truncate_chars};
use crate::error::Error;
use crate::wire::json_fields::Fields;
use crate::wire::json_object::with_fields;
use crate::wire::json_parser;

/// The version of the protocol. Every frame to the client contains it.
const PROTOCOL_VERSION: u64 = 1;

/// A frame from an agent's client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientFrame {
    /// Keeps the socket, the session and the agent's presence alive.
    Ping,
    /// The agent has started or stopped typing in a chat.
    Typing { chat_id: u64, typing: TypingNotice },
    /// The agent has seen the messages of a chat up to number `seq`.
    Seen { chat_id: u64, seq: u64 },
}

impl ClientFrame {
    /// Unknown fields are ignored.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let body = json_parser::parse(text)?;
        let fields = Fields::of(&body)?;
        match fields.value("type").and_then(Value::as_str) {
            Some("ping") => Ok(Self::Ping),
            Some("typing") => {
                let typing = fields.enumerated("typing", "typein, typeout", TypingNotice::parse)?;
                let typing = typing.ok_or_else(|| fields.invalid("typing", "is required"))?;
                Ok(Self::Typing { chat_id: fields.required_positive("chat_id")?, typing })
            }
            Some("seen") => {
                Ok(Self::Seen { chat_id: fields.required_positive("chat_id")?, seq: fields.required_positive("seq")? })
            }
            _ => Err(fields.invalid("type", "must be one of ping, typing, seen")),
        }
    }
}

pub(super) fn frame<const N: usize>(kind: &str, fields: [(&str, Value); N]) -> Value {
    with_fields(json!({ "v": PROTOCOL_VERSION, "type": kind }), fields)
}

/// A frame from a visitor's widget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VisitorFrame {
    /// Keeps the socket open.
    Ping,
    /// The visitor has started or stopped typing. `text` is what the visitor has typed so far, if the frame contains
    /// it.
    Typing { typing: TypingNotice, text: Option<String> },
}

/// The maximum length of the text that a visitor is typing. A longer text is truncated.
const MAX_TYPING_TEXT_CHARS: usize = 300;

impl VisitorFrame {
    /// Unknown fields are ignored.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let body = json_parser::parse(text)?;
        let fields = Fields::of(&body)?;
        match fields.value("type").and_then(Value::as_str) {
            Some("ping") => Ok(Self::Ping),
            Some("typing") => {
                let typing = fields.enumerated("typing", "typein, typeout", TypingNotice::parse)?;
                let typing = typing.ok_or_else(|| fields.invalid("typing", "is required"))?;
                let text = fields.text("text", usize::MAX)?.map(|text| truncate_chars(&text, MAX_TYPING_TEXT_CHARS));
                Ok(Self::Typing { typing, text })
            }
            _ => Err(fields.invalid("type", "must be one of ping, typing")),
        }
    }
}

pub fn pong_frame() -> String {
    frame("pong", []).to_string()
}

/// Returns the response to a frame that was rejected. It contains the code, the message and the field of the error
/// response that an HTTP endpoint would return.
pub fn error_frame(error: &Error) -> String {
    let (code, message) = (json!(error.code()), json!(error.to_string()));
    frame("error", [("code", code), ("message", message), ("field", json!(error.invalid_field()))]).to_string()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn frames_are_parsed() {
        let start = ClientFrame::Typing { chat_id: 7, typing: TypingNotice::Start };
        for (text, expected) in [
            (r#"{"type":"ping"}"#, ClientFrame::Ping),
            (r#"{"type":"ping","new":{}}"#, ClientFrame::Ping),
            (r#"{"type":"typing","chat_id":7,"typing":"typein"}"#, start),
            (r#"{"type":"seen","chat_id":7,"seq":3}"#, ClientFrame::Seen { chat_id: 7, seq: 3 }),
        ] {
            assert_eq!(ClientFrame::parse(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn frames_of_visitors_are_parsed_and_truncated() {
        let parse = |body: Value| VisitorFrame::parse(&body.to_string()).unwrap();
        assert_eq!(parse(json!({ "type": "ping" })), VisitorFrame::Ping);
        let typing = |typing, text: Option<&str>| VisitorFrame::Typing { typing, text: text.map(str::to_owned) };
        let long = json!({ "type": "typing", "typing": "typein", "text": "é".repeat(301) });
        assert_eq!(parse(long), typing(TypingNotice::Start, Some(&"é".repeat(300))));
        assert_eq!(parse(json!({ "type": "typing", "typing": "typeout" })), typing(TypingNotice::End, None));
        for frame in
            [r#"{"type":"typing"}"#, r#"{"type":"typing","typing":"typein","text":7}"#, r#"{"type":"message"}"#]
        {
            assert!(VisitorFrame::parse(frame).is_err(), "{frame}");
        }
    }

    #[test]
    fn invalid_frame_gets_an_error_that_names_the_field() {
        for (text, field) in [
            ("", None),
            ("7", None),
            ("{", None),
            ("{}", Some("type")),
            (r#"{"type":"pong"}"#, Some("type")),
            (r#"{"type":7}"#, Some("type")),
            (r#"{"type":"typing","typing":"typein"}"#, Some("chat_id")),
            (r#"{"type":"typing","chat_id":"7","typing":"typein"}"#, Some("chat_id")),
            (r#"{"type":"typing","chat_id":7}"#, Some("typing")),
            (r#"{"type":"typing","chat_id":7,"typing":true}"#, Some("typing")),
            (r#"{"type":"seen","seq":3}"#, Some("chat_id")),
            (r#"{"type":"seen","chat_id":7,"seq":0}"#, Some("seq")),
        ] {
            let frame: Value = serde_json::from_str(&error_frame(&ClientFrame::parse(text).unwrap_err())).unwrap();
            assert_eq!((frame.get("v"), frame.get("type")), (Some(&json!(1)), Some(&json!("error"))), "{text}");
            assert_eq!(frame.get("code"), Some(&json!("invalid_request")), "{text}");
            assert_eq!(frame.get("field"), Some(&json!(field)), "{text}");
        }
    }
}
