//! What a queue carries: a small versioned JSON with ids, never a payload.

use serde::{Deserialize, Serialize};

use crate::domain::content::Typing;
use crate::domain::entry::Entry;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;

/// A task of a delivery queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Task {
    /// Try to deliver an entry.
    Entry(EntryTask),
    /// Pass on a typing notice, once, while it is fresh.
    Typing(TypingTask),
    /// A bot took a message a while ago: if it has not reacted, the chat goes to the agents.
    AnswerDue(AnswerTask),
}

/// A try of an entry's delivery. It is stale, and dropped, when the entry has moved on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryTask {
    /// Version of this shape.
    pub v: u8,
    /// The account.
    pub account_id: String,
    /// The chat.
    pub chat_id: u64,
    /// The entry's number.
    pub seq: u64,
    /// Which beginning of the delivery.
    pub round: u32,
    /// Which try of the round, from 0.
    pub r#try: u32,
    /// Whether it came in the chat's order; a failing chat's tasks do not.
    pub ordered: bool,
    /// The webhook it goes to, if it goes to one: each keeps the order of a chat for itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook_id: Option<String>,
}

/// A typing notice of the agent who has the chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypingTask {
    /// Version of this shape.
    pub v: u8,
    /// The account.
    pub account_id: String,
    /// The chat.
    pub chat_id: u64,
    /// `typein` or `typeout`.
    pub r#type: String,
    /// When, in milliseconds since the epoch.
    pub at: u64,
}

/// The end of a bot's own time for its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerTask {
    /// Version of this shape.
    pub v: u8,
    /// The account.
    pub account_id: String,
    /// The chat.
    pub chat_id: u64,
    /// The entry that the bot took.
    pub seq: u64,
}

const VERSION: u8 = 1;

impl Task {
    /// The first try of an entry's present round.
    pub fn first_try(entry: &Entry) -> Option<Self> {
        let delivery = entry.delivery.as_ref()?;
        let webhook_id = entry.occurrence.as_ref().map(|occurrence| occurrence.webhook_id.clone());
        Some(Self::entry(&entry.account_id, entry.chat_id, entry.seq, delivery.round, webhook_id))
    }

    /// The first try of the first round of a message that was just written.
    pub fn new_entry(account_id: &str, chat_id: u64, seq: u64) -> Self {
        Self::entry(account_id, chat_id, seq, 1, None)
    }

    fn entry(account_id: &str, chat_id: u64, seq: u64, round: u32, webhook_id: Option<String>) -> Self {
        let account_id = account_id.to_owned();
        Self::Entry(EntryTask { v: VERSION, account_id, chat_id, seq, round, r#try: 0, ordered: true, webhook_id })
    }

    /// A typing notice.
    pub fn typing(account_id: &str, chat_id: u64, typing: Typing, at: Timestamp) -> Self {
        let account_id = account_id.to_owned();
        Self::Typing(TypingTask { v: VERSION, account_id, chat_id, r#type: typing.name().to_owned(), at: at.0 })
    }

    /// The end of a bot's time for answering an entry.
    pub fn answer_due(entry: &Entry) -> Self {
        let account_id = entry.account_id.clone();
        Self::AnswerDue(AnswerTask { v: VERSION, account_id, chat_id: entry.chat_id, seq: entry.seq })
    }

    /// The account.
    pub fn account_id(&self) -> &str {
        match self {
            Self::Entry(task) => &task.account_id,
            Self::Typing(task) => &task.account_id,
            Self::AnswerDue(task) => &task.account_id,
        }
    }

    /// What a FIFO queue keeps in order: a chat, for webhooks each by itself.
    pub fn group(&self) -> String {
        match self {
            Self::Entry(EntryTask { webhook_id: Some(webhook_id), .. }) => format!("{}-{webhook_id}", self.chat()),
            Self::Entry(_) | Self::Typing(_) | Self::AnswerDue(_) => self.chat(),
        }
    }

    fn chat(&self) -> String {
        let chat_id = match self {
            Self::Entry(task) => task.chat_id,
            Self::Typing(task) => task.chat_id,
            Self::AnswerDue(task) => task.chat_id,
        };
        format!("{}-{chat_id}", self.account_id())
    }

    /// What makes a repeated task the same one within a chat, for a FIFO queue's deduplication.
    pub fn identity(&self) -> String {
        match self {
            Self::Entry(task) => {
                format!("{}-{}-{}-{}", self.chat(), task.seq, task.round, task.r#try)
            }
            Self::Typing(task) => format!("{}-{}-{}", self.chat(), task.r#type, task.at),
            Self::AnswerDue(task) => format!("{}-{}-answer", self.chat(), task.seq),
        }
    }

    /// The task as a queue carries it.
    pub fn to_json(&self) -> String {
        serde_json::json!(self).to_string()
    }

    /// The task a queue carried.
    pub fn from_json(body: &str) -> Result<Self, Error> {
        let task: Self = serde_json::from_str(body).map_err(|error| Error::internal(("task", error.to_string())))?;
        let version = match &task {
            Self::Entry(task) => task.v,
            Self::Typing(task) => task.v,
            Self::AnswerDue(task) => task.v,
        };
        if version == VERSION { Ok(task) } else { Err(Error::internal(("task of version", version))) }
    }
}

impl EntryTask {
    /// The task of another try, out of the chat's order.
    pub fn again(&self, tries: u32) -> Task {
        Task::Entry(Self { r#try: tries, ordered: false, ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_shape_in_the_queue_is_fixed() {
        let json = Task::new_entry("a", 7, 3).to_json();
        let expected = serde_json::json!({
            "kind": "entry", "v": 1, "account_id": "a", "chat_id": 7, "seq": 3, "round": 1, "try": 0, "ordered": true
        });
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap(), expected);
        assert_eq!(Task::from_json(&json).unwrap(), Task::new_entry("a", 7, 3));
    }
}
