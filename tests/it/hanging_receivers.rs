//! Receivers that hang under load: what they cost other accounts, and what becomes of their own messages.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::client::{Account, Channel, number};
use crate::harness::{Conversation, Stage, alone_on_stage_with};
use crate::hook::add;
use crate::provider::{Bot, register};
use crate::receiver::{Answer, Receiver};
use crate::wait::{PATIENCE, seconds, wait_for};

/// What the functions logged with this text, as JSON.
fn logged(stage: &Stage, text: &str) -> Vec<Value> {
    let log = stage.log.lock().unwrap();
    let lines = log.iter().filter_map(|line| serde_json::from_str::<Value>(&line.line).ok());
    lines.filter(|line| line["message"] == text).collect()
}

/// The first line with this text and this value in a field, once it is there.
async fn line_with(stage: &Stage, text: &str, field: &str, value: &Value) -> Value {
    wait_for(&format!("{text:?} of {value}"), PATIENCE, async || {
        let lines = logged(stage, text);
        lines.iter().find(|line| line[field] == *value).cloned().ok_or(lines)
    })
    .await
}

/// Opens chats with the numbers from `first` on, one for each of so many visitors.
async fn open_chats(account: &Account, channel: &Channel, first: u64, count: u64) -> Vec<u64> {
    let names: Vec<String> = (first..first + count).map(|n| format!("visitor-{n}")).collect();
    join_all(names.iter().map(|name| channel.say(name, "Hello"))).await;
    let chats: Vec<u64> = (first..first + count).collect();
    join_all(chats.iter().map(|chat| account.admin.accept(*chat))).await;
    chats
}

/// How long a message of a healthy conversation takes to its integrator.
async fn delay(talk: &Conversation, integrator: &Receiver) -> Duration {
    let (before, written) = (integrator.requests().len(), Instant::now());
    talk.write("passes").await;
    integrator.received(before + 1, seconds(20)).await[before].at - written
}

/// When each attempt of a message began, from when it was written, in milliseconds.
async fn attempts(account: &Account, chat: u64, seq: u64) -> Vec<u64> {
    let entry = account.admin.message(chat, seq).await;
    let at = number(&entry["timestamp"]);
    // A message shows whole seconds, an attempt milliseconds.
    let began = |attempt: &Value| number(&attempt["at"]).saturating_sub(at * 1_000);
    entry["delivery"]["attempts"].as_array().unwrap().iter().map(began).collect()
}

#[test]
fn a_hanging_integrator_delays_no_other_account() {
    const HANGING: u64 = 20;
    // An account may hold five of the eight first attempts; its later ones have room.
    let caps = [("FirstAttemptConcurrency", "8"), ("FirstAttemptsPerAccount", "5"), ("RetryConcurrency", "24")];
    const MAX_PROCESSES: usize = 8 + 24;
    alone_on_stage_with(&caps, async |stage| {
        let (hanging, healthy) = (Receiver::start(Answer::Hang).await, Receiver::start(Answer::ok()).await);
        let other = Conversation::open(stage, &healthy.url(), json!({})).await;
        let account = stage.account().await;
        let channel = account.channel(&hanging.url()).await;
        let chats = open_chats(&account, &channel, 1, HANGING + 2).await;
        let mut usual = Duration::ZERO;
        for _ in 0..4 {
            usual = usual.max(delay(&other, &healthy).await);
        }

        let began = Instant::now();
        let (stuck, spare) = chats.split_at(HANGING as usize);
        let written = join_all(stuck.iter().map(async |chat| (*chat, account.admin.write(*chat, "stuck").await))).await;
        let mut delays = Vec::new();
        while hanging.requests().len() < stuck.len() {
            delays.push(delay(&other, &healthy).await);
            let all = stage.host.processes();
            let processes = all.iter().filter(|(function, _)| function == "deliver-channel").count();
            assert!(processes <= MAX_PROCESSES, "{processes} processes");
            // Five at a time, each for three seconds, would take nine until the last begins.
            assert!(began.elapsed() < seconds(8), "only {} began", hanging.requests().len());
        }
        assert!(began.elapsed() > seconds(2), "the account's share was not used up");
        assert!(delays.iter().all(|delay| *delay < usual + Duration::from_millis(1_500)), "{usual:?}, then {delays:?}");

        // A chat that has not failed yet: its attempts are on time, though not in the chat's order.
        let seq = account.admin.write(spare[0], "late").await;
        line_with(stage, "first attempt goes to the delayed queue: the receiver hangs", "chat_id", &json!(spare[0]))
            .await;
        assert_eq!(account.admin.verdict(spare[0], seq).await["state"], "failed");
        let slots = attempts(&account, spare[0], seq).await;
        assert!(slots.len() == 3 && slots.iter().zip([0, 3, 6]).all(|(at, slot)| at / 1_000 - slot <= 2), "{slots:?}");
        for (chat, seq) in written {
            assert_eq!(account.admin.verdict(chat, seq).await["state"], "failed");
            let attempts = attempts(&account, chat, seq).await;
            assert!(attempts.windows(2).all(|pair| pair[1] - pair[0] >= 2_500), "{attempts:?}");
        }

        hanging.answer(Answer::ok());
        let seq = account.admin.write(spare[1], "back").await;
        assert_eq!(account.admin.verdict(spare[1], seq).await["state"], "delivered");
        line_with(stage, "breaker closed", "receiver", &json!(format!("channel#{}", channel.id))).await;
    });
}

#[test]
fn a_hanging_bot_and_a_hanging_webhook_open_their_breakers() {
    // Two processes for later attempts leave those idle that have seen the receivers hang.
    let caps = [("FirstAttemptConcurrency", "12"), ("FirstAttemptsPerAccount", "60"), ("RetryConcurrency", "2")];
    alone_on_stage_with(&caps, async |stage| {
        let (provider, crm) = (Receiver::start(Answer::Hang).await, Receiver::start(Answer::Hang).await);
        let account = stage.account().await;
        let [with_bot, plain] = ["https://a.example", "https://b.example"].map(|url| account.channel(url));
        let (with_bot, plain) = (with_bot.await, plain.await);
        let provider_id = register(&stage.operator, &provider.url(), json!({})).await;
        let bot = Bot::connect(&account, &provider_id, &[&with_bot], json!({"answer_within": null})).await;
        let webhook = add(&account, &crm, json!({})).await;
        let account_id = account.id.as_str().unwrap();
        let webhook = format!("webhook#{account_id}#{}", webhook["webhook_id"].as_str().unwrap());
        let receivers = [format!("bot#{}", bot.bot_id), webhook].map(|receiver| json!(receiver));

        // Four are too few; those of the second wave reach processes that know it.
        let mut next = 1;
        for (wave, count) in [("one", 4), ("two", 3)] {
            open_chats(&account, &plain, next, count).await;
            next += 2 * count;
            let names: Vec<String> = (0..count).map(|n| format!("{wave}-{n}")).collect();
            join_all(names.iter().map(|name| with_bot.say(name, "Hello"))).await;
            if wave == "one" {
                provider.received(5, PATIENCE).await;
                crm.received(5, PATIENCE).await;
                assert!(logged(stage, "breaker opened: first attempts go to the delayed queue").is_empty());
            }
        }
        for receiver in &receivers {
            line_with(stage, "breaker opened: first attempts go to the delayed queue", "receiver", receiver).await;
        }
        provider.answer(Answer::ok());
        crm.answer(Answer::Json(200, json!({"result": "OK"})));
    });
}
