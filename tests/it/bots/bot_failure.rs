//! Tests for bots that fail. If a bot does not accept a message within nine seconds, or exceeds its answer time limit,
//! the chat is handed over to the agents.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::interval;

use crate::support::api_client::number;
use crate::support::bot_fixture::{BotFixture, TestBot, chat_number, register_provider};
use crate::support::test_host::{VISITOR_ID, kill, run_on_own_host, run_on_shared_host, run_with_virtual_time};
use crate::support::test_receiver::{CannedResponse, ReceivedRequest, unused_port};
use crate::support::virtual_time::{ATTEMPT_SPACING, VirtualTime};
use crate::support::wait::{WAIT_TIMEOUT, seconds, wait_for};

impl BotFixture {
    /// Waits until agents see the chat, and checks that the bot can no longer post to it.
    async fn assert_lost_the_chat(&self, text: &str) {
        self.wait_until_waiting(1, WAIT_TIMEOUT).await;
        self.bot.send_text(&json!(1), "late").await.expect_error(403, "invalid_request");
        self.bot.invite_agent(&json!(1)).await.expect_error(403, "invalid_request");
        assert_eq!(self.final_bot_delivery(1, text).await["state"], "failed");
    }

    async fn assert_not_waiting(&self, chat: u64) {
        assert_eq!(self.chat_state(chat).await, "bot");
        assert!(self.agent.chats("waiting").await.is_empty());
    }
}

#[test]
fn hanging_provider_loses_the_chat_after_nine_seconds() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create(host).await;
        fixture.provider.respond_with(CannedResponse::Hang);
        fixture.channel.send_text(VISITOR_ID, "Anybody?").await;
        time.time_out_requests(&fixture.provider, 1..=2).await;
        fixture.provider.wait_for_requests(3, WAIT_TIMEOUT).await;
        fixture.assert_not_waiting(1).await;
        time.advance(seconds(3));
        fixture.assert_lost_the_chat("Anybody?").await;
        assert_eq!(fixture.attempts("CLIENT_MESSAGE").len(), 3);
    });
}

#[test]
fn failing_provider_loses_the_chat_with_the_third_attempt() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create(host).await;
        fixture.provider.respond_with(CannedResponse::CloseConnection);
        let sent_at = Instant::now();
        fixture.channel.send_text(VISITOR_ID, "Anybody?").await;
        for _ in 1..=2 {
            fixture.assert_not_waiting(1).await;
            time.advance_to_next_message().await;
        }
        fixture.wait_until_waiting(1, WAIT_TIMEOUT).await;
        time.advance(ATTEMPT_SPACING);
        fixture.assert_lost_the_chat("Anybody?").await;
        let attempts = fixture.attempts("CLIENT_MESSAGE");
        assert_eq!(attempts.len(), 3);
        time.assert_every_three_seconds(sent_at, &attempts);
    });
}

/// The attempts of this test are made in real time.
#[test]
fn provider_refusing_connections_loses_the_chat() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let closed_url = format!("http://127.0.0.1:{}/hook", unused_port().await);
        let provider_id = register_provider(&host.operator, &closed_url, json!({})).await;
        let channel = fixture.account.create_channel(&fixture.integrator.url()).await;
        TestBot::connect(&fixture.account, &provider_id, &[&channel], json!({})).await;

        let sent_at = Instant::now();
        channel.send_text("visitor", "Anybody?").await;
        fixture.wait_until_waiting(1, WAIT_TIMEOUT).await;
        assert!(sent_at.elapsed() >= seconds(5), "two pauses of three seconds: {:?}", sent_at.elapsed());
        let delivery = fixture.final_bot_delivery(1, "Anybody?").await;
        let attempts = delivery["attempts"].as_array().unwrap();
        assert_eq!(attempts.len(), 3, "{delivery}");
        assert!(attempts.iter().all(|attempt| attempt["status"].is_null() && attempt["error"].is_string()));
    });
}

#[test]
fn bot_that_misses_agent_unavailable_loses_the_chat() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create(host).await;
        fixture.send_visitor_text(VISITOR_ID, "Hello").await;
        fixture.provider.respond_with(CannedResponse::Hang);
        fixture.bot.invite_agent(&json!(1)).await.expect(200);
        time.time_out_requests(&fixture.provider, 2..=4).await;
        fixture.wait_until_waiting(1, WAIT_TIMEOUT).await;
        assert_eq!(fixture.attempts("AGENT_UNAVAILABLE").len(), 3);
        fixture.bot.send_text(&json!(1), "late").await.expect_error(403, "invalid_request");
        let failed = wait_for("the failed delivery", WAIT_TIMEOUT, async || {
            let timeline = fixture.agent.timeline(1).await;
            let entry = timeline.iter().find(|entry| entry["bot_delivery"]["state"] == "failed");
            entry.cloned().ok_or(timeline)
        })
        .await;
        assert_eq!(failed["type"], "agent_unavailable");
        let path = "/admin/deliveries/replay";
        let replay = json!({"chat_id": 1, "seq": failed["seq"]});
        fixture.agent.client.post(path, &replay).await.expect_error(409, "conflict");
    });
}

#[test]
fn provider_recovering_on_the_third_attempt_keeps_the_chat() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create(host).await;
        let failing = || CannedResponse::Json(500, json!({}));
        fixture.provider.respond_in_order([failing(), failing(), CannedResponse::ok()]);
        let sent_at = Instant::now();
        fixture.channel.send_text(VISITOR_ID, "Anybody?").await;
        time.run_until_queues_are_empty().await;
        let delivery = fixture.final_bot_delivery(1, "Anybody?").await;
        assert_eq!(delivery["state"], "delivered");
        let statuses: Vec<_> =
            delivery["attempts"].as_array().unwrap().iter().map(|attempt| attempt["status"].clone()).collect();
        assert_eq!(statuses, [500, 500, 200]);

        let requests = fixture.attempts("CLIENT_MESSAGE");
        time.assert_every_three_seconds(sent_at, &requests);
        for request in &requests {
            assert_eq!(
                (&request.body, request.header("webhook-id")),
                (&requests[0].body, requests[0].header("webhook-id"))
            );
        }
        fixture.assert_not_waiting(1).await;
        fixture.bot.send_text(&json!(1), "Here").await.expect(200);
    });
}

/// Returns responses that do not accept an event, each with a name. Some of them resemble success.
fn unsuccessful_responses() -> Vec<(&'static str, CannedResponse)> {
    let rejection = json!({"error": {"code": "invalid_request", "message": "no"}});
    vec![
        ("200 with an error", CannedResponse::Json(200, rejection)),
        ("201", CannedResponse::Json(201, json!({}))),
        ("204", CannedResponse::Text(204, "text/plain", String::new())),
        ("404", CannedResponse::Json(404, json!({"result": "ok"}))),
        ("a redirect", CannedResponse::Redirect("http://127.0.0.1:1/".to_owned())),
    ]
}

#[test]
fn only_a_200_response_without_error_counts_as_success() {
    run_with_virtual_time(async |host, time| {
        let cases = join_all(unsuccessful_responses().into_iter().map(async |(name, response)| {
            let fixture = BotFixture::create(host).await;
            fixture
                .provider
                .respond_in_order([response, CannedResponse::Text(200, "text/html", "<p>fine</p>".to_owned())]);
            fixture.channel.send_text(VISITOR_ID, "Hello").await;
            (name, fixture)
        }))
        .await;
        time.run_until_queues_are_empty().await;
        for (name, fixture) in cases {
            let delivery = fixture.final_bot_delivery(1, "Hello").await;
            assert_eq!(delivery["state"], "delivered", "{name}: {delivery}");
            let attempts = delivery["attempts"].as_array().unwrap();
            assert_eq!(attempts.len(), 2, "{name}: {delivery}");
            assert!(attempts[0]["error"].is_string(), "{name}: {delivery}");
            assert_eq!(fixture.chat_state(1).await, "bot", "{name}");
        }
    });
}

#[test]
fn hanging_chat_does_not_delay_another_of_the_same_provider() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create(host).await;
        fixture.provider.respond_by(async |request| {
            if request.json()["chat_id"] == "1" { CannedResponse::Hang } else { CannedResponse::ok() }
        });
        fixture.channel.send_text(VISITOR_ID, "hangs").await;
        fixture.provider.wait_for_requests(1, WAIT_TIMEOUT).await;
        // No time passes.
        for n in 1..=5 {
            fixture.send_visitor_text("another visitor", &format!("passes {n}")).await;
        }
        time.advance(ATTEMPT_SPACING);
        time.time_out_requests(&fixture.provider, 7..=8).await;
        fixture.wait_until_waiting(1, WAIT_TIMEOUT).await;
        assert_eq!(fixture.chat_state(2).await, "bot");
    });
}

#[test]
fn pending_messages_are_superseded_after_handover_to_agents() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create(host).await;
        fixture.provider.respond_with(CannedResponse::Json(500, json!({})));
        fixture.channel.send_text(VISITOR_ID, "first").await;
        // Send the later messages only after the second attempt to deliver the first message, so that they still have
        // attempts left when the first message fails.
        time.advance_to_next_message().await;
        time.wait_until_idle().await;
        let later = ["second", "third", "fourth"];
        for text in later {
            fixture.channel.send_text(VISITOR_ID, text).await;
        }
        time.advance_to_next_message().await;
        fixture.wait_until_waiting(1, WAIT_TIMEOUT).await;
        time.run_until_failure_is_shown().await;
        assert_eq!(fixture.final_bot_delivery(1, "first").await["state"], "failed");
        for text in later {
            assert_eq!(fixture.final_bot_delivery(1, text).await["state"], "superseded", "{text}");
        }
        let attempts = fixture.attempts("CLIENT_MESSAGE").len();
        fixture.agent.accept(1).await;
        fixture.provider.respond_with(CannedResponse::ok());
        fixture.wait_for_event("AGENT_JOINED").await;
        assert_eq!(fixture.attempts("CLIENT_MESSAGE").len(), attempts, "nothing more is sent to the bot");
        assert_eq!(fixture.agent.timeline(1).await.iter().filter(|entry| entry["from"] == "visitor").count(), 4);
    });
}

/// Lets the provider respond to each of its first `count` requests after two seconds.
async fn respond_after_two_seconds(fixture: &BotFixture, time: &VirtualTime<'_>, permits: &Semaphore, count: usize) {
    for number in 1..=count {
        fixture.provider.wait_for_requests(number, WAIT_TIMEOUT).await;
        time.advance(seconds(2));
        permits.add_permits(1);
    }
}

#[test]
fn slow_bot_that_accepts_every_message_keeps_the_chat() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create(host).await;
        let permits = fixture.provider.respond_with_permit(CannedResponse::ok());
        let texts = ["one", "two", "three", "four", "five", "six", "seven"];
        for text in texts {
            fixture.channel.send_text(VISITOR_ID, text).await;
        }
        respond_after_two_seconds(&fixture, time, &permits, texts.len()).await;
        for text in texts {
            let delivery = fixture.final_bot_delivery(1, text).await;
            let attempts = delivery["attempts"].as_array().unwrap().len();
            assert_eq!((&delivery["state"], attempts), (&json!("delivered"), 1), "{text}: {delivery}");
        }
        assert_eq!(fixture.attempts("CLIENT_MESSAGE").iter().map(ReceivedRequest::text).collect::<Vec<_>>(), texts);
        fixture.assert_not_waiting(1).await;
    });
}

#[test]
fn message_delayed_by_chat_order_keeps_all_its_attempts() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create(host).await;
        let permits = fixture.provider.respond_with_permit(CannedResponse::ok());
        for text in ["one", "two", "three", "four", "five", "six"] {
            fixture.channel.send_text(VISITOR_ID, text).await;
        }
        respond_after_two_seconds(&fixture, time, &permits, 3).await;
        fixture.provider.wait_for_requests(4, WAIT_TIMEOUT).await;
        fixture.provider.respond_in_order([CannedResponse::Json(500, json!({})), CannedResponse::ok()]);
        time.advance(seconds(2));
        permits.add_permits(1);
        time.run_until_queues_are_empty().await;
        let next_message = fixture.final_bot_delivery(1, "six").await;
        assert_eq!(next_message["state"], "delivered", "the message behind it has its own time limit: {next_message}");
        let failed_once = fixture.final_bot_delivery(1, "five").await;
        assert_eq!(failed_once["state"], "delivered", "{failed_once}");
        assert_eq!(failed_once["attempts"].as_array().unwrap().len(), 2, "{failed_once}");
        fixture.assert_not_waiting(1).await;
    });
}

#[test]
fn message_burst_does_not_delay_the_fallback_to_agents() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create(host).await;
        fixture.provider.respond_with(CannedResponse::Hang);
        let texts = ["one", "two", "three", "four", "five"];
        for text in texts {
            fixture.channel.send_text(VISITOR_ID, text).await;
        }
        // After the first attempt of the first message, nothing waits for its turn.
        time.time_out_requests(&fixture.provider, [1, 1 + 5, 1 + 10]).await;
        fixture.wait_until_waiting(1, WAIT_TIMEOUT).await;
        assert_eq!(fixture.final_bot_delivery(1, "one").await["state"], "failed");
        // Another message may have begun its third attempt before the chat was handed over.
        time.advance(ATTEMPT_SPACING);
        for text in texts {
            assert_ne!(fixture.final_bot_delivery(1, text).await["state"], "delivered", "{text}");
        }
    });
}

#[test]
fn responding_bot_keeps_the_chat_when_its_delivery_is_killed() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create(host).await;
        fixture.provider.respond_in_order([CannedResponse::Json(500, json!({})), CannedResponse::Hang]);
        fixture.channel.send_text(VISITOR_ID, "Anybody?").await;
        time.advance_to_next_message().await;
        fixture.provider.wait_for_requests(2, WAIT_TIMEOUT).await;
        fixture.bot.send_text(&json!(1), "I am here").await.expect(200);
        host.kill_processes(|function| function == "deliver-bot").await;

        // The queue redelivers the task after its visibility timeout.
        time.run_until_queues_are_empty().await;
        let delivery = fixture.final_bot_delivery(1, "Anybody?").await;
        assert_eq!(delivery["state"], "delivered", "the bot posted after the first attempt began");
        fixture.assert_not_waiting(1).await;
        fixture.bot.send_text(&json!(1), "still here").await.expect(200);
    });
}

/// Sends a message from a visitor. The bot does not respond to any attempt, but during attempt number `attempt` it
/// posts an event by calling `post`. Checks that the delivery then counts as delivered and that no further attempts
/// follow.
async fn assert_acknowledged_by_event(
    fixture: &BotFixture,
    time: &VirtualTime<'_>,
    attempt: usize,
    post: impl AsyncFnOnce(&BotFixture),
) {
    fixture.provider.respond_with(CannedResponse::Hang);
    fixture.channel.send_text(VISITOR_ID, "Anybody?").await;
    time.time_out_requests(&fixture.provider, 1..attempt).await;
    fixture.provider.wait_for_requests(attempt, WAIT_TIMEOUT).await;
    time.advance(Duration::from_millis(1));
    post(fixture).await;
    time.advance(ATTEMPT_SPACING);
    let delivery = fixture.final_bot_delivery(1, "Anybody?").await;
    assert_eq!(delivery["state"], "delivered", "{attempt}: {delivery}");
    assert_eq!(delivery["attempts"].as_array().unwrap().len(), attempt, "{delivery}");
    assert_eq!(fixture.attempts("CLIENT_MESSAGE").len(), attempt, "no attempt after the bot's event");
}

#[test]
fn bot_message_acknowledges_the_request_held_open() {
    run_with_virtual_time(async |host, time| {
        for attempt in 1..=3 {
            let fixture = BotFixture::create(host).await;
            let send_message = async |fixture: &BotFixture| {
                fixture.bot.send_text(&json!(1), "I am here").await.expect(200);
            };
            assert_acknowledged_by_event(&fixture, time, attempt, send_message).await;
            fixture.assert_not_waiting(1).await;
            assert_eq!(fixture.integrator.texts(), ["I am here"]);
        }
    });
}

#[test]
fn agent_invitation_acknowledges_the_request_held_open() {
    run_with_virtual_time(async |host, time| {
        for attempt in 1..=3 {
            let fixture = BotFixture::create(host).await;
            fixture.agent.set_presence("online").await;
            let invite_agent = async |fixture: &BotFixture| {
                fixture.bot.invite_agent(&json!(1)).await.expect(200);
            };
            assert_acknowledged_by_event(&fixture, time, attempt, invite_agent).await;
            assert_eq!(fixture.chat_state(1).await, "waiting");
        }
    });
}

#[test]
fn bot_message_before_the_first_attempt_acknowledges_nothing() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let release = fixture.provider.respond_on_release(CannedResponse::ok());
        fixture.send_visitor_text(VISITOR_ID, "first").await;
        fixture.channel.send_text(VISITOR_ID, "second").await;
        fixture.bot.send_text(&json!(1), "about the first").await.expect(200);
        release.send(()).unwrap();
        let delivery = fixture.final_bot_delivery(1, "second").await;
        assert_eq!((&delivery["state"], &delivery["attempts"][0]["status"]), (&json!("delivered"), &json!(200)));
    });
}

#[test]
fn repeated_answer_of_a_slow_bot_is_shown_once() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create(host).await;
        // The first attempt fails, as if the bot had answered it too late, so the bot gets the message twice.
        fixture.provider.respond_in_order([CannedResponse::Json(500, json!({})), CannedResponse::ok()]);
        let chat_id = fixture.send_visitor_text(VISITOR_ID, "Open?").await["chat_id"].clone();
        time.run_until_queues_are_empty().await;
        assert_eq!(fixture.final_bot_delivery(1, "Open?").await["attempts"].as_array().unwrap().len(), 2);
        let (ok, duplicate) = (json!({"result": "ok"}), json!({"result": "ok", "duplicate": true}));
        for (text, expected) in [("Yes", &ok), ("Until six", &ok), ("Yes", &duplicate), ("Until six", &duplicate)] {
            assert_eq!(fixture.bot.send_text(&chat_id, text).await.expect(200), *expected, "{text}");
        }
        fixture.send_visitor_text(VISITOR_ID, "Sure?").await;
        for _ in 0..2 {
            let reply = fixture.bot.send_text(&chat_id, "Yes").await;
            assert_eq!(reply.expect(200), ok, "an answer to another message, which was sent once");
        }
        fixture.integrator.wait_for_requests(4, WAIT_TIMEOUT).await;
        assert_eq!(fixture.integrator.texts(), ["Yes", "Until six", "Yes", "Yes"]);
    });
}

#[test]
fn bot_exceeding_its_answer_time_limit_loses_the_chat() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create_with(host, json!({}), json!({"answer_within": 2})).await;
        let chat_id = fixture.send_visitor_text(VISITOR_ID, "Anybody?").await["chat_id"].clone();
        let not_shown = fixture.bot.send_message(&chat_id, json!({"type": "MARKDOWN", "content": "*Here*"})).await;
        assert_eq!(not_shown.expect(200), json!({"result": "ok", "shown": false}), "the visitor has no answer");
        time.wait_until_idle().await;
        time.advance(seconds(2) - Duration::from_millis(1));
        time.wait_until_idle().await;
        fixture.assert_not_waiting(1).await;
        time.advance(Duration::from_millis(1));
        fixture.wait_until_waiting(1, WAIT_TIMEOUT).await;
        assert_eq!(fixture.final_bot_delivery(1, "Anybody?").await["state"], "delivered");
        fixture.bot.send_text(&json!(1), "late").await.expect_error(403, "invalid_request");
    });
}

/// The time limit of this test passes in real time.
#[test]
fn silent_bot_loses_the_chat() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create_with(host, json!({}), json!({"answer_within": 2})).await;
        let sent_at = Instant::now();
        fixture.channel.send_text(VISITOR_ID, "Anybody?").await;
        fixture.wait_until_waiting(1, WAIT_TIMEOUT).await;
        assert!(sent_at.elapsed() >= seconds(2), "{:?}", sent_at.elapsed());
    });
}

#[test]
fn silent_bot_loses_the_chat_after_the_table_was_unavailable() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create_with(host, json!({}), json!({"answer_within": 3})).await;
        fixture.channel.send_text(VISITOR_ID, "Anybody?").await;
        assert_eq!(fixture.final_bot_delivery(1, "Anybody?").await["state"], "delivered");
        time.wait_until_idle().await;
        host.local.set_write_conflict_interval(NonZeroU32::new(1));
        time.advance(seconds(3));
        wait_for("the check is postponed", WAIT_TIMEOUT, async || {
            let log = host.log.lock().unwrap();
            let lines: Vec<_> = log.iter().filter(|line| line.function == "deliver-bot").cloned().collect();
            if lines.iter().any(|line| line.line.contains("answer postponed")) { Ok(()) } else { Err(lines) }
        })
        .await;
        host.local.set_write_conflict_interval(None);
        time.run_until_queues_are_empty().await;
        fixture.wait_until_waiting(1, WAIT_TIMEOUT).await;
    });
}

#[test]
fn bot_within_its_answer_time_limit_keeps_the_chat() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create_with(host, json!({}), json!({"answer_within": 2})).await;
        let chat_id = fixture.send_visitor_text(VISITOR_ID, "Anybody?").await["chat_id"].clone();
        time.advance(Duration::from_millis(1));
        fixture.bot.send_text(&chat_id, "I am here").await.expect(200);
        fixture.send_visitor_text("another visitor", "And for me?").await;
        time.run_until_queues_are_empty().await;
        fixture.wait_until_waiting(2, WAIT_TIMEOUT).await;
        assert_eq!(fixture.chat_state(1).await, "bot");
        fixture.bot.send_text(&chat_id, "still here").await.expect(200);
    });
}

#[test]
fn disconnected_bot_loses_its_chats_with_the_next_message() {
    run_on_own_host(&[], async |host| {
        let fixture = BotFixture::create(host).await;
        fixture.send_visitor_text(VISITOR_ID, "Hello").await;
        fixture.agent.client.delete(&format!("/admin/bots/{}", fixture.bot.bot_id)).await.expect(200);
        // Wait until all queues are empty, so that killing the functions does not lose a task.
        host.assert_queues_drain().await;
        // The functions cache the bot for ten seconds. Killing their processes clears that cache.
        host.kill_processes(|function| ["channel-receive-message", "deliver-bot"].contains(&function)).await;
        fixture.channel.send_text(VISITOR_ID, "Anybody?").await;
        fixture.wait_until_waiting(1, WAIT_TIMEOUT).await;
        fixture.channel.send_text("new visitor", "Hello").await;
        fixture.wait_until_waiting(2, WAIT_TIMEOUT).await;
        assert_eq!(fixture.attempts("CLIENT_MESSAGE").len(), 1);
    });
}

#[test]
fn killed_bot_deliveries_lose_no_message() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create(host).await;
        let kill_loop = async {
            let mut ticks = interval(Duration::from_millis(80));
            loop {
                ticks.tick().await;
                let running = host.local.processes();
                if let Some((_, pid)) = running.iter().find(|(function, _)| function == "deliver-bot") {
                    kill(*pid, "-9");
                }
            }
        };
        tokio::select! {
            () = send_visitor_messages(&fixture) => {}
            () = kill_loop => unreachable!("the loop never ends"),
        }
        let chats: BTreeSet<u64> =
            fixture.agent.chats("open").await.iter().map(|chat| number(&chat["chat_id"])).collect();
        assert_eq!(chats.len(), VISITORS);
        wait_for("the end of every delivery", WAIT_TIMEOUT, async || {
            // The queue redelivers the tasks, and the sweep runs every minute.
            time.run_until_queues_are_empty().await;
            time.advance(seconds(60));
            time.run_until_queues_are_empty().await;
            let open = join_all(chats.iter().map(|chat| undelivered_messages(&fixture, *chat))).await.concat();
            if open.is_empty() { Ok(()) } else { Err(open) }
        })
        .await;
        for request in fixture.attempts("CLIENT_MESSAGE") {
            assert!(chats.contains(&chat_number(&request.json())));
        }
    });
}

const VISITORS: usize = 12;

async fn send_visitor_messages(fixture: &BotFixture) {
    join_all((0..VISITORS).map(async |visitor| {
        for n in 0..10 {
            fixture.channel.send_text(&format!("visitor {visitor}"), &format!("message {n}")).await;
        }
    }))
    .await;
}

/// Returns the visitor's messages that neither reached the bot nor were handed over to the agents.
async fn undelivered_messages(fixture: &BotFixture, chat: u64) -> Vec<Value> {
    let is_handed_over = fixture.chat_state(chat).await == "waiting";
    let timeline = fixture.agent.timeline(chat).await;
    assert_eq!(timeline.iter().filter(|entry| entry["from"] == "visitor").count(), 10);
    let is_done = |entry: &Value| {
        let state = &entry["bot_delivery"]["state"];
        state == "delivered"
            || state == "superseded"
            || (is_handed_over && state == "failed")
            || (is_handed_over && entry["bot_delivery"].is_null())
    };
    timeline.into_iter().filter(|entry| !is_done(entry)).collect()
}
