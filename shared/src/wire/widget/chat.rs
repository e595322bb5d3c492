//! Chats as the widget shows them, and their rating.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::contract::{Failure, Operation};
use crate::domain::accounts::agent::AgentSnapshot;
use crate::domain::chats::chat::{Chat, Rating};
use crate::wire::agent::{ChatState, LastSeq};
use crate::wire::fields::described::Success;
use crate::wire::fields::urls::WebUrl;
use crate::wire::fields::values::{Name, Nullable, SequentialNumber};
use crate::wire::widget::{SAMPLE_TOKEN, VisitorToken};

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::post("/widget/{widget_id}/rating", "rateWidgetChat", "Rates a chat, or removes the rating")
            .describe(
                "chat_finished contains the rating that the chat then has. A later or changed rating is reported with \
                 chat_updated. Also returns 404 if the chat belongs to another visitor.",
            )
            .body::<RatingRequest>()
            .example("good", "", json!({ "token": SAMPLE_TOKEN, "chat_id": 17, "rate": "positive" }))
            .example("removed", "", json!({ "token": SAMPLE_TOKEN, "chat_id": 17, "rate": null }))
            .answers::<Success>(200, "Accepted.")
            .answer_example("ok", None, json!({ "result": "ok" }))
            .fails(&[Failure::WidgetNotFound]),
    ]
}

#[derive(Deserialize, JsonSchema)]
pub struct RatingRequest {
    pub token: VisitorToken,
    pub chat_id: SequentialNumber,
    #[serde(deserialize_with = "Nullable::deserialize")]
    rate: Nullable<Name<Rating>>,
}

impl RatingRequest {
    /// Returns the new rating. `None` removes it.
    pub fn rating(&self) -> Option<Rating> {
        self.rate.0.map(|Name(rating)| rating)
    }
}

/// The visitor's current or last chat.
#[derive(Clone, PartialEq, Serialize, JsonSchema)]
pub struct WidgetChat {
    chat_id: SequentialNumber,
    state: ChatState,
    agent: Option<WidgetChatAgent>,
    last_seq: LastSeq,
    rated: bool,
    rate: Option<Name<Rating>>,
    /// When an agent last edited or deleted a message of the chat, as Unix time in milliseconds. A client that does not
    /// know of this change reads the messages again. Absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    messages_changed_at: Option<u64>,
}

/// The agent who has the chat, or had it when it was closed.
#[derive(Clone, PartialEq, Serialize, JsonSchema)]
pub struct WidgetChatAgent {
    name: String,
    photo: Option<WebUrl>,
    /// When the agent got the chat, as Unix time in milliseconds.
    joined_at: u64,
}

impl WidgetChat {
    /// `photo` is the photo of the chat's agent, which chats do not store.
    pub fn new(chat: &Chat, photo: Option<String>) -> Self {
        // A chat that an earlier version of the service stored does not contain when its agent got it.
        let joined_at = chat.agent_joined_at.unwrap_or(chat.opened_at).0;
        let agent =
            |agent: &AgentSnapshot| WidgetChatAgent { name: agent.name.clone(), photo: photo.map(WebUrl), joined_at };
        Self {
            chat_id: SequentialNumber(chat.chat_id),
            state: (&chat.state).into(),
            agent: chat.state.agent().map(agent),
            last_seq: LastSeq(chat.seq),
            rated: chat.rating.is_some(),
            rate: chat.rating.map(Name),
            messages_changed_at: chat.messages_changed_at.map(|at| at.0),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::Value;

    use super::*;
    use crate::wire::fields::reader::read;

    #[test]
    fn rating_must_be_given_and_can_be_removed() {
        let parse = |rate: Value| read::<RatingRequest>(&json!({ "token": "t", "chat_id": 7, "rate": rate }));
        let rating = |rate: Value| parse(rate).unwrap().rating();
        assert_eq!(rating(json!("positive")), Some(Rating::Positive));
        assert_eq!(rating(json!(null)), None);
        assert_eq!(parse(json!("good")).err().unwrap().invalid_field(), Some("rate"));
        let error = read::<RatingRequest>(&json!({ "token": "t", "chat_id": 7 })).err().unwrap();
        assert_eq!(error.invalid_field(), Some("rate"));
    }
}
