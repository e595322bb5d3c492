//! The tasks in the delivery queues. A task is a small, versioned JSON document. It contains ids and counters but no
//! message text, because the consumer reads the entry from the table.

use serde::{Deserialize, Serialize};

use crate::domain::chats::answer_timer::AnswerStep;
use crate::domain::chats::message_content::TypingNotice;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::DeliveryState;
use crate::domain::deliveries::outage::OutageKey;
use crate::domain::deliveries::webhook::MAX_WEBHOOKS;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Task {
    /// Make one attempt to deliver an entry.
    Entry(EntryTask),
    /// Send a typing notice once. The notice is not stored, and a failure is not retried.
    Typing(TypingTask),
    /// Check, at the end of the bot's time limit, whether the bot has reacted to an entry. If not, the chat is handed
    /// over to the agents.
    AnswerDue(BotReactionCheckTask),
    /// Check, at the end of the time limit for accepting a chat that a bot has handed over, whether an agent has
    /// accepted it. If not, the chat returns to the bot.
    AgentWaitDue(AgentWaitTask),
    /// Check whether the telephony provider has reported the next step of a call, because the call's time limit may
    /// have passed.
    CallDue(CallCheckTask),
    /// Send a message once to the chat's bot, which is on standby while an agent has the chat.
    StandbyCopy(StandbyCopyTask),
    /// Attempt deliveries again that a receiver's outage has delayed.
    Outage(OutageTask),
    /// Assign the waiting chats of an account to its agents.
    Assignment(AssignmentTask),
    /// Begin or end the time limit of an agent's answer, or tell the webhooks that it is nearly over.
    AnswerTimer(AnswerTimerTask),
    /// Send an e-mail about a chat.
    Email(EmailTask),
}

/// A task to make one attempt to deliver an entry. The consumer drops this task if the delivery has already reached a
/// later round or attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryTask {
    /// The version of the task format.
    pub v: u8,
    pub account_id: String,
    pub chat_id: u64,
    pub seq: u64,
    /// The delivery round that the task belongs to; see
    /// [`Delivery::round`](crate::domain::deliveries::delivery::Delivery::round).
    pub round: u32,
    /// The number of the attempt in the round, starting at 0.
    pub attempt: u32,
    /// Whether the task is in the FIFO queue, which preserves the order of a chat's tasks. False means that it is in
    /// the retry queue.
    pub ordered: bool,
    /// The id of the webhook if the receiver is a webhook. The order of a chat's entries is preserved separately for
    /// each webhook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook_id: Option<String>,
    /// The time at which the task left the FIFO queue, as Unix time in milliseconds. `None` while the task is still in
    /// that queue, and for the later attempts of a round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_at: Option<u64>,
    /// The number of HTTP requests that were sent for this attempt but whose outcome could not be stored.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unrecorded: u32,
    /// The time at which an attempt at a failed delivery was queued that the receiver's outage has delayed, in
    /// milliseconds. `None` for other attempts. A lost late attempt is queued again with another time, so that the queue
    /// does not take it for a duplicate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_at: Option<u64>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// A task to send a typing notice from the agent who has the chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypingTask {
    pub v: u8,
    pub account_id: String,
    pub chat_id: u64,
    /// The type of the notice: `typein` or `typeout`.
    pub r#type: String,
    /// The time of the notice, as Unix time in milliseconds.
    pub at: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BotReactionCheckTask {
    pub v: u8,
    pub account_id: String,
    pub chat_id: u64,
    /// The sequence number of the entry that the bot has received.
    pub seq: u64,
    /// The time at which the first attempt to send the entry started, as Unix time in milliseconds. An event that the
    /// bot sends after this time counts as its reaction.
    pub asked_at: u64,
}

/// The time limit itself is part of the chat, so the task can be repeated and can come too late.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentWaitTask {
    pub v: u8,
    pub account_id: String,
    pub chat_id: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallCheckTask {
    pub v: u8,
    pub account_id: String,
    pub chat_id: u64,
    /// The sequence number of the call's entry.
    pub seq: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandbyCopyTask {
    pub v: u8,
    pub account_id: String,
    pub chat_id: u64,
    /// The sequence number of the message.
    pub seq: u64,
}

/// The kind of receiver follows from the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutageTask {
    pub v: u8,
    pub account_id: String,
    /// The id of the channel or the webhook.
    pub receiver_id: String,
    /// `None` for a probe, which attempts one delivery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain: Option<DrainPosition>,
}

/// A drain attempts all delayed deliveries, one page after the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrainPosition {
    /// The end of the last page, as in the delivery log. `None` at the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// The consumer reads what there is to assign, so the task can be repeated and can come too late.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssignmentTask {
    pub v: u8,
    pub account_id: String,
    /// A chat that has changed, which the index of waiting chats may not contain yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat_id: Option<u64>,
    /// Whether chats that agents have without a slot take one first, because the assignment has just begun.
    #[serde(default)]
    pub recount: bool,
    /// The time of the change, as Unix time in milliseconds, for the log.
    pub at: u64,
}

/// The time limit is part of the chat, so the task can be repeated and can come too late.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerTimerTask {
    pub v: u8,
    pub account_id: String,
    pub chat_id: u64,
    pub step: AnswerTimerStep,
    /// The number of the message that begins or ends the time limit, or with which it began.
    pub seq: u64,
    /// The time of the change, as Unix time in milliseconds.
    pub at: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerTimerStep {
    Asked { is_first: bool },
    Answered,
    Ended,
    DueSoon,
}

impl AnswerTimerStep {
    fn name(self) -> &'static str {
        match self {
            Self::Asked { .. } => "asked",
            Self::Answered => "answered",
            Self::Ended => "ended",
            Self::DueSoon => "due-soon",
        }
    }
}

/// What has been sent is stored, so the task can be repeated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmailTask {
    pub v: u8,
    pub account_id: String,
    pub chat_id: u64,
    pub email: EmailKind,
    /// How often the task was queued again because the visitor was still connected.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub checks: u32,
}

impl EmailTask {
    const MAX_CHECKS: u32 = 2;

    /// Returns a task that checks later whether the visitor is still connected. `None` after the last check.
    pub fn next_check(&self) -> Option<Task> {
        let checks = self.checks.saturating_add(1);
        (checks <= Self::MAX_CHECKS).then(|| Task::Email(Self { checks, ..self.clone() }))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmailKind {
    /// The transcript of a closed chat.
    Transcript,
    /// The agents' messages to a visitor who has left. `seq` is the number of the message for which the task was
    /// queued.
    Answer { seq: u64 },
}

const VERSION: u8 = 1;

impl Task {
    /// Creates the task for the first attempt of the entry's current round. Returns `None` if the entry has no
    /// delivery.
    pub fn first_attempt(entry: &TimelineEntry) -> Option<Self> {
        EntryTask::first_attempt(entry).map(Self::Entry)
    }

    /// Creates the task for the first attempt of a message that has just been stored.
    pub fn first_attempt_of_new_entry(account_id: &str, chat_id: u64, seq: u64) -> Self {
        Self::Entry(EntryTask::new(account_id, chat_id, seq, 1, None))
    }

    pub fn typing(account_id: &str, chat_id: u64, typing: TypingNotice, at: Timestamp) -> Self {
        let account_id = account_id.to_owned();
        Self::Typing(TypingTask { v: VERSION, account_id, chat_id, r#type: typing.name().to_owned(), at: at.0 })
    }

    /// `asked_at` is the time at which the entry was first sent to the bot.
    pub fn answer_due(entry: &TimelineEntry, asked_at: Timestamp) -> Self {
        let TimelineEntry { account_id, chat_id, seq, .. } = entry;
        let (account_id, asked_at) = (account_id.clone(), asked_at.0);
        Self::AnswerDue(BotReactionCheckTask { v: VERSION, account_id, chat_id: *chat_id, seq: *seq, asked_at })
    }

    pub fn agent_wait_due(account_id: &str, chat_id: u64) -> Self {
        Self::AgentWaitDue(AgentWaitTask { v: VERSION, account_id: account_id.to_owned(), chat_id })
    }

    pub fn standby_copy(account_id: &str, chat_id: u64, seq: u64) -> Self {
        Self::StandbyCopy(StandbyCopyTask { v: VERSION, account_id: account_id.to_owned(), chat_id, seq })
    }

    /// Creates the task of a late attempt. Returns `None` if the entry has no delivery.
    pub fn late_attempt(entry: &TimelineEntry, now: Timestamp) -> Option<Self> {
        let (attempt, late_at) = (entry.delivery.as_ref()?.attempts_made, Some(now.0));
        EntryTask::first_attempt(entry).map(|task| Self::Entry(EntryTask { attempt, late_at, ..task }))
    }

    /// Creates the task that makes the next attempt at a delivery from the retry queue, now that the entry before it
    /// is delivered. Returns `None` if the entry has no delivery.
    pub fn next_in_strict_order(entry: &TimelineEntry, now: Timestamp) -> Option<Self> {
        let delivery = entry.delivery.as_ref()?;
        let late_at = (delivery.state == DeliveryState::Failed).then_some(now.0);
        let (attempt, ordered) = (delivery.attempts_made, false);
        EntryTask::first_attempt(entry).map(|task| Self::Entry(EntryTask { attempt, late_at, ordered, ..task }))
    }

    pub fn outage(key: &OutageKey, drain: Option<DrainPosition>) -> Self {
        let OutageKey { account_id, target: _, receiver_id } = key.clone();
        Self::Outage(OutageTask { v: VERSION, account_id, receiver_id, drain })
    }

    pub fn assignment(account_id: &str, chat_id: Option<u64>, at: Timestamp) -> Self {
        let account_id = account_id.to_owned();
        Self::Assignment(AssignmentTask { v: VERSION, account_id, chat_id, recount: false, at: at.0 })
    }

    pub fn answer_timer(account_id: &str, chat_id: u64, step: AnswerStep) -> Self {
        let (step, seq, at) = match step {
            AnswerStep::Asked { seq, at, is_first } => (AnswerTimerStep::Asked { is_first }, seq, at),
            AnswerStep::Answered { seq, at } => (AnswerTimerStep::Answered, seq, at),
            AnswerStep::Ended { at } => (AnswerTimerStep::Ended, 0, at),
        };
        let account_id = account_id.to_owned();
        Self::AnswerTimer(AnswerTimerTask { v: VERSION, account_id, chat_id, step, seq, at: at.0 })
    }

    /// `asked_seq` is the number of the message with which the time limit began.
    pub fn answer_due_soon(account_id: &str, chat_id: u64, asked_seq: u64) -> Self {
        let (account_id, step) = (account_id.to_owned(), AnswerTimerStep::DueSoon);
        Self::AnswerTimer(AnswerTimerTask { v: VERSION, account_id, chat_id, step, seq: asked_seq, at: 0 })
    }

    pub fn recount(account_id: &str, at: Timestamp) -> Self {
        let account_id = account_id.to_owned();
        Self::Assignment(AssignmentTask { v: VERSION, account_id, chat_id: None, recount: true, at: at.0 })
    }

    pub fn call_due(entry: &TimelineEntry) -> Self {
        let TimelineEntry { account_id, chat_id, seq, .. } = entry;
        Self::CallDue(CallCheckTask { v: VERSION, account_id: account_id.clone(), chat_id: *chat_id, seq: *seq })
    }

    pub fn email(account_id: &str, chat_id: u64, email: EmailKind) -> Self {
        Self::Email(EmailTask { v: VERSION, account_id: account_id.to_owned(), chat_id, email, checks: 0 })
    }

    pub fn account_id(&self) -> &str {
        match self {
            Self::Entry(task) => &task.account_id,
            Self::Typing(task) => &task.account_id,
            Self::AnswerDue(task) => &task.account_id,
            Self::AgentWaitDue(task) => &task.account_id,
            Self::CallDue(task) => &task.account_id,
            Self::StandbyCopy(task) => &task.account_id,
            Self::Outage(task) => &task.account_id,
            Self::Assignment(task) => &task.account_id,
            Self::AnswerTimer(task) => &task.account_id,
            Self::Email(task) => &task.account_id,
        }
    }

    /// Returns the message group of the task in a FIFO queue. In each queue, the chats of an account share
    /// `group_count` groups. At most one task of a group is in progress at a time, so an account's tasks in one queue
    /// occupy at most `group_count` processes. In the queue for webhooks, each webhook has its own share of the groups,
    /// at least one, because a webhook that hangs must not delay the other webhooks of the chat.
    pub fn message_group(&self, group_count: u64) -> String {
        let (account_id, chat_id) = (self.account_id(), self.chat_id());
        match self {
            Self::Entry(EntryTask { webhook_id: Some(webhook_id), .. }) => {
                format!("{account_id}-{webhook_id}-{}", chat_id % (group_count / MAX_WEBHOOKS as u64).max(1))
            }
            // One process at a time assigns the chats of an account, so that processes do not wait for each other.
            Self::Assignment(_) => account_id.to_owned(),
            Self::Entry(_)
            | Self::Typing(_)
            | Self::AnswerDue(_)
            | Self::AgentWaitDue(_)
            | Self::CallDue(_)
            | Self::StandbyCopy(_)
            | Self::Outage(_)
            | Self::AnswerTimer(_)
            | Self::Email(_) => format!("{account_id}-{}", chat_id % group_count.max(1)),
        }
    }

    fn chat_id(&self) -> u64 {
        match self {
            Self::Entry(task) => task.chat_id,
            Self::Typing(task) => task.chat_id,
            Self::AnswerDue(task) => task.chat_id,
            Self::AgentWaitDue(task) => task.chat_id,
            Self::CallDue(task) => task.chat_id,
            Self::StandbyCopy(task) => task.chat_id,
            Self::Outage(_) => 0,
            Self::Assignment(task) => task.chat_id.unwrap_or_default(),
            Self::AnswerTimer(task) => task.chat_id,
            Self::Email(task) => task.chat_id,
        }
    }

    fn chat_key(&self) -> String {
        format!("{}-{}", self.account_id(), self.chat_id())
    }

    /// Returns the deduplication id of the task in a FIFO queue. If the same task is sent twice within five minutes,
    /// the queue drops the second message, because it has the same id.
    pub fn deduplication_id(&self) -> String {
        match self {
            Self::Entry(task) => {
                let late = task.late_at.map(|at| format!("-late-{at}")).unwrap_or_default();
                format!("{}-{}-{}-{}{late}", self.chat_key(), task.seq, task.round, task.attempt)
            }
            Self::Typing(task) => format!("{}-{}-{}", self.chat_key(), task.r#type, task.at),
            Self::AnswerDue(task) => format!("{}-{}-answer", self.chat_key(), task.seq),
            Self::AgentWaitDue(_) => format!("{}-agent-wait", self.chat_key()),
            Self::CallDue(task) => format!("{}-{}-call", self.chat_key(), task.seq),
            Self::StandbyCopy(task) => format!("{}-{}-copy", self.chat_key(), task.seq),
            Self::Outage(task) => format!("{}-{}-outage", self.chat_key(), task.receiver_id),
            Self::Assignment(task) => {
                let kind = if task.recount { "recount" } else { "assignment" };
                format!("{}-{}-{kind}", self.chat_key(), task.at)
            }
            Self::AnswerTimer(task) => format!("{}-{}-{}-{}", self.chat_key(), task.seq, task.at, task.step.name()),
            Self::Email(task) => match task.email {
                EmailKind::Transcript => format!("{}-transcript", self.chat_key()),
                EmailKind::Answer { seq } => format!("{}-{seq}-email", self.chat_key()),
            },
        }
    }

    pub fn to_json(&self) -> String {
        serde_json::json!(self).to_string()
    }

    /// Parses a task. Returns an error if the kind or the version of the task is unknown.
    pub fn from_json(body: &str) -> Result<Self, Error> {
        let task: Self = serde_json::from_str(body).map_err(|error| Error::internal(("task", error.to_string())))?;
        let version = match &task {
            Self::Entry(task) => task.v,
            Self::Typing(task) => task.v,
            Self::AnswerDue(task) => task.v,
            Self::AgentWaitDue(task) => task.v,
            Self::CallDue(task) => task.v,
            Self::StandbyCopy(task) => task.v,
            Self::Outage(task) => task.v,
            Self::Assignment(task) => task.v,
            Self::AnswerTimer(task) => task.v,
            Self::Email(task) => task.v,
        };
        if version == VERSION { Ok(task) } else { Err(Error::internal(("task of version", version))) }
    }
}

impl EntryTask {
    pub fn is_late(&self) -> bool {
        self.late_at.is_some()
    }

    fn new(account_id: &str, chat_id: u64, seq: u64, round: u32, webhook_id: Option<String>) -> Self {
        Self {
            v: VERSION,
            account_id: account_id.to_owned(),
            chat_id,
            seq,
            round,
            attempt: 0,
            ordered: true,
            webhook_id,
            turn_at: None,
            unrecorded: 0,
            late_at: None,
        }
    }

    fn first_attempt(entry: &TimelineEntry) -> Option<Self> {
        let round = entry.delivery.as_ref()?.round;
        let webhook_id = entry.webhook_dispatch.as_ref().map(|dispatch| dispatch.webhook_id.clone());
        Some(Self::new(&entry.account_id, entry.chat_id, entry.seq, round, webhook_id))
    }

    /// Returns the task as the consumer processes it. If the task is from the FIFO queue, `turn_at` is set to `now`,
    /// because its turn in the chat's order has come.
    pub fn with_turn_started(&self, now: Timestamp) -> Self {
        Self { turn_at: if self.ordered { Some(now.0) } else { self.turn_at }, ..self.clone() }
    }

    /// Returns a task that makes the same attempt from the retry queue.
    pub fn retry_unordered(&self) -> Task {
        Task::Entry(Self { ordered: false, ..self.clone() })
    }

    /// Returns a task that makes the first attempt from the retry queue at `turn`, when the delivery's window starts.
    pub fn wait_for_turn(&self, turn: Timestamp) -> Task {
        Task::Entry(Self { ordered: false, turn_at: Some(turn.0), ..self.clone() })
    }

    /// Returns a task that makes the same attempt from the retry queue, after a request whose outcome could not be
    /// stored.
    pub fn retry_unrecorded(&self) -> Task {
        Task::Entry(Self { unrecorded: self.unrecorded.saturating_add(1), ordered: false, ..self.clone() })
    }

    /// Returns a task that makes the next attempt from the retry queue.
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
    fn queue_format_is_stable() {
        let json = Task::first_attempt_of_new_entry("a", 7, 3).to_json();
        let expected = serde_json::json!({
            "kind": "entry", "v": 1, "account_id": "a", "chat_id": 7, "seq": 3, "round": 1, "attempt": 0, "ordered": true
        });
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap(), expected);
        assert_eq!(Task::from_json(&json).unwrap(), Task::first_attempt_of_new_entry("a", 7, 3));
    }

    fn group(account_id: &str, chat_id: u64, webhook_id: Option<&str>, group_count: u64) -> String {
        let webhook_id = webhook_id.map(str::to_owned);
        Task::Entry(EntryTask::new(account_id, chat_id, 3, 1, webhook_id)).message_group(group_count)
    }

    #[test]
    fn chats_of_an_account_share_its_message_groups() {
        let groups: BTreeSet<_> = (1..=300).map(|chat_id| group("a", chat_id, None, 64)).collect();
        assert_eq!(groups.len(), 64);
        assert_eq!(group("a", 7, None, 64), group("a", 71, None, 64));
        assert_ne!(group("a", 7, None, 64), group("b", 7, None, 64));
        let typing = Task::typing("a", 7, TypingNotice::Start, Timestamp(0));
        assert_eq!(
            typing.message_group(64),
            group("a", 7, None, 64),
            "a typing notice keeps its order among the messages"
        );
        assert_eq!(group("a", 7, None, 0), group("a", 8, None, 1), "there is always one group");
    }

    #[test]
    fn ten_webhooks_share_the_message_groups() {
        let groups = |webhook_id| (1..=300).map(move |chat_id| group("a", chat_id, Some(webhook_id), 64));
        let (one, other): (BTreeSet<_>, BTreeSet<_>) = (groups("w1").collect(), groups("w2").collect());
        assert_eq!((one.len(), other.len(), one.intersection(&other).count()), (6, 6, 0));
        assert_ne!(group("a", 7, Some("w1"), 4), group("a", 7, Some("w2"), 4), "each webhook has its own group");
    }

    #[test]
    fn answer_check_keeps_when_the_bot_was_asked() {
        let json = r#"{"kind": "answer_due", "v": 1, "account_id": "a", "chat_id": 7, "seq": 3, "asked_at": 5}"#;
        let Task::AnswerDue(task) = Task::from_json(json).unwrap() else { panic!("not an answer check") };
        assert_eq!((task.seq, task.asked_at), (3, 5));
    }

    #[test]
    fn call_check_names_the_entry_of_the_call() {
        let json = r#"{"kind": "call_due", "v": 1, "account_id": "a", "chat_id": 7, "seq": 3}"#;
        let Task::CallDue(task) = Task::from_json(json).unwrap() else { panic!("not a call check") };
        assert_eq!((task.chat_id, task.seq), (7, 3));
    }

    #[test]
    fn task_of_an_answer_is_queued_again_twice() {
        let mut task = Task::email("a", 7, EmailKind::Answer { seq: 3 });
        let json = r#"{"kind":"email","v":1,"account_id":"a","chat_id":7,"email":{"answer":{"seq":3}}}"#;
        assert_eq!(Task::from_json(json).unwrap(), task);
        for _ in 0..2 {
            let Task::Email(email) = Task::from_json(&task.to_json()).unwrap() else { panic!("not an e-mail") };
            task = email.next_check().unwrap();
        }
        let Task::Email(email) = task else { panic!("not an e-mail") };
        assert_eq!(email.next_check(), None);
    }

    #[test]
    fn retried_attempt_keeps_its_turn_and_next_attempt_has_none() {
        let Task::Entry(task) = Task::first_attempt_of_new_entry("a", 7, 3) else { panic!("not an entry task") };
        let retry = task.with_turn_started(Timestamp(5)).retry_unrecorded();
        assert_eq!(Task::from_json(&retry.to_json()).unwrap(), retry);
        let Task::Entry(retry) = retry else { panic!("not an entry task") };
        assert_eq!((retry.with_turn_started(Timestamp(9)).turn_at, retry.unrecorded, retry.attempt), (Some(5), 1, 0));
        assert_eq!(retry.next_attempt(), Task::Entry(EntryTask { attempt: 1, ordered: false, ..task }));
    }
}
