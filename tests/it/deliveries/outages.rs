//! Tests of receivers' outages: late deliveries, strict order, reports, and the end of all requests after five days.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::account_with_webhook::{WebhookFixture, ok_response};
use crate::support::api_client::{TestAgent, number};
use crate::support::test_host::{
    ActiveChat, TestHost, VISITOR_ID, open_accepted_chat, run_on_shared_host, run_with_virtual_time,
};
use crate::support::test_receiver::{CannedResponse, ReceivedRequest, TestReceiver};
use crate::support::virtual_time::VirtualTime;
use crate::support::wait::{WAIT_TIMEOUT, seconds, wait_for};

const OUTAGES_PATH: &str = "/admin/outages";
const HOUR: Duration = seconds(60 * 60);

fn down() -> CannedResponse {
    CannedResponse::Json(503, json!({}))
}

impl TestHost {
    /// Lets a minute pass, in which the outages are probed twice, and waits until the functions have nothing to do.
    async fn pass_minute(&self, time: &VirtualTime<'_>) {
        time.advance(seconds(60));
        self.sweep(time).await;
    }

    async fn sweep(&self, time: &VirtualTime<'_>) {
        self.local.run_schedule("schedule-requeue-deliveries").await.expect("the sweep runs");
        time.run_until_queues_are_empty().await;
    }
}

async fn outages(admin: &TestAgent) -> Vec<Value> {
    let body = admin.client.get(OUTAGES_PATH).await.expect(200);
    body["outages"].as_array().expect("outages").clone()
}

async fn delivery(chat: &ActiveChat, seq: u64) -> Value {
    chat.agent.timeline_entry(chat.number, seq).await["delivery"].clone()
}

async fn failed_messages(chat: &ActiveChat) -> u64 {
    number(&chat.agent.chats("open").await[0]["failed_messages"])
}

/// Lets days pass without ending the sessions, which end after twelve hours without a request.
async fn pass_days(chat: &ActiveChat, time: &VirtualTime<'_>, days: u32) {
    for _ in 0..days * 3 {
        time.advance(HOUR * 8);
        chat.agent.chat(chat.number).await;
        outages(&chat.account.admin).await;
    }
}

async fn late_chat(host: &TestHost, integrator: &TestReceiver, strict_order: bool) -> ActiveChat {
    let settings = json!({"late_delivery": true, "strict_order": strict_order});
    ActiveChat::create(host, &integrator.url(), settings).await
}

#[test]
fn failed_message_is_delivered_late() {
    run_with_virtual_time(async |host, time| {
        let integrator = TestReceiver::start(down()).await;
        let chat = late_chat(host, &integrator, false).await;
        let seq = chat.send_text("Hello?").await;
        time.run_until_failure_is_shown().await;
        let failed = delivery(&chat, seq).await;
        assert_eq!((&failed["state"], failed.get("late")), (&json!("failed"), None), "{failed}");
        assert!(failed["late_until"].is_u64(), "{failed}");
        assert_eq!(failed_messages(&chat).await, 1);
        let outage = &outages(&chat.account.admin).await[0];
        assert_eq!([&outage["target"], &outage["receiver_id"]], [&json!("channel"), &json!(chat.channel.id)]);
        assert_eq!(outage["status"], "none");

        host.pass_minute(time).await;
        assert_eq!(delivery(&chat, seq).await["attempts"].as_array().map(Vec::len), Some(5), "two probes a minute");
        integrator.respond_with(CannedResponse::ok());
        host.pass_minute(time).await;
        let delivered = delivery(&chat, seq).await;
        assert_eq!((&delivered["state"], &delivered["late"]), (&json!("delivered"), &json!(true)), "{delivered}");
        assert_eq!(delivered.get("late_until"), None);
        assert_eq!(failed_messages(&chat).await, 0);
        let requests = integrator.requests();
        assert_eq!(requests.len(), 6);
        assert!(requests.iter().all(|request| request.header("webhook-id") == requests[0].header("webhook-id")));

        for _ in 0..4 {
            host.pass_minute(time).await;
        }
        assert_eq!(outages(&chat.account.admin).await, Vec::<Value>::new());
        assert_eq!(integrator.requests().len(), 6);
    });
}

#[test]
fn messages_of_an_outage_follow_the_first_success() {
    run_with_virtual_time(async |host, time| {
        let integrator = TestReceiver::start(down()).await;
        let chat = late_chat(host, &integrator, false).await;
        let other = open_accepted_chat(&chat.agent, &chat.channel, "other").await;
        let mut sent = Vec::new();
        for n in 0..6 {
            sent.push((chat.number, chat.send_text(&format!("a{n}")).await));
            sent.push((other, chat.agent.send_text(other, &format!("b{n}")).await));
            time.run_until_queues_are_empty().await;
            time.advance(HOUR);
        }
        let tried = integrator.requests().len();
        integrator.respond_with(CannedResponse::ok());
        host.sweep(time).await;
        for (chat_id, seq) in sent {
            let delivery = chat.agent.timeline_entry(chat_id, seq).await["delivery"].clone();
            assert_eq!((&delivery["state"], &delivery["late"]), (&json!("delivered"), &json!(true)), "{delivery}");
        }
        let texts = &integrator.texts()[tried..];
        for prefix in ["a", "b"] {
            // The first message is the one of the probe.
            let of_chat: Vec<_> = texts[1..].iter().filter(|text| text.starts_with(prefix)).collect();
            assert!(of_chat.is_sorted() && of_chat.len() >= 5, "{texts:?}");
        }
    });
}

#[test]
fn one_impossible_message_does_not_delay_the_others() {
    run_with_virtual_time(async |host, time| {
        let integrator = TestReceiver::start(down()).await;
        let chat = late_chat(host, &integrator, false).await;
        let impossible = chat.send_text("impossible").await;
        let possible = chat.send_text("possible").await;
        time.run_until_failure_is_shown().await;
        integrator.respond_by(
            async |request| {
                if request.text() == "impossible" { down() } else { CannedResponse::ok() }
            },
        );
        for _ in 0..3 {
            host.pass_minute(time).await;
        }
        assert_eq!(delivery(&chat, possible).await["late"], true);
        assert_eq!(delivery(&chat, impossible).await["state"], "failed");
        let later = chat.send_text("later").await;
        time.run_until_queues_are_empty().await;
        assert_eq!(delivery(&chat, later).await["state"], "delivered");

        pass_days(&chat, time, 3).await;
        let tried = integrator.requests().len();
        for _ in 0..3 {
            host.pass_minute(time).await;
        }
        assert_eq!(integrator.requests().len(), tried, "after three days the failure is final");
        assert_eq!(delivery(&chat, impossible).await.get("late_until"), None);
        assert_eq!(outages(&chat.account.admin).await, Vec::<Value>::new());
    });
}

#[test]
fn without_late_delivery_the_failure_is_final() {
    run_with_virtual_time(async |host, time| {
        let integrator = TestReceiver::start(down()).await;
        let chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let seq = chat.send_text("Hello?").await;
        time.run_until_failure_is_shown().await;
        integrator.respond_with(CannedResponse::ok());
        host.pass_minute(time).await;
        assert_eq!(delivery(&chat, seq).await["state"], "failed");
        assert_eq!((outages(&chat.account.admin).await, integrator.requests().len()), (vec![], 3));
    });
}

#[test]
fn webhook_events_are_delivered_late_by_default() {
    run_with_virtual_time(async |host, time| {
        let webhook = WebhookFixture::create_with(host, [down()]).await;
        let chat = open_accepted_chat(&webhook.agent, &webhook.channel, VISITOR_ID).await;
        time.run_until_failure_is_shown().await;
        assert_eq!(outages(&webhook.account.admin).await[0]["receiver_id"], webhook.webhook["webhook_id"]);
        webhook.webhook_receiver.respond_with(ok_response());
        host.pass_minute(time).await;
        let timeline = webhook.agent.timeline(chat).await;
        let accepted = timeline.iter().find(|entry| entry["type"] == "chat_accepted").unwrap();
        assert_eq!(accepted["webhook_delivery"]["late"], true, "{accepted}");
    });
}

#[test]
fn admin_lets_a_webhook_be_tried_at_once() {
    run_with_virtual_time(async |host, time| {
        let webhook = WebhookFixture::create_with(host, [down()]).await;
        let chat = open_accepted_chat(&webhook.agent, &webhook.channel, VISITOR_ID).await;
        time.run_until_failure_is_shown().await;
        webhook.webhook_receiver.respond_with(ok_response());
        let receiver = json!({"target": "webhook", "receiver_id": webhook.webhook["webhook_id"]});
        webhook.account.admin.client.post(OUTAGES_PATH, &receiver).await.expect(200);
        time.advance(seconds(11));
        time.run_until_queues_are_empty().await;
        let timeline = webhook.agent.timeline(chat).await;
        let accepted = timeline.iter().find(|entry| entry["type"] == "chat_accepted").unwrap();
        assert_eq!(accepted["webhook_delivery"]["late"], true, "{accepted}");
    });
}

#[test]
fn strict_order_holds_back_later_messages() {
    run_with_virtual_time(async |host, time| {
        let integrator = TestReceiver::start(down()).await;
        let chat = late_chat(host, &integrator, true).await;
        let mut seqs = Vec::new();
        for n in 0..5 {
            seqs.push(chat.send_text(&format!("{n}")).await);
        }
        time.run_until_failure_is_shown().await;
        assert_eq!(integrator.texts(), ["0", "0", "0"], "only the first message is attempted");
        for seq in &seqs {
            let delivery = delivery(&chat, *seq).await;
            assert_eq!(delivery["state"], "failed", "{delivery}");
            assert!(delivery["late_until"].is_u64(), "{delivery}");
        }
        seqs.push(chat.send_text("5").await);
        time.run_until_failure_is_shown().await;
        assert_eq!(delivery(&chat, seqs[5]).await["state"], "failed");

        integrator.respond_with(CannedResponse::ok());
        host.pass_minute(time).await;
        assert_eq!(integrator.texts()[3..], ["0", "1", "2", "3", "4", "5"].map(str::to_owned));
        for seq in seqs {
            assert_eq!(delivery(&chat, seq).await["late"], true);
        }
    });
}

#[test]
fn strict_order_continues_after_a_later_attempt() {
    run_with_virtual_time(async |host, time| {
        let integrator = TestReceiver::start_sequence([down(), down(), CannedResponse::ok()]).await;
        let chat = late_chat(host, &integrator, true).await;
        let mut seqs = Vec::new();
        for n in 0..4 {
            seqs.push(chat.send_text(&format!("{n}")).await);
        }
        time.run_until_queues_are_empty().await;
        assert_eq!(integrator.texts(), ["0", "0", "0", "1", "2", "3"]);
        for seq in seqs {
            let delivery = delivery(&chat, seq).await;
            assert_eq!((&delivery["state"], delivery.get("late")), (&json!("delivered"), None), "{delivery}");
        }
        assert_eq!(outages(&chat.account.admin).await, Vec::<Value>::new());
    });
}

#[test]
fn rejected_message_does_not_hold_back_the_others() {
    run_with_virtual_time(async |host, time| {
        let integrator =
            TestReceiver::start_sequence([down(), CannedResponse::error(7, "blocked"), CannedResponse::ok()]).await;
        let chat = late_chat(host, &integrator, true).await;
        for n in 0..3 {
            chat.send_text(&format!("{n}")).await;
        }
        time.run_until_queues_are_empty().await;
        assert_eq!(integrator.texts(), ["0", "0", "1", "2"]);
    });
}

#[test]
fn outage_of_a_day_is_drained_in_order_within_a_minute() {
    run_with_virtual_time(async |host, time| {
        const CHATS: usize = 5;
        const HOURS: usize = 24;
        let integrator = TestReceiver::start(down()).await;
        let chat = late_chat(host, &integrator, true).await;
        let mut chats = vec![chat.number];
        for n in 1..CHATS {
            chats.push(open_accepted_chat(&chat.agent, &chat.channel, &format!("visitor {n}")).await);
        }
        for hour in 0..HOURS {
            for chat_id in &chats {
                chat.agent.send_text(*chat_id, &format!("{chat_id}-{hour:02}")).await;
            }
            time.run_until_failure_is_shown().await;
            host.sweep(time).await;
            time.advance(HOUR);
        }
        let tried = integrator.requests().len();
        assert!(tried < CHATS * 3 + HOURS * 3, "{tried} requests to a receiver that is down");

        // The receiver returns at the worst moment: just after a probe.
        host.local.run_schedule("schedule-requeue-deliveries").await.expect("the sweep runs");
        wait_for("the probe", WAIT_TIMEOUT, async || {
            let requests = integrator.requests().len();
            if requests == tried + 1 { Ok(()) } else { Err(requests) }
        })
        .await;
        let tried = tried + 1;
        integrator.respond_with(CannedResponse::ok());
        let returned = Instant::now();
        time.run_until_queues_are_empty().await;
        let requests = integrator.requests()[tried..].to_vec();
        for chat_id in chats {
            let prefix = format!("{chat_id}-");
            let texts: Vec<String> = requests.iter().map(ReceivedRequest::text).collect();
            let of_chat: Vec<&String> = texts.iter().filter(|text| text.starts_with(&prefix)).collect();
            assert!(of_chat.is_sorted() && of_chat.len() == HOURS, "{of_chat:?}");
        }
        let last = requests.last().expect("requests").at;
        assert!(time.between(returned, last) <= seconds(60), "{:?}", time.between(returned, last));
    });
}

#[test]
fn message_that_is_sent_again_releases_its_chat() {
    run_with_virtual_time(async |host, time| {
        let integrator = TestReceiver::start(down()).await;
        let chat = late_chat(host, &integrator, true).await;
        let mut seqs = Vec::new();
        for text in ["one", "two"] {
            seqs.push(chat.send_text(text).await);
        }
        time.run_until_failure_is_shown().await;
        time.run_until_queues_are_empty().await;
        let tried = integrator.requests().len();
        integrator.respond_with(CannedResponse::ok());
        let retry = format!("/agent/chats/{}/messages/{}/retry", chat.number, seqs[0]);
        chat.agent.client.post(&retry, &json!({})).await.expect(202);
        time.run_until_queues_are_empty().await;
        assert_eq!(integrator.texts()[tried..], ["one", "two"]);
        assert_eq!(delivery(&chat, seqs[1]).await["state"], "delivered");
    });
}

#[test]
fn receiver_is_switched_off_after_five_days_and_resumed() {
    run_with_virtual_time(async |host, time| {
        let integrator = TestReceiver::start(down()).await;
        let chat = late_chat(host, &integrator, false).await;
        let admin = &chat.account.admin;
        let channel_path = format!("/admin/channels/{}", chat.channel.id);
        let mut statuses = Vec::new();
        for day in 0..6 {
            let open_chat = open_accepted_chat(&chat.agent, &chat.channel, &format!("visitor of day {day}")).await;
            chat.agent.send_text(open_chat, "Hello?").await;
            time.run_until_failure_is_shown().await;
            host.pass_minute(time).await;
            statuses.push(outages(admin).await[0]["status"].as_str().unwrap().to_owned());
            pass_days(&chat, time, 1).await;
        }
        assert_eq!(statuses, ["none", "reported", "reported", "reported", "reported", "switched_off"]);
        assert_eq!(admin.client.get(&channel_path).await.expect(200)["outage"], "switched_off");

        let tried = integrator.requests().len();
        let number = open_accepted_chat(&chat.agent, &chat.channel, "last visitor").await;
        let seq = chat.agent.send_text(number, "Anybody there?").await;
        let last = async || chat.agent.timeline_entry(number, seq).await["delivery"].clone();
        time.run_until_failure_is_shown().await;
        host.pass_minute(time).await;
        assert_eq!(integrator.requests().len(), tried, "a receiver that is switched off gets no requests");
        assert_eq!(last().await["state"], "failed");

        integrator.respond_with(CannedResponse::ok());
        let receiver = json!({"target": "channel", "receiver_id": chat.channel.id});
        let resumed = admin.client.post(OUTAGES_PATH, &receiver).await.expect(200);
        assert_eq!(resumed, json!({"target": "channel", "receiver_id": chat.channel.id, "resumed": true}));
        time.advance(seconds(11));
        time.run_until_queues_are_empty().await;
        host.pass_minute(time).await;
        assert_eq!(admin.client.get(&channel_path).await.expect(200)["outage"], "none");
        assert_eq!(last().await["late"], true);
        let log = admin.client.get("/admin/audit").await.expect(200);
        let entries = log["entries"].as_array().unwrap();
        assert!(entries.iter().any(|entry| entry["fields"] == json!(["outage"])), "{entries:?}");
    });
}

#[test]
fn outages_and_their_options_are_validated() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let admin = &account.admin.client;
        let channel = json!({"name": "App", "integrator_url": "https://app.example", "strict_order": true});
        let error = admin.post("/admin/channels", &channel).await.expect_error(400, "invalid_request");
        assert_eq!(error["error"]["field"], "strict_order", "{error}");
        let webhook = json!({"url": "https://crm.example", "strict_order": true, "late_delivery": false});
        let error = admin.post("/admin/settings/webhooks", &webhook).await.expect_error(400, "invalid_request");
        assert_eq!(error["error"]["field"], "strict_order", "{error}");
        let stored = admin.post("/admin/settings/webhooks", &json!({"url": "https://crm.example"})).await.expect(201);
        assert_eq!([&stored["late_delivery"], &stored["strict_order"]], [&json!(true), &json!(false)]);

        for target in ["channel", "webhook"] {
            let unknown = json!({"target": target, "receiver_id": "unknown"});
            admin.post(OUTAGES_PATH, &unknown).await.expect_error(404, "not_found");
        }
        let bot = json!({"target": "bot", "receiver_id": "b"});
        let error = admin.post(OUTAGES_PATH, &bot).await.expect_error(400, "invalid_request");
        assert_eq!(error["error"]["field"], "target", "{error}");
        let other = host.create_account().await;
        let foreign = json!({"target": "webhook", "receiver_id": stored["webhook_id"]});
        other.admin.client.post(OUTAGES_PATH, &foreign).await.expect_error(404, "not_found");
        let agent = account.create_agent("Ann").await;
        agent.client.get(OUTAGES_PATH).await.expect_error(403, "forbidden");
        assert_eq!(number(&json!(outages(&account.admin).await.len())), 0);
    });
}
