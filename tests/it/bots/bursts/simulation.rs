//! Runs many conversations at the same time, while processes are killed. The clock moves from one moment at which
//! something is due to the next, and everything due at that moment happens concurrently.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cost::usage_by_function;
use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt};
use local::clock::Clock;
use local::faults::{FaultPlan, KilledInvocation};
use reqwest::Method;
use serde_json::{Value, json};

use super::conversation::{Answer, AnswerResult, Conversation, EndedChat, Event, messages_of};
use super::plan::{OnSuperseded, Plan, QUIET, QUIET_MAX};
use crate::support::api_client::{ApiResponse, MAX_REPETITIONS, number, send};
use crate::support::bot_fixture::BotFixture;
use crate::support::test_host::TestHost;
use crate::support::test_receiver::CannedResponse;
use crate::support::virtual_time::VirtualTime;
use crate::support::wait::seconds;

/// How many in a thousand invocations are to be killed. Those that end earlier are not, so fewer are.
const PLANNED_KILLS: u64 = 120;
const MAX_CRASH_DELAY_MS: u64 = 20;
/// The sweep runs every minute, and a delivery that it has queued again can wait for the visibility timeout.
const SWEEPS: usize = 3;
const SWEEP_INTERVAL: Duration = seconds(60);
/// How long the bot waits before it repeats a request.
const REPETITION_DELAY: Duration = seconds(1);
const CONCURRENT_READS: usize = 8;
const PUSH_FUNCTION: &str = "deliver-push";

/// What is due at some moment, in the chat with this index.
enum Action {
    Write(usize),
    Answer(usize, Answer),
}

enum ActionResult {
    Written(usize),
    Answered(usize, Answer, ApiResponse),
}

pub struct Simulation<'t> {
    host: &'t TestHost,
    time: &'t VirtualTime<'t>,
    fixture: BotFixture,
    pub conversations: Vec<Conversation>,
    agenda: BTreeMap<u64, Vec<Action>>,
    /// The events that the bot has not read yet, with their times.
    inbox: Arc<Mutex<Vec<(u64, Value)>>>,
}

impl<'t> Simulation<'t> {
    pub async fn create(host: &'t TestHost, time: &'t VirtualTime<'t>, plans: Vec<Plan>) -> Self {
        let settings = json!({"quiet_ms": QUIET.as_millis(), "quiet_max_ms": QUIET_MAX.as_millis()});
        let fixture = BotFixture::create_with(host, json!({}), settings).await;
        let inbox = accept_events(&fixture, host.local.clock());
        let start_ms = host.local.clock().now_ms();
        let mut agenda: BTreeMap<u64, Vec<Action>> = BTreeMap::new();
        for (chat, plan) in plans.iter().enumerate() {
            for at in &plan.writes_at {
                agenda.entry(start_ms + milliseconds(*at)).or_default().push(Action::Write(chat));
            }
        }
        let conversations = plans.into_iter().map(Conversation::new).collect();
        Self { host, time, fixture, conversations, agenda, inbox }
    }

    /// Runs all conversations, with kills until the last answer, and then lets the sweep find what is left.
    pub async fn run(&mut self, seed: u64) {
        let faults = self.host.local.faults();
        let plan =
            FaultPlan { seed, crashes: PLANNED_KILLS, max_crash_delay_ms: MAX_CRASH_DELAY_MS, ..FaultPlan::default() };
        faults.set_plan(Some(plan));
        self.run_until_nothing_is_due().await;
        faults.set_plan(None);
        for _ in 0..SWEEPS {
            self.time.advance(SWEEP_INTERVAL);
            self.run_until_nothing_is_due().await;
        }
    }

    async fn run_until_nothing_is_due(&mut self) {
        loop {
            let next_task_ms = self.host.local.wait_until_idle().await.unwrap();
            self.read_inbox();
            let next_action_ms = self.agenda.first_key_value().map(|(at_ms, _)| *at_ms);
            let Some(next_ms) = [next_task_ms, next_action_ms].into_iter().flatten().min() else { return };
            self.time.advance(Duration::from_millis(next_ms.saturating_sub(self.now_ms())));
            self.act().await;
        }
    }

    /// Returns how often functions were invoked, including the set-up.
    pub fn invocations(&self) -> f64 {
        let usage = usage_by_function(self.host.local.usage()).unwrap();
        usage.values().map(|usage| usage.invocations + usage.pushes).sum()
    }

    fn now_ms(&self) -> u64 {
        self.host.local.clock().now_ms()
    }

    fn read_inbox(&mut self) {
        let events = std::mem::take(&mut *self.inbox.lock().unwrap());
        for (at_ms, body) in events {
            let visitor = &body["sender"]["name"];
            let found = self.conversations.iter().position(|conversation| *visitor == *conversation.plan.visitor);
            let chat = found.unwrap_or_else(|| panic!("an event of an unknown visitor: {body}"));
            if let Some(answer) = self.conversations[chat].receive(Event::parse(at_ms, &body)) {
                self.think(chat, answer);
            }
        }
    }

    fn think(&mut self, chat: usize, answer: Answer) {
        let thinking = self.conversations[chat].plan.thinking();
        self.answer_after(thinking, chat, answer);
    }

    fn answer_after(&mut self, delay: Duration, chat: usize, answer: Answer) {
        self.agenda.entry(self.now_ms() + milliseconds(delay)).or_default().push(Action::Answer(chat, answer));
    }

    /// Does everything that is due now.
    async fn act(&mut self) {
        let later = self.agenda.split_off(&(self.now_ms() + 1));
        let due = std::mem::replace(&mut self.agenda, later);
        let this = &*self;
        let results = join_all(due.into_values().flatten().map(async |action| this.perform(action).await)).await;
        for result in results {
            match result {
                ActionResult::Written(chat) => {
                    let now_ms = self.now_ms();
                    self.conversations[chat].acknowledged_ms.push(now_ms);
                }
                ActionResult::Answered(chat, answer, reply) => self.read_reply(chat, answer, &reply),
            }
        }
    }

    async fn perform(&self, action: Action) -> ActionResult {
        match action {
            Action::Write(chat) => {
                self.write(&self.conversations[chat]).await;
                ActionResult::Written(chat)
            }
            Action::Answer(chat, mut answer) => {
                answer.messages_before.get_or_insert(self.conversations[chat].acknowledged_ms.len());
                let reply = self.send_answer(&self.conversations[chat], &answer).await;
                ActionResult::Answered(chat, answer, reply)
            }
        }
    }

    /// Sends the visitor's next message, again and again with the same key until the service acknowledges it.
    async fn write(&self, conversation: &Conversation) {
        let (visitor, channel) = (&conversation.plan.visitor, &self.fixture.channel);
        let text = conversation.plan.text(conversation.acknowledged_ms.len());
        let body = json!({"sender": {"id": visitor, "name": visitor}, "message": {"type": "text", "text": text}});
        for _ in 0..MAX_REPETITIONS {
            let request = channel.client.request(Method::POST, &channel.endpoint).header("idempotency-key", &text);
            let reply = send(request.json(&body)).await;
            if reply.status < 500 {
                reply.expect(200);
                return;
            }
        }
        panic!("only server errors: {text}");
    }

    async fn send_answer(&self, conversation: &Conversation, answer: &Answer) -> ApiResponse {
        let bot = &self.fixture.bot;
        let body = json!({
            "event": "BOT_MESSAGE",
            "chat_id": conversation.chat_id,
            "reply_to_seq": answer.reply_to_seq,
            "message": {"type": "TEXT", "text": answer.text},
        });
        let request = bot.client.request(Method::POST, &bot.webhook_path()).header("idempotency-key", &answer.text);
        send(request.json(&body)).await
    }

    fn read_reply(&mut self, chat: usize, answer: Answer, reply: &ApiResponse) {
        let result = match reply.status {
            200 => AnswerResult::Accepted,
            409 => AnswerResult::Superseded,
            403 => AnswerResult::Lost,
            429 | 500.. => return self.answer_after(REPETITION_DELAY, chat, answer),
            _ => panic!("{reply:?}"),
        };
        let now_ms = self.now_ms();
        self.conversations[chat].answers.push((now_ms, answer, result));
        if result == AnswerResult::Superseded {
            self.react_to_newer_messages(chat, &reply.json());
        }
    }

    /// If the newer message is just being stored, the bot asks again.
    fn react_to_newer_messages(&mut self, chat: usize, refused: &Value) {
        let newer = messages_of(refused);
        let is_being_stored = newer.is_empty();
        let up_to_seq = refused["up_to_seq"].as_u64().expect("up_to_seq");
        let conversation = &mut self.conversations[chat];
        conversation.newer_messages.extend(newer);
        if is_being_stored {
            let answer = conversation.new_answer(up_to_seq);
            self.answer_after(REPETITION_DELAY, chat, answer);
        } else if conversation.plan.on_superseded == OnSuperseded::AnswerNewer && up_to_seq > conversation.answered_seq
        {
            let answer = conversation.new_answer(up_to_seq);
            self.think(chat, answer);
        }
    }

    /// Reads what has become of each conversation, in the same order, and counts the kills of each. Returns also how
    /// many processes were killed.
    pub async fn end(&mut self) -> (Vec<EndedChat>, usize) {
        let rows = self.open_chats().await;
        assert_eq!(rows.len(), self.conversations.len(), "one chat of each visitor");
        let killed = self.host.local.faults().take_killed_invocations();
        self.count_kills(&rows, &killed);
        let mut received = self.received_by_visitor();
        let this = &*self;
        let chats = stream::iter(&rows).map(async |row| (visitor_of(row), this.read_chat(row).await));
        let mut chats: BTreeMap<String, EndedChat> = chats.buffered(CONCURRENT_READS).collect().await;
        let ended = self.conversations.iter().map(|Conversation { plan, .. }| {
            let received = received.remove(&plan.visitor).unwrap_or_default();
            EndedChat { received, ..chats.remove(&plan.visitor).expect("one chat of each visitor") }
        });
        (ended.collect(), killed.len())
    }

    fn count_kills(&mut self, rows: &[Value], killed: &[KilledInvocation]) {
        let affected: Vec<BTreeSet<String>> = killed.iter().map(affected_chats).collect();
        let numbers: BTreeMap<String, String> =
            rows.iter().map(|row| (visitor_of(row), row["chat_id"].to_string())).collect();
        for Conversation { plan, kills, .. } in &mut self.conversations {
            let number = &numbers[&plan.visitor];
            *kills = affected.iter().filter(|chats| chats.contains(&plan.visitor) || chats.contains(number)).count();
        }
    }

    /// Returns the rows of the chats. A killed process can leave a chat number unused.
    async fn open_chats(&self) -> Vec<Value> {
        let (mut rows, mut before) = (Vec::new(), String::new());
        loop {
            let page = self.fixture.agent.client.get(&format!("/agent/chats?state=open{before}")).await.expect(200);
            rows.extend(page["chats"].as_array().expect("chats").iter().cloned());
            match page["next"].as_u64() {
                Some(next) => before = format!("&before={next}"),
                None => return rows,
            }
        }
    }

    async fn read_chat(&self, row: &Value) -> EndedChat {
        let timeline = self.fixture.agent.timeline(number(&row["chat_id"])).await;
        EndedChat { state: row["state"].as_str().expect("a state").to_owned(), timeline, received: BTreeMap::new() }
    }

    /// Returns the texts that the integrator has received, with their ids, by the visitor that an answer's text names.
    fn received_by_visitor(&self) -> BTreeMap<String, BTreeMap<String, BTreeSet<String>>> {
        let mut all: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
        for request in self.fixture.integrator.requests() {
            let (text, id) = (request.text(), request.header("webhook-id").unwrap().to_owned());
            let visitor = text.split(':').next().unwrap_or_default().to_owned();
            all.entry(visitor).or_default().entry(text).or_default().insert(id);
        }
        all
    }
}

/// Makes the bot acknowledge all events at once. Returns where it stores them.
fn accept_events(fixture: &BotFixture, clock: &Clock) -> Arc<Mutex<Vec<(u64, Value)>>> {
    let inbox: Arc<Mutex<Vec<(u64, Value)>>> = Arc::default();
    let (stored, clock) = (Arc::clone(&inbox), clock.clone());
    fixture.provider.respond_by(move |request| {
        stored.lock().unwrap().push((clock.now_ms(), request.json()));
        async { CannedResponse::ok() }
    });
    inbox
}

/// Returns the visitors and the chat numbers in the request or the tasks of an invocation. A push to the consoles of
/// agents does not belong to a chat.
fn affected_chats(invocation: &KilledInvocation) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    if invocation.function != PUSH_FUNCTION {
        collect_chats(&serde_json::from_slice(&invocation.event).unwrap(), &mut found);
    }
    found
}

fn collect_chats(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_chats(item, found)),
        Value::Object(members) => {
            found.extend(members.get("chat_id").map(|id| id.as_str().map_or_else(|| id.to_string(), str::to_owned)));
            found.extend(members.get("sender").and_then(|sender| sender["id"].as_str()).map(str::to_owned));
            members.values().for_each(|member| collect_chats(member, found));
        }
        // The bodies of requests and tasks are JSON in a string.
        Value::String(text) => {
            if let Ok(inner @ Value::Object(_)) = serde_json::from_str(text) {
                collect_chats(&inner, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn visitor_of(row: &Value) -> String {
    row["visitor"]["name"].as_str().expect("a name").to_owned()
}

fn milliseconds(duration: Duration) -> u64 {
    duration.as_millis().try_into().unwrap()
}
