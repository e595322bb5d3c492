//! The frames that a client sends through a socket, and the responses to them. The frames that report changes are in
//! [`push`](crate::wire::push). A frame is a JSON text.

use std::marker::PhantomData;

use schemars::{JsonSchema, json_schema};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::domain::chats::message_content::TypingNotice;
use crate::domain::socket::{ChatList, Subscription};
use crate::error::Error;
use crate::wire::fields::json_parser;
use crate::wire::fields::reader::read;
use crate::wire::fields::values::{List, Name, ProtocolVersion, SequentialNumber, Truncated, inline_schema};

/// The maximum length of the text that a visitor is typing. A longer text is truncated.
const MAX_TYPING_TEXT_CHARS: usize = 300;

/// The maximum number of lists in a subscription: one of each.
const MAX_LISTS: usize = 3;

/// A frame with a constant `type`.
pub trait Frame {
    const TYPE: &'static str;
}

/// Declares the types of frames.
macro_rules! frame_types {
    ($($frame:ident = $name:literal,)+) => {$(
        impl $crate::wire::sockets::socket_frame::Frame for $frame {
            const TYPE: &'static str = $name;
        }
    )+};
}

pub(in crate::wire) use frame_types;

/// The field `type` of the frame `F`.
pub struct FrameType<F>(PhantomData<F>);

impl<F> Default for FrameType<F> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<F: Frame> Serialize for FrameType<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(F::TYPE)
    }
}

impl<'de, F: Frame> Deserialize<'de> for FrameType<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let is_expected = String::deserialize(deserializer)? == F::TYPE;
        if is_expected { Ok(Self::default()) } else { Err(D::Error::custom(format_args!("must be {}", F::TYPE))) }
    }
}

inline_schema!([F: Frame] FrameType<F>, format!("TypeOf{}", F::TYPE), json_schema!({
    "type": "string", "const": F::TYPE,
}));

frame_types! {
    PingFrame = "ping",
    AgentTypingFrame = "typing",
    AgentSeenFrame = "seen",
    AgentSubscribeFrame = "subscribe",
    VisitorTypingFrame = "typing",
    VisitorStopFrame = "stop",
    PongFrame = "pong",
    SubscribedFrame = "subscribed",
    ErrorFrame = "error",
}

#[derive(Deserialize, JsonSchema)]
pub struct PingFrame {
    pub r#type: FrameType<PingFrame>,
}

#[derive(Deserialize, JsonSchema)]
pub struct AgentTypingFrame {
    pub r#type: FrameType<AgentTypingFrame>,
    pub chat_id: SequentialNumber,
    pub typing: Name<TypingNotice>,
}

#[derive(Deserialize, JsonSchema)]
pub struct AgentSeenFrame {
    pub r#type: FrameType<AgentSeenFrame>,
    pub chat_id: SequentialNumber,
    pub seq: SequentialNumber,
}

/// What the client shows. From now on, the socket gets only the pushes about this and about the agent's own chats.
#[derive(Deserialize, JsonSchema)]
pub struct AgentSubscribeFrame {
    pub r#type: FrameType<AgentSubscribeFrame>,
    /// The lists of open chats whose rows the client shows, by the state of their chats.
    pub lists: List<Name<ChatList>, MAX_LISTS>,
    /// The chat whose messages the client shows.
    #[serde(default)]
    pub open: Option<SequentialNumber>,
}

#[derive(Deserialize, JsonSchema)]
pub struct VisitorTypingFrame {
    pub r#type: FrameType<VisitorTypingFrame>,
    pub typing: Name<TypingNotice>,
    /// The text so far, of which agents see at most 300 characters.
    #[serde(default)]
    pub text: Truncated<MAX_TYPING_TEXT_CHARS>,
}

/// The visitor wants no more of the answer that the bot is writing.
#[derive(Deserialize, JsonSchema)]
pub struct VisitorStopFrame {
    pub r#type: FrameType<VisitorStopFrame>,
}

/// The part of a frame that says how to read the rest.
#[derive(Deserialize)]
struct FrameHead<T> {
    r#type: T,
}

fn read_type<T: DeserializeOwned>(frame: &Value) -> Result<T, Error> {
    read::<FrameHead<T>>(frame).map(|head| head.r#type)
}

/// A frame from an agent's client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientFrame {
    /// Keeps the socket, the session and the agent's presence alive.
    Ping,
    /// The agent has started or stopped typing in a chat.
    Typing { chat_id: u64, typing: TypingNotice },
    /// The agent has seen the messages of a chat up to number `seq`.
    Seen { chat_id: u64, seq: u64 },
    /// The client shows something else.
    Subscribe(Subscription),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ClientFrameType {
    Ping,
    Typing,
    Seen,
    Subscribe,
}

impl ClientFrame {
    /// Unknown fields are ignored.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let frame = json_parser::parse(text)?;
        Ok(match read_type(&frame)? {
            ClientFrameType::Ping => Self::Ping,
            ClientFrameType::Typing => {
                let AgentTypingFrame { r#type: _, chat_id, typing } = read(&frame)?;
                Self::Typing { chat_id: chat_id.0, typing: typing.0 }
            }
            ClientFrameType::Seen => {
                let AgentSeenFrame { r#type: _, chat_id, seq } = read(&frame)?;
                Self::Seen { chat_id: chat_id.0, seq: seq.0 }
            }
            ClientFrameType::Subscribe => {
                let AgentSubscribeFrame { r#type: _, lists, open } = read(&frame)?;
                let lists = lists.0.into_iter().map(|list| list.0).collect();
                Self::Subscribe(Subscription { lists, open_chat: open.map(|open| open.0) })
            }
        })
    }
}

/// A frame from a visitor's widget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VisitorFrame {
    /// Keeps the socket open.
    Ping,
    /// The visitor has started or stopped typing. `text` is what the visitor has typed so far, if the frame contains
    /// it.
    Typing { typing: TypingNotice, text: Option<String> },
    /// The visitor stops the answer that the bot is writing.
    StopAnswer,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum VisitorFrameType {
    Ping,
    Typing,
    Stop,
}

impl VisitorFrame {
    /// Unknown fields are ignored.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let frame = json_parser::parse(text)?;
        Ok(match read_type(&frame)? {
            VisitorFrameType::Ping => Self::Ping,
            VisitorFrameType::Stop => Self::StopAnswer,
            VisitorFrameType::Typing => {
                let VisitorTypingFrame { r#type: _, typing, text } = read(&frame)?;
                Self::Typing { typing: typing.0, text: text.0 }
            }
        })
    }
}

#[derive(Default, Serialize, JsonSchema)]
pub struct PongFrame {
    v: ProtocolVersion,
    r#type: FrameType<PongFrame>,
}

pub fn pong_frame() -> String {
    json!(PongFrame::default()).to_string()
}

/// The response to `subscribe`: the socket now gets the pushes about what the client shows.
#[derive(Serialize, JsonSchema)]
pub struct SubscribedFrame {
    v: ProtocolVersion,
    r#type: FrameType<SubscribedFrame>,
    lists: Vec<Name<ChatList>>,
    open: Option<SequentialNumber>,
}

pub fn subscribed_frame(subscription: &Subscription) -> String {
    let frame = SubscribedFrame {
        v: ProtocolVersion,
        r#type: FrameType::default(),
        lists: subscription.lists.iter().copied().map(Name).collect(),
        open: subscription.open_chat.map(SequentialNumber),
    };
    json!(frame).to_string()
}

/// The response to a frame that was rejected. It contains the code, the message and the field of the error response
/// that an HTTP endpoint would return.
#[derive(Serialize, JsonSchema)]
pub struct ErrorFrame {
    v: ProtocolVersion,
    r#type: FrameType<ErrorFrame>,
    code: &'static str,
    message: String,
    field: Option<String>,
}

pub fn error_frame(error: &Error) -> String {
    let frame = ErrorFrame {
        v: ProtocolVersion,
        r#type: FrameType::default(),
        code: error.code(),
        message: error.to_string(),
        field: error.invalid_field().map(str::to_owned),
    };
    json!(frame).to_string()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn frames_are_parsed() {
        let start = ClientFrame::Typing { chat_id: 7, typing: TypingNotice::Start };
        let shown = Subscription { lists: vec![ChatList::Waiting, ChatList::Bot], open_chat: Some(7) };
        for (text, expected) in [
            (r#"{"type":"ping"}"#, ClientFrame::Ping),
            (r#"{"type":"ping","new":{}}"#, ClientFrame::Ping),
            (r#"{"type":"typing","chat_id":7,"typing":"typein"}"#, start),
            (r#"{"type":"seen","chat_id":7,"seq":3}"#, ClientFrame::Seen { chat_id: 7, seq: 3 }),
            (r#"{"type":"subscribe","lists":[]}"#, ClientFrame::Subscribe(Subscription::default())),
            (r#"{"type":"subscribe","lists":["waiting","bot"],"open":7}"#, ClientFrame::Subscribe(shown)),
        ] {
            assert_eq!(ClientFrame::parse(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn frames_of_visitors_are_parsed_and_truncated() {
        let parse = |body: Value| VisitorFrame::parse(&body.to_string()).unwrap();
        assert_eq!(parse(json!({ "type": "ping" })), VisitorFrame::Ping);
        assert_eq!(parse(json!({ "type": "stop" })), VisitorFrame::StopAnswer);
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
