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
    /// How long after the answer was due soon the request arrived. Up to a second too long, because the event names the
    /// second in which the time limit ends.
    lateness_ms: i64,
}

pub(super) fn check_announcements(evidence: &Evidence, findings: &mut Findings) {
    let mut ids = BTreeMap::new();
    for Announcement { request, lateness_ms } in announcements(evidence) {
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

/// Returns how late the events were, in milliseconds, the earliest first.
pub fn lateness_of_announcements(evidence: &Evidence) -> Vec<i64> {
    let mut lateness: Vec<i64> = announcements(evidence).iter().map(|announcement| announcement.lateness_ms).collect();
    lateness.sort_unstable();
    lateness
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
    let due_soon_ms = request.body["answer_due_at"].as_i64()? * 1_000 - LEAD_MS;
    let arrived_ms = i64::try_from(evidence.start_unix_ms + request.at_ms).ok()?;
    Some(Announcement { request, lateness_ms: arrived_ms - due_soon_ms })
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
        let body = json!({"chat_id": 1, "answer_due_at": answer_due_at});
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
        assert_eq!(lateness_of_announcements(&evidence(requests)), [300]);
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
