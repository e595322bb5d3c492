//! The endpoint with which a program says something to a visitor of an API channel.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::contract::{Failure, Operation};
use crate::domain::chats::idempotency_key::MessageReceipt;
use crate::error::Error;
use crate::wire::channels::channel_api::ChannelMessage;
use crate::wire::fields::values::SequentialNumber;

const MAX_EXTERNAL_ID_CHARS: usize = 255;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        Operation::post(
            "/admin/channels/{channel_id}/visitors/{external_id}/messages",
            "messageVisitor",
            "Says something to a visitor of an API channel",
        )
        .describe(
            "The message goes into the visitor's open chat, whoever has it, and is delivered like that of an agent. \
             Without an open chat, it opens one that the caller has, and chat_accepted is sent; a visitor with a new \
             id is created. Repeat a request that got no response with the same Idempotency-Key. 409: the visitor is \
             blacklisted, or the channel is a widget.",
        )
        .body::<ChannelMessage>()
        .example("text", "", json!({ "type": "text", "text": "Your parcel is on its way." }))
        .idempotent()
        .answers::<StoredVisitorMessage>(201, "Stored and queued.")
        .fails(&[Failure::Conflict, Failure::TooManyRequests]),
    ]
}

#[derive(Serialize, JsonSchema)]
pub struct StoredVisitorMessage {
    chat_id: SequentialNumber,
    seq: SequentialNumber,
    /// Sent to the integrator as message.id.
    #[schemars(extend("format" = "uuid"))]
    id: String,
}

impl StoredVisitorMessage {
    pub fn new(MessageReceipt { chat_id, seq, id, .. }: &MessageReceipt) -> Self {
        Self { chat_id: SequentialNumber(*chat_id), seq: SequentialNumber(*seq), id: id.clone() }
    }
}

/// Returns an id that a visitor can have.
pub fn checked_external_id(id: String) -> Result<String, Error> {
    if id.is_empty() || id.chars().count() > MAX_EXTERNAL_ID_CHARS {
        return Err(Error::field("external_id", format_args!("must have 1 to {MAX_EXTERNAL_ID_CHARS} characters")));
    }
    Ok(id)
}
