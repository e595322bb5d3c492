//! The kinds of servers. Their examples come from the OpenAPI document, so that they are those of the contract.

use clap::ValueEnum;
use serde_json::Value;

use crate::Error;
use crate::sender::Response;

const DOCUMENT: &str = include_str!("../../../docs/openapi.json");

/// The events whose response the service judges by its status alone.
const ANSWER_IGNORED: [&str; 2] = ["call_event", "test"];
/// No chat and no visitor has this number (docs/deliveries.md).
const FICTIONAL_NUMBER: u64 = 1_000_000_000;
/// Where requests name a chat or a visitor.
const ID_POINTERS: [&str; 6] =
    ["/chat_id", "/client_id", "/sender/id", "/recipient/id", "/visitor/number", "/visitor/external_id"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Partner {
    /// The server of a channel, which gets the messages of agents and bots (specification, A-3).
    Integrator,
    /// The server of a bot provider (specification, B-2).
    Bot,
    /// A server that hears of chats and calls (specification, part C).
    Webhook,
    /// A gateway that places phone calls.
    Gateway,
}

/// A request that the service sends, as the contract shows it.
#[derive(Clone, Debug)]
pub(crate) struct Example {
    /// Such as `integratorMessage, location`.
    pub name: String,
    pub body: Value,
    /// Whether the service ignores the body of the response.
    pub is_answer_ignored: bool,
}

impl Partner {
    /// The operations of the document's `webhooks` that this kind of server gets.
    fn operations(self) -> &'static [&'static str] {
        match self {
            Self::Integrator => &["integratorMessage"],
            Self::Bot => &["botEvent"],
            Self::Webhook => &[
                "chat_accepted",
                "chat_updated",
                "chat_assigned",
                "chat_finished",
                "offline_message",
                "call_event",
                "test",
            ],
            Self::Gateway => &["placeCall"],
        }
    }

    pub(crate) fn examples(self) -> Result<Vec<Example>, Error> {
        let document: Value = serde_json::from_str(DOCUMENT).map_err(|_| Error::Document("JSON"))?;
        let mut examples = Vec::new();
        for operation in self.operations() {
            let path = format!("/webhooks/{operation}/post/requestBody/content/application~1json/examples");
            let found = document.pointer(&path).and_then(Value::as_object).ok_or(Error::Document(operation))?;
            let is_answer_ignored = ANSWER_IGNORED.contains(operation);
            examples.extend(found.iter().filter_map(|(name, example)| {
                let (name, body) = (format!("{operation}, {name}"), fictional(example.get("value")?.clone()));
                Some(Example { name, body, is_answer_ignored })
            }));
        }
        Ok(examples)
    }

    /// Returns what is wrong with the status of the response to a request that the server must accept, or `None`.
    pub(crate) fn status_problem(self, response: &Response) -> Option<String> {
        let (range, expected) = match self {
            Self::Integrator | Self::Bot => (200..=200, "200"),
            Self::Webhook | Self::Gateway => (200..=299, "a status from 200 to 299"),
        };
        (!range.contains(&response.status)).then(|| format!("expected {expected}, got {}", response.status))
    }

    /// Returns what is wrong with the body of such a response, or `None`. That a body is too long is a clause of its own.
    pub(crate) fn answer_problem(self, response: &Response) -> Option<String> {
        if response.is_cut {
            return None;
        }
        let json = response.json().unwrap_or_default();
        let result = json.get("result").and_then(Value::as_str).map(|result| result.trim().to_ascii_lowercase());
        let error = json.get("error").filter(|error| !error.is_null());
        match self {
            Self::Integrator | Self::Bot
                if error.is_some_and(|error| self == Self::Integrator || error.is_object()) =>
            {
                Some("expected a body without an error".to_owned())
            }
            Self::Integrator if result.as_deref() != Some("ok") => {
                Some(r#"expected {"result":"ok"} in the body"#.to_owned())
            }
            Self::Webhook if result.is_some_and(|result| !matches!(&*result, "" | "ok")) => {
                Some(r#"expected no "result", or {"result":"OK"}"#.to_owned())
            }
            Self::Integrator | Self::Bot | Self::Webhook | Self::Gateway => None,
        }
    }

    /// Returns the name of the example that is varied to check everything but its kind.
    pub(crate) fn plain_example(self) -> &'static str {
        match self {
            Self::Integrator => "integratorMessage, text",
            Self::Bot => "botEvent, message",
            Self::Webhook => "chat_accepted, widget",
            Self::Gateway => "placeCall, callback",
        }
    }

    /// Returns the place of a text that people write, in the plain example. A gateway gets no such text.
    pub(crate) fn text_pointer(self) -> Option<&'static str> {
        match self {
            Self::Integrator | Self::Bot => Some("/message/text"),
            Self::Webhook => Some("/visitor/description"),
            Self::Gateway => None,
        }
    }

    /// Returns the place of the id that is also the header `webhook-id`, or the one that a server tells repeated
    /// requests by. Only some examples have it.
    pub(crate) fn id_pointer(self) -> Option<&'static str> {
        match self {
            Self::Integrator => Some("/message/id"),
            Self::Bot => Some("/id"),
            Self::Webhook => None,
            Self::Gateway => Some("/call_id"),
        }
    }

    /// Returns the field that names the type of a message or event, for which new values can appear.
    pub(crate) fn type_pointer(self) -> Option<&'static str> {
        match self {
            Self::Integrator => Some("/message/type"),
            Self::Bot => Some("/event"),
            Self::Webhook => Some("/event_name"),
            Self::Gateway => None,
        }
    }
}

/// Replaces the ids of the chat and of the visitor, so that a mistaken address does no harm.
fn fictional(mut body: Value) -> Value {
    for pointer in ID_POINTERS {
        match body.pointer_mut(pointer) {
            Some(Value::String(id)) => *id = FICTIONAL_NUMBER.to_string(),
            Some(id @ Value::Number(_)) => *id = FICTIONAL_NUMBER.into(),
            Some(Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) | None => {}
        }
    }
    body
}
