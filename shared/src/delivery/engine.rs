//! One try of one delivery, whoever receives it: read, send, record, plan the next.
//!
//! A repeated or late task is harmless, because the entry says which try comes next. A death anywhere leaves
//! the entry pending, and the sweep finds it. A service that is too busy puts a task off; once the receiver has been
//! called only a few times, because each would call it again.

use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::domain::chat::Chat;
use crate::domain::delivery::{
    Attempt, AttemptResult, Delivery, DeliveryState, DeliveryUpdate, Failure, Outcome, Target,
};
use crate::domain::delivery_log::waits_for_bot;
use crate::domain::entry::Entry;
use crate::domain::retry::{self, Step};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::queue::DelayedQueue;
use crate::runtime::{clock, metrics};
use crate::store::chats::Chats;
use crate::store::connections::breakers::Breakers;
use crate::wire::task::{EntryTask, Task};

/// How long a try waits that a busy service prevented.
const THROTTLED_RETRY_DELAY: Duration = Duration::from_secs(1);
/// A failed attempt that took less than this held up nobody, and does not count for the receiver's breaker.
const MIN_HANGING_ATTEMPT: Duration = Duration::from_secs(1);

/// Somebody else's server.
pub trait Receiver: Send + Sync {
    /// Which of a chat's receivers it is.
    fn target(&self) -> Target;

    /// Which channel, bot or webhook an entry goes to; none when that is not known any more.
    fn receiver_id(&self, entry: &Entry, chat: &Chat) -> Option<String>;

    /// Whether an entry is not to be sent any more, the chat being as it is.
    fn is_superseded(&self, _entry: &Entry, _chat: &Chat) -> bool {
        false
    }

    /// Whether the receiver has shown in another way than by its answer that it has the entry: no further attempt is made.
    fn has_accepted(&self, _entry: &Entry, _chat: &Chat) -> bool {
        false
    }

    /// What has to happen before the outcome of an attempt is written down, because nobody would come back for it.
    /// Returns what is to be written down.
    fn before_record<'a>(
        &'a self,
        _entry: &'a Entry,
        _chat: &'a Chat,
        _attempt: &'a Attempt,
        change: DeliveryUpdate,
    ) -> BoxFuture<'a, Result<DeliveryUpdate, Error>> {
        Box::pin(async { Ok(change) })
    }

    /// What has to happen when the window ended before the queue brought the task. Returns how the delivery ends.
    fn expire<'a>(&'a self, _entry: &'a Entry, _chat: &'a Chat) -> BoxFuture<'a, Result<DeliveryState, Error>> {
        Box::pin(async { Ok(DeliveryState::Failed) })
    }

    /// Sends an entry once. What is [unavailable](Error::Unavailable) prevented that: nothing was sent.
    fn send<'a>(
        &'a self,
        entry: &'a Entry,
        chat: &'a Chat,
        timeout: Duration,
    ) -> BoxFuture<'a, Result<(Outcome, Attempt), Error>>;
}

/// What a task calls for.
enum Decision {
    /// Nothing: the entry has moved on.
    Nothing,
    /// To end the delivery so: no attempt is needed any more.
    Finish(DeliveryState),
    /// To come back.
    Later(Task, Duration),
    /// A try of at most that long.
    Try(Delivery, Duration),
    /// No try: the window ended before the queue brought the task.
    TooLate(Delivery),
    /// No try: the receiver had all of them, but nothing could be written down. The sweep finds the entry.
    Leave,
}

/// How far a task had come when it could not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FailedStage {
    /// Nothing was sent.
    Unsent,
    /// The receiver was called, and what came of it could not be written down.
    Unrecorded,
    /// The try is written down, and the next one, which is due after this long, could not be queued.
    Unqueued(Duration),
}

/// A task under way.
struct Run<'a> {
    chats: &'a Chats,
    breakers: &'a Breakers,
    retries: &'a DelayedQueue,
    receiver: &'a dyn Receiver,
    task: EntryTask,
}

/// Does what a task asks for. What a busy service prevents is tried again in a moment, out of the chat's order:
/// the visibility time-out of a queue would hold up the whole chat. An error means that the task should come again.
pub async fn run(
    chats: &Chats,
    breakers: &Breakers,
    retries: &DelayedQueue,
    receiver: &dyn Receiver,
    task: &EntryTask,
) -> Result<(), Error> {
    let run = Run { chats, breakers, retries, receiver, task: task.taken(clock::now()) };
    match run.once().await {
        Ok(()) => Ok(()),
        Err((halt, Error::Unavailable(context))) => {
            tracing::warn!(?context, ?halt, task.account_id, task.chat_id, task.seq, "delivery put off");
            let (later, wait) = follow_up_task(&run.task, halt);
            retries.send(&later, wait).await
        }
        Err((_, error)) => Err(error),
    }
}

/// How a task goes on that a busy service halted.
fn follow_up_task(task: &EntryTask, halt: FailedStage) -> (Task, Duration) {
    match halt {
        FailedStage::Unsent => (task.again(), THROTTLED_RETRY_DELAY),
        FailedStage::Unrecorded => (task.again_unrecorded(), retry::ATTEMPT_SPACING),
        FailedStage::Unqueued(wait) => (task.next_attempt(), wait.max(THROTTLED_RETRY_DELAY)),
    }
}

/// What follows from the clock of a pending delivery. Where nothing may happen after the window, it ends with it.
fn planned(task: &EntryTask, delivery: Delivery, step: Step, is_strict: bool) -> Decision {
    let is_used_up = task.attempt.saturating_add(task.unrecorded) >= retry::MAX_ATTEMPTS;
    match step {
        Step::Wait(wait) => Decision::Later(task.again(), wait),
        Step::Try(timeout) if !is_used_up => Decision::Try(delivery, timeout),
        Step::Try(_) | Step::GiveUp if is_strict => Decision::TooLate(delivery),
        // The queue itself was late: a try that was promised is made all the same.
        Step::GiveUp if !is_used_up => Decision::Try(delivery, retry::ATTEMPT_TIMEOUT),
        Step::Try(_) | Step::GiveUp => Decision::Leave,
    }
}

impl Run<'_> {
    async fn once(&self) -> Result<(), (FailedStage, Error)> {
        let unsent = |error| (FailedStage::Unsent, error);
        let EntryTask { account_id, chat_id, seq, .. } = &self.task;
        let found = self.chats.entry_and_chat(account_id, *chat_id, *seq).await.map_err(unsent)?;
        let Some((entry, chat)) = found else { return Ok(()) };
        match self.plan(&entry, &chat, clock::now()) {
            Decision::Nothing => Ok(()),
            Decision::Finish(state) => self.finish(&entry, state).await.map_err(unsent),
            Decision::Later(task, wait) => self.retries.send(&task, wait).await.map_err(unsent),
            Decision::TooLate(delivery) => self.expire(&entry, &chat, &delivery).await.map_err(unsent),
            Decision::Leave => {
                tracing::error!(
                    account_id,
                    chat_id,
                    seq,
                    "delivery left to the sweep: its tries could not be recorded"
                );
                Ok(())
            }
            Decision::Try(..) if self.has_open_breaker(&entry, &chat).await => {
                tracing::info!(account_id, chat_id, seq, "first attempt goes to the delayed queue: the receiver hangs");
                self.retries.send(&self.task.again(), Duration::ZERO).await.map_err(unsent)
            }
            Decision::Try(delivery, timeout) => {
                let tried = self.receiver.send(&entry, &chat, timeout).await.map_err(unsent)?;
                self.conclude(&entry, &chat, &delivery, tried).await
            }
        }
    }

    fn plan(&self, entry: &Entry, chat: &Chat, now: Timestamp) -> Decision {
        let (task, receiver) = (&self.task, self.receiver);
        let Some(stored) = entry.delivery.as_ref().filter(|delivery| is_current(delivery, task)) else {
            return Decision::Nothing;
        };
        if receiver.has_accepted(entry, chat) {
            return Decision::Finish(DeliveryState::Delivered);
        }
        if receiver.is_superseded(entry, chat) {
            return Decision::Finish(DeliveryState::Superseded);
        }
        if task.ordered && chat.is_failing(receiver.target(), now) {
            // Others of this chat wait behind this task, and each try may hang for seconds.
            return Decision::Later(task.again(), Duration::ZERO);
        }
        let is_strict = waits_for_bot(entry);
        let turn = task.turn_at.map(Timestamp).filter(|_| is_strict);
        let delivery = turn.map_or_else(|| stored.clone(), |turn| stored.in_turn(turn));
        let step = if is_strict { delivery.clock().strict_step(now) } else { delivery.clock().step(now) };
        planned(task, delivery, step, is_strict)
    }

    /// Ends a delivery for which no attempt is needed any more.
    async fn finish(&self, entry: &Entry, state: DeliveryState) -> Result<(), Error> {
        if self.chats.finish_delivery(entry, state).await? && state == DeliveryState::Delivered {
            let EntryTask { account_id, chat_id, seq, attempt, .. } = &self.task;
            tracing::info!(
                message_id = entry.id,
                account_id,
                chat_id,
                seq,
                attempt,
                "delivery accepted without an answer"
            );
            metrics::delivery(self.receiver.target(), AttemptResult::Delivered, Some(clock::now().since(entry.at)));
        }
        Ok(())
    }

    /// Ends a delivery whose window is over.
    async fn expire(&self, entry: &Entry, chat: &Chat, delivery: &Delivery) -> Result<(), Error> {
        let state = self.receiver.expire(entry, chat).await?;
        if state != DeliveryState::Failed {
            return self.finish(entry, state).await;
        }
        let now = clock::now();
        let message = "the window was over before the message could be sent".to_owned();
        let attempt = Attempt { at: now, status: None, ms: 0, error: Some(message.clone()), answer: None };
        let change = DeliveryUpdate::Failed(Failure { code: None, message, hidden: false }, now);
        log(&self.task, entry, &attempt, AttemptResult::Failed);
        if self.record(entry, chat, delivery, &attempt, change).await?.is_some() {
            metrics::delivery(self.receiver.target(), AttemptResult::Failed, Some(now.since(entry.at)));
        }
        Ok(())
    }

    /// Writes down what a try came to, and queues the next.
    async fn conclude(
        &self,
        entry: &Entry,
        chat: &Chat,
        delivery: &Delivery,
        (outcome, attempt): (Outcome, Attempt),
    ) -> Result<(), (FailedStage, Error)> {
        let (target, ended) = (self.receiver.target(), clock::now());
        let change = delivery.after_attempt(&outcome, attempt.at, ended);
        let expected = change.ending(&outcome);
        let stable_prefix = self.receiver.before_record(entry, chat, &attempt, change).await;
        log(&self.task, entry, &attempt, stable_prefix.as_ref().map_or(expected, |change| change.ending(&outcome)));
        let unrecorded = |error| (FailedStage::Unrecorded, error);
        let recorded = self.record(entry, chat, delivery, &attempt, stable_prefix.map_err(unrecorded)?).await;
        let Some(change) = recorded.map_err(unrecorded)? else { return Ok(()) };
        metrics::delivery(target, change.ending(&outcome), change.verdict_at(ended).map(|at| at.since(entry.at)));
        if let DeliveryUpdate::Again(wait) = change {
            let next = self.retries.send(&self.task.next_attempt(), wait).await;
            next.map_err(|error| (FailedStage::Unqueued(wait), error))?;
        }
        // Mark and breaker only decide about order: without them, the next failed try makes them.
        let marked = note_health(self.chats, chat, target, &outcome, ended).await;
        let counted = self.update_breaker(entry, chat, &outcome, &attempt, ended).await;
        for error in [marked, counted].into_iter().filter_map(Result::err) {
            let (context, EntryTask { account_id, chat_id, .. }) = (error.context(), &self.task);
            tracing::warn!(?context, account_id, chat_id, "the mark of a failing receiver is late");
        }
        Ok(())
    }

    /// Whether a task in the chat's order would wait for a receiver that hangs, and hold a process meanwhile.
    async fn has_open_breaker(&self, entry: &Entry, chat: &Chat) -> bool {
        let Some(receiver) = self.breaker(entry, chat).filter(|_| self.task.ordered) else { return false };
        match self.breakers.is_open(&receiver, clock::now()).await {
            Ok(is_open) => is_open,
            Err(error) => {
                tracing::warn!(context = ?error.context(), receiver, "breaker not read");
                false
            }
        }
    }

    /// Counts an attempt that hung until it failed; an answer closes the breaker, also one that rejects the message.
    async fn update_breaker(
        &self,
        entry: &Entry,
        chat: &Chat,
        outcome: &Outcome,
        attempt: &Attempt,
        now: Timestamp,
    ) -> Result<(), Error> {
        let Some(receiver) = self.breaker(entry, chat) else { return Ok(()) };
        let account_id = &self.task.account_id;
        let hung = attempt.ms >= u64::try_from(MIN_HANGING_ATTEMPT.as_millis()).unwrap_or(u64::MAX);
        match outcome {
            Outcome::TryAgain(_) if hung && self.task.ordered => {
                if self.breakers.count_failure(&receiver, now).await? {
                    tracing::warn!(account_id, receiver, "breaker opened: first attempts go to the delayed queue");
                }
            }
            Outcome::TryAgain(_) if hung => self.breakers.keep_open(&receiver, now).await?,
            Outcome::Delivered | Outcome::Rejected(_) if attempt.status.is_some() => {
                if self.breakers.close(&receiver).await? {
                    tracing::info!(account_id, receiver, "breaker closed");
                }
            }
            Outcome::TryAgain(_) | Outcome::Delivered | Outcome::Rejected(_) => {}
        }
        Ok(())
    }

    /// The name of the breaker of an entry's receiver.
    fn breaker(&self, entry: &Entry, chat: &Chat) -> Option<String> {
        let receiver_id = self.receiver.receiver_id(entry, chat)?;
        Some(self.receiver.target().breaker(&receiver_id))
    }

    /// What became of the delivery; none when somebody else was faster. An attempt for which the entry has no room ends the
    /// delivery: the receiver would be called again and again.
    async fn record(
        &self,
        entry: &Entry,
        chat: &Chat,
        delivery: &Delivery,
        attempt: &Attempt,
        change: DeliveryUpdate,
    ) -> Result<Option<DeliveryUpdate>, Error> {
        let context = match self.chats.record_attempt(entry, delivery, attempt, &change).await {
            Err(Error::Unwritable(context)) => context,
            recorded => return Ok(recorded?.then_some(change)),
        };
        let EntryTask { account_id, chat_id, seq, .. } = &self.task;
        tracing::error!(?context, account_id, chat_id, seq, "delivery failed: its attempt cannot be recorded");
        let now = clock::now();
        let failed = DeliveryUpdate::Failed(Failure::unrecorded(), now);
        let stable_prefix = self.receiver.before_record(entry, chat, attempt, failed).await?;
        let is_recorded = if stable_prefix == DeliveryUpdate::Delivered {
            self.chats.finish_delivery(entry, DeliveryState::Delivered).await?
        } else {
            self.chats.fail_unrecorded(entry, delivery, now).await?
        };
        Ok(is_recorded.then_some(stable_prefix))
    }
}

fn is_current(delivery: &Delivery, task: &EntryTask) -> bool {
    delivery.state == DeliveryState::Pending && delivery.round == task.round && delivery.attempts_made == task.attempt
}

/// Keeps the chat's mark of a failing receiver true. A write only where it changes, or is about to lapse.
async fn note_health(
    chats: &Chats,
    chat: &Chat,
    target: Target,
    outcome: &Outcome,
    now: Timestamp,
) -> Result<(), Error> {
    let is_marked = chat.is_failing(target, now.after(retry::ATTEMPT_SPACING));
    match outcome {
        Outcome::TryAgain(_) if !is_marked => chats.mark_failing(chat, target, now).await,
        Outcome::Delivered if chat.is_failing(target, now) => chats.mark_healthy(chat, target).await,
        Outcome::TryAgain(_) | Outcome::Delivered | Outcome::Rejected(_) => Ok(()),
    }
}

/// `message_id` is the `webhook-id` of the try's request, and in the line of the request that made the entry.
fn log(task: &EntryTask, entry: &Entry, attempt: &Attempt, ending: AttemptResult) {
    let (message_id, result) = (&entry.id, ending.name());
    let age_ms = attempt.at.0.saturating_sub(entry.at.0);
    let Attempt { at: _, status, ms: duration_ms, error: _, answer: _ } = attempt;
    let EntryTask { account_id, chat_id, seq, round, attempt, .. } = task;
    tracing::info!(
        message_id,
        account_id,
        chat_id,
        seq,
        round,
        attempt,
        status,
        duration_ms,
        age_ms,
        result,
        "delivery tried"
    );
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, clippy::wildcard_enum_match_arm)]
    use super::*;

    /// The second try of an entry, of which one request could not be recorded.
    fn task() -> EntryTask {
        let Task::Entry(task) = Task::new_entry("acc", 7, 3) else { panic!("not an entry's") };
        EntryTask { attempt: 1, unrecorded: 1, turn_at: Some(5), ..task }
    }

    fn later(halt: FailedStage) -> (u32, u32, Option<u64>, Duration) {
        let (Task::Entry(later), wait) = follow_up_task(&task(), halt) else { panic!("not an entry's") };
        assert!(!later.ordered, "it would hold up the chat");
        (later.attempt, later.unrecorded, later.turn_at, wait)
    }

    #[test]
    fn what_was_not_sent_comes_again_in_a_moment() {
        assert_eq!(later(FailedStage::Unsent), (1, 1, Some(5), THROTTLED_RETRY_DELAY));
    }

    #[test]
    fn what_was_sent_and_not_recorded_keeps_the_distance_of_tries_and_is_counted() {
        assert_eq!(later(FailedStage::Unrecorded), (1, 2, Some(5), retry::ATTEMPT_SPACING));
    }

    /// The requests that a receiver gets while nothing can be written down, and what ends them.
    fn series(is_strict: bool) -> (u32, Decision) {
        let mut task = EntryTask { attempt: 0, unrecorded: 0, ..task() };
        let delivery = Delivery::new(Target::Channel, Timestamp(0));
        for requests in 0..10 {
            match planned(&task, delivery.clone(), Step::Try(retry::ATTEMPT_TIMEOUT), is_strict) {
                Decision::Try(..) => {}
                end => return (requests, end),
            }
            let (Task::Entry(later), _) = follow_up_task(&task, FailedStage::Unrecorded) else {
                panic!("not an entry's")
            };
            task = later;
        }
        panic!("endless")
    }

    #[test]
    fn a_receiver_gets_no_more_than_its_tries_while_nothing_can_be_written_down() {
        assert!(matches!(series(false), (retry::MAX_ATTEMPTS, Decision::Leave)), "the sweep finds it");
        assert!(matches!(series(true), (retry::MAX_ATTEMPTS, Decision::TooLate(_))), "the agents take it");
    }

    #[test]
    fn a_try_that_could_not_be_queued_is_put_off_and_not_the_one_before_it() {
        let table = [(Duration::ZERO, THROTTLED_RETRY_DELAY), (Duration::from_secs(2), Duration::from_secs(2))];
        for (wait, expected) in table {
            assert_eq!(later(FailedStage::Unqueued(wait)), (2, 0, None, expected));
        }
    }
}
