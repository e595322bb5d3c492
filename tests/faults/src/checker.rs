//! Checks whether a round's evidence shows violations of the guarantees (docs/faults.md). The checks share no code with
//! the service.
//!
//! # Layout
//! - `checker/arrows.rs`: the events of a chat's changes of owner
//! - `checker/promises.rs`: late delivery, strict order, and messages that are fetched
//! - `checker/timers.rs`: the events about answers that are due soon

mod arrows;
mod promises;
mod timers;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Formatter};

use serde_json::{Value, json};

use crate::account::OWNERSHIP_EVENTS;
use crate::evidence::{Evidence, Journal};
use crate::plan::MAX_CLOCK_ERROR_MS;
use crate::receiver::{JournalEntry, Kind, Mood};
use crate::records::{Action, Record};

pub use self::arrows::count_arrows;
pub use self::timers::lateness_of_announcements;

#[derive(Debug, PartialEq)]
pub struct Violation {
    pub guarantee: &'static str,
    pub shown_by: String,
}

impl Display for Violation {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.guarantee, self.shown_by)
    }
}

pub fn check(evidence: &Evidence) -> Vec<Violation> {
    let mut findings = Findings::default();
    let service = ServiceView::new(evidence);
    check_responses(evidence, &mut findings);
    check_recovery(evidence, &mut findings);
    check_stored_once(evidence, &service, &mut findings);
    check_timelines(evidence, &mut findings);
    check_deliveries(evidence, &service, &mut findings);
    check_webhook_ids(evidence, &service, &mut findings);
    check_calm_order(evidence, &service, &mut findings);
    check_owners(evidence, &mut findings);
    check_closed_chats(evidence, &mut findings);
    check_notifications(evidence, &mut findings);
    arrows::check_arrows(evidence, &service, &mut findings);
    promises::check_late_deliveries(evidence, &service, &mut findings);
    promises::check_strict_order(evidence, &service, &mut findings);
    promises::check_fetched(evidence, &service, &mut findings);
    timers::check_announcements(evidence, &mut findings);
    check_bots(evidence, &mut findings);
    check_report(evidence, &mut findings);
    findings.0
}

#[derive(Default)]
struct Findings(Vec<Violation>);

impl Findings {
    fn add(&mut self, guarantee: &'static str, shown_by: impl Display) {
        self.0.push(Violation { guarantee, shown_by: shown_by.to_string() });
    }
}

struct Entry<'e> {
    chat: u64,
    value: &'e Value,
}

impl Entry<'_> {
    fn seq(&self) -> u64 {
        self.value["seq"].as_u64().unwrap_or_default()
    }

    fn id(&self) -> &str {
        self.value["id"].as_str().unwrap_or_default()
    }

    fn delivery(&self) -> Option<(Kind, &Value)> {
        let kinds = [("delivery", Kind::Integrator), ("bot_delivery", Kind::Bot), ("webhook_delivery", Kind::Webhook)];
        kinds.into_iter().find_map(|(name, kind)| self.value.get(name).map(|delivery| (kind, delivery)))
    }
}

impl Display for Entry<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "chat {}, entry {}", self.chat, self.value)
    }
}

struct ServiceView<'e> {
    entries: Vec<Entry<'e>>,
    entries_by_text: BTreeMap<&'e str, Vec<usize>>,
    entries_by_id: BTreeMap<&'e str, usize>,
    requests_by_id: BTreeMap<&'e str, Vec<(&'e Journal, &'e JournalEntry)>>,
}

impl<'e> ServiceView<'e> {
    fn new(evidence: &'e Evidence) -> Self {
        let entries: Vec<Entry<'e>> = evidence
            .timelines
            .iter()
            .flat_map(|(chat, timeline)| timeline.iter().map(|value| Entry { chat: *chat, value }))
            .collect();
        let mut entries_by_text: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, entry) in entries.iter().enumerate() {
            if let Some(text) = entry.value["text"].as_str() {
                entries_by_text.entry(text).or_default().push(index);
            }
        }
        let mut requests_by_id: BTreeMap<&str, Vec<_>> = BTreeMap::new();
        for journal in &evidence.journals {
            for request in &journal.requests {
                requests_by_id.entry(&request.webhook_id).or_default().push((journal, request));
            }
        }
        let ids = entries.iter().enumerate();
        let entries_by_id = ids.filter_map(|(index, entry)| Some((entry.value["id"].as_str()?, index))).collect();
        Self { entries, entries_by_text, entries_by_id, requests_by_id }
    }

    fn entry(&self, id: &str) -> Option<&Entry<'e>> {
        self.entries_by_id.get(id).map(|index| &self.entries[*index])
    }

    fn with_text(&self, text: &str) -> Vec<&Entry<'e>> {
        self.entries_by_text.get(text).into_iter().flatten().map(|index| &self.entries[*index]).collect()
    }

    fn requests(&self, id: &str) -> &[(&'e Journal, &'e JournalEntry)] {
        self.requests_by_id.get(id).map(Vec::as_slice).unwrap_or_default()
    }
}

/// All requests are valid, so a request may fail only because of a limit, a lost race or a fault.
fn check_responses(evidence: &Evidence, findings: &mut Findings) {
    for record in &evidence.records {
        let is_right = match record.status {
            None | Some(200..=299 | 500..=599 | 429) => true,
            // The chat has another owner or is closed.
            Some(409 | 403) => !matches!(record.action, Action::VisitorMessage | Action::Note),
            Some(_) => false,
        };
        if !is_right {
            findings.add(
                "a valid request gets no other error than those of a limit, a lost race or a fault",
                json!(record),
            );
        }
    }
}

fn check_recovery(evidence: &Evidence, findings: &mut Findings) {
    if let Some(problem) = &evidence.recovery_problem {
        findings.add("everything is delivered or has failed some time after the last fault", problem);
    }
}

/// Checks that an acknowledged message is stored exactly once, under the `seq` in its response, a refused one never,
/// and any other at most once.
fn check_stored_once(evidence: &Evidence, service: &ServiceView<'_>, findings: &mut Findings) {
    for record in &evidence.records {
        let Some(text) = &record.text else { continue };
        let entries = service.with_text(text);
        if record.is_acknowledged() && entries.is_empty() {
            findings.add("nothing answered is lost", json!(record));
        }
        if entries.len() > 1 {
            let entries: Vec<String> = entries.iter().map(ToString::to_string).collect();
            findings.add("a message is stored once", format!("{}, {}", json!(record), entries.join("; ")));
        }
        if let (true, Some(seq), Some(entry)) = (record.is_acknowledged(), record.seq, entries.first())
            && (entry.seq() != seq || record.chat.is_some_and(|chat| chat != entry.chat))
        {
            findings.add("a response names the stored entry", format!("{}, but {entry}", json!(record)));
        }
        let is_refused = !record.is_possible();
        if let (true, Some(entry)) = (is_refused, entries.first()) {
            findings.add("a refused message is not stored", format!("{}, but {entry}", json!(record)));
        }
    }
}

fn check_timelines(evidence: &Evidence, findings: &mut Findings) {
    for (chat, timeline) in &evidence.timelines {
        let numbers: Vec<u64> = timeline.iter().filter_map(|entry| entry["seq"].as_u64()).collect();
        if numbers.len() != timeline.len() || !numbers.is_sorted_by(|first, second| first < second) {
            findings.add("entry numbers increase", format!("chat {chat}: {numbers:?}"));
        }
    }
}

/// Whether the receiver has accepted the request. The service may still miss the response, for example because its
/// process is killed.
fn is_accepted(request: &JournalEntry) -> bool {
    matches!(request.mood, Mood::Accept | Mood::Slow) || request.mood == Mood::Reject && !can_be_rejected(request)
}

/// Any 2xx response accepts the event of a change of owner, whatever its body says.
fn can_be_rejected(request: &JournalEntry) -> bool {
    !OWNERSHIP_EVENTS.iter().any(|name| request.body["event_name"] == *name)
}

/// Whether the bot sent an event for the chat after the first attempt arrived, which makes the delivery count as
/// delivered. Twice the maximum clock error is tolerated, because the service compares the times of two processes. A
/// rejected event counts, too. If the response to the service's write is lost, the repeated write fails if an agent has
/// accepted the chat in the meantime.
fn has_bot_reacted(evidence: &Evidence, chat: u64, requests: &[(&Journal, &JournalEntry)]) -> bool {
    // The journal contains no attempt if the provider closed every connection early. In that case, every event of the
    // bot for the chat counts.
    let first_attempt_ms = requests.iter().map(|(_, request)| request.at_ms).min().unwrap_or_default();
    evidence.records.iter().any(|record| {
        let is_of_bot = matches!(record.action, Action::BotMessage | Action::BotInvite);
        is_of_bot && record.chat == Some(chat) && record.ended_ms + 2 * MAX_CLOCK_ERROR_MS >= first_attempt_ms
    })
}

fn check_deliveries(evidence: &Evidence, service: &ServiceView<'_>, findings: &mut Findings) {
    for entry in &service.entries {
        let Some((kind, delivery)) = entry.delivery() else { continue };
        let requests = service.requests(entry.id());
        let state = delivery["state"].as_str().unwrap_or_default();
        match state {
            "delivered" => {
                let is_accepted = requests.iter().any(|(_, request)| is_accepted(request));
                let is_accepted = is_accepted || kind == Kind::Bot && has_bot_reacted(evidence, entry.chat, requests);
                if !is_accepted {
                    findings.add("what is shown as delivered was accepted", format!("{entry}: {requests:?}"));
                }
            }
            "failed" => {
                // If the results of three requests could not be stored, the delivery may be shown as failed although
                // the receiver accepted every request.
                let is_always_accepted = requests.iter().all(|(_, request)| request.mood == Mood::Accept);
                let is_steady = requests.iter().any(|(journal, _)| journal.receiver.starts_with("steady"));
                if is_steady && is_always_accepted && requests.len() < 3 {
                    findings.add("what a receiver accepts is not shown as failed", format!("{entry}: {requests:?}"));
                }
            }
            "superseded" if kind == Kind::Bot => {}
            _ => findings.add("no delivery stays pending", entry),
        }
    }
}

/// Counts the deliveries that are shown as failed although a receiver has accepted a request. Faults can cause this,
/// because the result of an attempt may be lost, but it should be rare.
pub fn accepted_failures(evidence: &Evidence) -> usize {
    let service = ServiceView::new(evidence);
    let is_accepted_failure = |entry: &&Entry<'_>| {
        let has_failed = entry.delivery().is_some_and(|(_, delivery)| delivery["state"] == "failed");
        has_failed && service.requests(entry.id()).iter().any(|(_, request)| is_accepted(request))
    };
    service.entries.iter().filter(is_accepted_failure).count()
}

impl std::fmt::Debug for Journal {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.receiver)
    }
}

/// Checks that every webhook-id is the id of a stored entry, that all requests with one id have the same content and
/// the same receiver, and that an integrator or the bot gets a text with one id only.
fn check_webhook_ids(evidence: &Evidence, service: &ServiceView<'_>, findings: &mut Findings) {
    let known: BTreeSet<&str> = service.entries.iter().map(Entry::id).collect();
    let mut ids_by_content: BTreeMap<(&str, String), BTreeSet<&str>> = BTreeMap::new();
    for journal in &evidence.journals {
        for request in &journal.requests {
            let id = request.webhook_id.as_str();
            if !known.contains(id) {
                findings
                    .add("every webhook-id is the id of a stored entry", format!("{}: {request:?}", journal.receiver));
            }
            let text = request.body["message"]["text"].as_str();
            if let Some(text) = text.filter(|_| journal.kind != Kind::Webhook) {
                ids_by_content.entry((journal.receiver.as_str(), text.to_owned())).or_default().insert(id);
            }
        }
    }
    for ((receiver, text), ids) in ids_by_content {
        if ids.len() > 1 {
            findings.add("no duplicate carries a new webhook-id", format!("{receiver}: {text:?} with {ids:?}"));
        }
    }
    for (id, requests) in &service.requests_by_id {
        let bodies: BTreeSet<String> = requests.iter().map(|(_, request)| identity(&request.body)).collect();
        let receivers: BTreeSet<&str> = requests.iter().map(|(journal, _)| journal.receiver.as_str()).collect();
        if bodies.len() > 1 || receivers.len() > 1 {
            findings.add(
                "a webhook-id belongs to one message and one receiver",
                format!("{id}: {bodies:?}, {receivers:?}"),
            );
        }
    }
}

/// Returns the parts of a request that must be the same in every attempt.
fn identity(body: &Value) -> String {
    let fields = ["event", "event_name", "chat_id", "id"].map(|name| body[name].to_string());
    format!("{fields:?} {}", body["message"]["text"])
}

/// Checks that, without faults and with healthy receivers, agents' messages are delivered at the first attempt and in
/// order.
fn check_calm_order(evidence: &Evidence, service: &ServiceView<'_>, findings: &mut Findings) {
    let calm: Vec<&Record> = evidence
        .records
        .iter()
        .filter(|it| it.action == Action::AgentMessage && it.started_ms >= evidence.calm_started_ms)
        .collect();
    let mut arrivals: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
    for record in calm {
        if !record.is_acknowledged() {
            findings.add("requests succeed while there are no faults", json!(record));
            continue;
        }
        let entries = service.with_text(record.text.as_deref().unwrap_or_default());
        let Some(entry) = entries.first() else { continue };
        let delivery = &entry.value["delivery"];
        let requests = service.requests(entry.id());
        if delivery["state"] != "delivered" || requests.is_empty() {
            findings.add("messages are delivered while there are no faults", entry);
        } else if requests.len() > 1 {
            findings.add("a healthy receiver gets a message once", format!("{entry}: {requests:?}"));
        } else {
            arrivals.entry(entry.chat).or_default().push((requests[0].1.at_ms, entry.seq()));
        }
    }
    for (chat, mut arrivals) in arrivals {
        arrivals.sort_unstable();
        if !arrivals.is_sorted_by_key(|(_, seq)| *seq) {
            findings
                .add("order holds while the receiver is healthy", format!("chat {chat}: (time, entry) {arrivals:?}"));
        }
    }
}

/// Checks that a chat has one owner at a time: a sequence of owners must explain the chat's records. Its last owner
/// must have accepted the chat or got it by a transfer.
fn check_owners(evidence: &Evidence, findings: &mut Findings) {
    let mut by_chat: BTreeMap<u64, Vec<&Record>> = BTreeMap::new();
    for record in &evidence.records {
        if let Some(chat) = record.chat {
            by_chat.entry(chat).or_default().push(record);
        }
    }
    for (chat, mut records) in by_chat {
        records.sort_by_key(|record| record.started_ms);
        check_owners_of(chat, &records, findings);
        let row = evidence.chats.iter().find(|row| row["chat_id"] == chat);
        if let Some(owner) = row.and_then(|row| row["agent"]["id"].as_u64()) {
            let is_possible = records.iter().any(|record| match record.action {
                Action::Accept => record.agent == Some(owner) && record.is_possible(),
                Action::Transfer => record.to == Some(owner) && record.is_possible(),
                _ => false,
            });
            if !is_possible {
                findings.add("the owner has accepted the chat or got it by a transfer", json!(row));
            }
        }
    }
}

/// Checks the owners of one chat. An agent who successfully accepts the chat or writes in it owns the chat at some
/// moment during the request. Between two such moments of different agents, there must be a transfer that gives the
/// chat to the later agent.
fn check_owners_of(chat: u64, records: &[&Record], findings: &mut Findings) {
    let proves_ownership =
        |record: &&&Record| record.is_acknowledged() && matches!(record.action, Action::Accept | Action::AgentMessage);
    let owned: Vec<&Record> = records.iter().filter(proves_ownership).copied().collect();
    for (index, earlier) in owned.iter().enumerate() {
        for later in owned.iter().skip(index + 1).filter(|later| later.agent != earlier.agent) {
            let explains = |record: &&&Record| {
                record.action == Action::Transfer
                    && record.is_possible()
                    && record.to == later.agent
                    && record.started_ms <= later.ended_ms
                    && record.ended_ms >= earlier.started_ms
            };
            // If the two requests overlap, the later one may have taken effect first.
            let explains_reverse = |record: &&&Record| {
                record.action == Action::Transfer
                    && record.is_possible()
                    && record.to == earlier.agent
                    && later.started_ms <= earlier.ended_ms
            };
            if !records.iter().any(|it| explains(&it) || explains_reverse(&it)) {
                findings.add(
                    "a chat has one owner at a time",
                    format!("chat {chat}: {} and {}", json!(earlier), json!(later)),
                );
                return;
            }
        }
        // After a confirmed transfer, the former owner has lost the chat until another transfer returns it.
        let lost = records.iter().find(|it| {
            it.action == Action::Transfer
                && it.is_acknowledged()
                && it.agent == earlier.agent
                && it.ended_ms < earlier.started_ms
        });
        let returned = |lost: &Record| {
            records.iter().any(|it| {
                it.action == Action::Transfer
                    && it.is_possible()
                    && it.to == earlier.agent
                    && it.ended_ms >= lost.started_ms
            })
        };
        if let Some(lost) = lost.filter(|lost| !returned(lost)) {
            findings
                .add("a former owner cannot write", format!("chat {chat}: {} after {}", json!(earlier), json!(lost)));
        }
    }
}

fn check_closed_chats(evidence: &Evidence, findings: &mut Findings) {
    for record in evidence.records.iter().filter(|it| it.action == Action::Close && it.is_acknowledged()) {
        let row = evidence.chats.iter().find(|row| Some(row["chat_id"].as_u64()) == Some(record.chat));
        if row.is_none_or(|row| row["state"] != "closed") {
            findings.add("a closed chat stays closed", format!("{}, but {}", json!(record), json!(row)));
        }
    }
}

/// Checks that each webhook has exactly one notification of each chat that an agent has accepted, and one of each
/// closed chat.
fn check_notifications(evidence: &Evidence, findings: &mut Findings) {
    for row in &evidence.chats {
        let timeline = row["chat_id"].as_u64().and_then(|chat| evidence.timelines.get(&chat));
        let entries = |event: &str| {
            timeline.into_iter().flatten().filter(|entry| entry["type"] == event && entry["from"] == "system").count()
        };
        let is_closed = row["state"] == "closed";
        let is_accepted = !row["agent"].is_null();
        for (event, is_expected) in [("chat_accepted", is_accepted), ("chat_finished", is_closed)] {
            let webhooks = evidence.journals.iter().filter(|journal| journal.gets(event)).count();
            let (found, expected) = (entries(event), if is_expected { webhooks } else { 0 });
            if found != expected {
                findings.add("webhooks are notified once", format!("{found} of {expected} {event}: {row}"));
            }
        }
    }
}

/// Checks that a chat is with the bot only if the bot has reacted to the visitor's last message. The entry
/// agent_unavailable is a reaction, because it follows an invitation by the bot.
fn check_bots(evidence: &Evidence, findings: &mut Findings) {
    for row in evidence.chats.iter().filter(|row| row["state"] == "bot") {
        let chat = row["chat_id"].as_u64().unwrap_or_default();
        let timeline = evidence.timelines.get(&chat).map(Vec::as_slice).unwrap_or_default();
        let asked = timeline.iter().rfind(|entry| entry["from"] == "visitor");
        let asked_at = asked.map_or(0, |entry| entry["seq"].as_u64().unwrap_or_default());
        let has_reacted = timeline.iter().any(|entry| {
            let is_reaction = entry["from"] == "bot" || entry["type"] == "agent_unavailable";
            is_reaction && entry["seq"].as_u64() > Some(asked_at)
        });
        if !has_reacted {
            findings.add("no chat is stuck with a dead bot", format!("{row}, last asked: {asked:?}"));
        }
    }
}

fn check_report(evidence: &Evidence, findings: &mut Findings) {
    let total = &evidence.report["total"];
    let mut compare = |name: &str, reported: &Value, counted: usize| {
        if reported.as_u64() != Some(counted as u64) {
            findings.add("reports equal the timelines", format!("{name}: reported {reported}, counted {counted}"));
        }
    };
    compare("opened", &total["opened"], evidence.chats.len());
    // Unlike a message, a private note has no delivery.
    let is_answer = |entry: &Value| entry["from"] == "agent" && entry.get("delivery").is_some();
    let answered = evidence.timelines.values().filter(|timeline| timeline.iter().any(is_answer)).count();
    compare("first answers", &total["first_answer"]["count"], answered);
    let closed = evidence.chats.iter().filter(|row| row["state"] == "closed").count();
    compare("closed chats", &total["length"]["count"], closed);
    let settled: u64 = ["agent", "bot", "nobody"].iter().filter_map(|by| total["settled_by"][by].as_u64()).sum();
    compare("settled chats", &json!(settled), closed);
    let fields = [("channel", Kind::Integrator), ("bot", Kind::Bot)];
    for (name, kind) in fields {
        let reported = &total["failed_deliveries"][name];
        compare(&format!("failed deliveries to {name}"), reported, count_failed(evidence, kind));
    }
    let webhooks = ["webhook", "sqs", "eventbridge"].map(|name| total["failed_deliveries"][name].as_u64().unwrap_or(0));
    let reported = json!(webhooks.iter().sum::<u64>());
    compare("failed deliveries to webhooks", &reported, count_failed(evidence, Kind::Webhook));
}

/// Counts the deliveries that have failed, also if they were delivered late.
fn count_failed(evidence: &Evidence, kind: Kind) -> usize {
    let entries = evidence.timelines.iter();
    let entries = entries.flat_map(|(chat, timeline)| timeline.iter().map(|value| Entry { chat: *chat, value }));
    let has_failed = |delivery: &Value| delivery["state"] == "failed" || delivery["late"] == true;
    entries.filter(|entry| entry.delivery().is_some_and(|(it, delivery)| it == kind && has_failed(delivery))).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Promises;

    fn record(action: Action, agent: u64, times: (u64, u64), status: Option<u16>) -> Record {
        Record {
            action,
            started_ms: times.0,
            ended_ms: times.1,
            chat: Some(1),
            agent: Some(agent),
            to: None,
            text: None,
            status,
            seq: None,
            is_repeated: false,
        }
    }

    fn message(text: &str, seq: u64, started_ms: u64) -> Record {
        let times = (started_ms, started_ms + 1);
        let text = Some(text.to_owned());
        Record { text, seq: Some(seq), ..record(Action::AgentMessage, 5, times, Some(201)) }
    }

    fn request(id: &str, text: &str, at_ms: u64) -> JournalEntry {
        let body = json!({"message": {"text": text, "id": id}});
        JournalEntry { at_ms, webhook_id: id.to_owned(), body, mood: Mood::Accept, acknowledged_ms: None }
    }

    /// One chat with agent 5, in which three messages were delivered.
    fn healthy() -> Evidence {
        let entry = |seq: u64, text: &str| {
            let delivery = json!({"state": "delivered", "attempts": []});
            let id = format!("id-{seq}");
            json!({"seq": seq, "id": id, "from": "agent", "type": "text", "text": text, "delivery": delivery})
        };
        let accept = record(Action::Accept, 5, (0, 1), Some(200));
        let lost_race = record(Action::Accept, 6, (0, 1), Some(409));
        let texts = ["one", "two", "three"];
        let sent = texts.iter().zip(1..).map(|(text, seq)| message(text, seq, 100 + 10 * seq));
        let received = texts.iter().zip(1..).map(|(text, seq)| request(&format!("id-{seq}"), text, 105 + 10 * seq));
        let total = json!({
            "opened": 1, "first_answer": {"count": 1}, "length": {"count": 0},
            "settled_by": {"agent": 0, "bot": 0, "nobody": 0},
            "failed_deliveries": {"channel": 0, "bot": 0, "webhook": 0},
        });
        Evidence {
            records: [accept, lost_race].into_iter().chain(sent).collect(),
            journals: vec![Journal {
                receiver: "integrator".to_owned(),
                kind: Kind::Integrator,
                requests: received.collect(),
                promises: Promises::default(),
            }],
            chats: vec![json!({"chat_id": 1, "state": "active", "agent": {"id": 5}})],
            timelines: [(1, texts.iter().zip(1..).map(|(text, seq)| entry(seq, text)).collect())].into(),
            report: json!({"total": total}),
            calm_started_ms: 100,
            ..Evidence::default()
        }
    }

    #[test]
    fn healthy_run_has_no_violation() {
        assert_eq!(check(&healthy()), []);
    }

    #[test]
    fn every_broken_guarantee_is_found() {
        type Change = fn(&mut Evidence);
        let cases: [(&str, Change); 15] = [
            ("nothing answered is lost", |it| {
                it.timelines.get_mut(&1).unwrap().remove(1);
            }),
            ("a message is stored once", |it| {
                let timeline = it.timelines.get_mut(&1).unwrap();
                let mut copy = timeline[0].clone();
                copy["seq"] = json!(4);
                timeline.push(copy);
            }),
            ("a refused message is not stored", |it| it.records[2].status = Some(409)),
            ("a valid request gets no other error than those of a limit, a lost race or a fault", |it| {
                it.records[1].status = Some(404);
            }),
            ("entry numbers increase", |it| it.timelines.get_mut(&1).unwrap().swap(0, 1)),
            ("no delivery stays pending", |it| {
                it.timelines.get_mut(&1).unwrap()[0]["delivery"]["state"] = json!("pending");
            }),
            ("what is shown as delivered was accepted", |it| it.journals[0].requests[0].mood = Mood::Hang),
            ("every webhook-id is the id of a stored entry", |it| {
                it.journals[0].requests[0].webhook_id = "other".to_owned();
            }),
            ("no duplicate carries a new webhook-id", |it| {
                it.journals[0].requests.push(request("id-2", "one", 500));
            }),
            ("a webhook-id belongs to one message and one receiver", |it| {
                it.journals[0].requests.push(request("id-2", "one", 500));
            }),
            ("a healthy receiver gets a message once", |it| {
                it.journals[0].requests.push(request("id-2", "two", 500));
            }),
            ("order holds while the receiver is healthy", |it| it.journals[0].requests[0].at_ms = 400),
            ("a chat has one owner at a time", |it| it.records[1].status = Some(200)),
            ("no chat is stuck with a dead bot", |it| {
                it.chats[0] = json!({"chat_id": 1, "state": "bot", "agent": null});
            }),
            ("reports equal the timelines", |it| it.report["total"]["opened"] = json!(2)),
        ];
        for (guarantee, change) in cases {
            let mut evidence = healthy();
            change(&mut evidence);
            let found: Vec<_> = check(&evidence).into_iter().map(|violation| violation.guarantee).collect();
            assert!(found.contains(&guarantee), "{guarantee}: {found:?}");
        }
    }

    #[test]
    fn transfer_explains_a_new_owner_and_excludes_the_former_one() {
        let transfer = Record { to: Some(6), ..record(Action::Transfer, 5, (200, 201), Some(200)) };
        let new_owner = Record { agent: Some(6), text: None, ..message("four", 4, 300) };
        let former_owner = Record { text: None, ..message("five", 5, 400) };
        let check_with = |records: Vec<Record>| {
            let mut evidence = healthy();
            evidence.records.extend(records);
            evidence.calm_started_ms = 1_000;
            evidence.chats[0]["agent"]["id"] = json!(6);
            check(&evidence).into_iter().map(|violation| violation.guarantee).collect::<Vec<_>>()
        };
        assert_eq!(check_with(vec![transfer.clone(), new_owner.clone()]), Vec::<&str>::new());
        assert_eq!(check_with(vec![transfer.clone(), former_owner.clone()]), ["a former owner cannot write"]);
        let both = check_with(vec![transfer, new_owner, former_owner]);
        assert_eq!(both, ["a chat has one owner at a time"]);
    }
}
