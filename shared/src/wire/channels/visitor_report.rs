//! What an integrator reports about a visitor of an API channel: the visitor's rating of a chat, and how far a message
//! to the visitor has come.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::contract::{Failure, Operation};
use crate::domain::chats::chat::Rating;
use crate::domain::chats::message_receipt::ReceiptKind;
use crate::wire::fields::described::Success;
use crate::wire::fields::values::{Name, NotNull, Nullable, SequentialNumber, Text, TextOrNumber};

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        Operation::post(
            "/channel/{secret}/{channel_id}/rating",
            "channelRating",
            "A visitor rates a chat, or removes the rating",
        )
        .describe(
            "Without `chat_id`, the visitor's open chat is rated, or the last one. chat_finished contains the rating \
                 that the chat then has. A later or changed rating is reported with chat_updated. Also returns 404 if \
                 the visitor has no such chat.",
        )
        .body::<RatingReport>()
        .example("good", "", json!({ "sender": { "id": "u-1" }, "rate": "positive" }))
        .example("removed", "", json!({ "sender": { "id": "u-1" }, "chat_id": 17, "rate": null }))
        .answers::<Success>(200, "Accepted.")
        .answer_example("ok", None, json!({ "result": "ok" }))
        .fails(&[Failure::NotFound, Failure::AccountSuspended]),
        Operation::post(
            "/channel/{secret}/{channel_id}/receipts",
            "channelReceipt",
            "A message has reached the visitor, or was read",
        )
        .describe(
            "Agents see it beside the message. `read` implies `delivered`, and a repeated receipt changes nothing. \
                 Also returns 404 if the visitor did not get this message.",
        )
        .body::<ReceiptReport>()
        .example(
            "read",
            "",
            json!({
                "sender": { "id": "u-1" }, "message_id": "01a214d2-d7b1-7000-8000-04000000ab59", "type": "read",
            }),
        )
        .answers::<Success>(200, "Accepted.")
        .answer_example("ok", None, json!({ "result": "ok" }))
        .fails(&[Failure::NotFound, Failure::AccountSuspended]),
    ]
}

/// A visitor of the channel.
#[derive(Deserialize, JsonSchema)]
pub struct ReportedVisitor {
    /// The visitor's id in the integrator's system. An integer identifies the same visitor as the string of its digits.
    id: TextOrNumber<255>,
}

#[derive(Deserialize, JsonSchema)]
pub struct RatingReport {
    sender: ReportedVisitor,
    /// The chat_id of the response to the visitor's message.
    #[serde(default)]
    chat_id: NotNull<SequentialNumber>,
    #[serde(deserialize_with = "Nullable::deserialize")]
    rate: Nullable<Name<Rating>>,
}

impl RatingReport {
    pub fn external_id(&self) -> &str {
        &self.sender.id.0
    }

    /// Returns the rated chat, if the report names one.
    pub fn chat_id(&self) -> Option<u64> {
        self.chat_id.0.as_ref().map(|number| number.0)
    }

    /// Returns the new rating. `None` removes it.
    pub fn rating(&self) -> Option<Rating> {
        self.rate.0.map(|Name(rating)| rating)
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct ReceiptReport {
    sender: ReportedVisitor,
    /// The message.id of the message to the visitor.
    message_id: Text<36>,
    r#type: Name<ReceiptKind>,
}

impl ReceiptReport {
    pub fn external_id(&self) -> &str {
        &self.sender.id.0
    }

    pub fn message_id(&self) -> &str {
        &self.message_id.0
    }

    pub fn kind(&self) -> ReceiptKind {
        self.r#type.0
    }
}
