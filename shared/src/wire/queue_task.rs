//! What a queue carries: a small versioned JSON with ids, never a payload.

use serde::{Deserialize, Serialize};

use crate::domain::content::Typing;
use crate::domain::entry::Entry;
use crate::domain::timestamp::Timestamp;
use crate::domain::webhook::MAX_WEBHOOKS;
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
    pub attempt: u32,
    /// Whether it came in the chat's order; a failing chat's tasks do not.
    pub ordered: bool,
    /// The webhook it goes to, if it goes to one: each keeps the order of a chat for itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook_id: Option<String>,
    /// When its turn in the chat's order came, in milliseconds since the epoch; what is still in order has yet to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_at: Option<u64>,
    /// Requests of this try of which nothing could be written down.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unrecorded: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_zero(count: &u32) -> bool {
    *count == 0
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
    /// Since when an event of the bot counts as its answer, in milliseconds since the epoch.
    pub asked_at: u64,
}

const VERSION: u8 = 1;

impl Task {
    /// The first try of an entry's present round.
    pub fn first_attempt(entry: &Entry) -> Option<Self> {
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
        Self::Entry(EntryTask {
            v: VERSION,
            account_id,
            chat_id,
            seq,
            round,
            attempt: 0,
            ordered: true,
            webhook_id,
            turn_at: None,
            unrecorded: 0,
        })
    }

    /// A typing notice.
    pub fn typing(account_id: &str, chat_id: u64, typing: Typing, at: Timestamp) -> Self {
        let account_id = account_id.to_owned();
        Self::Typing(TypingTask { v: VERSION, account_id, chat_id, r#type: typing.name().to_owned(), at: at.0 })
    }

    /// The end of a bot's time for answering an entry that it was first sent then.
    pub fn answer_due(entry: &Entry, asked_at: Timestamp) -> Self {
        let Entry { account_id, chat_id, seq, .. } = entry;
        let (account_id, asked_at) = (account_id.clone(), asked_at.0);
        Self::AnswerDue(AnswerTask { v: VERSION, account_id, chat_id: *chat_id, seq: *seq, asked_at })
    }

    /// The account.
    pub fn account_id(&self) -> &str {
        match self {
            Self::Entry(task) => &task.account_id,
            Self::Typing(task) => &task.account_id,
            Self::AnswerDue(task) => &task.account_id,
        }
    }

    /// What a FIFO queue keeps in order: one of the account's `lanes`, which its chats share. A lane has one task under way,
    /// so an account's receivers hold no more processes than it has lanes. Each webhook has its part of them for itself,
    /// because one that hangs must not hold up another of the same chat.
    pub fn group(&self, lanes: u64) -> String {
        let (account_id, chat_id) = (self.account_id(), self.chat_id());
        match self {
            Self::Entry(EntryTask { webhook_id: Some(webhook_id), .. }) => {
                format!("{account_id}-{webhook_id}-{}", chat_id % (lanes / MAX_WEBHOOKS as u64).max(1))
            }
            Self::Entry(_) | Self::Typing(_) | Self::AnswerDue(_) => format!("{account_id}-{}", chat_id % lanes.max(1)),
        }
    }

    fn chat_id(&self) -> u64 {
        match self {
            Self::Entry(task) => task.chat_id,
            Self::Typing(task) => task.chat_id,
            Self::AnswerDue(task) => task.chat_id,
        }
    }

    fn chat(&self) -> String {
        format!("{}-{}", self.account_id(), self.chat_id())
    }

    /// What makes a repeated task the same one within a chat, for a FIFO queue's deduplication.
    pub fn identity(&self) -> String {
        match self {
            Self::Entry(task) => {
                format!("{}-{}-{}-{}", self.chat(), task.seq, task.round, task.attempt)
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
    /// The task as it is when it comes: what is in the chat's order has its turn now.
    pub fn taken(&self, now: Timestamp) -> Self {
        Self { turn_at: if self.ordered { Some(now.0) } else { self.turn_at }, ..self.clone() }
    }

    /// The task of the same try, out of the chat's order.
    pub fn again(&self) -> Task {
        Task::Entry(Self { ordered: false, ..self.clone() })
    }

    /// The task of the same try after a request of which nothing could be written down.
    pub fn again_unrecorded(&self) -> Task {
        Task::Entry(Self { unrecorded: self.unrecorded.saturating_add(1), ordered: false, ..self.clone() })
    }

    /// The task of the next try, out of the chat's order.
    pub fn next_attempt(&self) -> Task {
        let attempt = self.attempt.saturating_add(1);
        Task::Entry(Self { attempt, ordered: false, turn_at: None, unrecorded: 0, ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_shape_in_the_queue_is_fixed() {
        let json = Task::new_entry("a", 7, 3).to_json();
        let expected = serde_json::json!({
            "kind": "entry", "v": 1, "account_id": "a", "chat_id": 7, "seq": 3, "round": 1, "attempt": 0, "ordered": true
        });
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap(), expected);
        assert_eq!(Task::from_json(&json).unwrap(), Task::new_entry("a", 7, 3));
    }

    /// The message group of a chat's message, or of its event for a webhook.
    fn group(account_id: &str, chat_id: u64, webhook_id: Option<&str>, lanes: u64) -> String {
        Task::entry(account_id, chat_id, 3, 1, webhook_id.map(str::to_owned)).group(lanes)
    }

    #[test]
    fn the_chats_of_an_account_share_its_lanes() {
        let lanes: BTreeSet<_> = (1..=300).map(|chat_id| group("a", chat_id, None, 64)).collect();
        assert_eq!(lanes.len(), 64);
        assert_eq!(group("a", 7, None, 64), group("a", 71, None, 64));
        assert_ne!(group("a", 7, None, 64), group("b", 7, None, 64));
        let typing = Task::typing("a", 7, Typing::Start, Timestamp(0));
        assert_eq!(typing.group(64), group("a", 7, None, 64), "a notice keeps its place among the messages");
        assert_eq!(group("a", 7, None, 0), group("a", 8, None, 1), "there is always one");
    }

    #[test]
    fn ten_webhooks_share_the_lanes_of_their_account() {
        let lanes = |webhook_id| (1..=300).map(move |chat_id| group("a", chat_id, Some(webhook_id), 64));
        let (one, other): (BTreeSet<_>, BTreeSet<_>) = (lanes("w1").collect(), lanes("w2").collect());
        assert_eq!((one.len(), other.len(), one.intersection(&other).count()), (6, 6, 0));
        assert_ne!(group("a", 7, Some("w1"), 4), group("a", 7, Some("w2"), 4), "each has one of its own");
    }

    #[test]
    fn time_limit_of_an_answer_keeps_when_the_bot_was_asked() {
        let json = r#"{"kind": "answer_due", "v": 1, "account_id": "a", "chat_id": 7, "seq": 3, "asked_at": 5}"#;
        let Task::AnswerDue(task) = Task::from_json(json).unwrap() else { panic!("not a time limit") };
        assert_eq!((task.seq, task.asked_at), (3, 5));
    }

    #[test]
    fn a_task_out_of_order_keeps_its_turn_and_the_next_try_begins_without() {
        let Task::Entry(task) = Task::new_entry("a", 7, 3) else { panic!("not an entry's") };
        let taken = task.taken(Timestamp(5));
        let again = taken.again_unrecorded();
        assert_eq!(Task::from_json(&again.to_json()).unwrap(), again);
        let Task::Entry(again) = again else { panic!("not an entry's") };
        assert_eq!((again.taken(Timestamp(9)).turn_at, again.unrecorded, again.attempt), (Some(5), 1, 0));
        assert_eq!(again.next_attempt(), Task::Entry(EntryTask { attempt: 1, ordered: false, ..task }));
    }
}
