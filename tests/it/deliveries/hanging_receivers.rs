//! Tests that receivers that hang under load do not delay other accounts' messages. Messages to the hanging receivers
//! themselves fail or succeed on the usual schedule.
//!
//! A receiver that hangs repeatedly opens its circuit breaker. While the breaker is open, first attempts go through the
//! retry queue.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::support::account_with_webhook::add_webhook;
use crate::support::api_client::{TestAccount, TestChannel, number};
use crate::support::bot_fixture::{TestBot, register_provider};
use crate::support::test_host::{ActiveChat, TestHost, run_timed_on_own_host_with};
use crate::support::test_receiver::{CannedResponse, TestReceiver};
use crate::support::wait::{WAIT_TIMEOUT, seconds, wait_for};

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

async fn measure_delivery_delay(active_chat: &ActiveChat, integrator: &TestReceiver) -> Duration {
    let (before, sent) = (integrator.requests().len(), Instant::now());
    active_chat.send_text("passes").await;
    integrator.wait_for_requests(before + 1, seconds(20)).await[before].at - sent
}

/// Returns when each attempt started, in milliseconds after the message was sent.
async fn attempt_starts_ms(account: &TestAccount, chat: u64, seq: u64) -> Vec<u64> {
    let entry = account.admin.timeline_entry(chat, seq).await;
    let at = number(&entry["timestamp"]);
    // `timestamp` is in seconds, but `at` is in milliseconds.
    let began = |attempt: &Value| number(&attempt["at"]).saturating_sub(at * 1_000);
    entry["delivery"]["attempts"].as_array().unwrap().iter().map(began).collect()
}

#[test]
fn hanging_integrator_delays_no_other_account() {
    const HANGING_CHATS: u64 = 20;
    const OTHER_CHATS: u64 = 7;
    // One account can use at most five of the eight concurrent first attempts. All of its later attempts can run
    // concurrently.
    let concurrency_limits =
        [("FirstAttemptConcurrency", "8"), ("FirstAttemptsPerAccount", "5"), ("RetryConcurrency", "24")];
    const MAX_PROCESSES: usize = 8 + 24;
    run_timed_on_own_host_with(&concurrency_limits, async |host| {
        let (hanging, healthy) =
            (TestReceiver::start(CannedResponse::Hang).await, TestReceiver::start(CannedResponse::ok()).await);
        let other = ActiveChat::create(host, &healthy.url(), json!({})).await;
        let account = host.create_account().await;
        let channel = account.create_channel(&hanging.url()).await;
        let chats = open_chats(&account, &channel, 1, HANGING_CHATS + OTHER_CHATS).await;
        let mut usual_delay = Duration::ZERO;
        for _ in 0..4 {
            usual_delay = usual_delay.max(measure_delivery_delay(&other, &healthy).await);
        }

        let began = Instant::now();
        let (stuck, other_chats) = chats.split_at(HANGING_CHATS as usize);
        let sent =
            join_all(stuck.iter().map(async |chat| (*chat, account.admin.send_text(*chat, "stuck").await))).await;
        let mut delays = Vec::new();
        while hanging.requests().len() < stuck.len() {
            delays.push(measure_delivery_delay(&other, &healthy).await);
            let all = host.local.processes();
            let processes = all.iter().filter(|(function, _)| function == "deliver-channel").count();
            assert!(processes <= MAX_PROCESSES, "{processes} processes");
            // If only five of these three-second attempts ran at a time, the last of the 20 would not start for nine
            // seconds.
            assert!(began.elapsed() < seconds(8), "only {} began", hanging.requests().len());
        }
        assert!(began.elapsed() > seconds(2), "the account's share was not used up");
        assert!(
            delays.iter().all(|delay| *delay < usual_delay + Duration::from_millis(1_500)),
            "{usual_delay:?}, then {delays:?}"
        );

        // Wait until no first attempt is running. Until then, a first attempt still blocks one of the account's message
        // groups.
        wait_for("an empty ChannelQueue", WAIT_TIMEOUT, async || {
            let depth = host.local.queues().depth("ChannelQueue.fifo").unwrap();
            if depth.visible + depth.in_flight == 0 { Ok(()) } else { Err((depth.visible, depth.in_flight)) }
        })
        .await;
        // The breaker is open now, so a first attempt may go through the retry queue. Look for a chat with such an
        // attempt: its attempts must still start on time. Several chats are tried, because a process checks the breaker
        // only after one of its own attempts has failed.
        let (last_chat, late_chats) = other_chats.split_last().unwrap();
        let mut starts = Vec::new();
        for chat in late_chats {
            let seq = account.admin.send_text(*chat, "late").await;
            assert_eq!(account.admin.final_delivery(*chat, seq).await["state"], "failed");
            let skipped_lines = log_lines(host, "first attempt goes to the retry queue: the receiver hangs");
            if skipped_lines.iter().any(|line| line["chat_id"] == *chat) {
                starts = attempt_starts_ms(&account, *chat, seq).await;
                break;
            }
        }
        assert!(
            starts.len() == 3 && starts.iter().zip([0, 3, 6]).all(|(at, slot)| at / 1_000 - slot <= 2),
            "{starts:?}"
        );
        for (chat, seq) in sent {
            assert_eq!(account.admin.final_delivery(chat, seq).await["state"], "failed");
            let attempt_starts_ms = attempt_starts_ms(&account, chat, seq).await;
            assert!(attempt_starts_ms.windows(2).all(|pair| pair[1] - pair[0] >= 2_500), "{attempt_starts_ms:?}");
        }

        hanging.respond_with(CannedResponse::ok());
        let seq = account.admin.send_text(*last_chat, "back").await;
        assert_eq!(account.admin.final_delivery(*last_chat, seq).await["state"], "delivered");
        wait_for_log_line(host, "breaker closed", "receiver", &json!(format!("channel#{}", channel.id))).await;
    });
}

#[test]
fn hanging_bot_and_webhook_open_their_circuit_breakers() {
    // Only two processes are reserved for later attempts, so most processes in which a receiver hangs also make first
    // attempts. A process checks a receiver's circuit breaker only if the receiver has failed in that process.
    let concurrency_limits =
        [("FirstAttemptConcurrency", "12"), ("FirstAttemptsPerAccount", "60"), ("RetryConcurrency", "2")];
    run_timed_on_own_host_with(&concurrency_limits, async |host| {
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
                provider.wait_for_requests(5, WAIT_TIMEOUT).await;
                webhook_receiver.wait_for_requests(5, WAIT_TIMEOUT).await;
                assert!(log_lines(host, "breaker opened: first attempts go to the retry queue").is_empty());
            }
        }
        for receiver in &receivers {
            wait_for_log_line(host, "breaker opened: first attempts go to the retry queue", "receiver", receiver).await;
        }
        provider.respond_with(CannedResponse::ok());
        webhook_receiver.respond_with(CannedResponse::Json(200, json!({"result": "OK"})));
    });
}
