//! The rules for the progress of a call.
//!
//! A call is the content of a timeline entry. The telephony provider reports its progress. A report may come late, out
//! of order or repeatedly, so it can only move a call forward. For each status, the table shows which statuses follow
//! when the provider reports that the agent or the visitor is connected, or that the call has ended or failed:
//!
//! | status | agent connected | visitor connected (ignored in an incoming call) | ended | failed |
//! |---|---|---|---|---|
//! | `start` | `agent_connected` | `agent_connected`, `client_connected` | `error`, or `end` if both have talked | `error` |
//! | `agent_connected` | | `client_connected` | like `start`; in an incoming call `end` | `error` |
//! | `client_connected` | | | `end` | `error` |
//! | `end`, `error` | | | | |
//!
//! Statuses that the provider skips are added, so that webhooks always get a complete sequence. A recording that is
//! reported after the end is added to the call, which causes a second `end`.
//!
//! A call can fail because a report was missing or nobody answered. If the provider then reports the end of a
//! conversation, the call changes from `error` to `end`. Nothing else follows `end` or `error`.

use std::time::Duration;

use crate::domain::calls::phone_call::call::{Call, CallCharge, CallKind};
use crate::domain::calls::phone_call::failure::CallFailure;
use crate::domain::calls::phone_call::status::CallStatus;
use crate::domain::timestamp::Timestamp;

pub const MAX_REASON_CHARS: usize = 200;
/// How long the provider has to report the next step once the ringing time or the maximum duration of a conversation
/// has passed.
const REPORT_GRACE: Duration = Duration::from_secs(10);
/// The maximum time between a call's start and the order to the provider. It is longer than the call queue's visibility
/// timeout, after which a task is repeated if its process has died.
const MAX_ORDER_DELAY: Duration = Duration::from_secs(40);

/// New information about a call: a report from the provider, or a failure that the service has detected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallReport {
    Accepted,
    AgentConnected,
    ClientConnected,
    Ended {
        /// How long the agent and the visitor have talked, if the provider reports it.
        talk_time: Option<Duration>,
        record_url: Option<String>,
    },
    Failed(String),
    /// Detected by the service: the provider has not accepted the call.
    NotPlaced,
    /// Detected by the service: the provider has not reported the next step within the time limit. `ordered_at` is the
    /// argument of [`Call::check`].
    TimedOut {
        ordered_at: Option<Timestamp>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallProgress {
    pub call: Call,
    /// The statuses that the call has reached, in order. Webhooks get an event for each of them.
    pub reached: Vec<CallStatus>,
    /// Whether the report has finished the call, or has overridden its failure.
    pub is_finished: bool,
    /// The minutes that the report gives back to the account's balance, or takes from it if it is negative.
    pub balance_change: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallCheck {
    Finished,
    /// The next check is due after this duration.
    Waiting(Duration),
    TimedOut,
}

impl Call {
    /// Returns the call after a report. Returns `None` if the report changes nothing: it is late, repeated, or about
    /// another of the provider's calls.
    pub fn after_report(
        &self,
        report: &CallReport,
        provider_call_id: Option<&str>,
        now: Timestamp,
    ) -> Option<CallProgress> {
        let is_other_call = self.provider_call_id.is_some() && provider_call_id.is_some();
        if is_other_call && self.provider_call_id.as_deref() != provider_call_id {
            return None;
        }
        let is_from_provider = !matches!(report, CallReport::NotPlaced | CallReport::TimedOut { .. });
        let mut call = Self {
            provider_call_id: self.provider_call_id.clone().or_else(|| provider_call_id.map(str::to_owned)),
            is_acknowledged: self.is_acknowledged || is_from_provider,
            revision: self.revision + 1,
            ..self.clone()
        };
        if self.status == CallStatus::Start && call.is_acknowledged && !self.is_acknowledged {
            call.status_at = now;
        }
        let reached = self.statuses_after(report, now);
        let is_identified = call.provider_call_id != self.provider_call_id;
        let is_news = is_identified || call.is_acknowledged != self.is_acknowledged;
        if reached.is_empty() && (self.status.is_final() || !is_news) {
            return None;
        }
        let mut is_finished = false;
        if let Some(status) = reached.last() {
            let has_ended = matches!(self.status, CallStatus::End(_));
            is_finished = !has_ended && status.is_final();
            if is_finished {
                call.talk_time = Some(self.talk_time_at_end(report, now));
            }
            call.status = status.clone();
            call.status_at = if self.status.is_final() { self.status_at } else { now };
        }
        let mut balance_change = 0;
        if is_finished {
            (call.charge, balance_change) = self.settled_charge(report, now);
        }
        Some(CallProgress { call, reached, is_finished, balance_change })
    }

    fn statuses_after(&self, report: &CallReport, now: Timestamp) -> Vec<CallStatus> {
        use CallStatus::{AgentConnected, ClientConnected, End, Error};
        let is_incoming = self.kind == CallKind::Incoming;
        let before_talk = match (&self.status, is_incoming) {
            (CallStatus::Start, true) => vec![AgentConnected],
            (CallStatus::Start, false) => vec![AgentConnected, ClientConnected],
            (AgentConnected, false) => vec![ClientConnected],
            (AgentConnected, true) | (ClientConnected | End(_) | Error(_), _) => Vec::new(),
        };
        match (&self.status, report) {
            (End(None), CallReport::Ended { record_url: Some(url), .. }) => vec![End(Some(url.clone()))],
            (Error(failure), CallReport::Ended { talk_time: Some(talk_time), record_url })
                if failure.is_refutable() && !talk_time.is_zero() =>
            {
                vec![End(record_url.clone())]
            }
            (End(_) | Error(_), _) | (_, CallReport::Accepted) => Vec::new(),
            (CallStatus::Start, CallReport::AgentConnected) => vec![AgentConnected],
            (AgentConnected | ClientConnected, CallReport::AgentConnected) => Vec::new(),
            // Ignore the report in an incoming call, whose visitor is connected from the beginning.
            (_, CallReport::ClientConnected) => {
                if is_incoming {
                    Vec::new()
                } else {
                    before_talk
                }
            }
            (_, CallReport::Ended { talk_time, record_url }) => {
                let has_talked = before_talk.is_empty() || talk_time.is_some_and(|time| !time.is_zero());
                if has_talked {
                    before_talk.into_iter().chain([End(record_url.clone())]).collect()
                } else {
                    vec![Error(self.unanswered())]
                }
            }
            (_, CallReport::Failed(reason)) => vec![Error(CallFailure::parse(reason.clone()))],
            (_, CallReport::NotPlaced) if !self.is_acknowledged => vec![Error(CallFailure::NotPlaced)],
            // Ignore the failed order: the provider has reported the call, so it has accepted the order, and only its
            // response was lost.
            (_, CallReport::NotPlaced) => Vec::new(),
            (_, CallReport::TimedOut { ordered_at }) if self.check(*ordered_at, now) == CallCheck::TimedOut => {
                vec![Error(if before_talk.is_empty() { CallFailure::NotReported } else { self.unanswered() })]
            }
            (_, CallReport::TimedOut { .. }) => Vec::new(),
        }
    }

    fn unanswered(&self) -> CallFailure {
        if self.status == CallStatus::Start { CallFailure::NoAnswerFromAgent } else { CallFailure::NoAnswerFromClient }
    }

    /// Returns the talk time of a call that a report has finished. If the report contains no duration, this is the time
    /// since both were connected. If the provider has not reported the end, the talk time is unknown and counts as
    /// zero.
    fn talk_time_at_end(&self, report: &CallReport, now: Timestamp) -> Duration {
        let since_connected = || if self.is_talking() { now.since(self.status_at) } else { Duration::ZERO };
        match report {
            CallReport::Ended { talk_time: Some(time), .. } => *time,
            CallReport::Ended { talk_time: None, .. } | CallReport::Failed(_) => since_connected(),
            CallReport::Accepted
            | CallReport::AgentConnected
            | CallReport::ClientConnected
            | CallReport::NotPlaced
            | CallReport::TimedOut { .. } => Duration::ZERO,
        }
    }

    fn is_talking(&self) -> bool {
        match self.status {
            CallStatus::ClientConnected => true,
            CallStatus::AgentConnected => self.kind == CallKind::Incoming,
            CallStatus::Start | CallStatus::End(_) | CallStatus::Error(_) => false,
        }
    }

    /// Returns the charge of a call that a report finishes, and the resulting change of the balance. Started minutes
    /// count in full. A call whose failure is overridden is charged again only if it was not charged before.
    fn settled_charge(&self, report: &CallReport, now: Timestamp) -> (CallCharge, i64) {
        let minutes = self.charged_time(report, now).as_millis().div_ceil(60_000).try_into().unwrap_or(u64::MAX);
        let (paid, charged) = match self.charge {
            CallCharge::Free => return (CallCharge::Free, 0),
            CallCharge::Reserved(reserved) => (reserved, minutes.min(reserved)),
            CallCharge::Charged(charged) => (charged, minutes.max(charged)),
        };
        (
            CallCharge::Charged(charged),
            paid.saturating_sub(charged).cast_signed() - charged.saturating_sub(paid).cast_signed(),
        )
    }

    /// Returns the talk time that is charged: the reported one, within the limits of the service's own clock. The
    /// provider can be the account's own gateway, so its report alone does not decide. A conversation lasts at least
    /// from the report that both are connected to the report of the end, and at most from the start of the call, each
    /// with a tolerance for late reports.
    fn charged_time(&self, report: &CallReport, now: Timestamp) -> Duration {
        let since_connected = if self.is_talking() { now.since(self.status_at) } else { Duration::ZERO };
        let time = match report {
            CallReport::Ended { talk_time: Some(time), .. } => *time,
            CallReport::Ended { talk_time: None, .. }
            | CallReport::Failed(_)
            | CallReport::Accepted
            | CallReport::AgentConnected
            | CallReport::ClientConnected
            | CallReport::NotPlaced
            | CallReport::TimedOut { .. } => since_connected,
        };
        let at_least = since_connected.saturating_sub(REPORT_GRACE);
        let at_most = now.since(self.started_at) + REPORT_GRACE;
        time.max(at_least).min(at_most).min(self.limits.talk)
    }

    /// Checks whether the provider's next report is overdue. `ordered_at` is the time of the last attempt to order the
    /// call. `None` means that no attempt is known, or that another one may follow.
    pub fn check(&self, ordered_at: Option<Timestamp>, now: Timestamp) -> CallCheck {
        if self.status.is_final() {
            return CallCheck::Finished;
        }
        let is_unreported = self.status == CallStatus::Start && !self.is_acknowledged;
        let last_order_at = ordered_at.unwrap_or_else(|| self.status_at.plus(MAX_ORDER_DELAY));
        let waits_since = if is_unreported { last_order_at } else { self.status_at };
        let limit = REPORT_GRACE + if self.is_talking() { self.limits.talk } else { self.limits.ring };
        let due_at = waits_since.plus(limit);
        if now >= due_at { CallCheck::TimedOut } else { CallCheck::Waiting(due_at.since(now)) }
    }

    pub fn first_check_delay(&self) -> Duration {
        self.limits.ring + REPORT_GRACE
    }

    /// Whether it is too late to order the call. A visitor does not expect a callback minutes later.
    pub fn is_outdated(&self, now: Timestamp) -> bool {
        now.since(self.status_at) >= MAX_ORDER_DELAY
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;
    use crate::domain::calls::phone_call::call::CallLimits;

    const URL: &str = "https://x.example/1.mp3";
    const NOW: Timestamp = Timestamp(1_000_000);
    const MINUTE: Duration = Duration::from_secs(60);
    const TIMED_OUT: CallReport = CallReport::TimedOut { ordered_at: None };

    fn call(kind: CallKind, status: CallStatus) -> Call {
        Call {
            kind,
            phone: "+31201234567".into(),
            agent: None,
            status,
            status_at: NOW,
            started_at: NOW,
            charge: if kind == CallKind::Incoming { CallCharge::Free } else { CallCharge::Reserved(120) },
            talk_time: None,
            provider_call_id: None,
            is_acknowledged: true,
            limits: CallLimits { ring: Duration::from_secs(30), talk: 120 * MINUTE },
            base_url: String::new(),
            revision: 0,
        }
    }

    fn ended(talk_seconds: Option<u64>) -> CallReport {
        CallReport::Ended { talk_time: talk_seconds.map(Duration::from_secs), record_url: None }
    }

    fn failed() -> CallReport {
        CallReport::Failed("busy".into())
    }

    fn reached(call: &Call, report: &CallReport) -> String {
        let progress = call.after_report(report, None, NOW);
        let statuses = progress.map(|progress| progress.reached).unwrap_or_default();
        statuses.iter().map(CallStatus::name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn report_never_moves_a_call_back() {
        use CallStatus::{AgentConnected, ClientConnected, End, Error, Start};
        let reports = [
            CallReport::AgentConnected,
            CallReport::ClientConnected,
            ended(None),
            ended(Some(0)),
            ended(Some(5)),
            failed(),
        ];
        // For a call of each kind and status, the table lists the statuses that each of `reports` leads to.
        let table = [
            (
                CallKind::Callback,
                Start,
                [
                    "agent_connected",
                    "agent_connected client_connected",
                    "error",
                    "error",
                    "agent_connected client_connected end",
                    "error",
                ],
            ),
            (
                CallKind::Outgoing,
                AgentConnected,
                ["", "client_connected", "error", "error", "client_connected end", "error"],
            ),
            (CallKind::Callback, ClientConnected, ["", "", "end", "end", "end", "error"]),
            (CallKind::Incoming, Start, ["agent_connected", "", "error", "error", "agent_connected end", "error"]),
            (CallKind::Incoming, AgentConnected, ["", "", "end", "end", "end", "error"]),
            (CallKind::Callback, End(None), [""; 6]),
            (CallKind::Callback, Error(CallFailure::Reported("busy".into())), [""; 6]),
        ];
        for (kind, status, expected) in table {
            let call = call(kind, status);
            assert_eq!(reports.each_ref().map(|report| reached(&call, report)), expected, "{call:?}");
        }
    }

    #[test]
    fn unanswered_call_says_who_did_not_answer() {
        let reason = |status| {
            let progress = call(CallKind::Callback, status).after_report(&ended(None), None, NOW).unwrap();
            progress.call.status
        };
        assert_eq!(reason(CallStatus::Start), CallStatus::Error(CallFailure::NoAnswerFromAgent));
        assert_eq!(reason(CallStatus::AgentConnected), CallStatus::Error(CallFailure::NoAnswerFromClient));
    }

    #[test]
    fn recording_is_added_after_the_end_once() {
        let recorded = |url: &str| CallReport::Ended { talk_time: None, record_url: Some(url.to_owned()) };
        let without = call(CallKind::Callback, CallStatus::End(None));
        let progress = without.after_report(&recorded(URL), None, NOW).unwrap();
        assert_eq!(progress.reached, [CallStatus::End(Some(URL.into()))]);
        assert_eq!(progress.balance_change, 0, "the minutes are charged at the first end");
        assert_eq!(progress.call.after_report(&recorded("https://x.example/2.mp3"), None, NOW), None);
        let failed = call(CallKind::Callback, CallStatus::Error(CallFailure::Reported("busy".into())));
        assert_eq!(failed.after_report(&recorded(URL), None, NOW), None);
    }

    #[test]
    fn acknowledgement_is_stored_without_an_event() {
        let new = Call { is_acknowledged: false, ..call(CallKind::Callback, CallStatus::Start) };
        let progress = new.after_report(&CallReport::Accepted, Some("CA1"), NOW).unwrap();
        assert!(progress.reached.is_empty() && progress.call.is_acknowledged);
        assert_eq!(progress.call.provider_call_id.as_deref(), Some("CA1"));
        assert_eq!(progress.call.after_report(&CallReport::Accepted, Some("CA1"), NOW), None, "a repeated report");
    }

    #[test]
    fn call_that_was_not_placed_fails_unless_it_was_reported() {
        let acknowledged = call(CallKind::Callback, CallStatus::Start);
        assert_eq!(acknowledged.after_report(&CallReport::NotPlaced, None, NOW), None);
        let new = Call { is_acknowledged: false, ..acknowledged };
        let progress = new.after_report(&CallReport::NotPlaced, None, NOW).unwrap();
        assert_eq!(progress.reached, [CallStatus::Error(CallFailure::NotPlaced)]);
        assert!(!progress.call.is_acknowledged);
    }

    #[test]
    fn report_about_another_call_of_the_provider_is_ignored() {
        let known = Call { provider_call_id: Some("CA1".into()), ..call(CallKind::Callback, CallStatus::Start) };
        assert_eq!(known.after_report(&failed(), Some("CA2"), NOW), None);
        for id in [Some("CA1"), None] {
            assert!(known.after_report(&failed(), id, NOW).is_some(), "{id:?}");
        }
    }

    #[test]
    fn talk_is_charged_in_started_minutes() {
        use CallKind::{Callback, Incoming, Outgoing};
        let talking =
            |kind| call(kind, if kind == Incoming { CallStatus::AgentConnected } else { CallStatus::ClientConnected });
        let charged = CallCharge::Charged;
        let table = [
            (talking(Callback), ended(Some(60)), 60, charged(2)),
            (talking(Outgoing), ended(Some(125)), 125, charged(3)),
            (talking(Outgoing), ended(None), 125, charged(3)),
            (talking(Outgoing), failed(), 125, charged(3)),
            (talking(Incoming), ended(Some(61)), 61, CallCharge::Free),
            (call(Callback, CallStatus::AgentConnected), ended(None), 0, charged(0)),
            (call(Callback, CallStatus::Start), ended(Some(5)), 5, charged(1)),
        ];
        for (call, report, talk_seconds, charge) in table {
            let progress = call.after_report(&report, None, NOW.plus(Duration::from_secs(125))).unwrap();
            let expected = (Some(Duration::from_secs(talk_seconds)), charge);
            assert_eq!((progress.call.talk_time, progress.call.charge), expected, "{call:?} {report:?}");
            let given_back = match charge {
                CallCharge::Charged(minutes) => 120 - i64::try_from(minutes).unwrap(),
                CallCharge::Free | CallCharge::Reserved(_) => 0,
            };
            assert_eq!(progress.balance_change, given_back, "{call:?} {report:?}");
        }
    }

    #[test]
    fn charge_is_bounded_by_the_clock_of_the_service() {
        let talking = Call { started_at: NOW, status_at: NOW, ..call(CallKind::Callback, CallStatus::ClientConnected) };
        let ringing = call(CallKind::Callback, CallStatus::Start);
        let short = CallLimits { talk: MINUTE, ..talking.limits };
        let limited = Call { limits: short, charge: CallCharge::Reserved(1), ..talking.clone() };
        let table = [
            ("the gateway reports too little", &talking, Some(0), 20 * 60, 20),
            ("the gateway reports too much", &talking, Some(86_400), 20 * 60, 21),
            ("the end is reported a moment late", &talking, Some(59), 65, 1),
            ("nobody was connected", &ringing, Some(0), 20 * 60, 0),
            ("the conversation exceeds the limit", &limited, Some(600), 600, 1),
        ];
        for (name, call, talk_seconds, after, minutes) in table {
            let progress = call.after_report(&ended(talk_seconds), None, NOW.plus(Duration::from_secs(after))).unwrap();
            assert_eq!(progress.call.charge, CallCharge::Charged(minutes), "{name}");
        }
    }

    #[test]
    fn call_times_out_if_the_provider_stops_reporting() {
        let at = |seconds| NOW.plus(Duration::from_secs(seconds));
        let table = [
            (CallStatus::Start, 40, CallFailure::NoAnswerFromAgent, 0),
            (CallStatus::AgentConnected, 40, CallFailure::NoAnswerFromClient, 0),
            (CallStatus::ClientConnected, 7_210, CallFailure::NotReported, 120),
        ];
        for (status, limit, reason, minutes) in table {
            let call = call(CallKind::Callback, status);
            assert_eq!(call.check(None, at(limit - 1)), CallCheck::Waiting(Duration::from_secs(1)), "{call:?}");
            assert_eq!(call.after_report(&TIMED_OUT, None, at(limit - 1)), None, "the check was too early");
            assert_eq!(call.check(None, at(limit)), CallCheck::TimedOut, "{call:?}");
            let progress = call.after_report(&TIMED_OUT, None, at(limit)).unwrap();
            assert_eq!(
                (progress.reached.as_slice(), progress.call.charge),
                (&[CallStatus::Error(reason)][..], CallCharge::Charged(minutes))
            );
            assert_eq!(progress.balance_change, i64::try_from(120 - minutes).unwrap());
        }
        assert_eq!(call(CallKind::Callback, CallStatus::End(None)).check(None, at(9_999)), CallCheck::Finished);
    }

    #[test]
    fn call_that_is_ordered_late_rings_for_the_full_time() {
        let at = |seconds| NOW.plus(Duration::from_secs(seconds));
        let second = CallCheck::Waiting(Duration::from_secs(1));
        let new = Call { is_acknowledged: false, ..call(CallKind::Callback, CallStatus::Start) };
        assert!(!new.is_outdated(at(39)) && new.is_outdated(at(40)));
        assert_eq!(new.first_check_delay(), Duration::from_secs(40));
        let ordered_late = Some(at(36));
        assert_eq!([75, 76].map(|seconds| new.check(ordered_late, at(seconds))), [second, CallCheck::TimedOut]);
        assert_eq!([79, 80].map(|seconds| new.check(None, at(seconds))), [second, CallCheck::TimedOut], "no order yet");
        let accepted = new.after_report(&CallReport::Accepted, None, at(39)).unwrap().call;
        assert_eq!([78, 79].map(|seconds| accepted.check(None, at(seconds))), [second, CallCheck::TimedOut]);
        let repeated = accepted.after_report(&CallReport::Accepted, Some("CA1"), at(50)).unwrap().call;
        assert_eq!(repeated.status_at, at(39), "only the first report restarts the limit");
    }

    #[test]
    fn reported_talk_overrides_a_failure_and_is_charged_once() {
        let texts = [
            "no answer from the agent",
            "no answer from the client",
            "the call could not be placed",
            "the provider did not report the end of the call",
        ];
        for reason in texts {
            let now = NOW.plus(20 * MINUTE);
            let failed = call(CallKind::Callback, CallStatus::Error(CallFailure::parse(reason.into())));
            let call = Call { charge: CallCharge::Charged(0), ..failed };
            assert_eq!(call.after_report(&ended(None), None, now), None, "{reason}");
            assert_eq!(call.after_report(&ended(Some(0)), None, now), None, "{reason}");
            let progress = call.after_report(&ended(Some(1_200)), None, now).unwrap();
            assert_eq!((progress.reached.as_slice(), progress.is_finished), (&[CallStatus::End(None)][..], true));
            assert_eq!((progress.call.talk_time, progress.balance_change), (Some(20 * MINUTE), -20));
            let charged = Call { charge: CallCharge::Charged(120), ..call };
            let late = charged.after_report(&ended(Some(1_200)), None, now).unwrap();
            assert_eq!((late.call.charge, late.balance_change), (CallCharge::Charged(120), 0), "charged once");
            let repeated = progress.call.after_report(&ended(Some(1_200)), None, NOW);
            assert_eq!(repeated, None, "{reason}");
        }
    }

    fn any_report() -> impl Strategy<Value = CallReport> {
        prop_oneof![
            Just(CallReport::Accepted),
            Just(CallReport::AgentConnected),
            Just(CallReport::ClientConnected),
            Just(failed()),
            Just(TIMED_OUT),
            (prop::option::of(0_u64..200), any::<bool>()).prop_map(|(seconds, is_recorded)| CallReport::Ended {
                talk_time: seconds.map(Duration::from_secs),
                record_url: is_recorded.then(|| URL.to_owned()),
            }),
        ]
    }

    proptest! {
        /// For any sequence of reports, webhooks get each status at most once and in order, except for a second `end`
        /// with the recording and an `end` that overrides an `error`. Repeating the reports changes nothing, and
        /// the balance changes by what is charged.
        #[test]
        fn any_reports_lead_to_a_valid_sequence_of_statuses(reports in prop::collection::vec(any_report(), 0..12)) {
            let mut call = call(CallKind::Callback, CallStatus::Start);
            let (mut reached, mut changes) = (Vec::new(), 0);
            for report in reports.iter().chain(&reports) {
                if let Some(progress) = call.after_report(report, None, NOW) {
                    changes += progress.balance_change;
                    reached.extend(progress.reached.iter().map(CallStatus::name));
                    call = progress.call;
                }
            }
            let is_recorded_later = reached.ends_with(&["end", "end"]);
            if is_recorded_later {
                reached.pop();
            }
            let is_disproved = reached.ends_with(&["error", "end"]);
            if is_disproved {
                reached.pop();
            }
            let sequences: [&[&str]; 7] = [
                &[],
                &["error"],
                &["agent_connected"],
                &["agent_connected", "error"],
                &["agent_connected", "client_connected"],
                &["agent_connected", "client_connected", "error"],
                &["agent_connected", "client_connected", "end"],
            ];
            prop_assert!(sequences.contains(&reached.as_slice()), "{:?}", reached);
            let expected = match call.charge {
                CallCharge::Charged(minutes) => 120 - i64::try_from(minutes).unwrap(),
                CallCharge::Free | CallCharge::Reserved(_) => 0,
            };
            prop_assert_eq!(changes, expected);
        }
    }
}
