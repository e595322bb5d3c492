//! The schedule of delivery attempts (specification, Limits; docs/design.md, Delivery). A round consists of up to three
//! attempts, which start about three seconds apart. If all of them fail temporarily, the delivery is shown as failed
//! nine seconds after the start of the round, or when the last attempt fails, if that is later.

use std::time::Duration;

use crate::domain::timestamp::Timestamp;

pub const MAX_ATTEMPTS: u32 = 3;
pub const ATTEMPT_SPACING: Duration = Duration::from_secs(3);
pub const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(3);
/// The time from the start of a round after which its final result is visible at the latest, unless the queue delivered
/// a task too late.
pub const DELIVERY_WINDOW: Duration = Duration::from_secs(9);

/// The minimum time that must be left in [`DELIVERY_WINDOW`] for an attempt to start.
const MIN_ATTEMPT_TIME: Duration = Duration::from_secs(1);
/// The longest wait for the first attempt of a delivery that leaves enough time in [`DELIVERY_WINDOW`] for the other
/// attempts.
const MAX_TURN_WAIT: Duration = Duration::from_secs(2);
/// A task that is early by no more than this is processed immediately. Tasks can arrive before their scheduled time,
/// because queues delay them by whole seconds.
pub const SLOT_TOLERANCE: Duration = Duration::from_millis(500);

/// A first attempt is made at once if its round starts no later than this, because the clock of the process that stored
/// the entry can be ahead. Only a delivery that was planned for later waits.
const MAX_CLOCK_ERROR: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptStep {
    /// Send the entry now, with this timeout.
    Attempt(Duration),
    Wait(Duration),
    /// Mark the delivery as failed, because it has no attempts left or, in a strict window, no time left.
    GiveUp,
}

/// The times and counters that determine when the next attempt of a delivery is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryClock {
    /// The start of the round. This is when the entry was created, or when the delivery was last replayed or queued
    /// again. [`restart_round_if_waited`](Self::restart_round_if_waited) can move it.
    pub round_started_at: Timestamp,
    pub attempts_made: u32,
    pub last_attempt_at: Option<Timestamp>,
}

impl DeliveryClock {
    /// Returns the clock of a delivery whose first attempt could start at `turn`. If no attempt has been made and the
    /// entry has waited so long that too little time is left for all attempts, the round is restarted at `turn`.
    /// Without the restart, a delivery with a strict window could fail although the bot accepts every message of a
    /// burst in time, and the attempts of any other late message would not have their spacing and their time.
    pub fn restart_round_if_waited(self, turn: Timestamp) -> Self {
        let has_waited = self.attempts_made == 0 && turn.since(self.round_started_at) > MAX_TURN_WAIT;
        if has_waited { Self { round_started_at: turn, ..self } } else { self }
    }

    /// Returns the time at which the final result of a failed round becomes visible: the end of [`DELIVERY_WINDOW`], or
    /// `now` if the window has already ended.
    pub fn result_visible_at(&self, now: Timestamp) -> Timestamp {
        self.round_started_at.plus(DELIVERY_WINDOW).max(now)
    }

    /// Returns what to do with the delivery at `now`. If `has_strict_window` is set, no attempt starts after the
    /// window.
    pub fn step(&self, has_strict_window: bool, now: Timestamp) -> AttemptStep {
        if has_strict_window { self.next_step_within_window(now) } else { self.next_step(now) }
    }

    /// All attempts are made, however late they are, because the receiver did not cause the delay. An attempt that
    /// starts in [`DELIVERY_WINDOW`] also ends in it, unless less than [`MIN_ATTEMPT_TIME`] is left.
    fn next_step(&self, now: Timestamp) -> AttemptStep {
        let next_slot = self.next_slot();
        let tolerance = if self.attempts_made == 0 { MAX_CLOCK_ERROR } else { SLOT_TOLERANCE };
        if self.attempts_made >= MAX_ATTEMPTS {
            AttemptStep::GiveUp
        } else if next_slot.since(now) > tolerance {
            AttemptStep::Wait(next_slot.since(now))
        } else {
            let time_left = self.round_started_at.plus(DELIVERY_WINDOW).since(now);
            let is_late = time_left < MIN_ATTEMPT_TIME;
            AttemptStep::Attempt(if is_late { ATTEMPT_TIMEOUT } else { ATTEMPT_TIMEOUT.min(time_left) })
        }
    }

    /// Like [`next_step`](Self::next_step), but gives up at the end of [`DELIVERY_WINDOW`] even if attempts are left.
    /// Bots need this: if a bot has not reacted by the end of the window, the chat is handed over to the agents.
    fn next_step_within_window(&self, now: Timestamp) -> AttemptStep {
        let end = self.round_started_at.plus(DELIVERY_WINDOW);
        let start = if self.attempts_made == 0 { now } else { self.next_slot().max(now) };
        if end.since(start) < MIN_ATTEMPT_TIME { AttemptStep::GiveUp } else { self.next_step(now) }
    }

    /// Returns when the next attempt is due: at its scheduled time in the window, but no sooner than
    /// [`ATTEMPT_SPACING`] after the start of the last attempt.
    fn next_slot(&self) -> Timestamp {
        let planned = self.round_started_at.plus(ATTEMPT_SPACING.saturating_mul(self.attempts_made));
        self.last_attempt_at.map_or(planned, |last| planned.max(last.plus(ATTEMPT_SPACING)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn next_step(attempts_made: u32, last_attempt_at: Option<u64>, now: u64) -> AttemptStep {
        DeliveryClock { round_started_at: Timestamp(0), attempts_made, last_attempt_at: last_attempt_at.map(Timestamp) }
            .next_step(Timestamp(now))
    }

    #[test]
    fn attempts_start_at_0_3_and_6_seconds() {
        let full = AttemptStep::Attempt(ATTEMPT_TIMEOUT);
        let table = [
            (0, None, 20, full),
            (1, Some(20), 40, AttemptStep::Wait(Duration::from_millis(2_980))),
            (1, Some(20), 3_030, full),
            (1, Some(20), 2_600, full),
            (2, Some(3_030), 3_050, AttemptStep::Wait(Duration::from_millis(2_980))),
            (2, Some(3_030), 6_030, AttemptStep::Attempt(Duration::from_millis(2_970))),
            (3, Some(6_030), 6_050, AttemptStep::GiveUp),
        ];
        for (attempts_made, last, now, expected) in table {
            assert_eq!(next_step(attempts_made, last, now), expected, "{attempts_made} attempts, now {now}");
        }
    }

    #[test]
    fn message_that_waited_or_came_late_has_three_attempts_in_its_own_window() {
        for wait in [0, 1_900, 2_900, 70_000] {
            let created = DeliveryClock { round_started_at: Timestamp(0), attempts_made: 0, last_attempt_at: None };
            let mut clock = created.restart_round_if_waited(Timestamp(wait));
            let (mut now, mut starts) = (wait, Vec::new());
            let verdict = loop {
                match clock.next_step(Timestamp(now)) {
                    AttemptStep::Attempt(timeout) => {
                        starts.push(now - wait);
                        let (attempts_made, last_attempt_at) = (clock.attempts_made + 1, Some(Timestamp(now)));
                        clock = DeliveryClock { attempts_made, last_attempt_at, ..clock };
                        now = Timestamp(now).plus(timeout).0;
                    }
                    AttemptStep::Wait(time) => now = Timestamp(now).plus(time).0,
                    AttemptStep::GiveUp => break clock.result_visible_at(Timestamp(now)),
                }
            };
            assert_eq!(starts, [0, 3_000, 6_000], "{wait}");
            let start = if wait > 2_000 { wait } else { 0 };
            assert_eq!(verdict, Timestamp(start).plus(DELIVERY_WINDOW), "{wait}");
        }
    }

    #[test]
    fn attempt_that_the_queue_delays_is_made_after_the_window() {
        let full = AttemptStep::Attempt(ATTEMPT_TIMEOUT);
        assert_eq!([next_step(1, Some(0), 30_000), next_step(2, Some(30_000), 33_000)], [full; 2]);
        assert_eq!(next_step(3, Some(33_000), 36_000), AttemptStep::GiveUp);
    }

    #[test]
    fn strict_window_is_never_exceeded() {
        let strict = |attempts_made, now| {
            DeliveryClock { round_started_at: Timestamp(0), attempts_made, last_attempt_at: None }
                .next_step_within_window(Timestamp(now))
        };
        assert_eq!(strict(0, 20), AttemptStep::Attempt(ATTEMPT_TIMEOUT));
        assert_eq!(strict(0, 7_500), AttemptStep::Attempt(Duration::from_millis(1_500)));
        assert_eq!(strict(0, 8_500), AttemptStep::GiveUp);
        assert_eq!(strict(0, 70_000), AttemptStep::GiveUp);
    }

    #[test]
    fn long_wait_for_turn_restarts_the_window() {
        let created = DeliveryClock { round_started_at: Timestamp(0), attempts_made: 0, last_attempt_at: None };
        for wait in [0, 400, 2_000] {
            let clock = created.restart_round_if_waited(Timestamp(wait));
            assert_eq!(clock, created, "{wait}");
            let third = DeliveryClock { attempts_made: 2, last_attempt_at: Some(Timestamp(wait + 3_000)), ..clock };
            assert!(
                matches!(third.next_step_within_window(Timestamp(wait + 6_000)), AttemptStep::Attempt(_)),
                "{wait}"
            );
        }
        let waited = created.restart_round_if_waited(Timestamp(20_000));
        assert_eq!(
            (waited.round_started_at, waited.next_step_within_window(Timestamp(20_000))),
            (Timestamp(20_000), AttemptStep::Attempt(ATTEMPT_TIMEOUT))
        );
        let attempted = DeliveryClock { attempts_made: 1, last_attempt_at: Some(Timestamp(20_000)), ..created };
        assert_eq!(
            attempted.restart_round_if_waited(Timestamp(30_000)),
            attempted,
            "only the first attempt has a turn"
        );
    }

    proptest! {
        #[test]
        fn later_attempts_end_within_a_strict_window(
            attempts_made in 1_u32..5,
            last in 0_u64..9_000,
            gap in 0_u64..9_000,
        ) {
            let round_started_at = Timestamp(0);
            let clock = DeliveryClock { round_started_at, attempts_made, last_attempt_at: Some(Timestamp(last)) };
            if let AttemptStep::Attempt(timeout) = clock.next_step_within_window(Timestamp(last + gap)) {
                let ends = Timestamp(last + gap).plus(timeout);
                prop_assert!(ends <= Timestamp(0).plus(DELIVERY_WINDOW));
                prop_assert!(attempts_made < MAX_ATTEMPTS);
                prop_assert!(gap + 500 >= 3_000);
            }
        }
    }
}
