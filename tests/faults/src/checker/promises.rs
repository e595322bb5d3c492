//! Checks what the service promises to some receivers only: late delivery, strict order, and messages that are fetched.

use std::collections::{BTreeMap, BTreeSet};

use super::{Entry, Findings, ServiceView, can_be_rejected, is_accepted};
use crate::evidence::{Evidence, Journal};
use crate::receiver::{JournalEntry, Kind, Mood};

/// Checks that what is delivered late, and what is fetched, has failed only if its receiver has rejected it.
pub(super) fn check_late_deliveries(evidence: &Evidence, service: &ServiceView<'_>, findings: &mut Findings) {
    for entry in &service.entries {
        let Some((kind, delivery)) = entry.delivery() else { continue };
        let channel = evidence.channel_of(entry.chat);
        let loses_nothing = match kind {
            Kind::Integrator => channel.is_some_and(|channel| channel.is_late || channel.is_fetched),
            Kind::Webhook => true,
            Kind::Bot => false,
        };
        let rejects = |request: &JournalEntry| request.mood == Mood::Reject && can_be_rejected(request);
        let is_rejected = service.requests(entry.id()).iter().any(|(_, request)| rejects(request));
        if loses_nothing && delivery["state"] == "failed" && !is_rejected {
            findings.add("what is delivered late arrives or is rejected", entry);
        }
    }
}

/// Checks that a receiver with strict order gets the messages of a chat only after it has accepted or rejected all
/// earlier ones.
pub(super) fn check_strict_order(evidence: &Evidence, service: &ServiceView<'_>, findings: &mut Findings) {
    for journal in evidence.journals.iter().filter(|journal| journal.promises.strict_order) {
        for (chat, messages) in messages_by_chat(journal, service) {
            for (seq, requests) in &messages {
                let first_ms = requests.iter().map(|request| request.at_ms).min().unwrap_or_default();
                let is_open = |requests: &[&JournalEntry]| {
                    !requests.iter().any(|request| {
                        (is_accepted(request) || request.mood == Mood::Reject) && request.at_ms <= first_ms
                    })
                };
                let is_stored = |requests: &[&JournalEntry]| {
                    let entry = requests.first().and_then(|request| service.entry(&request.webhook_id));
                    entry.is_some_and(|entry| is_answered_by(evidence, entry, first_ms))
                };
                let earlier = messages.range(..seq).find(|(_, requests)| is_open(requests) && is_stored(requests));
                if let Some((earlier, _)) = earlier {
                    let receiver = &journal.receiver;
                    findings.add(
                        "in strict order, a message waits for the earlier ones",
                        format!("{receiver}, chat {chat}: entry {seq} after {first_ms} ms, before entry {earlier}"),
                    );
                }
            }
        }
    }
}

/// Checks that the messages of a chat are fetched in order, and that a message is not fetched again after the service
/// has confirmed that it is acknowledged.
pub(super) fn check_fetched(evidence: &Evidence, service: &ServiceView<'_>, findings: &mut Findings) {
    for journal in evidence.journals.iter().filter(|journal| journal.promises.is_fetched) {
        let mut newest: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        let mut known = BTreeSet::new();
        let mut acknowledged = BTreeMap::new();
        for request in &journal.requests {
            let id = request.webhook_id.as_str();
            if let Some(entry) = service.entry(id).filter(|_| known.insert(id)) {
                let newest = newest.entry(entry.chat).or_default();
                if newest.0 > entry.seq() && is_answered_by(evidence, entry, newest.1) {
                    findings.add("messages are fetched in order", entry);
                }
                *newest = (*newest).max((entry.seq(), request.at_ms));
            }
            if acknowledged.get(id).is_some_and(|at_ms| *at_ms <= request.at_ms) {
                findings.add("what is acknowledged is not fetched again", format!("{request:?}"));
            }
            if let Some(at_ms) = request.acknowledged_ms {
                acknowledged.entry(id).or_insert(at_ms);
            }
        }
    }
}

/// How long a function may take from reading what a chat contains to the arrival of what it sends.
const SENDING_MS: u64 = 5_000;

/// Whether the request that stored the message was answered when the service read what to send. Until then, the message
/// may have its number but not be stored, while one with a higher number is. Entries of the service itself have no
/// request.
fn is_answered_by(evidence: &Evidence, entry: &Entry<'_>, at_ms: u64) -> bool {
    let Some(text) = entry.value["text"].as_str() else { return true };
    let mut records = evidence.records.iter().filter(|record| record.text.as_deref() == Some(text));
    records.all(|record| record.is_acknowledged() && record.ended_ms + SENDING_MS <= at_ms)
}

/// Returns the requests about each stored entry, by chat and number.
fn messages_by_chat<'e>(
    journal: &'e Journal,
    service: &ServiceView<'e>,
) -> BTreeMap<u64, BTreeMap<u64, Vec<&'e JournalEntry>>> {
    let mut chats: BTreeMap<u64, BTreeMap<u64, Vec<&JournalEntry>>> = BTreeMap::new();
    for request in &journal.requests {
        let Some(Entry { chat, value }) = service.entry(&request.webhook_id) else { continue };
        let seq = value["seq"].as_u64().unwrap_or_default();
        chats.entry(*chat).or_default().entry(seq).or_default().push(request);
    }
    chats
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::evidence::{ChannelFacts, Promises};
    use crate::records::{Action, Record};

    const SEQS: [u64; 3] = [1, 2, 3];

    fn request(seq: u64, at_ms: u64, mood: Mood) -> JournalEntry {
        JournalEntry { at_ms, webhook_id: format!("id-{seq}"), body: json!({}), mood, acknowledged_ms: None }
    }

    fn record() -> Record {
        Record {
            action: Action::AgentMessage,
            started_ms: 0,
            ended_ms: 1,
            chat: Some(1),
            agent: Some(5),
            to: None,
            text: None,
            status: None,
            seq: None,
            is_repeated: false,
        }
    }

    /// A chat with three messages for an integrator whose second message is attempted twice.
    fn evidence(promises: Promises, facts: ChannelFacts) -> Evidence {
        let entry = |seq| json!({"seq": seq, "id": format!("id-{seq}"), "delivery": {"state": "delivered"}});
        let mut requests = vec![
            request(1, 10, Mood::Accept),
            request(2, 20, Mood::Fail),
            request(2, 30, Mood::Slow),
            request(3, 40, Mood::Accept),
        ];
        if promises.is_fetched {
            requests[1].mood = Mood::Fetched;
            requests.iter_mut().for_each(|request| request.acknowledged_ms = Some(request.at_ms + 5));
            requests[1].acknowledged_ms = None;
        }
        let journal = Journal { receiver: "integrator".to_owned(), kind: Kind::Integrator, requests, promises };
        Evidence {
            journals: vec![journal],
            chats: vec![json!({"chat_id": 1, "channel": {"channel_id": "c"}})],
            channels: [("c".to_owned(), facts)].into(),
            timelines: [(1, SEQS.map(entry).to_vec())].into(),
            ..Evidence::default()
        }
    }

    fn found(evidence: &Evidence) -> Vec<&'static str> {
        let (service, mut findings) = (ServiceView::new(evidence), Findings::default());
        check_late_deliveries(evidence, &service, &mut findings);
        check_strict_order(evidence, &service, &mut findings);
        check_fetched(evidence, &service, &mut findings);
        findings.0.into_iter().map(|violation| violation.guarantee).collect()
    }

    #[test]
    fn lost_late_delivery_is_found() {
        let facts = ChannelFacts { is_late: true, ..ChannelFacts::default() };
        let mut evidence = evidence(Promises::default(), facts);
        assert_eq!(found(&evidence), Vec::<&str>::new());
        evidence.timelines.get_mut(&1).unwrap()[1]["delivery"]["state"] = json!("failed");
        assert_eq!(found(&evidence), ["what is delivered late arrives or is rejected"]);
        evidence.journals[0].requests[2].mood = Mood::Reject;
        assert_eq!(found(&evidence), Vec::<&str>::new());
        evidence.journals[0].requests[2].mood = Mood::Fail;
        evidence.channels.insert("c".to_owned(), ChannelFacts::default());
        assert_eq!(found(&evidence), Vec::<&str>::new(), "a channel without late delivery");
    }

    #[test]
    fn event_of_an_owner_cannot_be_rejected() {
        let facts = ChannelFacts { is_late: true, ..ChannelFacts::default() };
        let mut evidence = evidence(Promises::default(), facts);
        evidence.timelines.get_mut(&1).unwrap()[1]["delivery"]["state"] = json!("failed");
        let request = &mut evidence.journals[0].requests[2];
        (request.mood, request.body) = (Mood::Reject, json!({"event_name": "chat_joined"}));
        assert!(is_accepted(request), "any 2xx accepts it");
        assert_eq!(found(&evidence), ["what is delivered late arrives or is rejected"]);
    }

    #[test]
    fn overtaking_in_strict_order_is_found() {
        let promises = Promises { strict_order: true, ..Promises::default() };
        let mut evidence = evidence(promises, ChannelFacts::default());
        assert_eq!(found(&evidence), Vec::<&str>::new());
        evidence.journals[0].requests[3].at_ms = 25;
        assert_eq!(found(&evidence), ["in strict order, a message waits for the earlier ones"]);
        evidence.journals[0].requests[1].mood = Mood::Reject;
        assert_eq!(found(&evidence), Vec::<&str>::new(), "a rejected message holds nothing back");
        evidence.journals[0].requests[1].mood = Mood::Fail;
        evidence.journals[0].promises.strict_order = false;
        assert_eq!(found(&evidence), Vec::<&str>::new());
    }

    #[test]
    fn wrong_order_and_repetition_of_fetched_messages_are_found() {
        let promises = Promises { is_fetched: true, ..Promises::default() };
        let facts = ChannelFacts { is_fetched: true, ..ChannelFacts::default() };
        let healthy = || evidence(promises.clone(), facts);
        assert_eq!(found(&healthy()), Vec::<&str>::new());
        let mut changed = healthy();
        changed.journals[0].requests.swap(0, 1);
        assert_eq!(found(&changed), ["messages are fetched in order"]);
        let text = Some("one".to_owned());
        changed.timelines.get_mut(&1).unwrap()[0]["text"] = json!("one");
        let answered = |ended_ms| Record { text: text.clone(), ended_ms, status: Some(201), ..record() };
        changed.journals[0].requests[0].at_ms = 6_000;
        changed.records = vec![answered(1_000)];
        assert_eq!(found(&changed), ["messages are fetched in order"]);
        changed.records = vec![answered(1_001)];
        assert_eq!(found(&changed), Vec::<&str>::new(), "the message was not yet stored");
        let mut changed = healthy();
        changed.journals[0].requests.push(request(1, 50, Mood::Fetched));
        assert_eq!(found(&changed), ["what is acknowledged is not fetched again"]);
        let mut changed = healthy();
        changed.timelines.get_mut(&1).unwrap()[0]["delivery"]["state"] = json!("failed");
        assert_eq!(found(&changed), ["what is delivered late arrives or is rejected"]);
    }
}
