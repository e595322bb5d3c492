//! Rehearsals: a part of a channel's messages gets a fault that happens in production only now and then, so that an
//! integrator sees early what the server does then. No message is lost, because a fault only concerns the first attempt.

use crate::delivery::signed_post::SignedPost;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::Outcome;
use crate::domain::sha256;
use crate::error::Error;
use crate::runtime::random_ids_and_secrets::random_signing_secret;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing is sent, so that later messages overtake this one.
    Lost,
    /// The message is sent again after it was accepted.
    Repeated,
    /// The request has a wrong signature, and the server has to refuse it.
    WrongSignature,
    /// The request uses chunked transfer encoding if the others do not, and the other way round.
    OtherEncoding,
}

const FAULTS: [Fault; 4] = [Fault::Lost, Fault::Repeated, Fault::WrongSignature, Fault::OtherEncoding];

impl Fault {
    /// Returns the fault of the next attempt at an entry, if it is to have one. The choice depends only on the entry, so
    /// that a repeated task makes the same one.
    pub(crate) fn of_attempt(entry: &TimelineEntry, percent: u8) -> Option<Self> {
        let is_first = entry.delivery.as_ref().is_some_and(|delivery| delivery.attempts.is_empty());
        let [low, high, fault, ..] = sha256::digest(&entry.id);
        let is_chosen = u16::from_be_bytes([high, low]) % 100 < u16::from(percent);
        FAULTS.get(usize::from(fault) % FAULTS.len()).copied().filter(|_| is_first && is_chosen)
    }

    pub(crate) fn apply_to(self, post: SignedPost) -> Result<SignedPost, Error> {
        Ok(match self {
            Self::Lost | Self::Repeated => post,
            Self::WrongSignature => SignedPost { secrets: vec![random_signing_secret()?], ..post },
            Self::OtherEncoding => SignedPost { chunked: !post.chunked, ..post },
        })
    }

    /// Returns the outcome of an attempt with this fault, instead of the one that its response would have. It is never a
    /// final failure: the next attempt, which has no fault, decides.
    pub(crate) fn outcome(self, outcome: &Outcome, status: Option<u16>) -> Outcome {
        let retry = |reason: &str| Outcome::Retry(format!("rehearsal: {reason}"));
        let is_refused = status.is_some_and(|status| (400..500).contains(&status));
        match (self, outcome.error()) {
            (Self::Lost, _) => retry("this attempt was not made"),
            (Self::Repeated, None) => retry("accepted, and sent again"),
            (Self::OtherEncoding, None) => Outcome::Delivered,
            (Self::WrongSignature, None) => retry("a wrong signature was accepted"),
            (Self::WrongSignature, Some(_)) if is_refused => retry("a wrong signature was refused"),
            (Self::Repeated, Some(reason)) => retry(reason),
            (Self::WrongSignature, Some(reason)) => retry(&format!("to a wrong signature, {reason}")),
            (Self::OtherEncoding, Some(reason)) => retry(&format!("to the other encoding, {reason}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::deliveries::delivery::{Attempt, Delivery, Failure, Target};
    use crate::domain::timestamp::Timestamp;
    use crate::wire::sample_data;

    fn entry(id: &str) -> TimelineEntry {
        let delivery = Some(Delivery::new(Target::Channel, Timestamp(0)));
        TimelineEntry { delivery, ..sample_data::agent_message(id, Timestamp(0)) }
    }

    #[test]
    fn percentage_of_the_messages_gets_each_fault() {
        let faults: Vec<Fault> = (0..1_000).filter_map(|n| Fault::of_attempt(&entry(&n.to_string()), 20)).collect();
        assert!((150..250).contains(&faults.len()), "{}", faults.len());
        assert!(FAULTS.iter().all(|fault| faults.iter().filter(|it| *it == fault).count() > 20), "{faults:?}");
        for n in 0..1_000 {
            let entry = entry(&n.to_string());
            assert_eq!((Fault::of_attempt(&entry, 0), Fault::of_attempt(&entry, 100).is_some()), (None, true));
        }
    }

    #[test]
    fn fault_never_ends_the_attempts_in_failure() {
        let rejected = Outcome::Rejected(Failure { code: None, message: "HTTP 411".into(), hidden: false });
        for outcome in [rejected, Outcome::Retry("HTTP 500".into())] {
            for fault in FAULTS {
                assert!(matches!(fault.outcome(&outcome, Some(411)), Outcome::Retry(_)), "{fault:?}, {outcome:?}");
            }
        }
        let accepted = FAULTS.map(|fault| fault.outcome(&Outcome::Delivered, Some(200)));
        assert_eq!(accepted.iter().filter(|outcome| **outcome == Outcome::Delivered).count(), 1, "{accepted:?}");
    }

    #[test]
    fn later_attempts_have_no_fault() {
        let mut entry = entry("1");
        let attempt = Attempt { at: Timestamp(0), status: None, duration_ms: 0, error: None, answer: None };
        entry.delivery.iter_mut().for_each(|delivery| delivery.attempts = vec![attempt.clone()]);
        assert_eq!(Fault::of_attempt(&entry, 100), None);
    }
}
