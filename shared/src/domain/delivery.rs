//! The duty to send a timeline entry to somebody else's server, and the ledger of its tries.

use crate::domain::content::cut;
use crate::domain::retry::{Clock, Step};
use crate::domain::timestamp::Timestamp;

/// Characters of an error or of an answer that an entry keeps.
const MAX_TEXT_CHARS: usize = 500;
/// Attempts that an entry keeps.
const MAX_STORED_ATTEMPTS: usize = 20;
/// Bytes of all attempts that an entry keeps: it is written again with each of them, and paid by its size.
const MAX_STORED_ATTEMPT_BYTES: usize = 16 * 1024;
/// Bytes of an attempt beside its texts.
const ATTEMPT_BYTES: usize = 64;

/// Whose server receives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The integrator of the channel.
    Channel,
    /// The provider of the chat's bot (B-2).
    Bot,
    /// A webhook of the account (part C).
    Webhook,
}

impl Target {
    /// The storage name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Channel => "channel",
            Self::Bot => "bot",
            Self::Webhook => "webhook",
        }
    }

    /// The name of the circuit breaker of one of these receivers.
    pub fn breaker(self, receiver_id: &str) -> String {
        format!("{}#{receiver_id}", self.name())
    }

    /// The target of that name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Channel, Self::Bot, Self::Webhook].into_iter().find(|target| target.name() == name)
    }
}

/// How far a delivery is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum DeliveryState {
    Pending,
    Delivered,
    Failed,
    /// Dropped: what a bot was to react to, in a chat that it lost meanwhile.
    Superseded,
}

impl DeliveryState {
    /// The wire and storage name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
            Self::Superseded => "superseded",
        }
    }

    /// The progress of that name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Pending, Self::Delivered, Self::Failed, Self::Superseded].into_iter().find(|it| it.name() == name)
    }
}

/// One try, as the ledger keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// When it started.
    pub at: Timestamp,
    /// The HTTP status, when there was an answer.
    pub status: Option<u16>,
    /// How long it took, in milliseconds.
    pub ms: u64,
    /// Why it did not deliver.
    pub error: Option<String>,
    /// What a webhook answered that took the event but did not say OK.
    pub answer: Option<String>,
}

impl Attempt {
    /// The attempt as an entry keeps it: with texts that are not too long.
    pub fn bounded(&self) -> Self {
        let cut_text = |text: &Option<String>| text.as_deref().map(|text| cut(text, MAX_TEXT_CHARS));
        Self { error: cut_text(&self.error), answer: cut_text(&self.answer), ..self.clone() }
    }

    fn bytes(&self) -> usize {
        let texts = [&self.error, &self.answer].into_iter().flatten();
        ATTEMPT_BYTES + texts.map(String::len).sum::<usize>()
    }
}

/// Why a message was not delivered, in words for the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The integrator's own code.
    pub code: Option<i64>,
    /// The integrator's own words, or ours when it did not answer.
    pub message: String,
    /// Whether the channel hides the message of that code.
    pub hidden: bool,
}

/// What a try came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The receiver has it.
    Delivered,
    /// The receiver does not want it: final.
    Rejected(Failure),
    /// Not now; the reason in words for the ledger.
    TryAgain(String),
}

/// The delivery of one timeline entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Whose server receives it.
    pub target: Target,
    /// How far it is.
    pub state: DeliveryState,
    /// Counts the times it was begun: 1, and one more for each Retry.
    pub round: u32,
    /// Times the sweep took it up since it was begun by a person.
    pub revivals: u32,
    /// When the round began.
    pub since: Timestamp,
    /// Tries of the round.
    pub attempts_made: u32,
    /// The tries of every round; of many the first and the newest.
    pub attempts: Vec<Attempt>,
    /// How many are left out behind the first.
    pub attempts_left_out: u32,
    /// Why it failed.
    pub failure: Option<Failure>,
    /// When a failure is shown; until then the entry counts as pending.
    pub verdict_at: Option<Timestamp>,
}

impl Failure {
    /// The failure of a delivery whose attempt does not fit into its entry.
    pub fn unrecorded() -> Self {
        Self { code: None, message: "Not delivered: the attempt could not be recorded".to_owned(), hidden: false }
    }

    /// The failure as an entry keeps it: cut as the error of its attempt is, to which it is compared.
    pub fn bounded(&self) -> Self {
        Self { message: cut(&self.message, MAX_TEXT_CHARS), ..self.clone() }
    }
}

impl Outcome {
    /// Why it did not deliver, for the ledger.
    pub fn error(&self) -> Option<&str> {
        match self {
            Self::Delivered => None,
            Self::Rejected(failure) => Some(&failure.message),
            Self::TryAgain(reason) => Some(reason),
        }
    }
}

/// What a try changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryUpdate {
    /// It is done.
    Delivered,
    /// It is over: why, and when that is shown.
    Failed(Failure, Timestamp),
    /// Another try is due after this long.
    Again(std::time::Duration),
}

/// What a try came to, in one word for the log and the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptResult {
    /// The receiver has it.
    Delivered,
    /// It is not wanted, or cannot be sent: no try is made again.
    Rejected,
    /// The last try, or the time for it, is used up.
    Failed,
    /// Another try is due.
    Again,
}

impl AttemptResult {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Rejected => "rejected",
            Self::Failed => "failed",
            Self::Again => "again",
        }
    }
}

impl DeliveryUpdate {
    /// What a try with this outcome came to.
    pub fn ending(&self, outcome: &Outcome) -> AttemptResult {
        match (self, outcome) {
            (Self::Delivered, _) => AttemptResult::Delivered,
            (Self::Failed(..), Outcome::Rejected(_)) => AttemptResult::Rejected,
            (Self::Failed(..), Outcome::Delivered | Outcome::TryAgain(_)) => AttemptResult::Failed,
            (Self::Again(_), _) => AttemptResult::Again,
        }
    }

    /// When the verdict is there that a try which ended `now` brought; none when another try is due.
    pub fn verdict_at(&self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Delivered => Some(now),
            Self::Failed(_, shown_at) => Some(*shown_at),
            Self::Again(_) => None,
        }
    }
}

impl Delivery {
    /// A delivery that begins now.
    pub fn new(target: Target, now: Timestamp) -> Self {
        Self {
            target,
            state: DeliveryState::Pending,
            round: 1,
            revivals: 0,
            since: now,
            attempts_made: 0,
            attempts: Vec::new(),
            attempts_left_out: 0,
            failure: None,
            verdict_at: None,
        }
    }

    /// Its clock.
    pub fn clock(&self) -> Clock {
        let last_attempt_at =
            if self.attempts_made == 0 { None } else { self.attempts.last().map(|attempt| attempt.at) };
        Clock { since: self.since, attempts_made: self.attempts_made, last_attempt_at }
    }

    /// When the first recorded attempt of the round began.
    pub fn began_at(&self) -> Option<Timestamp> {
        let first = self.attempts.len().checked_sub(usize::try_from(self.attempts_made).ok()?)?;
        self.attempts.get(first).map(|attempt| attempt.at)
    }

    /// The delivery, its first try's turn having come then.
    pub fn in_turn(&self, turn: Timestamp) -> Self {
        Self { since: self.clock().in_turn(turn).since, ..self.clone() }
    }

    /// The attempts that an entry keeps once it has another one, and how many are left out then.
    pub fn attempts_with(&self, newest: Attempt) -> (Vec<Attempt>, u32) {
        let mut kept: Vec<Attempt> = self.attempts.iter().cloned().chain([newest]).collect();
        let mut left_out = self.attempts_left_out;
        let is_too_much = |kept: &[Attempt]| {
            kept.len() > MAX_STORED_ATTEMPTS
                || kept.iter().map(Attempt::bytes).sum::<usize>() > MAX_STORED_ATTEMPT_BYTES
        };
        // The first and the newest always stay: they are within the limits.
        while kept.len() > 2 && is_too_much(&kept) {
            kept.remove(1);
            left_out = left_out.saturating_add(1);
        }
        (kept, left_out)
    }

    /// How far it is for whoever looks at it now: a failure is shown at its verdict, not before.
    pub fn shown_progress(&self, now: Timestamp) -> DeliveryState {
        match (self.state, self.verdict_at) {
            (DeliveryState::Failed, Some(verdict_at)) if now < verdict_at => DeliveryState::Pending,
            (state, _) => state,
        }
    }

    /// What follows from a try that started at `started` and ended `now`.
    pub fn after_attempt(&self, outcome: &Outcome, started: Timestamp, now: Timestamp) -> DeliveryUpdate {
        let clock = Clock { since: self.since, attempts_made: self.attempts_made + 1, last_attempt_at: Some(started) };
        match outcome {
            Outcome::Delivered => DeliveryUpdate::Delivered,
            Outcome::Rejected(failure) => DeliveryUpdate::Failed(failure.clone(), now),
            Outcome::TryAgain(reason) => match clock.step(now) {
                Step::GiveUp => DeliveryUpdate::Failed(exhausted(reason), clock.verdict_at(now)),
                Step::Try(_) => DeliveryUpdate::Again(std::time::Duration::ZERO),
                Step::Wait(wait) => DeliveryUpdate::Again(wait),
            },
        }
    }
}

/// The words for a delivery whose tries are used up.
fn exhausted(reason: &str) -> Failure {
    Failure { code: None, message: format!("Not delivered: {reason}"), hidden: false }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn delivery(attempts_made: u32) -> Delivery {
        Delivery { attempts_made, ..Delivery::new(Target::Channel, Timestamp(0)) }
    }

    fn again() -> Outcome {
        Outcome::TryAgain("HTTP 500".into())
    }

    #[test]
    fn a_refusal_is_shown_at_once_and_exhaustion_after_nine_seconds() {
        let refusal = Failure { code: Some(7), message: "blocked".into(), hidden: false };
        let rejected = delivery(0).after_attempt(&Outcome::Rejected(refusal.clone()), Timestamp(10), Timestamp(20));
        assert_eq!(rejected, DeliveryUpdate::Failed(refusal, Timestamp(20)));
        let exhausted = delivery(2).after_attempt(&again(), Timestamp(6_000), Timestamp(6_010));
        assert!(matches!(exhausted, DeliveryUpdate::Failed(_, Timestamp(9_000))), "{exhausted:?}");
    }

    #[test]
    fn a_try_comes_to_one_of_four_ends_and_a_verdict_has_its_time() {
        let rejected = Outcome::Rejected(Failure { code: None, message: "no".into(), hidden: false });
        let table = [
            (0, Outcome::Delivered, AttemptResult::Delivered, Some(20)),
            (0, rejected, AttemptResult::Rejected, Some(20)),
            (0, again(), AttemptResult::Again, None),
            (2, again(), AttemptResult::Failed, Some(9_000)),
        ];
        for (attempts_made, outcome, ending, verdict_at) in table {
            let change = delivery(attempts_made).after_attempt(&outcome, Timestamp(10), Timestamp(20));
            assert_eq!(change.ending(&outcome), ending, "{outcome:?}");
            assert_eq!(change.verdict_at(Timestamp(20)), verdict_at.map(Timestamp), "{outcome:?}");
        }
    }

    #[test]
    fn a_failed_try_is_followed_by_the_next_slot() {
        let change = delivery(0).after_attempt(&again(), Timestamp(10), Timestamp(20));
        assert_eq!(change, DeliveryUpdate::Again(Duration::from_millis(2_990)));
        let hung = delivery(0).after_attempt(&again(), Timestamp(0), Timestamp(3_000));
        assert_eq!(hung, DeliveryUpdate::Again(Duration::ZERO));
    }

    fn attempt(n: u64, error: &str) -> Attempt {
        Attempt { at: Timestamp(n), status: Some(500), ms: 1, error: Some(error.into()), answer: None }
    }

    /// The times of the attempts that are kept of 150 with this error, and how many are left out.
    fn kept_of_150(error: &str) -> (Vec<u64>, u32) {
        let mut delivery = delivery(0);
        for n in 1..=150 {
            let newest = attempt(n, error).bounded();
            (delivery.attempts, delivery.attempts_left_out) = delivery.attempts_with(newest.clone());
            assert_eq!(delivery.attempts.len() as u64 + u64::from(delivery.attempts_left_out), n);
            assert_eq!(delivery.attempts.last(), Some(&newest));
            assert!(delivery.attempts.iter().map(Attempt::bytes).sum::<usize>() <= MAX_STORED_ATTEMPT_BYTES);
        }
        (delivery.attempts.iter().map(|attempt| attempt.at.0).collect(), delivery.attempts_left_out)
    }

    #[test]
    fn the_first_and_the_newest_attempts_are_kept() {
        let (short, left_out) = kept_of_150("HTTP 500");
        assert_eq!((short, left_out), ([1].into_iter().chain(132..=150).collect(), 130));
        // 2,000 bytes each.
        let (long, left_out) = kept_of_150(&"\u{1d11e}".repeat(10_000));
        assert_eq!((long, left_out), ([1].into_iter().chain(145..=150).collect(), 143));
    }

    #[test]
    fn long_texts_are_cut() {
        let long = "x".repeat(10_000);
        let bounded = Attempt { answer: Some(long.clone()), ..attempt(1, &long) }.bounded();
        let failure = Failure { code: None, message: long, hidden: true }.bounded();
        assert_eq!(bounded.error.as_deref(), Some(failure.message.as_str()), "they are compared to hide the error");
        assert_eq!((bounded.answer.as_ref(), failure.message.len()), (bounded.error.as_ref(), MAX_TEXT_CHARS));
    }

    #[test]
    fn a_round_begins_with_its_own_first_attempt() {
        let attempt = |at| Attempt { at: Timestamp(at), status: None, ms: 1, error: None, answer: None };
        let table = [(0, 0, None), (0, 3, None), (1, 3, Some(2)), (3, 3, Some(0)), (4, 3, None)];
        for (attempts_made, attempts, expected) in table {
            let delivery = Delivery { attempts: (0..attempts).map(attempt).collect(), ..delivery(attempts_made) };
            assert_eq!(delivery.began_at(), expected.map(Timestamp), "{attempts_made} of {attempts}");
        }
    }

    #[test]
    fn a_failure_counts_as_pending_until_its_verdict() {
        let failed = Delivery { state: DeliveryState::Failed, verdict_at: Some(Timestamp(9_000)), ..delivery(3) };
        assert_eq!(failed.shown_progress(Timestamp(8_999)), DeliveryState::Pending);
        assert_eq!(failed.shown_progress(Timestamp(9_000)), DeliveryState::Failed);
    }
}
