//! The kinds of servers. Their examples come from the OpenAPI document, so that they are those of the contract.

use clap::ValueEnum;
use serde_json::Value;

use crate::Error;
use crate::sender::Response;

const DOCUMENT: &str = include_str!("../../../docs/openapi.json");

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
}

impl Partner {
    /// The operations of the document's `webhooks` that this kind of server gets.
    fn operations(self) -> &'static [&'static str] {
        match self {
            Self::Integrator => &["integratorMessage"],
            Self::Bot => &["botEvent"],
            Self::Webhook => {
                &["chat_accepted", "chat_updated", "chat_assigned", "chat_finished", "offline_message", "call_event"]
            }
            Self::Gateway => &["placeCall"],
        }
    }

    pub(crate) fn examples(self) -> Result<Vec<Example>, Error> {
        let document: Value = serde_json::from_str(DOCUMENT).map_err(|_| Error::Document("JSON"))?;
        let mut examples = Vec::new();
        for operation in self.operations() {
            let path = format!("/webhooks/{operation}/post/requestBody/content/application~1json/examples");
            let found = document.pointer(&path).and_then(Value::as_object).ok_or(Error::Document(operation))?;
            examples.extend(found.iter().filter_map(|(name, example)| {
                let name = format!("{operation}, {name}");
                Some(Example { name, body: example.get("value")?.clone() })
            }));
        }
        Ok(examples)
    }

    /// Returns what is wrong with the response to a request that the server must accept, or `None`.
    pub(crate) fn problem_of(self, response: &Response) -> Option<String> {
        let status = response.status;
        let is_expected = match self {
            Self::Integrator | Self::Bot => status == 200,
            Self::Webhook | Self::Gateway => (200..300).contains(&status),
        };
        if !is_expected {
            let expected =
                if matches!(self, Self::Integrator | Self::Bot) { "200" } else { "a status from 200 to 299" };
            return Some(format!("expected {expected}, got {status}"));
        }
        let json = response.json().unwrap_or_default();
        let result = json.get("result").and_then(Value::as_str).map(str::to_ascii_lowercase);
        let error = json.get("error").filter(|error| !error.is_null());
        match self {
            Self::Integrator if error.is_some() => Some("expected a body without an error".to_owned()),
            Self::Integrator if result.as_deref() != Some("ok") => {
                Some(r#"expected {"result":"ok"} in the body"#.to_owned())
            }
            Self::Bot if error.is_some_and(Value::is_object) => Some("expected a body without an error".to_owned()),
            Self::Webhook if result.is_some_and(|result| result != "ok") => {
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
