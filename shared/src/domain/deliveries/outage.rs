//! Outages of receivers and late deliveries. If all attempts of a delivery fail, and its receiver has late delivery
//! switched on, the delivery stays failed but is attempted again until it succeeds or until [`LATE_PERIOD`] is over.
//! These attempts do not follow a schedule of their own for each message, which would cost a dead receiver's account
//! millions of requests. Instead, the receiver has an *outage* as long as it has such deliveries. Twice a minute, one of
//! them is attempted, the *probe*. When a probe succeeds, the others follow, oldest first.

use std::time::Duration;

use crate::domain::chats::chat::DAY;
use crate::domain::deliveries::delivery::Target;
use crate::domain::deliveries::delivery_search_and_replay::DeliveryCursor;
use crate::domain::named::named;
use crate::domain::timestamp::Timestamp;

/// How long after its creation an entry is attempted again.
pub const LATE_PERIOD: Duration = Duration::from_secs(3 * 24 * 60 * 60);
/// The time between the verdict on the first failed delivery of an outage and the first probe.
pub const FIRST_PROBE_DELAY: Duration = Duration::from_secs(15);
/// The time between two pairs of probes. Slightly less than a minute, because the function that looks for due probes
/// runs every minute.
pub const PROBE_INTERVAL: Duration = Duration::from_secs(50);
/// How long after the first probe of a pair the second one follows. It halves the time that a receiver waits for its
/// delayed deliveries after it has returned.
pub const SECOND_PROBE_DELAY: Duration = Duration::from_secs(30);
/// An outage that lasts longer than this is reported to the account's admins.
pub const REPORTED_AFTER: Duration = DAY;
/// A receiver whose outage lasts longer than this gets no more requests until an admin resumes it.
pub const SWITCHED_OFF_AFTER: Duration = Duration::from_secs(5 * 24 * 60 * 60);
/// When this many attempts in a row have failed, a drain ends.
pub const MAX_FAILURES_IN_DRAIN: u64 = 10;
/// How long after its last step a drain counts as ended, because its task was lost.
pub const DRAIN_TIMEOUT: Duration = Duration::from_secs(60);
/// How long after the last failed delivery an outage can end. Until then, the index may not contain the delivery yet.
pub const MIN_QUIET_TIME: Duration = Duration::from_secs(120);

/// What happens after an attempt has failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeliveryOptions {
    /// Whether failed deliveries are attempted again during the receiver's outage.
    pub late_delivery: bool,
    /// Whether the entries of a chat wait for an earlier entry that is not delivered. Requires `late_delivery`.
    pub strict_order: bool,
}

/// A receiver that can have an outage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutageKey {
    pub account_id: String,
    /// [`Target::Channel`] or that of a webhook.
    pub target: Target,
    /// The id of the channel or the webhook.
    pub receiver_id: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    pub key: OutageKey,
    /// The time of the first failed delivery, or of the last sign that the receiver works.
    pub since: Timestamp,
    pub last_failed_at: Timestamp,
    /// The number of late attempts that have failed since the last successful one.
    pub failed_probes: u64,
    /// The last delivery that was probed. The next probe takes the delivery after it, so that a message that the
    /// receiver can never process does not keep the others waiting.
    pub probed: Option<DeliveryCursor>,
    /// Whether the last probe found no delivery to attempt.
    pub is_over: bool,
    /// What the receiver's settings say about the outage.
    pub status: OutageStatus,
}

named! {
    /// How an outage is reported. It is also stored with the receiver's settings, which each attempt reads anyway.
    #[derive(Default)]
    pub enum OutageStatus {
        /// Not reported, or there is no outage.
        #[default]
        None = "none",
        Reported = "reported",
        /// The receiver gets no requests until an admin resumes it.
        SwitchedOff = "switched_off",
    }
}

impl Outage {
    /// Returns the status that the outage should have at `now`. Only an admin can end `SwitchedOff`.
    pub fn due_status(&self, now: Timestamp) -> OutageStatus {
        let duration = now.since(self.since);
        if self.status == OutageStatus::SwitchedOff || (!self.is_over && duration >= SWITCHED_OFF_AFTER) {
            OutageStatus::SwitchedOff
        } else if !self.is_over && duration >= REPORTED_AFTER {
            OutageStatus::Reported
        } else {
            OutageStatus::None
        }
    }

    pub fn can_end(&self, now: Timestamp) -> bool {
        self.is_over && now.since(self.last_failed_at) >= MIN_QUIET_TIME
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 3_600_000;

    fn outage(status: OutageStatus, is_over: bool) -> Outage {
        let key = OutageKey { account_id: "a".into(), target: Target::Channel, receiver_id: "c".into() };
        let (since, last_failed_at) = (Timestamp(0), Timestamp(HOUR));
        Outage { key, since, last_failed_at, failed_probes: 1, probed: None, is_over, status }
    }

    #[test]
    fn outage_is_reported_after_a_day_and_ends_requests_after_five() {
        let table = [
            (OutageStatus::None, false, 23, OutageStatus::None),
            (OutageStatus::None, false, 24, OutageStatus::Reported),
            (OutageStatus::Reported, false, 119, OutageStatus::Reported),
            (OutageStatus::Reported, false, 120, OutageStatus::SwitchedOff),
            (OutageStatus::Reported, true, 120, OutageStatus::None),
            (OutageStatus::SwitchedOff, true, 0, OutageStatus::SwitchedOff),
        ];
        for (status, is_over, hours, expected) in table {
            let due = outage(status, is_over).due_status(Timestamp(hours * HOUR));
            assert_eq!(due, expected, "{status:?}, over: {is_over}, after {hours} hours");
        }
    }

    #[test]
    fn outage_ends_when_nothing_has_failed_for_two_minutes() {
        let (over, open) = (outage(OutageStatus::None, true), outage(OutageStatus::None, false));
        let (early, late) = (Timestamp(HOUR + 119_000), Timestamp(HOUR + 120_000));
        assert_eq!([over.can_end(early), over.can_end(late), open.can_end(late)], [false, true, false]);
    }
}
