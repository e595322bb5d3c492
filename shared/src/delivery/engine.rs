//! One try of one delivery, whoever receives it: read, send, record, plan the next.
//!
//! A repeated or late task is harmless, because the entry says which try comes next. A death anywhere leaves
//! the entry pending, and the sweep finds it.

use std::time::Duration;

use futures_util::future::BoxFuture;

use super::task::EntryTask;
use crate::domain::chat::{Chat, From};
use crate::domain::delivery::{Attempt, Change, Delivery, Ending, Failure, Outcome, Progress, Target};
use crate::domain::entry::Entry;
use crate::domain::retry::{self, Step};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::queue::DelayedQueue;
use crate::store::chats::Chats;
use crate::{clock, metrics};

/// How long a try waits that a busy service prevented.
const PUT_OFF: Duration = Duration::from_secs(1);

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

/// Does what a task asks for. What a busy service prevents is tried again in a moment, out of the chat's order:
/// the visibility time-out of a queue would hold up the whole chat. An error means that the task should come again.
pub async fn run(
    chats: &Chats,
    retries: &DelayedQueue,
    receiver: &dyn Receiver,
    task: &EntryTask,
) -> Result<(), Error> {
    match run_once(chats, retries, receiver, task).await {
        Err(Error::Unavailable(context)) => {
            tracing::warn!(?context, task.account_id, task.chat_id, task.seq, "delivery put off");
            retries.send(&task.again(task.r#try), PUT_OFF).await
        }
        result => result,
    }
}

async fn run_once(
    chats: &Chats,
    retries: &DelayedQueue,
    receiver: &dyn Receiver,
    task: &EntryTask,
) -> Result<(), Error> {
    let found = chats.entry_and_chat(&task.account_id, task.chat_id, task.seq).await?;
    let Some((entry, chat)) = found else { return Ok(()) };
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
    let is_strict = receiver.target() == Target::Bot && entry.from == From::Visitor;
    let step = if is_strict { delivery.clock().strict_step(now) } else { delivery.clock().step(now) };
    let timeout = match step {
        Step::Wait(wait) => return retries.send(&task.again(task.r#try), wait).await,
        Step::Try(timeout) => timeout,
        Step::GiveUp if is_strict => Duration::ZERO,
        // The queue itself was late: a try that was promised is made all the same.
        Step::GiveUp => retry::TIMEOUT,
    };
    let (outcome, attempt) =
        if timeout.is_zero() { too_late(now) } else { receiver.send(&entry, &chat, timeout).await? };
    let ended = clock::now();
    let change = delivery.after_try(&outcome, attempt.at, ended);
    let ending = if timeout.is_zero() { Ending::Failed } else { change.ending(&outcome) };
    log(task, &entry, &attempt, ending);
    receiver.settle(&entry, &chat, &change).await?;
    if !chats.record_try(&entry, delivery, &attempt, &change).await? {
        return Ok(());
    }
    metrics::delivery(receiver.target(), ending, change.verdict_at(ended).map(|at| at.since(entry.at)));
    if let Change::Again(wait) = change {
        retries.send(&task.again(task.r#try + 1), wait).await?;
    }
    // The mark only decides about order: without it, the next failed try makes it.
    if let Err(error) = note_health(chats, &chat, receiver.target(), &outcome, ended).await {
        tracing::warn!(context = ?error.context(), task.account_id, task.chat_id, "the mark of a failing receiver is late");
    }
    Ok(())
}

/// The outcome when the window ended before the queue brought the task.
fn too_late(now: Timestamp) -> (Outcome, Attempt) {
    let message = "the window was over before the message could be sent".to_owned();
    let attempt = Attempt { at: now, status: None, ms: 0, error: Some(message.clone()) };
    (Outcome::Rejected(Failure { code: None, message, hidden: false }), attempt)
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

/// `message_id` is the `webhook-id` of the try's request, and in the line of the request that made the entry.
fn log(task: &EntryTask, entry: &Entry, attempt: &Attempt, ending: Ending) {
    let (message_id, result) = (&entry.id, ending.name());
    let age_ms = attempt.at.0.saturating_sub(entry.at.0);
    let Attempt { at: _, status, ms: duration_ms, error: _ } = attempt;
    let EntryTask { account_id, chat_id, seq, round, r#try, .. } = task;
    tracing::info!(
        message_id,
        account_id,
        chat_id,
        seq,
        round,
        r#try,
        status,
        duration_ms,
        age_ms,
        result,
        "delivery tried"
    );
}
