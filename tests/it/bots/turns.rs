//! Tests of turns: a bot gets what a visitor writes in a row as one event, and does not answer a visitor who has
//! written since.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::bot_fixture::BotFixture;
use crate::support::test_host::{VISITOR_ID, run_on_shared_host, run_with_virtual_time};
use crate::support::test_receiver::CannedResponse;
use crate::support::virtual_time::VirtualTime;
use crate::support::wait::seconds;

/// The texts of an event's messages, and the number of the last one.
fn turn_of(event: &Value) -> (Vec<&str>, &Value) {
    let messages = event["messages"].as_array().expect("messages");
    assert_eq!(messages.last().expect("a message")["seq"], event["up_to_seq"]);
    (messages.iter().map(|message| message["text"].as_str().expect("a text")).collect(), &event["up_to_seq"])
}

impl BotFixture {
    /// Sends texts, and lets time pass after each of them.
    async fn send_texts(&self, time: &VirtualTime<'_>, texts: &[&str], pause: Duration) {
        for text in texts {
            self.channel.send_text(VISITOR_ID, text).await;
            time.wait_until_idle().await;
            time.advance(pause);
        }
    }

    async fn send_notice(&self, kind: &str) {
        self.channel.post(&json!({"sender": {"id": VISITOR_ID}, "message": {"type": kind}})).await.expect(200);
    }

    fn client_messages(&self) -> Vec<Value> {
        self.attempts("CLIENT_MESSAGE").iter().map(|request| request.json()).collect()
    }
}

#[test]
fn burst_is_one_event() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create_with(host, json!({}), json!({"quiet_ms": 3_000})).await;
        let texts = ["Hi", "I have", "a question", "about", "my order"];
        fixture.send_texts(time, &texts, seconds(1)).await;
        time.wait_until_idle().await;
        assert_eq!(fixture.client_messages(), [] as [Value; 0], "the visitor has been quiet for one second");
        time.run_until_queues_are_empty().await;
        let events = fixture.client_messages();
        assert_eq!(events.len(), 1, "{events:?}");
        assert_eq!(turn_of(&events[0]), (texts.to_vec(), &json!(5)));
        assert_eq!(events[0]["message"]["text"], texts.join("\n"));

        let states: Vec<_> =
            fixture.agent.timeline(1).await.iter().map(|entry| entry["bot_delivery"]["state"].clone()).collect();
        assert_eq!(states, ["superseded", "superseded", "superseded", "superseded", "delivered"]);

        fixture.send_texts(time, &["Hello?"], Duration::ZERO).await;
        time.run_until_queues_are_empty().await;
        assert_eq!(turn_of(&fixture.client_messages()[1]), (vec!["Hello?"], &json!(6)), "the next turn");
    });
}

#[test]
fn visitor_who_goes_on_is_answered_after_the_longest_turn() {
    run_with_virtual_time(async |host, time| {
        let settings = json!({"quiet_ms": 2_000, "quiet_max_ms": 6_000});
        let fixture = BotFixture::create_with(host, json!({}), settings).await;
        let texts: Vec<String> = (0..12).map(|n| format!("Word {n}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        fixture.send_texts(time, &texts, seconds(1)).await;
        time.run_until_queues_are_empty().await;
        let events = fixture.client_messages();
        assert!((2..=4).contains(&events.len()), "{} events", events.len());
        let sent: Vec<&str> = events.iter().flat_map(|event| turn_of(event).0).collect();
        assert_eq!(sent, texts, "each message is in one event, in order");
    });
}

#[test]
fn visitor_who_types_is_not_quiet() {
    run_with_virtual_time(async |host, time| {
        let settings = json!({"quiet_ms": 1_000, "quiet_max_ms": 20_000});
        let fixture = BotFixture::create_with(host, json!({}), settings).await;
        fixture.send_texts(time, &["Hi"], Duration::ZERO).await;
        fixture.send_notice("typein").await;
        for _ in 0..5 {
            time.advance(seconds(1));
            time.wait_until_idle().await;
        }
        assert_eq!(fixture.client_messages(), [] as [Value; 0]);
        fixture.send_notice("typeout").await;
        time.run_until_queues_are_empty().await;
        assert_eq!(fixture.client_messages().len(), 1);

        fixture.send_texts(time, &["Well"], Duration::ZERO).await;
        fixture.send_notice("typein").await;
        time.run_until_queues_are_empty().await;
        assert_eq!(fixture.client_messages().len(), 2, "a visitor who does not stop typing is answered, too");
    });
}

#[test]
fn failed_event_of_a_turn_is_repeated_with_all_messages() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create_with(host, json!({}), json!({"quiet_ms": 1_000})).await;
        fixture.provider.respond_with(CannedResponse::Json(500, json!({})));
        fixture.agent.set_presence("online").await;
        fixture.send_texts(time, &["One", "Two"], Duration::ZERO).await;
        time.run_until_queues_are_empty().await;
        let events = fixture.client_messages();
        assert_eq!(events.len(), 3, "attempts at 0, 3 and 6 seconds");
        for event in &events {
            assert_eq!(turn_of(event).0, ["One", "Two"]);
        }
        assert_eq!(fixture.agent.chat(1).await["state"], "waiting", "the agents get the chat");
    });
}

#[test]
fn without_quiet_time_each_message_is_an_event() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create(host).await;
        fixture.send_texts(time, &["One", "Two"], Duration::ZERO).await;
        let events = fixture.client_messages();
        let turns: Vec<_> = events.iter().map(turn_of).collect();
        assert_eq!(turns, [(vec!["One"], &json!(1)), (vec!["Two"], &json!(2))]);
    });
}

#[test]
fn answer_is_refused_if_the_visitor_has_written_since() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        fixture.agent.set_presence("online").await;
        let first = fixture.send_visitor_text(VISITOR_ID, "When do you open?").await;
        let second = fixture.send_visitor_text(VISITOR_ID, "On Sunday, I mean").await;
        let message = json!({"type": "TEXT", "text": "At nine"});
        let answer = |seq: &Value| json!({"event": "BOT_MESSAGE", "chat_id": first["chat_id"], "reply_to_seq": seq, "message": message});
        let invitation = |seq: &Value| json!({"event": "INVITE_AGENT", "chat_id": first["chat_id"], "reply_to_seq": seq, "text": "One moment"});
        for stale in [answer(&first["up_to_seq"]), invitation(&first["up_to_seq"])] {
            let refused = fixture.bot.post(&stale).await.expect(409);
            assert_eq!(refused["error"]["code"], "superseded");
            assert_eq!(turn_of(&refused), (vec!["On Sunday, I mean"], &second["up_to_seq"]));
            assert_eq!(refused["messages"], second["messages"]);
        }
        let texts: Vec<_> = fixture.agent.timeline(1).await.iter().map(|entry| entry["text"].clone()).collect();
        assert_eq!(texts, ["When do you open?", "On Sunday, I mean"], "nothing was stored");

        fixture.bot.post(&answer(&second["up_to_seq"])).await.expect(200);
        fixture.bot.post(&invitation(&json!("2"))).await.expect(200);
        assert_eq!(fixture.agent.chat(1).await["state"], "waiting");
        let activity = format!("/admin/bots/{}/activity", fixture.bot.bot_id);
        let counted = fixture.agent.client.get(&activity).await.expect(200);
        assert_eq!((&counted["superseded_answers"], &counted["answers"]), (&json!(2), &json!(1)));
        assert_eq!(counted["median_answer_ms"], counted["slowest_answer_ms"]);
        let invalid = fixture.bot.post(&answer(&json!("soon"))).await.expect(400);
        assert_eq!(invalid["error"]["field"], "reply_to_seq");
    });
}

#[test]
fn longest_turn_is_not_shorter_than_the_quiet_time() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let path = format!("/admin/bots/{}", fixture.bot.bot_id);
        let admin = &fixture.account.admin.client;
        let shown = admin.get(&path).await.expect(200);
        assert_eq!((&shown["quiet_ms"], &shown["quiet_max_ms"]), (&json!(0), &json!(15_000)));
        for (changes, field) in [
            (json!({"quiet_ms": 2_000, "quiet_max_ms": 1_000}), "quiet_max_ms"),
            (json!({"quiet_ms": 10_001}), "quiet_ms"),
            (json!({"quiet_max_ms": 999}), "quiet_max_ms"),
        ] {
            let refused = admin.patch(&path, &changes).await.expect(400);
            assert_eq!(refused["error"]["field"], field, "{changes}");
        }
        let changed = admin.patch(&path, &json!({"quiet_ms": 1_500})).await.expect(200);
        assert_eq!((&changed["quiet_ms"], &changed["quiet_max_ms"]), (&json!(1_500), &json!(15_000)));
    });
}
