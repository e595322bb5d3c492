//! What has happened in a chat, and whether it may.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::plan::{OnSuperseded, Plan, QUIET};
use crate::support::api_client::number;

/// A CLIENT_MESSAGE that the bot has received.
#[derive(Debug)]
pub struct Event {
    pub at_ms: u64,
    pub id: String,
    pub chat_id: String,
    pub up_to_seq: u64,
    /// The number and the text of each message.
    pub messages: Vec<(u64, String)>,
}

#[derive(Debug, Clone)]
pub struct Answer {
    /// Unique, and also the idempotency key of the request.
    pub text: String,
    pub reply_to_seq: u64,
    /// How many messages of the visitor had been acknowledged when the bot first sent the answer.
    pub messages_before: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerResult {
    Accepted,
    /// The visitor has written since.
    Superseded,
    /// The agents have the chat.
    Lost,
}

#[derive(Debug)]
pub struct Conversation {
    pub plan: Plan,
    /// Known from the first event.
    pub chat_id: String,
    /// When the service acknowledged each of the visitor's messages.
    pub acknowledged_ms: Vec<u64>,
    pub events: Vec<Event>,
    pub answers: Vec<(u64, Answer, AnswerResult)>,
    /// The numbers and texts of the messages in the responses that refused an answer.
    pub newer_messages: Vec<(u64, String)>,
    /// The highest number that an answer takes into account, including those that the bot is still thinking about.
    pub answered_seq: u64,
    /// How many processes were killed while they handled a request or task of this chat.
    pub kills: usize,
}

/// A chat as the service shows it after the end.
#[derive(Debug)]
pub struct EndedChat {
    pub state: String,
    pub timeline: Vec<Value>,
    /// The ids under which the integrator has received each text.
    pub received: BTreeMap<String, BTreeSet<String>>,
}

impl Event {
    pub fn parse(at_ms: u64, body: &Value) -> Self {
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let messages = messages_of(body);
        Self {
            at_ms,
            id: text(&body["id"]),
            chat_id: text(&body["chat_id"]),
            up_to_seq: number(&body["up_to_seq"]),
            messages,
        }
    }
}

/// Returns the messages of an event, or of a response that refuses an answer.
pub fn messages_of(body: &Value) -> Vec<(u64, String)> {
    let messages = body["messages"].as_array().expect("messages").iter();
    messages.map(|message| (number(&message["seq"]), message["text"].as_str().expect("a text").to_owned())).collect()
}

impl Conversation {
    pub fn new(plan: Plan) -> Self {
        Self {
            plan,
            chat_id: String::new(),
            acknowledged_ms: Vec::new(),
            events: Vec::new(),
            answers: Vec::new(),
            newer_messages: Vec::new(),
            answered_seq: 0,
            kills: 0,
        }
    }

    /// Records an event. Returns the answer that the bot thinks about from now on, if any.
    pub fn receive(&mut self, event: Event) -> Option<Answer> {
        let is_known = self.events.iter().any(|earlier| earlier.id == event.id);
        let is_answered = self.plan.on_superseded == OnSuperseded::AnswerNewer && event.up_to_seq <= self.answered_seq;
        let up_to_seq = event.up_to_seq;
        self.chat_id.clone_from(&event.chat_id);
        self.events.push(event);
        (!is_known && !is_answered).then(|| self.new_answer(up_to_seq))
    }

    pub fn new_answer(&mut self, reply_to_seq: u64) -> Answer {
        self.answered_seq = self.answered_seq.max(reply_to_seq);
        let n = self.answers.len() + self.events.len();
        let text = format!("{}: answer {n} to {reply_to_seq}", self.plan.visitor);
        Answer { text, reply_to_seq, messages_before: None }
    }

    pub fn accepted(&self) -> impl Iterator<Item = &Answer> {
        self.answers.iter().filter(|(.., result)| *result == AnswerResult::Accepted).map(|(_, answer, _)| answer)
    }

    pub fn superseded(&self) -> usize {
        self.answers.iter().filter(|(.., result)| *result == AnswerResult::Superseded).count()
    }

    /// Returns the number of turns: the burst, and the afterthought if there is one.
    fn turns(&self) -> usize {
        1 + self.plan.writes_at.len() - self.plan.burst_size
    }

    /// Returns the ids of the events in order of their first arrival.
    pub fn event_ids(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = Vec::new();
        for event in &self.events {
            if !ids.contains(&&*event.id) {
                ids.push(&event.id);
            }
        }
        ids
    }

    /// Returns the rules that the chat violates.
    pub fn violations(&self, ended: &EndedChat) -> Vec<String> {
        let mut rules = vec![
            ("each message is stored once, in order", self.is_stored_in_order(ended)),
            ("events contain the messages as they are stored", self.has_true_events(ended)),
            ("no turn has a second event", self.event_ids().len() <= self.turns()),
            ("the bot gets each message", ended.is_with_agents() || self.has_sent_all_messages()),
            ("no accepted answer is stale", self.has_no_stale_answer(ended)),
            ("no message is answered twice", self.has_no_double_answer()),
            (
                "the integrator gets each accepted answer under one id, and nothing else",
                self.are_answers_received(ended),
            ),
            ("the last message is answered", ended.is_with_agents() || self.is_answered(ended)),
            ("the bot or the agents have the chat", ended.state == "bot" || ended.is_with_agents()),
        ];
        if self.kills == 0 {
            rules.extend([
                ("the bot keeps the chat", ended.state == "bot"),
                ("each turn is one event, when the visitor has been quiet", self.has_one_event_per_turn()),
                ("an answer is refused only if the visitor has written since", self.is_refused_only_if_stale(ended)),
                ("messages join the last one of their turn", self.has_expected_deliveries(ended)),
            ]);
        }
        rules.into_iter().filter(|(_, holds)| !holds).map(|(rule, _)| rule.to_owned()).collect()
    }

    fn texts(&self) -> Vec<String> {
        (0..self.plan.writes_at.len()).map(|message| self.plan.text(message)).collect()
    }

    fn is_stored_in_order(&self, ended: &EndedChat) -> bool {
        ended.entries("visitor").map(|entry| entry["text"].as_str().unwrap().to_owned()).eq(self.texts())
    }

    /// A repeated event may lack messages that were delivered in the meantime, but it is about the same message.
    fn has_true_events(&self, ended: &EndedChat) -> bool {
        let stored = ended.visitor_messages();
        self.events.iter().all(|event| {
            let first = self.events.iter().find(|first| first.id == event.id);
            event.messages.iter().all(|message| stored.contains(message))
                && event.messages.is_sorted()
                && event.messages.last().map(|(seq, _)| *seq) == Some(event.up_to_seq)
                && first.is_some_and(|first| first.up_to_seq == event.up_to_seq)
        })
    }

    /// If a process was killed, the bot may answer a newer message from a refusal before its event can be sent. It is
    /// then not sent.
    fn has_sent_all_messages(&self) -> bool {
        let events = self.events.iter().flat_map(|event| &event.messages);
        let refusals = self.newer_messages.iter().filter(|_| self.kills > 0);
        let sent: BTreeSet<&String> = events.chain(refusals).map(|(_, text)| text).collect();
        self.texts().iter().all(|text| sent.contains(text))
    }

    fn has_no_stale_answer(&self, ended: &EndedChat) -> bool {
        let stored = ended.visitor_messages();
        self.accepted().all(|answer| {
            let before = &stored[..answer.messages_before.unwrap_or_default()];
            before.iter().all(|(seq, _)| *seq <= answer.reply_to_seq)
        })
    }

    fn has_no_double_answer(&self) -> bool {
        self.accepted().map(|answer| answer.reply_to_seq).is_sorted_by(|earlier, later| earlier < later)
    }

    fn are_answers_received(&self, ended: &EndedChat) -> bool {
        let accepted: BTreeSet<&String> = self.accepted().map(|answer| &answer.text).collect();
        ended.received.keys().eq(accepted) && ended.received.values().all(|ids| ids.len() == 1)
    }

    fn is_answered(&self, ended: &EndedChat) -> bool {
        let last = ended.visitor_messages().last().map(|(seq, _)| *seq);
        self.accepted().map(|answer| answer.reply_to_seq).max() >= last
    }

    /// Whether the visitor has gone on while the first event was being sent. The message can then be in two events.
    fn is_concurrent_with_the_event(&self) -> bool {
        let (first_turn, later) = self.acknowledged_ms.split_at(self.plan.burst_size);
        first_turn.last().zip(later.first()).is_some_and(|(last, later)| later - last == milliseconds_of_quiet())
    }

    fn has_one_event_per_turn(&self) -> bool {
        if self.is_concurrent_with_the_event() {
            return true;
        }
        let texts = self.texts();
        let (burst, afterthought) = texts.split_at(self.plan.burst_size);
        let turns: Vec<&[String]> = [burst, afterthought].into_iter().filter(|turn| !turn.is_empty()).collect();
        let ends =
            [self.plan.burst_size, texts.len()].map(|end| self.acknowledged_ms[end - 1] + milliseconds_of_quiet());
        self.events.len() == turns.len()
            && self.events.iter().zip(turns.into_iter().zip(ends)).all(|(event, (turn, end_ms))| {
                event.messages.iter().map(|(_, text)| text).eq(turn) && event.at_ms == end_ms
            })
    }

    /// An answer and a message at the same time can be stored in either order.
    fn is_refused_only_if_stale(&self, ended: &EndedChat) -> bool {
        let stored = ended.visitor_messages();
        self.answers.iter().all(|(at_ms, answer, result)| {
            let messages = self.acknowledged_ms.iter().zip(&stored);
            let newer = messages.filter(|(_, (seq, _))| *seq > answer.reply_to_seq).map(|(written_ms, _)| written_ms);
            let newer: Vec<&u64> = newer.collect();
            match result {
                AnswerResult::Accepted => newer.iter().all(|written_ms| *written_ms >= at_ms),
                AnswerResult::Superseded => newer.iter().any(|written_ms| *written_ms <= at_ms),
                AnswerResult::Lost => false,
            }
        })
    }

    fn has_expected_deliveries(&self, ended: &EndedChat) -> bool {
        if self.is_concurrent_with_the_event() {
            return true;
        }
        let count = self.plan.writes_at.len();
        ended.entries("visitor").enumerate().all(|(index, entry)| {
            let is_last_of_turn = index + 1 == self.plan.burst_size || index + 1 == count;
            let attempts = entry["bot_delivery"]["attempts"].as_array().map_or(0, Vec::len);
            let expected = if is_last_of_turn { ("delivered", 1) } else { ("superseded", 0) };
            (entry["bot_delivery"]["state"].as_str().unwrap_or_default(), attempts) == expected
        })
    }
}

impl EndedChat {
    fn is_with_agents(&self) -> bool {
        self.state == "waiting"
    }

    fn entries<'e>(&'e self, from: &'e str) -> impl Iterator<Item = &'e Value> {
        self.timeline.iter().filter(move |entry| entry["from"] == from)
    }

    fn visitor_messages(&self) -> Vec<(u64, String)> {
        let entries = self.entries("visitor");
        entries.map(|entry| (number(&entry["seq"]), entry["text"].as_str().unwrap().to_owned())).collect()
    }
}

fn milliseconds_of_quiet() -> u64 {
    QUIET.as_millis().try_into().unwrap()
}
