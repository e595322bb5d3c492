//! One try of one delivery, whoever receives it: read, send, record, plan the next.
//!
//! A repeated or late task is harmless, because the entry says which try comes next. A death anywhere leaves
//! the entry pending, and the sweep finds it.

use std::time::Duration;

use futures_util::future::BoxFuture;

use super::task::EntryTask;
use crate::clock;
use crate::domain::chat::Chat;
use crate::domain::delivery::{Attempt, Change, Delivery, Outcome, Progress, Target};
use crate::domain::entry::Entry;
use crate::domain::retry::{self, Step};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::queue::DelayedQueue;
use crate::store::chats::Chats;

/// Somebody else's server.
pub trait Receiver: Send + Sync {
    /// Which of a chat's receivers it is.
    fn target(&self) -> Target;

    /// Whether an entry is not to be sent any more, the chat being as it is.
    fn is_superseded(&self, _entry: &Entry, _chat: &Chat) -> bool {
        false
    }

    /// What has to happen before the outcome of a try is written down, because nobody would come back for it.
    fn settle<'a>(
        &'a self,
        _entry: &'a Entry,
        _chat: &'a Chat,
        _change: &'a Change,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async { Ok(()) })
    }

    /// Sends an entry once.
    fn send<'a>(
        &'a self,
        entry: &'a Entry,
        chat: &'a Chat,
        timeout: Duration,
    ) -> BoxFuture<'a, Result<(Outcome, Attempt), Error>>;
}

/// Does what a task asks for. An error means that the task was not done and should come again.
pub async fn run(
    chats: &Chats,
    retries: &DelayedQueue,
    receiver: &dyn Receiver,
    task: &EntryTask,
) -> Result<(), Error> {
    let found = chats.entry_and_chat(&task.account_id, task.chat_id, task.seq).await?;
    let Some((entry, chat)) = found else {
        return Ok(());
    };
    let Some(delivery) = entry.delivery.as_ref().filter(|delivery| is_current(delivery, task)) else {
        return Ok(());
    };
    if receiver.is_superseded(&entry, &chat) {
        return chats.supersede(&entry).await;
    }
    let now = clock::now();
    if task.ordered && chat.is_failing(receiver.target(), now) {
        // Others of this chat wait behind this task, and each try may hang for seconds.
        return retries.send(&task.again(task.r#try), Duration::ZERO).await;
    }
    let timeout = match delivery.clock().step(now) {
        Step::Wait(wait) => return retries.send(&task.again(task.r#try), wait).await,
        Step::Try(timeout) => timeout,
        // The queue itself was late: a try that was promised is made all the same.
        Step::GiveUp => retry::TIMEOUT,
    };
    let (outcome, attempt) = receiver.send(&entry, &chat, timeout).await?;
    let ended = clock::now();
    let change = delivery.after_try(&outcome, attempt.at, ended);
    log(task, &entry, &attempt, &change);
    receiver.settle(&entry, &chat, &change).await?;
    if !chats.record_try(&entry, delivery, &attempt, &change).await? {
        return Ok(());
    }
    note_health(chats, &chat, receiver.target(), &outcome, ended).await?;
    match change {
        Change::Again(wait) => retries.send(&task.again(task.r#try + 1), wait).await,
        Change::Delivered | Change::Failed(..) => Ok(()),
    }
}

fn is_current(delivery: &Delivery, task: &EntryTask) -> bool {
    delivery.progress == Progress::Pending && delivery.round == task.round && delivery.tries == task.r#try
}

/// Keeps the chat's mark of a failing receiver true. A write only where it changes, or is about to lapse.
async fn note_health(
    chats: &Chats,
    chat: &Chat,
    target: Target,
    outcome: &Outcome,
    now: Timestamp,
) -> Result<(), Error> {
    let is_marked = chat.is_failing(target, now.after(retry::SPACING));
    match outcome {
        Outcome::TryAgain(_) if !is_marked => chats.mark_failing(chat, target, now).await,
        Outcome::Delivered if chat.is_failing(target, now) => chats.mark_healthy(chat, target).await,
        Outcome::TryAgain(_) | Outcome::Delivered | Outcome::Rejected(_) => Ok(()),
    }
}

fn log(task: &EntryTask, entry: &Entry, attempt: &Attempt, change: &Change) {
    let result = match change {
        Change::Delivered => "delivered",
        Change::Failed(..) => "failed",
        Change::Again(_) => "again",
    };
    let age_ms = attempt.at.0.saturating_sub(entry.at.0);
    let Attempt { at: _, status, ms: duration_ms, error: _ } = attempt;
    let EntryTask { account_id, chat_id, seq, round, r#try, .. } = task;
    tracing::info!(account_id, chat_id, seq, round, r#try, status, duration_ms, age_ms, result, "delivery tried");
}
