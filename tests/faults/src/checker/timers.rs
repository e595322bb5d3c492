//! Checks the events about answers that are due soon: each answer is announced once, and not too early. How late the
//! events are is measured.

use std::collections::BTreeMap;

use super::Findings;
use crate::account::{ANSWER_DUE_SOON, ANSWER_SECONDS};
use crate::evidence::{Evidence, Journal};
use crate::plan::MAX_CLOCK_ERROR_MS;
use crate::receiver::JournalEntry;

/// How long before the end of its time limit an answer is due soon.
const LEAD_MS: i64 = ANSWER_SECONDS as i64 * 1_000 / 4;
/// Queues delay messages by whole seconds, and the event names whole seconds.
const PRECISION_MS: i64 = 2_000;

/// The first request about an answer that is due soon.
struct Announcement<'e> {
    request: &'e JournalEntry,
    /// When the answer was due soon, in milliseconds since the start of the round. Up to a second too early, because the
    /// event names the second in which the time limit ends.
    due_soon_ms: i64,
    /// How long after that the request arrived.
    lateness_ms: i64,
}

/// How late events were, in milliseconds, the earliest first.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    /// From the time at which the answer was due soon until the service stored the event, in whole seconds.
    pub stored: Vec<i64>,
    /// Until the request arrived at the receiver.
    pub arrived: Vec<i64>,
}

pub(super) fn check_announcements(evidence: &Evidence, findings: &mut Findings) {
    let mut ids = BTreeMap::new();
    for Announcement { request, lateness_ms, .. } in announcements(evidence) {
        let answer = (request.body["chat_id"].as_u64(), request.body["answer_due_at"].as_u64());
        if ids.insert(answer, &request.webhook_id).is_some() {
            findings.add("an answer that is due soon is announced once", format!("{request:?}"));
        }
        if lateness_ms < -PRECISION_MS - MAX_CLOCK_ERROR_MS as i64 {
            let by = -lateness_ms;
            findings.add("an answer is not announced before it is due soon", format!("{request:?}: {by} ms before"));
        }
    }
}

/// Returns how late the events were: those whose answer was due soon while faults were injected, and the later ones.
pub fn lateness_of_announcements(evidence: &Evidence) -> (Lateness, Lateness) {
    let faults_ended_ms = i64::try_from(evidence.faults_ended_ms).unwrap_or(i64::MAX);
    let (during, after): (Vec<_>, Vec<_>) =
        announcements(evidence).into_iter().partition(|announcement| announcement.due_soon_ms < faults_ended_ms);
    (lateness(evidence, &during), lateness(evidence, &after))
}

fn lateness(evidence: &Evidence, announcements: &[Announcement<'_>]) -> Lateness {
    let start_ms = i64::try_from(evidence.start_unix_ms).unwrap_or(i64::MAX);
    let stored =
        |it: &Announcement<'_>| Some(it.request.body["timestamp"].as_i64()? * 1_000 - start_ms - it.due_soon_ms);
    let sorted = |mut values: Vec<i64>| {
        values.sort_unstable();
        values
    };
    Lateness {
        stored: sorted(announcements.iter().filter_map(stored).collect()),
        arrived: sorted(announcements.iter().map(|it| it.lateness_ms).collect()),
    }
}

/// Leaves out events that were sent after the answer: they do not say when it was due.
fn announcements(evidence: &Evidence) -> Vec<Announcement<'_>> {
    let journals = evidence.journals.iter().filter(|journal| journal.gets(ANSWER_DUE_SOON));
    journals.flat_map(first_requests).filter_map(|request| announcement(evidence, request)).collect()
}

fn first_requests(journal: &Journal) -> Vec<&JournalEntry> {
    let mut first = BTreeMap::new();
    for request in &journal.requests {
        first.entry(&request.webhook_id).or_insert(request);
    }
    first.into_values().collect()
}

fn announcement<'e>(evidence: &Evidence, request: &'e JournalEntry) -> Option<Announcement<'e>> {
    let start_ms = i64::try_from(evidence.start_unix_ms).ok()?;
    let due_soon_ms = request.body["answer_due_at"].as_i64()? * 1_000 - LEAD_MS - start_ms;
    Some(Announcement { request, due_soon_ms, lateness_ms: i64::try_from(request.at_ms).ok()? - due_soon_ms })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::evidence::Promises;
    use crate::receiver::{Kind, Mood};

    const START_MS: u64 = 1_000_000_000;
    /// When the answer is due in these tests, in seconds since 1970.
    const DUE_AT: u64 = 1_000_030;
    /// When it is due soon, in milliseconds since the start.
    const SOON_MS: u64 = 30_000 - LEAD_MS as u64;

    fn request(id: &str, at_ms: u64, answer_due_at: &Value) -> JournalEntry {
        let timestamp = (START_MS + at_ms) / 1_000;
        let body = json!({"chat_id": 1, "answer_due_at": answer_due_at, "timestamp": timestamp});
        JournalEntry { at_ms, webhook_id: id.to_owned(), body, mood: Mood::Accept, acknowledged_ms: None }
    }

    fn evidence(requests: Vec<JournalEntry>) -> Evidence {
        let promises = Promises::of_events([ANSWER_DUE_SOON]);
        let journals = vec![Journal { receiver: "w".to_owned(), kind: Kind::Webhook, requests, promises }];
        Evidence { journals, start_unix_ms: START_MS, ..Evidence::default() }
    }

    fn guarantees(requests: Vec<JournalEntry>) -> Vec<&'static str> {
        let mut findings = Findings::default();
        check_announcements(&evidence(requests), &mut findings);
        findings.0.iter().map(|violation| violation.guarantee).collect()
    }

    #[test]
    fn first_request_of_each_event_is_measured() {
        let at = |id, ms| request(id, ms, &json!(DUE_AT));
        let requests = vec![at("a", SOON_MS + 300), at("a", SOON_MS + 3_300), request("b", 1, &Value::Null)];
        // The event names the second in which it was stored.
        let measured = Lateness { stored: vec![-500], arrived: vec![300] };
        let calm = evidence(requests);
        assert_eq!(lateness_of_announcements(&calm), (Lateness::default(), measured));
        let during = Evidence { faults_ended_ms: SOON_MS + 1, ..calm };
        assert_eq!(lateness_of_announcements(&during).1, Lateness::default());
    }

    #[test]
    fn second_or_early_event_is_a_violation() {
        let at = |id, ms| request(id, ms, &json!(DUE_AT));
        assert!(guarantees(vec![at("a", SOON_MS), at("a", SOON_MS + 3_000)]).is_empty());
        assert_eq!(
            guarantees(vec![at("a", SOON_MS), at("b", SOON_MS)]),
            ["an answer that is due soon is announced once"]
        );
        assert_eq!(guarantees(vec![at("a", SOON_MS - 3_000)]), ["an answer is not announced before it is due soon"]);
    }
}
