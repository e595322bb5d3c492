//! The delivery of a timeline entry to a receiver: its state, its recorded attempts, and its update after each attempt.

use crate::domain::chats::message_content::{truncate_bytes, truncate_chars};
use crate::domain::deliveries::retry_schedule::{AttemptStep, DeliveryClock};
use crate::domain::named::named;
use crate::domain::timestamp::Timestamp;

/// The maximum length of the error that is stored for an attempt.
const MAX_ATTEMPT_TEXT_CHARS: usize = 500;
/// The maximum length of the response body that is stored for an attempt.
pub const MAX_ANSWER_BYTES: usize = 2 * 1024;
pub const MAX_STORED_ATTEMPTS: usize = 20;
/// The maximum total size of the attempts that an entry stores. It is limited because each attempt rewrites the entry
/// and DynamoDB charges for writes by size.
const MAX_STORED_ATTEMPT_BYTES: usize = 16 * 1024;
/// The approximate size of a stored attempt, excluding its texts.
const ATTEMPT_BASE_BYTES: usize = 64;

named! {
    /// The kind of receiver.
    #[derive(PartialOrd, Ord)]
    pub enum Target as DeliveryTarget {
        /// The integrator of the channel (specification, A-3).
        Channel = "channel",
        /// The provider of the chat's bot (specification, B-2).
        Bot = "bot",
        /// A webhook of the account (specification, part C).
        Webhook = "webhook",
        /// An SQS queue of the customer, to which a webhook sends its events.
        Sqs = "sqs",
        /// An EventBridge event bus of the customer, to which a webhook sends its events.
        EventBridge = "eventbridge",
        /// The telephony provider of the account, which makes the phone calls.
        Call = "call",
    }
}

impl Target {
    /// Whether the receivers are webhooks of the account, wherever they send their events.
    pub const fn is_webhook(self) -> bool {
        match self {
            Self::Webhook | Self::Sqs | Self::EventBridge => true,
            Self::Channel | Self::Bot | Self::Call => false,
        }
    }

    /// Returns the key of a receiver's circuit breaker. While the receiver hangs, the circuit breaker moves first
    /// attempts to the retry queue.
    pub fn breaker_key(self, receiver_id: &str) -> String {
        format!("{}#{receiver_id}", self.name())
    }

    /// Returns the name of the field in which agents see the delivery of an entry. It is `delivery` only for messages
    /// to the visitor, because these are the only messages that an agent can send again.
    pub const fn entry_field(self) -> &'static str {
        match self {
            Self::Channel => "delivery",
            Self::Bot => "bot_delivery",
            Self::Webhook | Self::Sqs | Self::EventBridge => "webhook_delivery",
            Self::Call => "call_delivery",
        }
    }

    /// Returns the name of the number of failed deliveries in reports.
    pub const fn report_field(self) -> &'static str {
        match self {
            Self::Channel => "channel",
            Self::Bot => "bot",
            Self::Webhook => "webhook",
            Self::Sqs => "sqs",
            Self::EventBridge => "eventbridge",
            Self::Call => "telephony",
        }
    }

    /// Returns the environment variables with the URLs of the FIFO queue for first attempts, and of the retry queue for
    /// later attempts. The retry queues of bots and calls also carry the tasks that check time limits.
    pub const fn queue_url_variables(self) -> (&'static str, &'static str) {
        match self {
            Self::Channel => ("CHANNEL_QUEUE_URL", "CHANNEL_RETRY_QUEUE_URL"),
            Self::Bot => ("BOT_QUEUE_URL", "BOT_RETRY_QUEUE_URL"),
            Self::Webhook => ("WEBHOOK_QUEUE_URL", "WEBHOOK_RETRY_QUEUE_URL"),
            Self::Sqs => ("SQS_QUEUE_URL", "SQS_RETRY_QUEUE_URL"),
            Self::EventBridge => ("EVENT_BRIDGE_QUEUE_URL", "EVENT_BRIDGE_RETRY_QUEUE_URL"),
            Self::Call => ("CALL_QUEUE_URL", "CALL_RETRY_QUEUE_URL"),
        }
    }
}

named! {
    pub enum DeliveryState {
        Pending = "pending",
        Delivered = "delivered",
        Failed = "failed",
        /// The entry no longer needs to be sent, for example because the chat was handed over to the agents before the
        /// bot reacted.
        Superseded = "superseded",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The time at which the attempt started.
    pub at: Timestamp,
    /// The HTTP status of the response. `None` if there was no response.
    pub status: Option<u16>,
    pub duration_ms: u64,
    pub error: Option<String>,
    /// The beginning of the receiver's response body, if the attempt failed and the response was complete. If a webhook
    /// accepted the event but did not confirm it with the result OK, the beginning of its text. Otherwise `None`.
    pub answer: Option<String>,
}

impl Attempt {
    pub fn truncated(&self) -> Self {
        let error = self.error.as_deref().map(|error| truncate_chars(error, MAX_ATTEMPT_TEXT_CHARS));
        let answer = self.answer.as_deref().map(|answer| truncate_bytes(answer, MAX_ANSWER_BYTES).to_owned());
        Self { error, answer, ..self.clone() }
    }

    fn bytes(&self) -> usize {
        let texts = [&self.error, &self.answer].into_iter().flatten();
        ATTEMPT_BASE_BYTES + texts.map(String::len).sum::<usize>()
    }
}

/// The reason a message was not delivered. Agents see it unless it is `hidden`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The error code in the response of an integrator or of Twilio. `None` if there was no response or it contains no
    /// code, and for other receivers.
    pub code: Option<i64>,
    /// The error message in the receiver's response or, if there is none, a message from the service.
    pub message: String,
    /// Whether the failure is hidden from agents, because the API channel's settings hide failures with this error
    /// code.
    pub hidden: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Delivered,
    /// The receiver rejected the message permanently, or the message could not be sent at all.
    Rejected(Failure),
    /// The attempt failed temporarily, so another attempt can succeed. The field contains the reason, which the
    /// delivery log shows.
    Retry(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub target: Target,
    pub state: DeliveryState,
    /// The number of the round, starting at 1. A new round starts with each replay, and whenever the sweep (the
    /// scheduled search for overdue deliveries) queues the delivery again after an attempt.
    pub round: u32,
    /// The number of times that the sweep has queued the delivery again since its creation or its last replay.
    pub requeues: u32,
    pub round_started_at: Timestamp,
    /// The number of attempts that have been made in the current round.
    pub attempts_made: u32,
    /// The recorded attempts of all rounds: the first attempt, and as many of the newest attempts as the limits allow.
    /// If an attempt did not fit into the entry, the attempts before it were removed as well.
    pub attempts: Vec<Attempt>,
    /// The number of attempts that are no longer stored, or that did not fit into the entry.
    pub attempts_left_out: u32,
    pub failure: Option<Failure>,
    /// The time at which the failure becomes visible. Until then, a failed delivery is shown as pending. `None` unless
    /// the delivery has failed in its current round.
    pub result_visible_at: Option<Timestamp>,
    /// The time until which a failed delivery is attempted again; see [`outage`](super::outage). `None` if the failure
    /// is final, and for other states.
    pub late_until: Option<Timestamp>,
    /// The time until which a pending delivery waits for its receiver, which fetches it. `None` for a delivery that is
    /// sent.
    pub fetch_until: Option<Timestamp>,
}

impl Failure {
    /// Creates the failure for a delivery attempt that cannot be recorded because the table rejects the write.
    pub fn attempt_not_recorded() -> Self {
        Self { code: None, message: "Not delivered: the attempt could not be recorded".to_owned(), hidden: false }
    }

    /// Creates the failure of a delivery that was not attempted, because an earlier one has failed in strict order.
    pub fn waits_for_earlier_message() -> Self {
        Self { code: None, message: "Not delivered: it waits for an earlier one".to_owned(), hidden: false }
    }

    /// Returns the failure with a truncated message. The message is truncated to the same length as the error of an
    /// attempt, because an attempt's error is hidden if it equals the message of a hidden failure.
    pub fn truncated(&self) -> Self {
        Self { message: truncate_chars(&self.message, MAX_ATTEMPT_TEXT_CHARS), ..self.clone() }
    }
}

impl Outcome {
    pub fn error(&self) -> Option<&str> {
        match self {
            Self::Delivered => None,
            Self::Rejected(failure) => Some(&failure.message),
            Self::Retry(reason) => Some(reason),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryUpdate {
    Delivered,
    Failed {
        failure: Failure,
        /// The time at which the failure becomes visible.
        visible_at: Timestamp,
        /// See [`Delivery::late_until`].
        late_until: Option<Timestamp>,
    },
    RetryAfter(std::time::Duration),
    /// A late attempt has failed, too.
    StillFailed,
}

named! {
    /// The result of an attempt, as it appears in the log and in the metrics.
    pub enum AttemptResult {
        Delivered = "delivered",
        /// The receiver rejected the message, or the message could not be sent at all. This result is final.
        Rejected = "rejected",
        /// The attempt failed, and the round has no attempts or no time left. This result is final.
        Failed = "failed",
        Retry = "retry",
    }
}

impl DeliveryUpdate {
    pub fn attempt_result(&self, outcome: &Outcome) -> AttemptResult {
        match (self, outcome) {
            (Self::Delivered, _) => AttemptResult::Delivered,
            (Self::Failed { .. }, Outcome::Rejected(_)) => AttemptResult::Rejected,
            (Self::Failed { .. }, Outcome::Delivered | Outcome::Retry(_)) => AttemptResult::Failed,
            (Self::RetryAfter(_) | Self::StillFailed, _) => AttemptResult::Retry,
        }
    }

    /// Returns the time at which the final result becomes visible if the attempt ended at `now`. Returns `None` if
    /// another attempt follows.
    pub fn result_visible_at(&self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Delivered => Some(now),
            Self::Failed { visible_at, .. } => Some(*visible_at),
            Self::RetryAfter(_) | Self::StillFailed => None,
        }
    }

    pub fn failed(failure: Failure, visible_at: Timestamp) -> Self {
        Self::Failed { failure, visible_at, late_until: None }
    }
}

impl Attempt {
    /// Returns whether the receiver refused the credentials of the request, so its signature may be outdated.
    pub fn is_unauthorized(&self) -> bool {
        matches!(self.status, Some(401 | 403))
    }
}

impl Delivery {
    /// Returns a delivery whose first attempt is made at `starts_at`.
    pub fn new(target: Target, starts_at: Timestamp) -> Self {
        Self {
            target,
            state: DeliveryState::Pending,
            round: 1,
            requeues: 0,
            round_started_at: starts_at,
            attempts_made: 0,
            attempts: Vec::new(),
            attempts_left_out: 0,
            failure: None,
            result_visible_at: None,
            late_until: None,
            fetch_until: None,
        }
    }

    /// Whether the delivery has failed but is to be attempted again at `now`.
    pub fn is_late(&self, now: Timestamp) -> bool {
        self.visible_state(now) == DeliveryState::Failed && self.late_until.is_some_and(|until| now < until)
    }

    /// Returns when the entry was to be sent. `created_at` is when it was created.
    pub fn planned_at(&self, created_at: Timestamp) -> Timestamp {
        let is_planned_for_later = self.round == 1 && self.attempts_made == 0 && self.requeues == 0;
        if is_planned_for_later { self.round_started_at.max(created_at) } else { created_at }
    }

    pub fn is_failed(&self) -> bool {
        self.state == DeliveryState::Failed
    }

    /// Whether the delivery has failed, now or in an earlier round.
    pub fn has_failed_before(&self) -> bool {
        self.is_failed() || self.round > 1
    }

    /// Whether the entry was delivered after its failure had become visible.
    pub fn was_late(&self) -> bool {
        self.state == DeliveryState::Delivered && self.result_visible_at.is_some()
    }

    pub fn clock(&self) -> DeliveryClock {
        let last_attempt_at =
            if self.attempts_made == 0 { None } else { self.attempts.last().map(|attempt| attempt.at) };
        DeliveryClock { round_started_at: self.round_started_at, attempts_made: self.attempts_made, last_attempt_at }
    }

    /// Returns when the first attempt of the current round started. Returns `None` if that attempt has not been made or
    /// is not recorded.
    pub fn first_attempt_at(&self) -> Option<Timestamp> {
        let first = self.attempts.len().checked_sub(usize::try_from(self.attempts_made).ok()?)?;
        self.attempts.get(first).map(|attempt| attempt.at)
    }

    /// Returns the delivery with the round start that [`DeliveryClock::restart_round_if_waited`] determines.
    pub fn restart_round_if_waited(&self, turn: Timestamp) -> Self {
        Self { round_started_at: self.clock().restart_round_if_waited(turn).round_started_at, ..self.clone() }
    }

    /// Returns the attempts to store and the new value of `attempts_left_out`. If the recorded attempts and `newest`
    /// together exceed the limits, the oldest attempts after the first are left out.
    pub fn with_newest_attempt(&self, newest: Attempt) -> (Vec<Attempt>, u32) {
        let mut stored: Vec<Attempt> = self.attempts.iter().cloned().chain([newest]).collect();
        let mut left_out = self.attempts_left_out;
        let exceeds_limits = |stored: &[Attempt]| {
            stored.len() > MAX_STORED_ATTEMPTS
                || stored.iter().map(Attempt::bytes).sum::<usize>() > MAX_STORED_ATTEMPT_BYTES
        };
        // The first and the newest attempt are always kept, because two attempts never exceed the limits.
        while stored.len() > 2 && exceeds_limits(&stored) {
            stored.remove(1);
            left_out = left_out.saturating_add(1);
        }
        (stored, left_out)
    }

    /// Returns the state that clients see. A failure is shown as pending until `result_visible_at`. A delivery that
    /// nobody has fetched in time is shown as failed, though the failure is stored only when its receiver asks again.
    pub fn visible_state(&self, now: Timestamp) -> DeliveryState {
        match (self.state, self.result_visible_at, self.fetch_until) {
            (DeliveryState::Failed, Some(result_visible_at), _) if now < result_visible_at => DeliveryState::Pending,
            (DeliveryState::Pending, _, Some(fetch_until)) if fetch_until <= now => DeliveryState::Failed,
            (state, ..) => state,
        }
    }

    /// Returns the update of this delivery after an attempt that started at `started` and ended at `now`. If
    /// `has_strict_window` is set, no attempt follows after the delivery window.
    pub fn update_after_attempt(
        &self,
        outcome: &Outcome,
        started: Timestamp,
        now: Timestamp,
        has_strict_window: bool,
    ) -> DeliveryUpdate {
        let clock = DeliveryClock {
            round_started_at: self.round_started_at,
            attempts_made: self.attempts_made + 1,
            last_attempt_at: Some(started),
        };
        match outcome {
            Outcome::Delivered => DeliveryUpdate::Delivered,
            Outcome::Rejected(failure) => DeliveryUpdate::failed(failure.clone(), now),
            Outcome::Retry(_) if self.state == DeliveryState::Failed => DeliveryUpdate::StillFailed,
            Outcome::Retry(reason) => match clock.step(has_strict_window, now) {
                AttemptStep::GiveUp => DeliveryUpdate::failed(attempts_exhausted(reason), clock.result_visible_at(now)),
                AttemptStep::Attempt(_) => DeliveryUpdate::RetryAfter(std::time::Duration::ZERO),
                AttemptStep::Wait(wait) => DeliveryUpdate::RetryAfter(wait),
            },
        }
    }
}

fn attempts_exhausted(reason: &str) -> Failure {
    Failure { code: None, message: format!("Not delivered: {reason}"), hidden: false }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn delivery(attempts_made: u32) -> Delivery {
        Delivery { attempts_made, ..Delivery::new(Target::Channel, Timestamp(0)) }
    }

    fn retry() -> Outcome {
        Outcome::Retry("HTTP 500".into())
    }

    #[test]
    fn rejection_is_visible_at_once_and_exhaustion_after_9_seconds() {
        let refusal = Failure { code: Some(7), message: "blocked".into(), hidden: false };
        let rejected =
            delivery(0).update_after_attempt(&Outcome::Rejected(refusal.clone()), Timestamp(10), Timestamp(20), false);
        assert_eq!(rejected, DeliveryUpdate::failed(refusal, Timestamp(20)));
        let attempts_exhausted = delivery(2).update_after_attempt(&retry(), Timestamp(6_000), Timestamp(6_010), false);
        assert!(
            matches!(attempts_exhausted, DeliveryUpdate::Failed { visible_at: Timestamp(9_000), .. }),
            "{attempts_exhausted:?}"
        );
    }

    #[test]
    fn attempt_result_and_verdict_time_follow_from_outcome() {
        let rejected = Outcome::Rejected(Failure { code: None, message: "no".into(), hidden: false });
        let table = [
            (0, Outcome::Delivered, AttemptResult::Delivered, Some(20)),
            (0, rejected, AttemptResult::Rejected, Some(20)),
            (0, retry(), AttemptResult::Retry, None),
            (2, retry(), AttemptResult::Failed, Some(9_000)),
        ];
        for (attempts_made, outcome, attempt_result, result_visible_at) in table {
            let update = delivery(attempts_made).update_after_attempt(&outcome, Timestamp(10), Timestamp(20), false);
            assert_eq!(update.attempt_result(&outcome), attempt_result, "{outcome:?}");
            assert_eq!(update.result_visible_at(Timestamp(20)), result_visible_at.map(Timestamp), "{outcome:?}");
        }
    }

    #[test]
    fn failed_attempt_is_followed_by_next_slot() {
        let update = delivery(0).update_after_attempt(&retry(), Timestamp(10), Timestamp(20), false);
        assert_eq!(update, DeliveryUpdate::RetryAfter(Duration::from_millis(2_990)));
        let hung = delivery(0).update_after_attempt(&retry(), Timestamp(0), Timestamp(3_000), false);
        assert_eq!(hung, DeliveryUpdate::RetryAfter(Duration::ZERO));
    }

    fn attempt(n: u64, error: &str) -> Attempt {
        Attempt { at: Timestamp(n), status: Some(500), duration_ms: 1, error: Some(error.into()), answer: None }
    }

    /// Returns the times of the stored attempts, and the number of attempts that are no longer stored.
    fn record_150_attempts(error: &str) -> (Vec<u64>, u32) {
        let mut delivery = delivery(0);
        for n in 1..=150 {
            let newest = attempt(n, error).truncated();
            (delivery.attempts, delivery.attempts_left_out) = delivery.with_newest_attempt(newest.clone());
            assert_eq!(delivery.attempts.len() as u64 + u64::from(delivery.attempts_left_out), n);
            assert_eq!(delivery.attempts.last(), Some(&newest));
            assert!(delivery.attempts.iter().map(Attempt::bytes).sum::<usize>() <= MAX_STORED_ATTEMPT_BYTES);
        }
        (delivery.attempts.iter().map(|attempt| attempt.at.0).collect(), delivery.attempts_left_out)
    }

    #[test]
    fn first_and_newest_attempts_are_stored() {
        let (short, left_out) = record_150_attempts("HTTP 500");
        assert_eq!((short, left_out), ([1].into_iter().chain(132..=150).collect(), 130));
        // Each error is truncated to 500 characters, here 2,000 bytes, so 16 KB have room for seven attempts.
        let (long, left_out) = record_150_attempts(&"\u{1d11e}".repeat(10_000));
        assert_eq!((long, left_out), ([1].into_iter().chain(145..=150).collect(), 143));
    }

    #[test]
    fn long_texts_are_truncated() {
        let long = "x".repeat(10_000);
        let answer = format!("x{}", "\u{1d11e}".repeat(10_000));
        let truncated = Attempt { answer: Some(answer), ..attempt(1, &long) }.truncated();
        let failure = Failure { code: None, message: long, hidden: true }.truncated();
        assert_eq!(truncated.error.as_deref(), Some(failure.message.as_str()), "they are compared to hide the error");
        assert_eq!(failure.message.len(), MAX_ATTEMPT_TEXT_CHARS);
        assert_eq!(truncated.answer.map(|answer| answer.len()), Some(MAX_ANSWER_BYTES - 3), "cut between characters");
    }

    #[test]
    fn round_starts_with_its_own_first_attempt() {
        let attempt = |at| Attempt { at: Timestamp(at), status: None, duration_ms: 1, error: None, answer: None };
        let table = [(0, 0, None), (0, 3, None), (1, 3, Some(2)), (3, 3, Some(0)), (4, 3, None)];
        for (attempts_made, attempts, expected) in table {
            let delivery = Delivery { attempts: (0..attempts).map(attempt).collect(), ..delivery(attempts_made) };
            assert_eq!(delivery.first_attempt_at(), expected.map(Timestamp), "{attempts_made} of {attempts}");
        }
    }

    #[test]
    fn failure_is_shown_as_pending_until_its_verdict() {
        let failed =
            Delivery { state: DeliveryState::Failed, result_visible_at: Some(Timestamp(9_000)), ..delivery(3) };
        assert_eq!(failed.visible_state(Timestamp(8_999)), DeliveryState::Pending);
        assert_eq!(failed.visible_state(Timestamp(9_000)), DeliveryState::Failed);
    }
}
