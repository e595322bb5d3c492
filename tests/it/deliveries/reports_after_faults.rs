//! Compares the numbers of a report with an independent count of 500 chats and their timelines, after a fifth of all
//! writes has been rejected with a conflict.

use std::num::NonZeroU32;

use futures_util::future::join;
use futures_util::stream::{self, StreamExt};
use serde_json::{Value, json};

use crate::support::account_with_webhook::{add_webhook, ok_response};
use crate::support::api_client::{TestAgent, TestChannel, merged, number, repeat_while_unavailable, send};
use crate::support::test_host::{run_on_own_host, visitor_text};
use crate::support::test_receiver::{CannedResponse, ReceivedRequest, TestReceiver};
use crate::support::widget_client::TestVisitor;

const CHATS: usize = 500;
const CONCURRENT_CHATS: usize = 8;
/// One in this many writes is rejected with a conflict.
const CONFLICT_INTERVAL: Option<NonZeroU32> = NonZeroU32::new(5);
/// The integrator rejects messages that contain this word.
const REJECTED: &str = "rejected";

async fn post_twice_with_key(agent: &TestAgent, chat: u64, text: &str) {
    let path = format!("/agent/chats/{chat}/messages");
    for _ in 0..2 {
        let post = async || {
            let request = agent.client.request(reqwest::Method::POST, &path).header("idempotency-key", text);
            send(request.json(&json!({"type": "text", "text": text}))).await
        };
        repeat_while_unavailable(post).await.expect(201);
    }
}

async fn post_action(agent: &TestAgent, chat: u64, action: &str) {
    let path = format!("/agent/chats/{chat}/{action}");
    repeat_while_unavailable(async || agent.client.post(&path, &json!({})).await).await.expect(200);
}

async fn open_chat(channel: &TestChannel, visitor: &str) {
    let message = visitor_text(visitor, "Hello");
    repeat_while_unavailable(async || channel.post(&message).await).await.expect(200);
}

/// Runs a chat with two concurrent requests to accept it and two to close it, and with two messages, each sent twice.
/// In every tenth chat, the integrator rejects the second message. Every seventh chat stays open, and every eleventh
/// gets no answer.
async fn run_chat(agent: &TestAgent, chat: u64) {
    join(post_action(agent, chat, "accept"), post_action(agent, chat, "accept")).await;
    if !chat.is_multiple_of(11) {
        post_twice_with_key(agent, chat, &format!("{chat}: first")).await;
        let second = if chat.is_multiple_of(10) { REJECTED } else { "second" };
        post_twice_with_key(agent, chat, &format!("{chat}: {second}")).await;
    }
    if !chat.is_multiple_of(7) {
        join(post_action(agent, chat, "close"), post_action(agent, chat, "close")).await;
    }
}

/// Rates a chat three times, the third time with `last`, which is the rating that counts.
async fn rate(visitor: &TestVisitor, chat_id: &Value, last: &str) {
    for rate in ["negative", "positive", last] {
        let body = json!({"chat_id": chat_id, "rate": rate});
        repeat_while_unavailable(async || visitor.call("rating", body.clone()).await).await.expect(200);
    }
}

async fn all_chats(admin: &TestAgent) -> Vec<u64> {
    let mut all = Vec::new();
    for state in ["open", "closed"] {
        let mut before = String::new();
        loop {
            let page = admin.client.get(&format!("/agent/chats?state={state}&limit=100{before}")).await.expect(200);
            all.extend(page["chats"].as_array().unwrap().iter().map(|chat| number(&chat["chat_id"])));
            if page["next"].is_null() {
                break;
            }
            before = format!("&before={}", page["next"]);
        }
    }
    all
}

/// The numbers of a report, counted independently.
#[derive(Debug, Default, PartialEq)]
struct Count {
    opened: u64,
    settled_by_agent: u64,
    first_answers: Vec<f64>,
    lengths: Vec<f64>,
    positive: u64,
    negative: u64,
    failed_to_channel: u64,
}

/// Returns the time of an entry in milliseconds, from its id, which is a UUIDv7.
fn time_of(entry: &Value) -> u64 {
    let digits: String = entry["id"].as_str().unwrap().chars().filter(|digit| *digit != '-').take(12).collect();
    u64::from_str_radix(&digits, 16).unwrap()
}

fn seconds_between(first: &Value, last: &Value) -> f64 {
    (time_of(last) - time_of(first)) as f64 / 1_000.0
}

impl Count {
    fn add(&mut self, chat: &Value, timeline: &[Value]) {
        let opening = &timeline[0];
        self.opened += 1;
        let answer = timeline.iter().find(|entry| entry["from"] == "agent");
        self.first_answers.extend(answer.map(|entry| seconds_between(opening, entry)));
        if chat["state"] == "closed" {
            self.settled_by_agent += 1;
            let closing =
                timeline.iter().find(|entry| entry["type"] == "chat_finished").expect("a webhook is notified");
            self.lengths.push(seconds_between(opening, closing));
        }
        self.positive += u64::from(chat["rate"] == "positive");
        self.negative += u64::from(chat["rate"] == "negative");
        let failed = timeline.iter().filter(|entry| entry["delivery"]["state"] == "failed");
        self.failed_to_channel += failed.count() as u64;
    }
}

/// Checks the count of each bucket, that the buckets contain all durations, and that the reported median and 90th
/// percentile are close to the exact ones.
#[track_caller]
fn assert_distribution(buckets: &Value, percentiles: &Value, durations: &[f64]) {
    let mut sum = 0;
    for bucket in buckets.as_array().unwrap() {
        // The reported bounds are rounded.
        let exact = |bound: &Value| {
            let seconds = bound.as_f64().unwrap();
            if seconds == 0.0 { 0.0 } else { ((seconds.log2() * 4.0).round() / 4.0).exp2() }
        };
        let (from, to) = (exact(&bucket["from"]), exact(&bucket["to"]));
        let expected = durations.iter().filter(|seconds| (from..to).contains(*seconds)).count() as u64;
        assert_eq!(bucket["count"], expected, "{bucket}");
        sum += expected;
    }
    assert_eq!((sum, number(&percentiles["count"])), (durations.len() as u64, durations.len() as u64));
    let mut sorted = durations.to_vec();
    sorted.sort_by(f64::total_cmp);
    for (name, percent) in [("median", 50), ("percentile_90", 90)] {
        let (exact, reported) =
            (sorted[(sorted.len() * percent).div_ceil(100) - 1], percentiles[name].as_f64().unwrap());
        let is_near = if exact < 1.0 { reported == 0.5 } else { (reported / exact - 1.0).abs() < 0.1 };
        assert!(is_near, "{name}: {reported} for {exact}");
    }
}

#[test]
fn report_equals_a_count_of_the_timelines_after_faults() {
    run_on_own_host(&[], async |host| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        integrator.respond_by(async |request: ReceivedRequest| {
            if request.text().contains(REJECTED) { CannedResponse::error(7, "no") } else { CannedResponse::ok() }
        });
        let webhook_receiver = TestReceiver::start(ok_response()).await;
        let account = host.create_account().await;
        let admin = &account.admin;
        let limits = json!({"limits": {"channel_chats": 10_000}});
        admin.client.put("/admin/settings", &limits).await.expect(200);
        add_webhook(&account, &webhook_receiver, json!({"events": ["chat_finished"]})).await;
        let channel = &account.create_channel(&integrator.url()).await;
        let widget = account.create_widget(json!({})).await;
        let visitors: Vec<TestVisitor> = stream::iter(0..6).then(async |_| widget.visitor().await).collect().await;

        host.local.set_write_conflict_interval(CONFLICT_INTERVAL);
        let openings = (0..CHATS).map(async |n| open_chat(channel, &format!("visitor-{n}")).await);
        stream::iter(openings).buffer_unordered(CONCURRENT_CHATS).collect::<Vec<()>>().await;
        let chats = all_chats(admin).await;
        assert_eq!(chats.len(), CHATS);
        let runs = chats.iter().map(async |chat| run_chat(admin, *chat).await);
        stream::iter(runs).buffer_unordered(CONCURRENT_CHATS).collect::<Vec<()>>().await;
        for (n, visitor) in visitors.iter().enumerate() {
            let message = json!({"message_id": "1", "message": {"type": "text", "text": "Hello"}});
            let said = repeat_while_unavailable(async || visitor.call("message", message.clone()).await).await;
            rate(visitor, &said.expect(200)["chat_id"], if n < 4 { "positive" } else { "negative" }).await;
        }
        host.local.set_write_conflict_interval(None);
        host.assert_queues_drain().await;

        let mut expected = Count::default();
        for chat in all_chats(admin).await {
            expected.add(&admin.chat(chat).await, &admin.timeline(chat).await);
        }
        assert_eq!(expected.opened, (CHATS + visitors.len()) as u64);
        let report = admin.client.get("/admin/reports?days=2").await.expect(200);
        let total = &report["total"];
        assert_eq!(total["opened"], expected.opened);
        let settled = json!({"agent": expected.settled_by_agent, "bot": 0, "nobody": 0});
        assert_eq!(total["settled_by"], settled);
        assert_eq!(total["ratings"], json!({"positive": expected.positive, "negative": expected.negative}));
        assert_eq!((expected.positive, expected.negative), (4, 2));
        let none = json!({"bot": 0, "webhook": 0, "sqs": 0, "eventbridge": 0, "telephony": 0});
        let failed = merged(none, json!({"channel": expected.failed_to_channel}));
        assert_eq!(total["failed_deliveries"], failed);
        assert!(expected.failed_to_channel > 0);
        let distributions = &report["distributions"];
        assert_distribution(&distributions["first_answer"], &total["first_answer"], &expected.first_answers);
        assert_distribution(&distributions["length"], &total["length"], &expected.lengths);
        let agents = json!([{"agent_id": admin.id, "name": "Grace", "chats": expected.settled_by_agent}]);
        assert_eq!(report["agents"], agents);

        let opened_in = |id: &str| {
            let found = report["channels"].as_array().unwrap().iter().find(|it| it["channel_id"] == id);
            found.map(|found| (found["name"].clone(), found["totals"]["opened"].clone()))
        };
        assert_eq!(opened_in(&channel.id), Some((json!("App"), json!(CHATS))));
        assert_eq!(opened_in(&widget.id), Some((json!("Shop"), json!(visitors.len()))));
    });
}
