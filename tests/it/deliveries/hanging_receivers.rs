//! Tests that receivers that hang under load do not delay other accounts' messages. Messages to the hanging receivers
//! themselves fail or succeed on the usual schedule.
//!
//! A receiver that hangs repeatedly opens its circuit breaker. While the breaker is open, first attempts go through the
//! retry queue.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::support::account_with_webhook::add_webhook;
use crate::support::api_client::{TestAccount, TestChannel, number};
use crate::support::bot_fixture::{TestBot, register_provider};
use crate::support::test_host::{ActiveChat, TestHost, run_on_own_host_with_virtual_time};
use crate::support::test_receiver::{CannedResponse, TestReceiver};
use crate::support::virtual_time::ATTEMPT_SPACING;
use crate::support::wait::{WAIT_TIMEOUT, seconds, wait_for};

const BREAKER_OPENED: &str = "breaker opened: first attempts go to the retry queue";

fn log_lines(host: &TestHost, message: &str) -> Vec<Value> {
    let log = host.log.lock().unwrap();
    let lines = log.iter().filter_map(|line| serde_json::from_str::<Value>(&line.line).ok());
    lines.filter(|line| line["message"] == message).collect()
}

async fn wait_for_log_line(host: &TestHost, message: &str, field: &str, value: &Value) -> Value {
    wait_for(&format!("{message:?} with {value}"), WAIT_TIMEOUT, async || {
        let lines = log_lines(host, message);
        lines.iter().find(|line| line[field] == *value).cloned().ok_or(lines)
    })
    .await
}

/// Opens and accepts `count` chats, each with a different visitor. The first chat must get the number `first`. Returns
/// the chat numbers.
async fn open_chats(account: &TestAccount, channel: &TestChannel, first: u64, count: u64) -> Vec<u64> {
    let names: Vec<String> = (first..first + count).map(|n| format!("visitor-{n}")).collect();
    join_all(names.iter().map(|name| channel.send_text(name, "Hello"))).await;
    let chats: Vec<u64> = (first..first + count).collect();
    join_all(chats.iter().map(|chat| account.admin.accept(*chat))).await;
    chats
}

#[test]
fn hanging_integrator_delays_no_other_account() {
    const HANGING_CHATS: usize = 20;
    const FIRST_ATTEMPTS: usize = 5;
    // One account can use at most five of the eight concurrent first attempts. All of its later attempts can run
    // concurrently.
    let concurrency_limits =
        [("FirstAttemptConcurrency", "8"), ("FirstAttemptsPerAccount", "5"), ("RetryConcurrency", "24")];
    run_on_own_host_with_virtual_time(&concurrency_limits, async |host, time| {
        let (hanging, healthy) =
            (TestReceiver::start(CannedResponse::Hang).await, TestReceiver::start(CannedResponse::ok()).await);
        let other = ActiveChat::create(host, &healthy.url(), json!({})).await;
        let account = host.create_account().await;
        let channel = account.create_channel(&hanging.url()).await;
        let receiver = json!(format!("channel#{}", channel.id));
        let chats = open_chats(&account, &channel, 1, HANGING_CHATS as u64 + 1).await;
        let (stuck, last_chat) = chats.split_at(HANGING_CHATS);
        let sent =
            join_all(stuck.iter().map(async |chat| (*chat, account.admin.send_text(*chat, "stuck").await))).await;

        // No time passes, so the account uses its share, and the first attempts hang.
        hanging.wait_for_requests(FIRST_ATTEMPTS, WAIT_TIMEOUT).await;
        for n in 1..=3 {
            other.send_text("passes").await;
            healthy.wait_for_requests(n, WAIT_TIMEOUT).await;
        }
        assert_eq!(hanging.requests().len(), FIRST_ATTEMPTS);

        // A process checks the breaker only after one of its own attempts has failed.
        time.advance(ATTEMPT_SPACING);
        wait_for_log_line(host, BREAKER_OPENED, "receiver", &receiver).await;
        let deliveries = wait_for("the end of every delivery", WAIT_TIMEOUT, async || {
            time.advance(ATTEMPT_SPACING);
            let entries = sent.iter().map(|(chat, seq)| account.admin.timeline_entry(*chat, *seq));
            let deliveries: Vec<Value> = join_all(entries).await.iter().map(|it| it["delivery"].clone()).collect();
            if deliveries.iter().all(|it| it["state"] == "failed") { Ok(deliveries) } else { Err(deliveries) }
        })
        .await;
        for delivery in deliveries {
            let starts_ms: Vec<u64> =
                delivery["attempts"].as_array().unwrap().iter().map(|attempt| number(&attempt["at"])).collect();
            assert!(starts_ms.len() == 3 && starts_ms.windows(2).all(|it| it[1] - it[0] >= 2_500), "{starts_ms:?}");
        }
        assert!(!log_lines(host, "first attempt goes to the retry queue: the receiver hangs").is_empty());

        hanging.respond_with(CannedResponse::ok());
        let seq = account.admin.send_text(last_chat[0], "back").await;
        assert_eq!(account.admin.final_delivery(last_chat[0], seq).await["state"], "delivered");
        wait_for_log_line(host, "breaker closed", "receiver", &receiver).await;
    });
}

#[test]
fn hanging_bot_and_webhook_open_their_circuit_breakers() {
    // Only two processes are reserved for later attempts, so most processes in which a receiver hangs also make first
    // attempts. A process checks a receiver's circuit breaker only if the receiver has failed in that process.
    let concurrency_limits =
        [("FirstAttemptConcurrency", "12"), ("FirstAttemptsPerAccount", "60"), ("RetryConcurrency", "2")];
    run_on_own_host_with_virtual_time(&concurrency_limits, async |host, time| {
        let (provider, webhook_receiver) =
            (TestReceiver::start(CannedResponse::Hang).await, TestReceiver::start(CannedResponse::Hang).await);
        let account = host.create_account().await;
        let [with_bot, plain] = ["https://a.example", "https://b.example"].map(|url| account.create_channel(url));
        let (with_bot, plain) = (with_bot.await, plain.await);
        let provider_id = register_provider(&host.operator, &provider.url(), json!({})).await;
        let bot = TestBot::connect(&account, &provider_id, &[&with_bot], json!({"answer_within": null})).await;
        let webhook = add_webhook(&account, &webhook_receiver, json!({})).await;
        let account_id = account.id.as_str().unwrap();
        let webhook = format!("webhook#{account_id}#{}", webhook["webhook_id"].as_str().unwrap());
        let receivers = [format!("bot#{}", bot.bot_id), webhook].map(|receiver| json!(receiver));

        // Let deliveries fail in two waves. The four failures of the first wave do not open a circuit breaker. The
        // second wave reaches processes that have recorded failures of the first wave.
        let mut next = 1;
        for (wave, count) in [("one", 4), ("two", 3)] {
            open_chats(&account, &plain, next, count).await;
            next += 2 * count;
            let names: Vec<String> = (0..count).map(|n| format!("{wave}-{n}")).collect();
            join_all(names.iter().map(|name| with_bot.send_text(name, "Hello"))).await;
            if wave == "one" {
                webhook_receiver.wait_for_requests(4, WAIT_TIMEOUT).await;
                time.time_out_requests(&provider, [4]).await;
                provider.wait_for_requests(5, WAIT_TIMEOUT).await;
                webhook_receiver.wait_for_requests(5, WAIT_TIMEOUT).await;
                assert!(log_lines(host, BREAKER_OPENED).is_empty());
            }
        }
        wait_for("both breakers are open", WAIT_TIMEOUT, async || {
            time.advance(seconds(1));
            let lines = log_lines(host, BREAKER_OPENED);
            let is_open = |receiver: &Value| lines.iter().any(|line| line["receiver"] == *receiver);
            if receivers.iter().all(is_open) { Ok(()) } else { Err(lines) }
        })
        .await;
        provider.respond_with(CannedResponse::ok());
        webhook_receiver.respond_with(CannedResponse::Json(200, json!({"result": "OK"})));
    });
}
