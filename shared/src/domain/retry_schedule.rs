//! When a delivery is tried (specification, Limits; docs/design.md, How something gets out): three tries, three seconds
//! apart, the verdict after nine seconds.

use std::time::Duration;

use crate::domain::timestamp::Timestamp;

/// Tries of one delivery.
pub const MAX_ATTEMPTS: u32 = 3;
/// From the start of a try to the start of the next.
pub const ATTEMPT_SPACING: Duration = Duration::from_secs(3);
/// The longest a try may take.
pub const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(3);
/// From the making of a message to the verdict.
pub const DELIVERY_WINDOW: Duration = Duration::from_secs(9);

/// A try with less time than this is not begun.
const MIN_ATTEMPT_TIME: Duration = Duration::from_secs(1);
/// A first try that starts this long after the making leaves room for the others in the window.
const MAX_TURN_WAIT: Duration = Duration::from_secs(2);
/// Queues delay by whole seconds, so a task may come this much before its slot and is taken all the same.
const SLOT_TOLERANCE: Duration = Duration::from_millis(500);

/// What to do with a delivery that is pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Send now, and wait this long for the answer.
    Try(Duration),
    /// Come back after this long.
    Wait(Duration),
    /// No try is left.
    GiveUp,
}

/// The clock of one delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// When the message was made, or the delivery begun anew.
    pub since: Timestamp,
    /// Tries since then.
    pub attempts_made: u32,
    /// The start of the last of them.
    pub last_attempt_at: Option<Timestamp>,
}

impl Clock {
    /// The clock of a delivery whose turn came then, behind what was written before it. A wait that left no room for every
    /// try does not count: who takes one message after the other, each in time, is not late with the last of them.
    pub fn in_turn(self, turn: Timestamp) -> Self {
        let has_waited = self.attempts_made == 0 && turn.since(self.since) > MAX_TURN_WAIT;
        if has_waited { Self { since: turn, ..self } } else { self }
    }

    /// When the verdict is shown: the first moment after the window at which it can be known.
    pub fn verdict_at(&self, now: Timestamp) -> Timestamp {
        self.since.after(DELIVERY_WINDOW).max(now)
    }

    /// What to do now. A delivery that was never tried is tried once however late it is.
    pub fn step(&self, now: Timestamp) -> Step {
        if self.attempts_made == 0 {
            return Step::Try(ATTEMPT_TIMEOUT);
        }
        let slot = self.slot();
        let end = self.since.after(DELIVERY_WINDOW);
        let start = slot.max(now);
        if self.attempts_made >= MAX_ATTEMPTS || end.since(start) < MIN_ATTEMPT_TIME {
            Step::GiveUp
        } else if slot.since(now) > SLOT_TOLERANCE {
            Step::Wait(slot.since(now))
        } else {
            Step::Try(ATTEMPT_TIMEOUT.min(end.since(now)))
        }
    }

    /// What to do now where nothing may happen after the window: a bot that is late has lost the chat.
    pub fn strict_step(&self, now: Timestamp) -> Step {
        let left = self.since.after(DELIVERY_WINDOW).since(now);
        match self.step(now) {
            _ if left < MIN_ATTEMPT_TIME => Step::GiveUp,
            Step::Try(timeout) => Step::Try(timeout.min(left)),
            other @ (Step::Wait(_) | Step::GiveUp) => other,
        }
    }

    /// The start of the next try: its place in the window, but never closer than the spacing to the last.
    fn slot(&self) -> Timestamp {
        let planned = self.since.after(ATTEMPT_SPACING.saturating_mul(self.attempts_made));
        self.last_attempt_at.map_or(planned, |last| planned.max(last.after(ATTEMPT_SPACING)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn step(attempts_made: u32, last_attempt_at: Option<u64>, now: u64) -> Step {
        Clock { since: Timestamp(0), attempts_made, last_attempt_at: last_attempt_at.map(Timestamp) }
            .step(Timestamp(now))
    }

    #[test]
    fn attempts_start_at_0_3_and_6_seconds() {
        let full = Step::Try(ATTEMPT_TIMEOUT);
        let table = [
            (0, None, 20, full),
            (1, Some(20), 40, Step::Wait(Duration::from_millis(2_980))),
            (1, Some(20), 3_030, full),
            (1, Some(20), 2_600, full),
            (2, Some(3_030), 3_050, Step::Wait(Duration::from_millis(2_980))),
            (2, Some(3_030), 6_030, Step::Try(Duration::from_millis(2_970))),
            (3, Some(6_030), 6_050, Step::GiveUp),
        ];
        for (attempts_made, last, now, expected) in table {
            assert_eq!(step(attempts_made, last, now), expected, "{attempts_made} tries, now {now}");
        }
    }

    #[test]
    fn a_message_that_waited_behind_a_hanging_one_keeps_its_verdict() {
        assert_eq!(step(0, None, 2_900), Step::Try(ATTEMPT_TIMEOUT));
        assert_eq!(step(1, Some(2_900), 5_900), Step::Try(ATTEMPT_TIMEOUT));
        assert_eq!(step(2, Some(5_900), 8_900), Step::GiveUp);
    }

    #[test]
    fn a_message_found_long_after_its_window_is_still_tried_once() {
        assert_eq!(step(0, None, 70_000), Step::Try(ATTEMPT_TIMEOUT));
        assert_eq!(step(1, Some(70_000), 70_010), Step::GiveUp);
    }

    #[test]
    fn a_strict_window_is_never_overrun() {
        let strict = |attempts_made, now| {
            Clock { since: Timestamp(0), attempts_made, last_attempt_at: None }.strict_step(Timestamp(now))
        };
        assert_eq!(strict(0, 20), Step::Try(ATTEMPT_TIMEOUT));
        assert_eq!(strict(0, 7_500), Step::Try(Duration::from_millis(1_500)));
        assert_eq!(strict(0, 8_500), Step::GiveUp);
        assert_eq!(strict(0, 70_000), Step::GiveUp);
    }

    #[test]
    fn a_wait_behind_others_that_leaves_no_room_for_every_try_does_not_count() {
        let made = Clock { since: Timestamp(0), attempts_made: 0, last_attempt_at: None };
        for wait in [0, 400, 2_000] {
            let clock = made.in_turn(Timestamp(wait));
            assert_eq!(clock, made, "{wait}");
            let third = Clock { attempts_made: 2, last_attempt_at: Some(Timestamp(wait + 3_000)), ..clock };
            assert!(matches!(third.strict_step(Timestamp(wait + 6_000)), Step::Try(_)), "{wait}");
        }
        let waited = made.in_turn(Timestamp(20_000));
        assert_eq!(
            (waited.since, waited.strict_step(Timestamp(20_000))),
            (Timestamp(20_000), Step::Try(ATTEMPT_TIMEOUT))
        );
        let tried = Clock { attempts_made: 1, last_attempt_at: Some(Timestamp(20_000)), ..made };
        assert_eq!(tried.in_turn(Timestamp(30_000)), tried, "the turn is that of the first try");
    }

    proptest! {
        #[test]
        fn a_try_after_the_first_ends_within_the_window(attempts_made in 1_u32..5, last in 0_u64..9_000, gap in 0_u64..9_000) {
            if let Step::Try(timeout) = step(attempts_made, Some(last), last + gap) {
                let ends = Timestamp(last + gap).after(timeout);
                prop_assert!(ends <= Timestamp(0).after(DELIVERY_WINDOW));
                prop_assert!(attempts_made < MAX_ATTEMPTS);
                prop_assert!(gap + 500 >= 3_000);
            }
        }
    }
}
