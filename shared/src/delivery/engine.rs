//! The delivery engine. It makes one attempt at a delivery and works the same way for every kind of receiver.
//!
//! [`run`] handles a task in three steps: `read` loads the entry and decides what is due, `send` makes the request, and
//! `record` stores the result and queues the next attempt. A task that is repeated after its attempt was stored does
//! nothing, because the entry stores which attempt is next. If the process dies before that, the delivery stays
//! pending, and the queue repeats the task. If the next attempt of a pending delivery was not queued, the sweep (the
//! scheduled search for overdue deliveries) queues the delivery again.

mod outages;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::chats::delivery_events::{delivery_events, event_of_update};
use crate::delivery::outbound_client::AttemptFuture;
use crate::domain::accounts::account_settings::AccountSettings;
use crate::domain::bots::bot_reaction::awaits_bot_reaction;
use crate::domain::bots::turn::TurnStep;
use crate::domain::chats::chat::{Chat, Sender};
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::{
    Attempt, AttemptResult, Delivery, DeliveryState, DeliveryUpdate, Failure, Outcome, Target,
};
use crate::domain::deliveries::outage::{DeliveryOptions, OutageKey, OutageStatus};
use crate::domain::deliveries::retry_schedule::{self, AttemptStep};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::outbox::Outbox;
use crate::runtime::{clock, metrics};
use crate::store::chats::Chats;
use crate::store::connections::circuit_breakers::CircuitBreakers;
use crate::wire::queue_task::{EntryTask, Task};

/// The delay before a task is retried if a table or a queue was unavailable before anything was sent to the receiver.
/// Also the minimum delay of the next attempt if the last result was stored but the next attempt could not be queued.
const UNAVAILABLE_RETRY_DELAY: Duration = Duration::from_secs(1);
/// Only failed attempts that took at least this long can open the receiver's circuit breaker or keep it open. While
/// the breaker is open, first attempts go to the retry queue.
const MIN_HANGING_DURATION: Duration = Duration::from_secs(1);

/// The update of a delivery that is to be stored after an attempt.
pub type UpdateFuture<'a> = BoxFuture<'a, Result<DeliveryUpdate, Error>>;

/// A receiver that can have an outage, with what its settings say about it.
pub struct OutagePolicy {
    pub key: OutageKey,
    pub options: DeliveryOptions,
    pub status: OutageStatus,
}

/// One kind of receiver: integrators, bots, webhooks or telephony providers.
pub trait Receiver: Send + Sync {
    fn target(&self) -> Target;

    /// Returns the id of an entry's receiver: the id of the channel or bot, the ids of the account and the webhook, or,
    /// for a telephony provider, the id of the account. Returns `None` if the entry has no such receiver.
    fn receiver_id(&self, entry: &TimelineEntry, chat: &Chat) -> Option<String>;

    /// Returns the receiver's outage policy, from the cache. Returns `None` if the receiver no longer exists, or if
    /// failed deliveries of the entry are never attempted late.
    fn outage_policy<'a>(
        &'a self,
        _entry: &'a TimelineEntry,
        _chat: &'a Chat,
    ) -> BoxFuture<'a, Result<Option<OutagePolicy>, Error>> {
        Box::pin(async { Ok(None) })
    }

    /// Returns the account's settings if its webhooks can be notified of what becomes of entries for this receiver.
    fn settings_for_events<'a>(
        &'a self,
        _entry: &'a TimelineEntry,
    ) -> BoxFuture<'a, Result<Option<Arc<AccountSettings>>, Error>> {
        Box::pin(async { Ok(None) })
    }

    /// Returns the receiver if it has no address and fetches its deliveries instead.
    fn fetcher<'a>(
        &'a self,
        _entry: &'a TimelineEntry,
        _chat: &'a Chat,
    ) -> BoxFuture<'a, Result<Option<OutageKey>, Error>> {
        Box::pin(async { Ok(None) })
    }

    /// Returns whether the current state of the chat or of the entry makes the entry obsolete for this receiver.
    fn is_superseded(&self, _entry: &TimelineEntry, _chat: &Chat) -> bool {
        false
    }

    /// Returns whether the first attempt at an entry has to wait, or whether the entry is sent with a later one.
    fn turn_step<'a>(
        &'a self,
        _entry: &'a TimelineEntry,
        _chat: &'a Chat,
        _now: Timestamp,
    ) -> BoxFuture<'a, Result<TurnStep, Error>> {
        Box::pin(async { Ok(TurnStep::Send) })
    }

    /// Returns whether the receiver has accepted the entry by means other than an HTTP response, for example by sending
    /// an event of its own. If so, no further attempt is made.
    fn has_accepted(&self, _entry: &TimelineEntry, _chat: &Chat) -> bool {
        false
    }

    /// Runs before the result of an attempt is stored. This is the place for side effects that must not be lost: if the
    /// process dies before the result is stored, the attempt is repeated, and so are the side effects. Returns the
    /// update to store, which may differ from `update`.
    fn update_to_record<'a>(
        &'a self,
        _entry: &'a TimelineEntry,
        _chat: &'a Chat,
        _attempt: &'a Attempt,
        update: DeliveryUpdate,
    ) -> UpdateFuture<'a> {
        Box::pin(async { Ok(update) })
    }

    /// Runs for an entry that needs a reaction from a bot if no further request can be made: because the delivery
    /// window (nine seconds) ends too soon, or because all attempts were made but not all of them could be recorded.
    /// Returns the final state of the delivery.
    fn expire<'a>(&'a self, _entry: &'a TimelineEntry, _chat: &'a Chat) -> BoxFuture<'a, Result<DeliveryState, Error>> {
        Box::pin(async { Ok(DeliveryState::Failed) })
    }

    /// Sends the entry. Returns the outcome, and the attempt for the delivery log.
    ///
    /// # Errors
    /// Returns [`Error::Unavailable`] only if no request was made. The attempt is then repeated without being counted.
    fn send<'a>(&'a self, entry: &'a TimelineEntry, chat: &'a Chat, timeout: Duration) -> AttemptFuture<'a>;
}

enum Decision {
    /// Drops the task, because the entry has no delivery, the delivery is finished, or another attempt is next.
    Skip,
    /// Ends the delivery in this state without making an attempt.
    Finish(DeliveryState),
    /// Sends this task to the retry queue with a delay.
    Requeue(Task, Duration),
    Send(Delivery, Duration),
    /// Ends the delivery of an entry that needs a reaction from a bot, because no further request can be made.
    Expire(Delivery),
    /// Drops the task and leaves the pending delivery to the sweep. All attempts were made, but not all of them could
    /// be recorded.
    LeaveToSweep,
    /// Ends the delivery as failed for now: in strict order, an earlier delivery of the chat has failed.
    FailBehindOther(Delivery, OutageKey),
}

/// The step at which a task failed. If the cause was an unavailable service, the step decides how the task is retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FailedStage {
    /// Nothing was sent.
    BeforeSend,
    /// The request was sent, but its result is not stored.
    Record,
    /// The result is stored, but the next attempt, which is due after this delay, is not queued.
    Enqueue(Duration),
}

/// Returns a function for `map_err` that adds the stage to an error.
fn failed_at(stage: FailedStage) -> impl FnOnce(Error) -> (FailedStage, Error) {
    move |error| (stage, error)
}

struct DeliveryRun<'a> {
    chats: &'a Chats,
    breakers: &'a CircuitBreakers,
    outbox: &'a Outbox,
    receiver: &'a dyn Receiver,
    task: EntryTask,
}

struct DueAttempt {
    entry: TimelineEntry,
    chat: Chat,
    delivery: Delivery,
    timeout: Duration,
}

/// Handles one task of a delivery queue.
///
/// # Errors
/// If a table or a queue is unavailable, the task is sent to the retry queue and the result is `Ok`, because an error
/// would make a FIFO queue hold back the chat's next messages until the visibility timeout ends. Any other error is
/// returned, so that the queue delivers the task again. This includes an error of the retry queue.
pub async fn run(
    chats: &Chats,
    breakers: &CircuitBreakers,
    outbox: &Outbox,
    receiver: &dyn Receiver,
    task: &EntryTask,
) -> Result<(), Error> {
    let run = DeliveryRun { chats, breakers, outbox, receiver, task: task.with_turn_started(clock::now()) };
    match run.make_attempt().await {
        Ok(()) => Ok(()),
        Err((stage, error)) if task.is_late() => {
            // The next probe of the outage attempts the delivery again.
            tracing::warn!(
                context = error.context(),
                ?stage,
                task.account_id,
                task.chat_id,
                task.seq,
                "late attempt lost"
            );
            Ok(())
        }
        Err((stage, Error::Unavailable(context))) => {
            tracing::warn!(?context, ?stage, task.account_id, task.chat_id, task.seq, "delivery task postponed");
            let (next, delay) = follow_up_task(&run.task, stage);
            outbox.send_delayed(receiver.target(), &next, delay).await
        }
        Err((_, error)) => Err(error),
    }
}

/// Returns the task that resumes the work after a stage has failed, and the task's delay. A request whose result is not
/// stored is counted in the task as unrecorded, so that the receiver is not called more often than a round allows.
fn follow_up_task(task: &EntryTask, stage: FailedStage) -> (Task, Duration) {
    match stage {
        FailedStage::BeforeSend => (task.retry_unordered(), UNAVAILABLE_RETRY_DELAY),
        FailedStage::Record => (task.retry_unrecorded(), retry_schedule::ATTEMPT_SPACING),
        FailedStage::Enqueue(delay) => (task.next_attempt(), delay.max(UNAVAILABLE_RETRY_DELAY)),
    }
}

/// Decides what to do with a pending delivery. `step` is the step that the delivery's clock returned. If
/// `has_strict_window` is set, no request is made after the delivery window has ended.
fn decide_by_clock(task: &EntryTask, delivery: Delivery, step: AttemptStep, has_strict_window: bool) -> Decision {
    let is_exhausted = task.attempt.saturating_add(task.unrecorded) >= retry_schedule::MAX_ATTEMPTS;
    match step {
        AttemptStep::Wait(delay) => Decision::Requeue(task.retry_unordered(), delay),
        AttemptStep::Attempt(timeout) if !is_exhausted => Decision::Send(delivery, timeout),
        AttemptStep::Attempt(_) | AttemptStep::GiveUp if has_strict_window => Decision::Expire(delivery),
        AttemptStep::Attempt(_) | AttemptStep::GiveUp => Decision::LeaveToSweep,
    }
}

/// Returns when the first attempt of a delivery could start. If this was too late, the delivery's window starts then,
/// not when the entry was created. For a strict window, this is when the task left the FIFO queue, because time in the
/// retry queue must not keep the visitor waiting for an agent. For any other window, it is `now`, however the task was
/// delayed. A request that was sent but not recorded has already used a part of the window.
fn first_attempt_turn(task: &EntryTask, has_strict_window: bool, now: Timestamp) -> Option<Timestamp> {
    if has_strict_window { task.turn_at.map(Timestamp) } else { (task.unrecorded == 0).then_some(now) }
}

impl DeliveryRun<'_> {
    async fn make_attempt(&self) -> Result<(), (FailedStage, Error)> {
        let Some(due) = self.read().await.map_err(failed_at(FailedStage::BeforeSend))? else { return Ok(()) };
        let (outcome, attempt) = self.send(&due).await.map_err(failed_at(FailedStage::BeforeSend))?;
        self.record(&due, &outcome, &attempt).await
    }

    /// Reads the entry with its chat and decides what to do with the task. Returns the attempt if one is due;
    /// otherwise, carries out the decision and returns `None`.
    ///
    /// # Errors
    /// This step sends nothing to the receiver, so the same task can be repeated after any error.
    async fn read(&self) -> Result<Option<DueAttempt>, Error> {
        let EntryTask { account_id, chat_id, seq, .. } = &self.task;
        let Some((entry, chat)) = self.chats.entry_and_chat(account_id, *chat_id, *seq).await? else { return Ok(None) };
        let now = clock::now();
        let decision = self.decide_in_turn(&entry, &chat, now).await?;
        let decision = self.unless_fetched(&entry, &chat, decision).await?;
        match self.in_strict_order(&entry, &chat, decision, now).await? {
            Decision::FailBehindOther(delivery, key) => self.fail_behind_other(&entry, &delivery, &key, now).await?,
            Decision::Skip => {}
            Decision::Finish(state) => self.finish(&entry, state).await?,
            Decision::Requeue(task, delay) => self.send_delayed(&task, delay).await?,
            Decision::Expire(delivery) => self.expire(&entry, &chat, &delivery).await?,
            Decision::LeaveToSweep => {
                tracing::error!(account_id, chat_id, seq, "delivery left to the sweep: its attempts are not recorded");
            }
            Decision::Send(..) if !self.task.is_late() && self.has_open_breaker(&entry, &chat).await => {
                tracing::info!(account_id, chat_id, seq, "first attempt goes to the retry queue: the receiver hangs");
                self.send_delayed(&self.task.retry_unordered(), Duration::ZERO).await?;
            }
            Decision::Send(delivery, timeout) => return Ok(Some(DueAttempt { entry, chat, delivery, timeout })),
        }
        Ok(None)
    }

    /// Like [`decide`](Self::decide), but lets a first attempt wait for the rest of a turn.
    async fn decide_in_turn(&self, entry: &TimelineEntry, chat: &Chat, now: Timestamp) -> Result<Decision, Error> {
        let decision = self.decide(entry, chat, now);
        let is_first = |delivery: &Delivery| delivery.attempts_made == 0 && self.task.unrecorded == 0;
        let (Decision::Send(delivery, _) | Decision::Expire(delivery)) = &decision else { return Ok(decision) };
        if !is_first(delivery) {
            return Ok(decision);
        }
        Ok(match self.receiver.turn_step(entry, chat, now).await? {
            TurnStep::Send => decision,
            TurnStep::Wait(wait) => Decision::Requeue(self.task.wait_for_turn(now.plus(wait)), wait),
            TurnStep::Skip => Decision::Finish(DeliveryState::Superseded),
        })
    }

    /// Leaves a delivery to a receiver that fetches it. Late attempts are not left to it: they have failed before, so
    /// that the agent has seen a failure.
    async fn unless_fetched(&self, entry: &TimelineEntry, chat: &Chat, decision: Decision) -> Result<Decision, Error> {
        let Decision::Send(delivery, _) = &decision else { return Ok(decision) };
        if self.task.is_late() {
            return Ok(decision);
        }
        let Some(receiver) = self.receiver.fetcher(entry, chat).await? else { return Ok(decision) };
        self.chats.keep_for_fetcher(entry, delivery, &receiver).await?;
        Ok(Decision::Skip)
    }

    fn decide(&self, entry: &TimelineEntry, chat: &Chat, now: Timestamp) -> Decision {
        let (task, receiver) = (&self.task, self.receiver);
        let Some(stored) = entry.delivery.as_ref().filter(|delivery| is_next_attempt(delivery, task, now)) else {
            return Decision::Skip;
        };
        if stored.state == DeliveryState::Failed {
            return Decision::Send(stored.clone(), retry_schedule::ATTEMPT_TIMEOUT);
        }
        if receiver.has_accepted(entry, chat) {
            return Decision::Finish(DeliveryState::Delivered);
        }
        if receiver.is_superseded(entry, chat) {
            return Decision::Finish(DeliveryState::Superseded);
        }
        if task.ordered && chat.is_failing(receiver.target(), now) {
            // On the FIFO queue, the attempt could block the chat's next messages for seconds.
            return Decision::Requeue(task.retry_unordered(), Duration::ZERO);
        }
        let has_strict_window = awaits_bot_reaction(entry);
        let delivery = first_attempt_turn(task, has_strict_window, now)
            .map_or_else(|| stored.clone(), |turn| stored.restart_round_if_waited(turn));
        let step = delivery.clock().step(has_strict_window, now);
        decide_by_clock(task, delivery, step, has_strict_window)
    }

    /// Returns an error only if no request was made. A request that failed is an [`Outcome`].
    async fn send(&self, due: &DueAttempt) -> Result<(Outcome, Attempt), Error> {
        self.receiver.send(&due.entry, &due.chat, due.timeout).await
    }

    /// Stores the result of an attempt and queues the next attempt. Then updates the receiver's circuit breaker, and
    /// the mark in the chat's header that says the receiver is failing.
    ///
    /// # Errors
    /// The stage is `Record` if the result is not stored, and `Enqueue` if only the next task is missing. If the mark
    /// or the breaker cannot be updated, the error is only logged, because both only affect the order of attempts, and
    /// a later attempt repeats the update.
    async fn record(&self, due: &DueAttempt, outcome: &Outcome, attempt: &Attempt) -> Result<(), (FailedStage, Error)> {
        let DueAttempt { entry, chat, delivery, timeout: _ } = due;
        let (target, ended_at) = (self.receiver.target(), clock::now());
        let planned = delivery.update_after_attempt(outcome, attempt.at, ended_at, awaits_bot_reaction(entry));
        let planned_result = planned.attempt_result(outcome);
        let update = match self.receiver.update_to_record(entry, chat, attempt, planned).await {
            Ok(update) => self.delay_if_outage(due, outcome, update, ended_at).await,
            error => error,
        };
        let result = update.as_ref().map_or(planned_result, |update| update.attempt_result(outcome));
        log_attempt(&self.task, entry, attempt, result);
        let update = update.map_err(failed_at(FailedStage::Record))?;
        let stored = self.store_update(entry, chat, delivery, attempt, update).await;
        let Some(update) = stored.map_err(failed_at(FailedStage::Record))? else { return Ok(()) };
        let born = entry.delivery.as_ref().map_or(entry.at, |stored| stored.planned_at(entry.at));
        let age = update.result_visible_at(ended_at).map(|result_visible_at| result_visible_at.since(born));
        metrics::count_attempt(target, update.attempt_result(outcome), age);
        if let DeliveryUpdate::RetryAfter(delay) = update {
            let queued = self.send_delayed(&self.task.next_attempt(), delay).await;
            queued.map_err(failed_at(FailedStage::Enqueue(delay)))?;
        }
        let marked = update_failing_mark(self.chats, (entry, chat), target, outcome, ended_at).await;
        let counted = self.update_breaker(entry, chat, outcome, attempt, ended_at).await;
        let followed_up = self.follow_up(due, outcome, attempt, ended_at).await;
        for error in [marked, counted, followed_up].into_iter().filter_map(Result::err) {
            let (context, EntryTask { account_id, chat_id, .. }) = (error.context(), &self.task);
            tracing::warn!(?context, account_id, chat_id, "after an attempt: not updated");
        }
        Ok(())
    }

    /// Stores the update of a delivery and returns it. Returns `None` if a concurrent update was stored first. If the
    /// table can never store the attempt, for example because the entry would become too large, the delivery is marked
    /// as failed, so that the receiver is not called again and again.
    async fn store_update(
        &self,
        entry: &TimelineEntry,
        chat: &Chat,
        delivery: &Delivery,
        attempt: &Attempt,
        update: DeliveryUpdate,
    ) -> Result<Option<DeliveryUpdate>, Error> {
        let events = self.events_of(entry, delivery, &update).await?;
        let context = match self.chats.record_attempt(entry, delivery, attempt, (&update, &events)).await {
            Err(Error::Unwritable(context)) => context,
            Err(error) => return Err(error),
            Ok(false) => return Ok(None),
            Ok(true) => {
                self.outbox.enqueue(&events).await;
                return Ok(Some(update));
            }
        };
        let EntryTask { account_id, chat_id, seq, .. } = &self.task;
        tracing::error!(?context, account_id, chat_id, seq, "delivery failed: its attempt cannot be recorded");
        let now = clock::now();
        let failed = DeliveryUpdate::failed(Failure::attempt_not_recorded(), now);
        let update = self.receiver.update_to_record(entry, chat, attempt, failed).await?;
        let is_stored = if update == DeliveryUpdate::Delivered {
            self.chats.finish_delivery(entry, DeliveryState::Delivered).await?
        } else {
            let events = self.events_of(entry, delivery, &update).await?;
            let is_stored = self.chats.fail_unstorable_attempt(entry, delivery, now, &events).await?;
            self.outbox.enqueue(if is_stored { &events } else { &[] }).await;
            is_stored
        };
        Ok(is_stored.then_some(update))
    }

    /// Returns the events that report an update. The caller must store them with it and then queue them.
    async fn events_of(
        &self,
        entry: &TimelineEntry,
        delivery: &Delivery,
        update: &DeliveryUpdate,
    ) -> Result<Vec<TimelineEntry>, Error> {
        let Some(event) = event_of_update(delivery, update) else { return Ok(Vec::new()) };
        let Some(settings) = self.receiver.settings_for_events(entry).await? else { return Ok(Vec::new()) };
        let now = clock::now();
        let known_at = update.result_visible_at(now).unwrap_or(now);
        delivery_events(self.chats, &settings.webhooks, entry, event, (now, known_at)).await
    }

    async fn finish(&self, entry: &TimelineEntry, state: DeliveryState) -> Result<(), Error> {
        if self.chats.finish_delivery(entry, state).await? && state == DeliveryState::Delivered {
            let EntryTask { account_id, chat_id, seq, attempt, .. } = &self.task;
            tracing::info!(
                message_id = entry.id,
                account_id,
                chat_id,
                seq,
                attempt,
                "delivery confirmed by an event of the receiver"
            );
            let age = clock::now().since(entry.at);
            metrics::count_attempt(self.receiver.target(), AttemptResult::Delivered, Some(age));
        }
        Ok(())
    }

    async fn expire(&self, entry: &TimelineEntry, chat: &Chat, delivery: &Delivery) -> Result<(), Error> {
        let state = self.receiver.expire(entry, chat).await?;
        if state != DeliveryState::Failed {
            return self.finish(entry, state).await;
        }
        let now = clock::now();
        let message = "the window was over before the message could be sent".to_owned();
        let attempt = Attempt { at: now, status: None, duration_ms: 0, error: Some(message.clone()), answer: None };
        let update = DeliveryUpdate::failed(Failure { code: None, message, hidden: false }, now);
        log_attempt(&self.task, entry, &attempt, AttemptResult::Failed);
        if self.store_update(entry, chat, delivery, &attempt, update).await?.is_some() {
            metrics::count_attempt(self.receiver.target(), AttemptResult::Failed, Some(now.since(entry.at)));
        }
        Ok(())
    }

    /// Returns whether this is a first attempt and the receiver's breaker is open. A breaker that cannot be read counts
    /// as closed.
    async fn has_open_breaker(&self, entry: &TimelineEntry, chat: &Chat) -> bool {
        let Some(receiver) = self.breaker_id(entry, chat).filter(|_| self.task.ordered) else { return false };
        match self.breakers.is_open(&receiver, clock::now()).await {
            Ok(is_open) => is_open,
            Err(error) => {
                tracing::warn!(context = error.context(), receiver, "breaker not read");
                false
            }
        }
    }

    /// Updates the receiver's circuit breaker after an attempt that hung until it failed, or after a final response. A
    /// hanging attempt from the FIFO queue is counted and can open the breaker. A hanging attempt from the retry queue
    /// keeps an open breaker open. A final response closes the breaker, even if the response rejects the message.
    async fn update_breaker(
        &self,
        entry: &TimelineEntry,
        chat: &Chat,
        outcome: &Outcome,
        attempt: &Attempt,
        now: Timestamp,
    ) -> Result<(), Error> {
        let Some(receiver) = self.breaker_id(entry, chat) else { return Ok(()) };
        let account_id = &self.task.account_id;
        let has_hung = attempt.duration_ms >= u64::try_from(MIN_HANGING_DURATION.as_millis()).unwrap_or(u64::MAX);
        match outcome {
            Outcome::Retry(_) if has_hung && self.task.ordered => {
                if self.breakers.count_hang(&receiver, now).await? {
                    tracing::warn!(account_id, receiver, "breaker opened: first attempts go to the retry queue");
                }
            }
            Outcome::Retry(_) if has_hung => self.breakers.keep_open(&receiver, now).await?,
            Outcome::Delivered | Outcome::Rejected(_) if attempt.status.is_some() => {
                if self.breakers.close(&receiver).await? {
                    tracing::info!(account_id, receiver, "breaker closed");
                }
            }
            Outcome::Retry(_) | Outcome::Delivered | Outcome::Rejected(_) => {}
        }
        Ok(())
    }

    /// Sends a task to the retry queue of the receiver.
    async fn send_delayed(&self, task: &Task, delay: Duration) -> Result<(), Error> {
        self.outbox.send_delayed(self.receiver.target(), task, delay).await
    }

    fn breaker_id(&self, entry: &TimelineEntry, chat: &Chat) -> Option<String> {
        let receiver_id = self.receiver.receiver_id(entry, chat)?;
        Some(self.receiver.target().breaker_key(&receiver_id))
    }
}

fn is_next_attempt(delivery: &Delivery, task: &EntryTask, now: Timestamp) -> bool {
    let is_expected = if task.is_late() { delivery.is_late(now) } else { delivery.state == DeliveryState::Pending };
    is_expected && delivery.round == task.round && delivery.attempts_made == task.attempt
}

/// Sets or clears the mark in the chat's header that says the receiver is failing. Writes only if the mark must change
/// or is about to expire, or if a bot gets another message of the visitor again.
async fn update_failing_mark(
    chats: &Chats,
    (entry, chat): (&TimelineEntry, &Chat),
    target: Target,
    outcome: &Outcome,
    now: Timestamp,
) -> Result<(), Error> {
    let is_repeated = target == Target::Bot
        && entry.from == Sender::Visitor
        && chat.repeated_to_bot.is_none_or(|seq| seq < entry.seq);
    let is_marked = chat.is_failing(target, now.plus(retry_schedule::ATTEMPT_SPACING));
    match outcome {
        Outcome::Retry(_) if !is_marked || is_repeated => chats.mark_failing(entry, chat, target, now).await,
        Outcome::Delivered if chat.is_failing(target, now) => chats.mark_healthy(chat, target).await,
        Outcome::Retry(_) | Outcome::Delivered | Outcome::Rejected(_) => Ok(()),
    }
}

/// `message_id` is the `webhook-id` of the request. The log line of the request that created the entry contains the
/// same id.
fn log_attempt(task: &EntryTask, entry: &TimelineEntry, attempt: &Attempt, result: AttemptResult) {
    let (message_id, result) = (&entry.id, result.name());
    let age_ms = attempt.at.0.saturating_sub(entry.at.0);
    let Attempt { at: _, status, duration_ms, error: _, answer: _ } = attempt;
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
        "delivery attempted"
    );
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, clippy::wildcard_enum_match_arm)]
    use super::*;

    /// Returns the task for an entry's second attempt, in a round with one request that could not be recorded.
    fn task() -> EntryTask {
        let Task::Entry(task) = Task::first_attempt_of_new_entry("acc", 7, 3) else { panic!("not an entry task") };
        EntryTask { attempt: 1, unrecorded: 1, turn_at: Some(5), ..task }
    }

    fn follow_up(stage: FailedStage) -> (u32, u32, Option<u64>, Duration) {
        let (Task::Entry(next), delay) = follow_up_task(&task(), stage) else { panic!("not an entry task") };
        assert!(!next.ordered, "it would block the chat");
        (next.attempt, next.unrecorded, next.turn_at, delay)
    }

    #[test]
    fn task_without_a_request_is_repeated_after_one_second() {
        assert_eq!(follow_up(FailedStage::BeforeSend), (1, 1, Some(5), UNAVAILABLE_RETRY_DELAY));
    }

    #[test]
    fn unrecorded_request_is_counted_and_repeated_after_the_spacing() {
        assert_eq!(follow_up(FailedStage::Record), (1, 2, Some(5), retry_schedule::ATTEMPT_SPACING));
    }

    /// Simulates requests whose results cannot be recorded. Returns the number of requests, and the decision that ends
    /// them.
    fn simulate_unrecorded_requests(has_strict_window: bool) -> (u32, Decision) {
        let mut task = EntryTask { attempt: 0, unrecorded: 0, ..task() };
        let delivery = Delivery::new(Target::Channel, Timestamp(0));
        for requests in 0..10 {
            match decide_by_clock(
                &task,
                delivery.clone(),
                AttemptStep::Attempt(retry_schedule::ATTEMPT_TIMEOUT),
                has_strict_window,
            ) {
                Decision::Send(..) => {}
                decision => return (requests, decision),
            }
            let (Task::Entry(next), _) = follow_up_task(&task, FailedStage::Record) else {
                panic!("not an entry task")
            };
            task = next;
        }
        panic!("endless")
    }

    #[test]
    fn unrecorded_requests_stop_after_three() {
        assert!(matches!(simulate_unrecorded_requests(false), (retry_schedule::MAX_ATTEMPTS, Decision::LeaveToSweep)));
        assert!(matches!(simulate_unrecorded_requests(true), (retry_schedule::MAX_ATTEMPTS, Decision::Expire(_))));
    }

    #[test]
    fn failed_enqueue_postpones_the_next_attempt_only() {
        let table = [(Duration::ZERO, UNAVAILABLE_RETRY_DELAY), (Duration::from_secs(2), Duration::from_secs(2))];
        for (delay, expected) in table {
            assert_eq!(follow_up(FailedStage::Enqueue(delay)), (2, 0, None, expected));
        }
    }
}
