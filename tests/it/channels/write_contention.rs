//! Tests for conflicting writes, which occur on AWS: no acknowledged message is lost, and no action is applied twice.
//! If a write conflict prevents a delivery's result from being recorded, the delivery is repeated with the same id.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::sync::Mutex;

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::account_with_webhook::{add_webhook, ok_response};
use crate::support::api_client::{
    ApiClient, ApiResponse, MAX_REPETITIONS, TestAgent, TestChannel, number, repeat_while_unavailable, send,
};
use crate::support::bot_fixture::{BotFixture, TestBot, unique_name};
use crate::support::test_host::{TestHost, run_on_own_host_with_virtual_time, visitor_text};
use crate::support::test_receiver::{ReceivedRequest, TestReceiver};
use crate::support::virtual_time::{ATTEMPT_SPACING, VirtualTime};

const VISITORS: usize = 4;
/// A delivery that conflicts again and again is repeated more often than three times.
const MAX_ROUNDS: usize = 100;

/// The texts that were sent. The value is true if the request with that text was acknowledged.
#[derive(Default)]
struct SentTexts(Mutex<BTreeMap<String, bool>>);

/// An account with two channels, a webhook and two agents. One of the channels has a bot.
struct Scenario {
    fixture: BotFixture,
    plain_channel: TestChannel,
    webhook_receiver: TestReceiver,
    ann: TestAgent,
    ben: TestAgent,
    /// Messages from visitors. They have no idempotency key, so every repetition has a different text.
    visitor_texts: SentTexts,
    /// Messages from agents and bots. Each request is repeated with the same idempotency key until it is acknowledged.
    reply_texts: SentTexts,
}

impl SentTexts {
    fn record(&self, text: &str, acknowledged: bool) {
        self.0.lock().unwrap().insert(text.to_owned(), acknowledged);
    }

    /// Returns the acknowledged texts that `found` does not contain.
    fn missing(&self, found: &[String]) -> Vec<String> {
        let texts = self.0.lock().unwrap();
        let missing = texts.iter().filter(|(text, acknowledged)| **acknowledged && !found.contains(text));
        missing.map(|(text, _)| text.clone()).collect()
    }

    /// Checks that `found` contains every acknowledged text exactly once and every other text at most once.
    fn assert_stored_once(&self, found: &[String]) {
        for (text, acknowledged) in &*self.0.lock().unwrap() {
            let copies = found.iter().filter(|found| *found == text).count();
            assert!(
                copies == 1 || (copies == 0 && !acknowledged),
                "{text}: {copies} copies, acknowledged: {acknowledged}"
            );
        }
    }
}

/// Sends a POST request, and repeats it with the same idempotency key while the response is 503.
async fn post_with_key(client: &ApiClient, path: &str, body: &Value) -> ApiResponse {
    let key = unique_name("key");
    repeat_while_unavailable(async || {
        send(client.request(Method::POST, path).header("idempotency-key", &key).json(body)).await
    })
    .await
}

impl Scenario {
    async fn create(host: &TestHost) -> Self {
        let fixture = BotFixture::create(host).await;
        let plain_channel = fixture.account.create_channel(&fixture.integrator.url()).await;
        let webhook_receiver = TestReceiver::start(ok_response()).await;
        add_webhook(&fixture.account, &webhook_receiver, json!({})).await;
        let [ann, ben] = [fixture.account.create_agent("Ann").await, fixture.account.create_agent("Ben").await];
        ann.set_presence("online").await;
        ben.set_presence("online").await;
        Self {
            fixture,
            plain_channel,
            webhook_receiver,
            ann,
            ben,
            visitor_texts: SentTexts::default(),
            reply_texts: SentTexts::default(),
        }
    }

    /// Sends a visitor's message, and repeats it with a different text while the response is 503.
    async fn send_text(&self, channel: &TestChannel, visitor: &str, suffix: &str) {
        for n in 0..MAX_REPETITIONS {
            let text = format!("{visitor}: {suffix} ({n})");
            let body = json!({
                "sender": {"id": visitor, "name": visitor}, "message": visitor_text(visitor, &text)["message"],
            });
            let reply = channel.post(&body).await;
            self.visitor_texts.record(&text, reply.status == 200);
            if reply.status != 503 {
                assert_eq!(reply.expect(200)["result"], "ok");
                return;
            }
        }
        panic!("only 503 responses");
    }

    async fn find_chat(&self, visitor: &str) -> u64 {
        let chats = self.fixture.agent.chats("open").await;
        let chat = chats.iter().find(|chat| chat["visitor"]["name"] == visitor);
        number(&chat.unwrap_or_else(|| panic!("no chat of {visitor}"))["chat_id"])
    }

    /// Performs an agent's action in a chat. A transfer may have been applied even though its response was 503. The
    /// repeated request then gets 409, which counts as success.
    async fn perform_action(&self, agent: &TestAgent, chat: u64, action: &str, body: &Value) {
        let path = format!("/agent/chats/{chat}/{action}");
        let first = agent.client.post(&path, body).await;
        let is_repeated = first.status == 503;
        let reply = if is_repeated {
            repeat_while_unavailable(async || agent.client.post(&path, body).await).await
        } else {
            first
        };
        let was_applied = is_repeated && action == "transfer" && reply.status == 409;
        assert!(reply.status == 200 || was_applied, "{action}: {reply:?}");
    }

    async fn send_agent_text(&self, agent: &TestAgent, chat: u64, text: &str) {
        let path = format!("/agent/chats/{chat}/messages");
        post_with_key(&agent.client, &path, &json!({"type": "text", "text": text})).await.expect(201);
        self.reply_texts.record(text, true);
    }

    async fn run_agent_conversation(&self, visitor: &str) {
        for suffix in ["one", "two", "three"] {
            self.send_text(&self.plain_channel, visitor, suffix).await;
        }
        let chat = self.find_chat(visitor).await;
        self.perform_action(&self.ann, chat, "accept", &json!({})).await;
        for suffix in ["first", "second", "third"] {
            self.send_agent_text(&self.ann, chat, &format!("Ann to {visitor}: {suffix}")).await;
        }
        self.perform_action(&self.ann, chat, "transfer", &json!({"agent_id": self.ben.id})).await;
        self.send_text(&self.plain_channel, visitor, "four").await;
        self.send_agent_text(&self.ben, chat, &format!("Ben to {visitor}")).await;
        self.perform_action(&self.ben, chat, "close", &json!({})).await;
    }

    async fn run_bot_conversation(&self, visitor: &str) {
        self.send_text(&self.fixture.channel, visitor, "one").await;
        let chat = self.find_chat(visitor).await;
        let TestBot { client, .. } = &self.fixture.bot;
        let text = format!("Robin to {visitor}");
        let message = json!({"type": "TEXT", "text": text, "timestamp": 1_700_000_000});
        let message_event =
            json!({"event": "BOT_MESSAGE", "id": "any", "chat_id": chat.to_string(), "message": message});
        post_with_key(client, &self.fixture.bot.webhook_path(), &message_event).await.expect(200);
        self.reply_texts.record(&text, true);
        let invite_event = json!({"event": "INVITE_AGENT", "id": "any", "chat_id": chat.to_string()});
        post_with_key(client, &self.fixture.bot.webhook_path(), &invite_event).await.expect(200);
        self.perform_action(&self.ann, chat, "accept", &json!({})).await;
        self.send_agent_text(&self.ann, chat, &format!("Ann to {visitor}")).await;
        self.perform_action(&self.ann, chat, "close", &json!({})).await;
    }

    async fn timelines(&self) -> Vec<Value> {
        let mut all = Vec::new();
        for chat in self.fixture.agent.chats("closed").await {
            all.extend(self.fixture.agent.timeline(number(&chat["chat_id"])).await);
        }
        all
    }

    /// Advances the clock until every acknowledged message is listed and every delivery has succeeded, and returns all
    /// entries. Entries after a gap in the timeline are not listed for ten seconds.
    async fn run_until_delivered(&self, host: &TestHost, time: &VirtualTime<'_>) -> Vec<Value> {
        let mut unfinished = None;
        for _ in 0..MAX_ROUNDS {
            // The sweep may also fail because of a write conflict, so ignore its result.
            let _ = host.local.run_schedule("schedule-requeue-deliveries").await;
            time.wait_until_idle().await;
            let all = self.timelines().await;
            let open: Vec<Value> = all.iter().filter(|entry| !is_settled(entry)).cloned().collect();
            let texts: Vec<String> = all.iter().filter_map(|entry| entry["text"].as_str().map(str::to_owned)).collect();
            let missing = [self.visitor_texts.missing(&texts), self.reply_texts.missing(&texts)].concat();
            if open.is_empty() && missing.is_empty() {
                return all;
            }
            unfinished = Some((open, missing));
            time.advance(ATTEMPT_SPACING);
        }
        panic!("not delivered after {MAX_ROUNDS} rounds: {unfinished:?}");
    }
}

/// Returns whether all deliveries of an entry have succeeded. The bots of this test write without waiting for the
/// visitor's message. If that message has not been sent to the bot yet, it is superseded.
fn is_settled(entry: &Value) -> bool {
    let is_delivered = |kind: &str| entry[kind].is_null() || entry[kind]["state"] == "delivered";
    let is_answered = entry["bot_delivery"]["state"] == "superseded";
    is_delivered("delivery") && (is_delivered("bot_delivery") || is_answered) && is_delivered("webhook_delivery")
}

/// Returns the names of the received requests, grouped by `webhook-id`. `name` derives a request's name from its body.
fn requests_by_id(requests: &[ReceivedRequest], name: impl Fn(&Value) -> String) -> BTreeMap<String, Vec<String>> {
    let mut requests_by_id: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for request in requests {
        let id = request.header("webhook-id").unwrap().to_owned();
        requests_by_id.entry(id).or_default().push(name(&request.json()));
    }
    requests_by_id
}

#[test]
fn conversations_survive_a_conflict_on_every_third_write() {
    // The clock stands still during the conversations, so that no bot is late however slow the machine is.
    run_on_own_host_with_virtual_time(&[], async |host, time| {
        let scenario = Scenario::create(host).await;
        host.local.set_write_conflict_interval(NonZeroU32::new(3));
        let agent_conversations =
            (0..VISITORS).map(async |n| scenario.run_agent_conversation(&format!("plain-{n}")).await);
        let bot_conversations = (0..VISITORS).map(async |n| scenario.run_bot_conversation(&format!("bot-{n}")).await);
        futures_util::join!(join_all(agent_conversations), join_all(bot_conversations));
        let all = scenario.run_until_delivered(host, time).await;

        let texts = |senders: &[&str]| {
            let entries = all.iter().filter(|entry| senders.iter().any(|sender| entry["from"] == *sender));
            entries.filter_map(|entry| entry["text"].as_str().map(str::to_owned)).collect::<Vec<_>>()
        };
        scenario.visitor_texts.assert_stored_once(&texts(&["visitor"]));
        scenario.reply_texts.assert_stored_once(&texts(&["agent", "bot"]));

        let text = |body: &Value| body["message"]["text"].as_str().unwrap_or_default().to_owned();
        let received = requests_by_id(&scenario.fixture.integrator.requests(), text);
        for sent in scenario.reply_texts.0.lock().unwrap().keys() {
            let ids = received.values().filter(|texts| texts.contains(sent)).count();
            assert_eq!(ids, 1, "{sent}");
        }
        let event = |body: &Value| format!("{} {}", body["event_name"], body["chat_id"]);
        let events_by_id = requests_by_id(&scenario.webhook_receiver.requests(), event);
        let assert_sent_once = |name: &str| {
            let events: Vec<&String> =
                events_by_id.values().filter_map(|names| names.first()).filter(|event| event.contains(name)).collect();
            let unique: BTreeSet<_> = events.iter().collect();
            assert_eq!((events.len(), unique.len()), (2 * VISITORS, 2 * VISITORS), "{name}: {events_by_id:?}");
        };
        assert_sent_once("chat_accepted");
        assert_sent_once("chat_finished");
    });
}
