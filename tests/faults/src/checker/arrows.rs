//! Checks that webhooks are notified exactly once of each change of a chat's owner.
//!
//! A chat is walked through from its first event to its last, in the order of `seq`. Each event must be an arrow that
//! the table of owners (docs/design.md, Chat ownership) has at this place, and the walk must end where the service says
//! that the chat is. So a missing event and a repeated one are both found. Pairs that would cancel each other out are
//! found by comparing the events with the requests of the load.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{Findings, ServiceView};
use crate::account::OWNERSHIP_EVENTS;
use crate::evidence::{Evidence, Journal};
use crate::records::{Action, Record};

const GUARANTEE: &str = "each change of owner is reported exactly once";

pub(super) fn check_arrows(evidence: &Evidence, service: &ServiceView<'_>, findings: &mut Findings) {
    let has_all = |journal: &&Journal| OWNERSHIP_EVENTS.iter().all(|name| journal.gets(name));
    for journal in evidence.journals.iter().filter(has_all) {
        let mut events_by_chat = events_by_chat(journal, service);
        for row in &evidence.chats {
            let chat = row["chat_id"].as_u64().unwrap_or_default();
            let events = events_by_chat.remove(&chat).unwrap_or_default();
            let has_bot = evidence.channel_of(chat).is_some_and(|channel| channel.has_bot);
            let problem = walk(&events, row, has_bot).and_then(|walk| compare(&walk, row, &evidence.records));
            if let Err(problem) = problem {
                let receiver = &journal.receiver;
                findings.add(GUARANTEE, format!("{receiver}, chat {chat}: {problem}; {events:?}, {row}"));
            }
        }
        check_stored_events(evidence, journal, service, findings);
    }
}

/// How many of the chats' changes of owner were reported to the first webhook that gets all of them.
pub fn count_arrows(evidence: &Evidence) -> usize {
    let service = ServiceView::new(evidence);
    let journal = evidence.journals.iter().find(|journal| OWNERSHIP_EVENTS.iter().all(|name| journal.gets(name)));
    journal.map_or(0, |journal| events_by_chat(journal, &service).values().map(Vec::len).sum())
}

#[derive(Debug, Clone, PartialEq)]
struct Event {
    seq: u64,
    name: String,
    agent: Option<u64>,
}

/// Returns the events that have arrived, each once, in the order of `seq`.
fn events_by_chat(journal: &Journal, service: &ServiceView<'_>) -> BTreeMap<u64, Vec<Event>> {
    let mut events: BTreeMap<u64, BTreeMap<&str, Event>> = BTreeMap::new();
    for request in &journal.requests {
        let (body, Some(entry)) = (&request.body, service.entry(&request.webhook_id)) else { continue };
        let event = Event {
            seq: body["seq"].as_u64().unwrap_or_default(),
            name: body["event_name"].as_str().unwrap_or_default().to_owned(),
            agent: body["agent"]["id"].as_u64(),
        };
        events.entry(entry.chat).or_default().insert(&request.webhook_id, event);
    }
    let sorted = |events: BTreeMap<&str, Event>| {
        let mut events: Vec<Event> = events.into_values().collect();
        events.sort_by_key(|event| event.seq);
        events
    };
    events.into_iter().map(|(chat, events)| (chat, sorted(events))).collect()
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Owner {
    Nobody,
    Bot,
    Waiting,
    Agent(u64),
    Closed(Option<u64>),
}

#[derive(Default)]
struct Walk {
    /// The agents who have accepted the chat.
    accepted: Vec<u64>,
    /// From whom and to whom the chat was transferred.
    transferred: Vec<(u64, u64)>,
    handed_over: usize,
    rated: usize,
    ended: usize,
}

fn walk(events: &[Event], row: &Value, has_bot: bool) -> Result<Walk, String> {
    let (mut walk, mut owner) = (Walk::default(), Owner::Nobody);
    let mut events = events.iter().peekable();
    while let Some(event) = events.next() {
        let mut follows = |name: &str| events.next_if(|next| next.name == name);
        let unexpected = || format!("{event:?} when the owner is {owner:?}");
        owner = match (owner, event.name.as_str(), event.agent) {
            (Owner::Nobody, "chat_opened", None) if has_bot => Owner::Bot,
            (Owner::Nobody, "chat_opened", None) => {
                follows("chat_waiting").map(|_| Owner::Waiting).ok_or_else(unexpected)?
            }
            (Owner::Bot, "bot_handed_over", None) => {
                walk.handed_over += 1;
                follows("chat_waiting").map(|_| Owner::Waiting).ok_or_else(unexpected)?
            }
            (Owner::Bot | Owner::Waiting, "chat_joined", Some(agent)) => {
                walk.accepted.push(agent);
                Owner::Agent(agent)
            }
            (Owner::Agent(from), "chat_transferred", Some(to)) if from != to => {
                let joined = follows("chat_joined").filter(|joined| joined.agent == Some(to));
                walk.transferred.push((from, to));
                joined.map(|_| Owner::Agent(to)).ok_or_else(unexpected)?
            }
            (Owner::Bot | Owner::Waiting, "chat_ended", by) => {
                walk.ended += 1;
                Owner::Closed(by)
            }
            (Owner::Agent(agent), "chat_ended", by) => {
                walk.ended += 1;
                if by != Some(agent) {
                    return Err(unexpected());
                }
                Owner::Closed(by)
            }
            (owner, "chat_rated", _) if owner != Owner::Nobody => {
                walk.rated += 1;
                owner
            }
            _ => return Err(unexpected()),
        };
    }
    let agent = row["agent"]["id"].as_u64();
    let shown = match (row["state"].as_str().unwrap_or_default(), agent) {
        ("bot", None) => Owner::Bot,
        ("waiting", None) => Owner::Waiting,
        ("active", Some(agent)) => Owner::Agent(agent),
        ("closed", agent) => Owner::Closed(agent),
        _ => return Err("the state of the chat is unknown".to_owned()),
    };
    if owner == shown { Ok(walk) } else { Err(format!("the events end with {owner:?}")) }
}

/// Compares the events with the requests about the chat: each confirmed one has an event, and each event has a request
/// that may have been carried out.
fn compare(walk: &Walk, row: &Value, records: &[Record]) -> Result<(), String> {
    let of_chat: Vec<&Record> = records.iter().filter(|record| row["chat_id"] == json!(record.chat)).collect();
    let check = |what: &str, events: usize, is_meant: &dyn Fn(&Record) -> bool| {
        let meant = || of_chat.iter().filter(|record| is_meant(record));
        let confirmed = meant().filter(|record| record.is_acknowledged()).count();
        let possible = meant().filter(|record| record.is_possible()).count();
        let is_explained = (confirmed..=possible).contains(&events);
        let problem = || format!("{events} events of {what}, {confirmed} to {possible} by the requests");
        is_explained.then_some(()).ok_or_else(problem)
    };
    for agent in agents(&of_chat) {
        let accepted = walk.accepted.iter().filter(|accepted| **accepted == agent).count();
        check(&format!("accepts by {agent}"), accepted, &|record| {
            record.action == Action::Accept && record.agent == Some(agent)
        })?;
        for to in agents(&of_chat) {
            let transferred = walk.transferred.iter().filter(|transfer| **transfer == (agent, to)).count();
            check(&format!("transfers from {agent} to {to}"), transferred, &|record| {
                record.action == Action::Transfer && record.agent == Some(agent) && record.to == Some(to)
            })?;
        }
    }
    check("ratings", walk.rated, &|record| record.action == Action::Rate)?;
    let closes = |record: &Record| record.action == Action::Close && record.is_possible();
    if walk.ended > 0 && !of_chat.iter().any(|record| closes(record)) {
        return Err("nobody has closed the chat".to_owned());
    }
    let is_handed_over = !row["handover"].is_null();
    if walk.handed_over == usize::from(is_handed_over) {
        Ok(())
    } else {
        Err(format!("{} events of handovers", walk.handed_over))
    }
}

fn agents(records: &[&Record]) -> BTreeSet<u64> {
    records.iter().flat_map(|record| [record.agent, record.to]).flatten().collect()
}

/// Checks that the number of stored events is the number of those that have arrived at all webhooks together: each one
/// is for one webhook.
fn check_stored_events(evidence: &Evidence, journal: &Journal, service: &ServiceView<'_>, findings: &mut Findings) {
    for name in &journal.promises.events {
        let is_event = |entry: &&super::Entry<'_>| entry.value["type"] == **name && entry.value["from"] == "system";
        let stored = service.entries.iter().filter(is_event).count();
        let subscribed = evidence.journals.iter().filter(|journal| journal.gets(name));
        let arrived: BTreeSet<&str> = subscribed
            .flat_map(|journal| &journal.requests)
            .filter(|request| request.body["event_name"] == **name)
            .map(|request| request.webhook_id.as_str())
            .collect();
        if stored != arrived.len() {
            findings.add(GUARANTEE, format!("{stored} stored {name}, {} arrived", arrived.len()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{ChannelFacts, Promises};
    use crate::receiver::{JournalEntry, Kind, Mood};

    fn record(action: Action, agent: u64, to: Option<u64>) -> Record {
        Record {
            action,
            started_ms: 0,
            ended_ms: 1,
            chat: Some(1),
            agent: Some(agent),
            to,
            text: None,
            status: Some(200),
            seq: None,
            is_repeated: false,
        }
    }

    /// A chat that its bot hands over, agent 5 accepts and transfers to agent 6, and agent 6 closes.
    fn evidence() -> Evidence {
        let events = [
            ("chat_opened", None),
            ("bot_handed_over", None),
            ("chat_waiting", None),
            ("chat_joined", Some(5)),
            ("chat_transferred", Some(6)),
            ("chat_joined", Some(6)),
            ("chat_ended", Some(6)),
            ("chat_rated", Some(6)),
        ];
        let entry = |(seq, (name, _))| json!({"seq": seq, "id": format!("id-{seq}"), "from": "system", "type": name});
        let request = |(seq, (name, agent)): (u64, (&str, Option<u64>))| JournalEntry {
            at_ms: seq,
            webhook_id: format!("id-{seq}"),
            body: json!({"event_name": name, "seq": seq, "agent": agent.map(|id| json!({"id": id}))}),
            mood: Mood::Accept,
            acknowledged_ms: None,
        };
        let journal = Journal {
            receiver: "webhook".to_owned(),
            kind: Kind::Webhook,
            requests: (1..).zip(events).map(request).collect(),
            promises: Promises::of_events(OWNERSHIP_EVENTS),
        };
        let row = json!({
            "chat_id": 1, "channel": {"channel_id": "c"}, "state": "closed", "agent": {"id": 6}, "handover": {},
        });
        let visitor = |record: Record| Record { agent: None, ..record };
        Evidence {
            records: vec![
                record(Action::Accept, 5, None),
                record(Action::Transfer, 5, Some(6)),
                record(Action::Close, 6, None),
                visitor(record(Action::Rate, 0, None)),
            ],
            journals: vec![journal],
            chats: vec![row],
            channels: [("c".to_owned(), ChannelFacts { has_bot: true, ..ChannelFacts::default() })].into(),
            timelines: [(1, (1_u64..).zip(events).map(entry).collect())].into(),
            ..Evidence::default()
        }
    }

    fn found(evidence: &Evidence) -> usize {
        let mut findings = Findings::default();
        check_arrows(evidence, &ServiceView::new(evidence), &mut findings);
        findings.0.len()
    }

    /// Removes an event, and its entry.
    fn remove(evidence: &mut Evidence, seq: u64) {
        let id = format!("id-{seq}");
        evidence.journals[0].requests.retain(|request| request.webhook_id != id);
        evidence.timelines.get_mut(&1).unwrap().retain(|entry| entry["id"] != *id);
    }

    #[test]
    fn one_event_for_each_arrow_is_right() {
        let mut evidence = evidence();
        assert_eq!((found(&evidence), count_arrows(&evidence)), (0, 8));
        let repeated = evidence.journals[0].requests[3].clone();
        evidence.journals[0].requests.push(repeated);
        assert_eq!(found(&evidence), 0, "the webhook-id shows that it is a duplicate");
    }

    #[test]
    fn every_missing_event_is_found() {
        for seq in 1..=8 {
            let mut evidence = evidence();
            remove(&mut evidence, seq);
            assert_eq!(found(&evidence), 1, "event {seq}");
        }
        let mut without_transfer = evidence();
        without_transfer.chats[0]["agent"]["id"] = json!(5);
        [5, 6].iter().for_each(|seq| remove(&mut without_transfer, *seq));
        without_transfer.journals[0].requests[4].body["agent"]["id"] = json!(5);
        assert_eq!(found(&without_transfer), 1, "a confirmed transfer has an event");
    }

    #[test]
    fn every_repeated_event_is_found() {
        for index in 0..8 {
            let mut evidence = evidence();
            let mut request = evidence.journals[0].requests[index].clone();
            request.webhook_id = "id-9".to_owned();
            request.body["seq"] = json!(9);
            let entry = json!({"seq": 9, "id": "id-9", "from": "system", "type": request.body["event_name"]});
            evidence.journals[0].requests.push(request);
            evidence.timelines.get_mut(&1).unwrap().push(entry);
            assert_eq!(found(&evidence), 1, "event {index}");
        }
    }

    #[test]
    fn wrong_events_are_found() {
        type Change = fn(&mut Evidence);
        let changes: [Change; 6] = [
            |it| it.journals[0].requests[5].body["agent"]["id"] = json!(5),
            |it| it.journals[0].requests[1].body["seq"] = json!(4),
            |it| it.chats[0]["state"] = json!("active"),
            |it| it.chats[0]["handover"] = Value::Null,
            |it| it.records[0].status = Some(409),
            |it| it.records[2].status = Some(409),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut evidence = evidence();
            change(&mut evidence);
            assert_eq!(found(&evidence), 1, "change {number}");
        }
        let mut lost = evidence();
        lost.journals[0].requests.pop();
        lost.records.pop();
        assert_eq!(found(&lost), 1, "a stored event that does not arrive");
    }
}
