//! Bots that fail: however they do, the visitor is with the agents nine seconds later.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::time::interval;

use crate::client::number;
use crate::harness::{
    Stage, VISITOR, alone_on_own_stage, alone_on_stage, kill, on_own_stage, on_stage, timed_on_stage,
};
use crate::provider::{Front, chat_of, register};
use crate::receiver::{Answer, Request, dead_port};
use crate::wait::{PATIENCE, seconds, wait_for};

/// From a message that the bot does not take to the moment at which agents see the chat.
const FALL_BACK: Duration = Duration::from_millis(9_500);

/// The chat falls back in time, and the bot is out. Returns after how long agents saw it.
async fn check_fall_back(front: &Front, text: &str) -> Duration {
    let written = Instant::now();
    front.channel.say(VISITOR, text).await;
    front.waits(1, seconds(12)).await;
    let waited = written.elapsed();
    assert!(waited <= FALL_BACK, "waiting after {waited:?}");
    front.bot.say(&json!(1), "late").await.expect_error(403, "invalid_request");
    front.bot.invite_agent(&json!(1)).await.expect_error(403, "invalid_request");
    assert_eq!(front.bot_verdict(1, text).await["state"], "failed");
    waited
}

/// A conversation with a bot that answered once, so that every function has been started.
async fn warm_front(stage: &Stage, bot: Value) -> Front {
    let front = Front::open_with(stage, json!({}), bot).await;
    let chat_id = front.ask(VISITOR, "Hello").await["chat_id"].clone();
    front.bot.say(&chat_id, "Hi").await.expect(200);
    assert_eq!(front.bot_verdict(1, "Hello").await["state"], "delivered");
    front.waits_not(1).await;
    front
}

impl Front {
    async fn waits_not(&self, chat: u64) {
        assert_eq!(self.state(chat).await, "bot");
        assert!(self.agent.chats("waiting").await.is_empty());
    }
}

#[test]
fn a_provider_that_hangs_loses_the_chat_within_nine_and_a_half_seconds() {
    timed_on_stage(async |stage| {
        let front = warm_front(stage, json!({})).await;
        front.provider.answer(Answer::Hang);
        let waited = check_fall_back(&front, "Anybody?").await;
        assert!(waited > Duration::from_millis(8_500), "after {waited:?}: it had three tries of three seconds");
        assert_eq!(front.tries("CLIENT_MESSAGE").len(), 1 + 3);
    });
}

#[test]
fn a_provider_that_is_down_loses_the_chat_after_its_third_try() {
    timed_on_stage(async |stage| {
        let front = warm_front(stage, json!({})).await;
        front.provider.answer(Answer::Close);
        let waited = check_fall_back(&front, "Anybody?").await;
        assert!(waited < seconds(8), "after {waited:?}: the third try failed at once");
        assert_eq!(front.tries("CLIENT_MESSAGE").len(), 1 + 3);
    });
}

#[test]
fn a_provider_that_refuses_connections_loses_the_chat_and_is_told_nothing() {
    timed_on_stage(async |stage| {
        let front = warm_front(stage, json!({})).await;
        let nowhere = format!("http://127.0.0.1:{}/hook", dead_port().await);
        let dead = register(&stage.operator, &nowhere, json!({})).await;
        let channel = front.account.channel(&front.integrator.url()).await;
        crate::provider::Bot::connect(&front.account, &dead, &[&channel], json!({})).await;

        let written = Instant::now();
        channel.say("somebody else", "Anybody?").await;
        front.waits(2, seconds(12)).await;
        let waited = written.elapsed();
        assert!(waited <= FALL_BACK, "waiting after {waited:?}");
        let delivery = front.bot_verdict(2, "Anybody?").await;
        let attempts = delivery["attempts"].as_array().unwrap();
        assert_eq!(attempts.len(), 3, "{delivery}");
        assert!(attempts.iter().all(|attempt| attempt["status"].is_null() && attempt["error"].is_string()));
    });
}

#[test]
fn a_bot_that_does_not_hear_that_nobody_is_there_loses_the_chat() {
    timed_on_stage(async |stage| {
        let front = warm_front(stage, json!({})).await;
        front.provider.answer(Answer::Hang);
        let invited = Instant::now();
        front.bot.invite_agent(&json!(1)).await.expect(200);
        front.waits(1, seconds(12)).await;
        let waited = invited.elapsed();
        assert!(waited <= FALL_BACK, "waiting after {waited:?}");
        assert_eq!(front.tries("AGENT_UNAVAILABLE").len(), 3);
        front.bot.say(&json!(1), "late").await.expect_error(403, "invalid_request");
        let notifications = wait_for("its failure", PATIENCE, async || {
            let timeline = front.agent.messages(1).await;
            let failed = timeline.iter().find(|entry| entry["bot_delivery"]["state"] == "failed");
            failed.cloned().ok_or(timeline)
        })
        .await;
        assert_eq!(notifications["type"], "agent_unavailable");
        let path = "/admin/deliveries/replay";
        let again = json!({"chat_id": 1, "seq": notifications["seq"]});
        front.agent.call.post(path, &again).await.expect_error(409, "conflict");
    });
}

#[test]
fn a_provider_that_recovers_on_the_third_try_keeps_the_chat() {
    timed_on_stage(async |stage| {
        let front = warm_front(stage, json!({})).await;
        let failing = || Answer::Json(500, json!({}));
        front.provider.answer_with([failing(), failing(), Answer::ok()]);
        let written = Instant::now();
        front.channel.say(VISITOR, "Anybody?").await;
        let delivery = front.bot_verdict(1, "Anybody?").await;
        assert_eq!(delivery["state"], "delivered");
        let statuses: Vec<_> =
            delivery["attempts"].as_array().unwrap().iter().map(|attempt| attempt["status"].clone()).collect();
        assert_eq!(statuses, [500, 500, 200]);

        let tries = front.tries("CLIENT_MESSAGE").split_off(1);
        assert_eq!(tries.len(), 3);
        for (request, slot) in tries.iter().zip([0, 3, 6]) {
            assert!((request.at - written).abs_diff(seconds(slot)) < Duration::from_millis(300), "{tries:#?}");
            assert_eq!((&request.body, request.header("webhook-id")), (&tries[0].body, tries[0].header("webhook-id")));
        }
        front.waits_not(1).await;
        front.bot.say(&json!(1), "Here").await.expect(200);
    });
}

/// Answers that are none, although some look like one.
fn irregular() -> Vec<(&'static str, Answer)> {
    let rejection = json!({"error": {"code": "invalid_request", "message": "no"}});
    vec![
        ("200 with an error", Answer::Json(200, rejection)),
        ("201", Answer::Json(201, json!({}))),
        ("204", Answer::Text(204, "text/plain", String::new())),
        ("404", Answer::Json(404, json!({"result": "ok"}))),
        ("a redirect", Answer::Redirect("http://127.0.0.1:1/".to_owned())),
    ]
}

#[test]
fn only_a_200_without_an_error_is_a_regular_answer() {
    on_stage(async |stage| {
        join_all(irregular().into_iter().map(async |(name, answer)| {
            let front = Front::open(stage).await;
            front.provider.answer_with([answer, Answer::Text(200, "text/html", "<p>fine</p>".to_owned())]);
            front.channel.say(VISITOR, "Hello").await;
            let delivery = front.bot_verdict(1, "Hello").await;
            assert_eq!(delivery["state"], "delivered", "{name}: {delivery}");
            let attempts = delivery["attempts"].as_array().unwrap();
            assert_eq!(attempts.len(), 2, "{name}: {delivery}");
            assert!(attempts[0]["error"].is_string(), "{name}: {delivery}");
            assert_eq!(front.state(1).await, "bot", "{name}");
        }))
        .await;
    });
}

#[test]
fn a_chat_that_hangs_does_not_hold_up_another_of_the_same_provider() {
    timed_on_stage(async |stage| {
        let front = warm_front(stage, json!({})).await;
        front.provider.act(async |request| if request.json()["chat_id"] == "1" { Answer::Hang } else { Answer::ok() });
        front.channel.say(VISITOR, "hangs").await;
        front.provider.received(2, seconds(3)).await;
        for n in 1..=5 {
            let written = Instant::now();
            front.ask("somebody else", &format!("passes {n}")).await;
            let arrived = front.tries("CLIENT_MESSAGE").pop().unwrap().at - written;
            assert!(arrived < seconds(1), "{arrived:?}");
        }
        front.waits(1, seconds(12)).await;
        assert_eq!(front.state(2).await, "bot");
    });
}

#[test]
fn what_waits_behind_a_failed_message_is_dropped_when_the_agents_have_the_chat() {
    timed_on_stage(async |stage| {
        let front = warm_front(stage, json!({})).await;
        front.provider.answer(Answer::Json(500, json!({})));
        let written = Instant::now();
        front.channel.say(VISITOR, "first").await;
        // After the second try of the first, so that their own tries are not over when its are.
        front.provider.received(1 + 2, seconds(5)).await;
        let later = ["second", "third", "fourth"];
        for text in later {
            front.channel.say(VISITOR, text).await;
        }
        front.waits(1, seconds(12)).await;
        let waited = written.elapsed();
        assert!(waited <= FALL_BACK, "{waited:?}");
        assert_eq!(front.bot_verdict(1, "first").await["state"], "failed");
        for text in later {
            assert_eq!(front.bot_verdict(1, text).await["state"], "superseded", "{text}");
        }
        let tries = front.tries("CLIENT_MESSAGE").len();
        front.agent.accept(1).await;
        front.provider.answer(Answer::ok());
        front.notifications("AGENT_JOINED").await;
        assert_eq!(front.tries("CLIENT_MESSAGE").len(), tries, "nothing more is sent to the bot");
        assert_eq!(front.agent.messages(1).await.iter().filter(|entry| entry["from"] == "visitor").count(), 5);
    });
}

#[test]
fn a_slow_bot_that_takes_every_message_keeps_the_chat_of_a_visitor_who_writes_many() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        front.provider.answer(Answer::After(seconds(2), Box::new(Answer::ok())));
        let texts = ["one", "two", "three", "four", "five", "six", "seven"];
        for text in texts {
            front.channel.say(VISITOR, text).await;
        }
        for text in texts {
            let delivery = front.bot_verdict(1, text).await;
            let tries = delivery["attempts"].as_array().unwrap().len();
            assert_eq!((&delivery["state"], tries), (&json!("delivered"), 1), "{text}: {delivery}");
        }
        assert_eq!(front.tries("CLIENT_MESSAGE").iter().map(Request::text).collect::<Vec<_>>(), texts);
        front.waits_not(1).await;
    });
}

#[test]
fn a_message_that_waited_its_turn_has_all_its_tries() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        let has_failed = Arc::new(AtomicBool::new(false));
        front.provider.act(move |request| {
            let has_failed = Arc::clone(&has_failed);
            async move {
                match request.text().as_str() {
                    "five" if !has_failed.swap(true, Ordering::Relaxed) => Answer::Json(500, json!({})),
                    "five" | "six" => Answer::ok(),
                    _ => Answer::After(seconds(2), Box::new(Answer::ok())),
                }
            }
        });
        for text in ["one", "two", "three", "four", "five", "six"] {
            front.channel.say(VISITOR, text).await;
        }
        let behind = front.bot_verdict(1, "six").await;
        assert_eq!(behind["state"], "delivered", "what leaves the line has its window too: {behind}");
        let failed_once = front.bot_verdict(1, "five").await;
        assert_eq!(failed_once["state"], "delivered", "{failed_once}");
        assert_eq!(failed_once["attempts"].as_array().unwrap().len(), 2, "{failed_once}");
        front.waits_not(1).await;
    });
}

#[test]
fn many_messages_to_a_provider_that_hangs_lose_the_chat_no_later_than_one() {
    alone_on_stage(async |stage| {
        let front = warm_front(stage, json!({})).await;
        front.provider.answer(Answer::Hang);
        let written = Instant::now();
        let texts = ["one", "two", "three", "four", "five"];
        for text in texts {
            front.channel.say(VISITOR, text).await;
        }
        front.waits(1, seconds(12)).await;
        let waited = written.elapsed();
        assert!(waited <= FALL_BACK, "waiting after {waited:?}");
        assert_eq!(front.bot_verdict(1, "one").await["state"], "failed");
        for text in texts {
            assert_ne!(front.bot_verdict(1, text).await["state"], "delivered", "{text}");
        }
    });
}

#[test]
fn a_bot_that_answered_keeps_the_chat_though_the_delivery_was_killed() {
    on_own_stage(&[], async |stage| {
        let front = Front::open(stage).await;
        front.provider.answer_with([Answer::Json(500, json!({})), Answer::Hang]);
        front.channel.say(VISITOR, "Anybody?").await;
        front.provider.received(2, seconds(8)).await;
        front.bot.say(&json!(1), "I am here").await.expect(200);
        stage.kill(|function| function == "deliver-bot").await;

        // The queue shows the task again after 36 s, and the sweep comes every minute.
        let state = wait_for("an end of the delivery", seconds(100), async || {
            let delivery = front.entry(1, "Anybody?").await["bot_delivery"].clone();
            if delivery["state"] == "pending" { Err(delivery) } else { Ok(delivery["state"].clone()) }
        })
        .await;
        assert_eq!(state, "delivered", "it wrote after the first attempt began");
        front.waits_not(1).await;
        front.bot.say(&json!(1), "still here").await.expect(200);
    });
}

/// The bot does something while it holds this request of a message open; the requests that it gets, and what becomes of
/// the message.
async fn check_accepted(front: &Front, requests: usize, acts: impl AsyncFnOnce(&Front)) {
    front.provider.answer(Answer::Hang);
    front.channel.say(VISITOR, "Anybody?").await;
    front.provider.received(requests, PATIENCE).await;
    acts(front).await;
    let delivery = front.bot_verdict(1, "Anybody?").await;
    assert_eq!(delivery["state"], "delivered", "{requests}: {delivery}");
    assert_eq!(delivery["attempts"].as_array().unwrap().len(), requests, "{delivery}");
    assert_eq!(front.tries("CLIENT_MESSAGE").len(), requests, "none after the bot's event");
}

#[test]
fn message_of_a_bot_accepts_the_request_that_it_holds_open() {
    on_stage(async |stage| {
        join_all((1..=3).map(async |requests| {
            let front = Front::open(stage).await;
            let answers = async |front: &Front| {
                front.bot.say(&json!(1), "I am here").await.expect(200);
            };
            check_accepted(&front, requests, answers).await;
            front.waits_not(1).await;
            assert_eq!(front.integrator.texts(), ["I am here"]);
        }))
        .await;
    });
}

#[test]
fn invitation_of_a_bot_accepts_the_request_that_it_holds_open() {
    on_stage(async |stage| {
        join_all((1..=3).map(async |requests| {
            let front = Front::open(stage).await;
            front.agent.presence("online").await;
            let invites = async |front: &Front| {
                front.bot.invite_agent(&json!(1)).await.expect(200);
            };
            check_accepted(&front, requests, invites).await;
            assert_eq!(front.state(1).await, "waiting");
        }))
        .await;
    });
}

#[test]
fn message_of_a_bot_before_the_first_attempt_accepts_nothing() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        let release = front.provider.answer_when_told(Answer::ok());
        front.ask(VISITOR, "first").await;
        front.channel.say(VISITOR, "second").await;
        front.bot.say(&json!(1), "about the first").await.expect(200);
        release.send(()).unwrap();
        let delivery = front.bot_verdict(1, "second").await;
        assert_eq!((&delivery["state"], &delivery["attempts"][0]["status"]), (&json!("delivered"), &json!(200)));
    });
}

#[test]
fn a_bot_that_does_not_answer_in_its_own_time_loses_the_chat() {
    timed_on_stage(async |stage| {
        let front = warm_front(stage, json!({"answer_within": 2})).await;
        let written = Instant::now();
        front.channel.say(VISITOR, "Anybody?").await;
        front.waits(1, seconds(6)).await;
        let waited = written.elapsed();
        assert!((Duration::from_millis(1_500)..seconds(4)).contains(&waited), "{waited:?}");
        assert_eq!(front.bot_verdict(1, "Anybody?").await["state"], "delivered");
        front.bot.say(&json!(1), "late").await.expect_error(403, "invalid_request");
    });
}

#[test]
fn a_bot_that_answers_in_its_own_time_keeps_the_chat() {
    timed_on_stage(async |stage| {
        let front = warm_front(stage, json!({"answer_within": 2})).await;
        let chat_id = front.ask(VISITOR, "Anybody?").await["chat_id"].clone();
        front.bot.say(&chat_id, "I am here").await.expect(200);
        // Its time is over once a later message of somebody else has run out.
        front.ask("somebody else", "And for me?").await;
        front.waits(2, seconds(6)).await;
        assert_eq!(front.state(1).await, "bot");
        front.bot.say(&chat_id, "still here").await.expect(200);
    });
}

#[test]
fn a_bot_that_was_disconnected_loses_its_chats_with_the_next_message() {
    on_own_stage(&[], async |stage| {
        let front = Front::open(stage).await;
        front.ask(VISITOR, "Hello").await;
        front.agent.call.delete(&format!("/admin/bots/{}", front.bot.bot_id)).await.expect(200);
        // Nobody works on anything that would be lost with them.
        stage.nothing_is_left().await;
        // They remember the bot for ten seconds.
        stage.kill(|function| ["channel-message", "deliver-bot"].contains(&function)).await;
        front.channel.say(VISITOR, "Anybody?").await;
        front.waits(1, PATIENCE).await;
        front.channel.say("somebody new", "Hello").await;
        front.waits(2, PATIENCE).await;
        assert_eq!(front.tries("CLIENT_MESSAGE").len(), 1);
    });
}

#[test]
fn killed_deliveries_to_a_bot_lose_nothing() {
    alone_on_own_stage(async |stage| {
        let front = Front::open(stage).await;
        let killer = async {
            let mut ticks = interval(Duration::from_millis(80));
            loop {
                ticks.tick().await;
                let running = stage.host.processes();
                if let Some((_, pid)) = running.iter().find(|(function, _)| function == "deliver-bot") {
                    kill(*pid, "-9");
                }
            }
        };
        tokio::select! {
            () = visitors_write(&front) => {}
            () = killer => unreachable!("kills for ever"),
        }
        let chats: BTreeSet<u64> =
            front.agent.chats("open").await.iter().map(|chat| number(&chat["chat_id"])).collect();
        assert_eq!(chats.len(), VISITORS);
        wait_for("an end for every visitor's message", seconds(110), async || {
            stage.host.run_schedule("schedule-sweep").await.expect("the sweep runs");
            let open = join_all(chats.iter().map(|chat| unfinished(&front, *chat))).await.concat();
            if open.is_empty() { Ok(()) } else { Err(open) }
        })
        .await;
        for request in front.tries("CLIENT_MESSAGE") {
            assert!(chats.contains(&chat_of(&request.json())));
        }
    });
}

const VISITORS: usize = 12;

async fn visitors_write(front: &Front) {
    join_all((0..VISITORS).map(async |visitor| {
        for n in 0..10 {
            front.channel.say(&format!("visitor {visitor}"), &format!("message {n}")).await;
        }
    }))
    .await;
}

/// The visitor's messages that are neither with the bot nor with the agents.
async fn unfinished(front: &Front, chat: u64) -> Vec<Value> {
    let is_handed_over = front.state(chat).await == "waiting";
    let timeline = front.agent.messages(chat).await;
    assert_eq!(timeline.iter().filter(|entry| entry["from"] == "visitor").count(), 10);
    let ended = |entry: &Value| {
        let state = &entry["bot_delivery"]["state"];
        state == "delivered"
            || state == "superseded"
            || (is_handed_over && state == "failed")
            || (is_handed_over && entry["bot_delivery"].is_null())
    };
    timeline.into_iter().filter(|entry| !ended(entry)).collect()
}
