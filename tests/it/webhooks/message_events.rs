//! Tests for the events about messages and visitors that a webhook must name, and for thin bodies.

use serde_json::{Value, json};

use crate::support::account_with_webhook::{WEBHOOKS_PATH, add_webhook, event_names, ok_response, wait_for_event};
use crate::support::api_client::{TestAgent, TestChannel, number};
use crate::support::bot_fixture::BotFixture;
use crate::support::test_host::{TestHost, VISITOR_ID, open_accepted_chat, run_on_shared_host, run_with_virtual_time};
use crate::support::test_receiver::{CannedResponse, TestReceiver};
use crate::support::virtual_time::VirtualTime;
use crate::support::wait::{WAIT_TIMEOUT, seconds, wait_for};

struct Conversation {
    agent: TestAgent,
    channel: TestChannel,
    integrator: TestReceiver,
    webhook: TestReceiver,
}

impl Conversation {
    /// Creates an account with a webhook that names these events, and an agent who is online.
    async fn create(host: &TestHost, events: &[&str], channel: Value) -> Self {
        let (integrator, webhook) =
            (TestReceiver::start(CannedResponse::ok()).await, TestReceiver::start(ok_response()).await);
        let account = host.create_account().await;
        add_webhook(&account, &webhook, json!({"events": events})).await;
        let agent = account.create_agent("Ann").await;
        let channel = account.create_channel_with(&integrator.url(), channel).await;
        Self { agent, channel, integrator, webhook }
    }

    async fn open(&self) -> u64 {
        open_accepted_chat(&self.agent, &self.channel, VISITOR_ID).await
    }

    async fn bodies(&self, count: usize) -> Vec<Value> {
        wait_for("events", WAIT_TIMEOUT, async || {
            let bodies: Vec<Value> = self.webhook.requests().iter().map(|request| request.json()).collect();
            if bodies.len() >= count { Ok(bodies) } else { Err(bodies) }
        })
        .await
    }
}

#[test]
fn messages_of_both_sides_are_reported_once_each() {
    run_on_shared_host(async |host| {
        let chat = Conversation::create(host, &["message"], json!({})).await;
        let number_of_chat = chat.open().await;
        chat.channel.send_text(VISITOR_ID, "Is it open?").await;
        let sent = chat.agent.send_text(number_of_chat, "Until six.").await;
        let bodies = chat.bodies(3).await;
        let said: Vec<_> = bodies.iter().map(|body| (&body["message"]["type"], &body["message"]["message"])).collect();
        let (visitor, agent) = (json!("visitor"), json!("agent"));
        let texts = [json!("Hello"), json!("Is it open?"), json!("Until six.")];
        assert_eq!(said, [(&visitor, &texts[0]), (&visitor, &texts[1]), (&agent, &texts[2])]);
        let last = &bodies[2];
        let stored = chat.agent.timeline_entry(number_of_chat, sent).await;
        assert_eq!((number(&last["message"]["seq"]), &last["message"]["id"]), (sent, &stored["id"]));
        assert!(number(&last["seq"]) > sent, "the event has a number of its own");
        assert_eq!((&last["agent"]["id"], &bodies[1]["agent"]), (&chat.agent.id, &Value::Null));
        assert_eq!(chat.agent.final_delivery(number_of_chat, sent).await["state"], "delivered");
    });
}

#[test]
fn messages_of_a_bot_and_its_last_words_are_reported() {
    run_on_shared_host(async |host| {
        let webhook = TestReceiver::start(ok_response()).await;
        let bot = BotFixture::create(host).await;
        add_webhook(&bot.account, &webhook, json!({"events": ["message"]})).await;
        let event = bot.send_visitor_text(VISITOR_ID, "Hello").await;
        let chat_id = &event["chat_id"];
        bot.bot.send_text(chat_id, "I am a bot.").await.expect(200);
        let close = json!({"event": "CLOSE_CHAT", "chat_id": chat_id, "text": "Bye!"});
        bot.bot.post(&close).await.expect(200);
        let bodies = wait_for("events", WAIT_TIMEOUT, async || {
            let bodies: Vec<Value> = webhook.requests().iter().map(|request| request.json()).collect();
            if bodies.len() == 3 { Ok(bodies) } else { Err(bodies) }
        })
        .await;
        let said: Vec<_> = bodies.iter().map(|body| &body["message"]["message"]).collect();
        assert_eq!(said, ["Hello", "I am a bot.", "Bye!"]);
        assert_eq!(bodies[1]["message"]["agent_id"], 0, "as in chat_finished");
    });
}

#[test]
fn failed_and_late_deliveries_are_reported_once() {
    run_with_virtual_time(async |host, time| {
        let events = ["delivery_failed", "delivered_late"];
        let chat = Conversation::create(host, &events, json!({"late_delivery": true})).await;
        let number_of_chat = chat.open().await;
        chat.integrator.respond_with(CannedResponse::Json(503, json!({})));
        let sent = chat.agent.send_text(number_of_chat, "Are you there?").await;
        time.run_until_queues_are_empty().await;
        assert_eq!(event_names(&chat.webhook), ["delivery_failed"]);
        chat.agent.close(number_of_chat).await;
        chat.integrator.respond_with(CannedResponse::ok());
        for _ in 0..3 {
            time.advance(seconds(60));
            host.local.run_schedule("schedule-requeue-deliveries").await.expect("the sweep runs");
            time.run_until_queues_are_empty().await;
        }
        assert_eq!(event_names(&chat.webhook), ["delivery_failed", "delivered_late"], "also in a closed chat");
        let bodies = chat.bodies(2).await;
        assert!(bodies.iter().all(|body| number(&body["message"]["seq"]) == sent));
        assert!(bodies[0]["message"]["reason"].is_string(), "{}", bodies[0]);
        assert_eq!(bodies[1]["message"]["reason"], Value::Null);
        assert_eq!(bodies[1]["agent"]["id"], chat.agent.id);
    });
}

#[test]
fn rejected_message_and_its_replay_are_reported() {
    run_on_shared_host(async |host| {
        let chat = Conversation::create(host, &["delivery_failed", "delivered_late"], json!({})).await;
        let number_of_chat = chat.open().await;
        chat.integrator.respond_with(CannedResponse::Json(400, json!({"error": "unknown recipient"})));
        let sent = chat.agent.send_text(number_of_chat, "Hi").await;
        wait_for_event(&chat.webhook, "delivery_failed").await;
        assert_eq!(chat.agent.final_delivery(number_of_chat, sent).await["state"], "failed");
        chat.integrator.respond_with(CannedResponse::ok());
        let retry = format!("/agent/chats/{number_of_chat}/messages/{sent}/retry");
        chat.agent.client.post(&retry, &json!({})).await.expect(202);
        wait_for_event(&chat.webhook, "delivered_late").await;
        assert_eq!(event_names(&chat.webhook), ["delivery_failed", "delivered_late"]);
    });
}

#[test]
fn blacklisting_is_reported_also_after_the_chat() {
    run_on_shared_host(async |host| {
        let chat = Conversation::create(host, &["visitor_blacklisted"], json!({})).await;
        let number_of_chat = chat.open().await;
        chat.agent.close(number_of_chat).await;
        for blacklisted in [true, false, true, true] {
            let change = json!({"blacklisted": blacklisted});
            chat.agent.client.patch("/agent/visitors/1", &change).await.expect(200);
        }
        let bodies = chat.bodies(2).await;
        assert_eq!(bodies.len(), 2, "only when the visitor was not blacklisted before");
        assert_eq!((&bodies[0]["visitor"]["number"], &bodies[0]["agent"]["id"]), (&json!("1"), &chat.agent.id));
        assert_eq!(number(&bodies[0]["chat_id"]), number_of_chat);
    });
}

#[test]
fn thin_events_have_no_personal_data() {
    run_on_shared_host(async |host| {
        let webhook = TestReceiver::start(ok_response()).await;
        let account = host.create_account().await;
        let added =
            add_webhook(&account, &webhook, json!({"body": "thin", "events": ["message", "chat_finished"]})).await;
        assert_eq!(added["body"], "thin");
        let agent = account.create_agent("Ann").await;
        let channel = account.create_channel("https://app.example/hook").await;
        let chat = open_accepted_chat(&agent, &channel, VISITOR_ID).await;
        agent.close(chat).await;
        let finished = wait_for_event(&webhook, "chat_finished").await;
        let visitor = json!({"number": "1", "external_id": VISITOR_ID});
        let expected = json!({
            "event_name": "chat_finished", "widget_id": channel.id, "chat_id": chat, "visitor": visitor,
        });
        assert_eq!(finished, expected);
        let message = wait_for_event(&webhook, "message").await;
        assert_eq!((&message["message"]["message"], &message["visitor"]), (&Value::Null, &visitor));
        assert_eq!(number(&message["message"]["seq"]), 1);
    });
}

/// Runs the function that compares statuses once a minute.
async fn compare_statuses(host: &TestHost, time: &VirtualTime<'_>) {
    time.advance(seconds(60));
    host.local.run_schedule("schedule-requeue-deliveries").await.expect("the schedule runs");
    time.run_until_queues_are_empty().await;
}

#[test]
fn statuses_are_reported_once_a_minute_if_they_have_changed() {
    run_with_virtual_time(async |host, time| {
        let webhook = TestReceiver::start(ok_response()).await;
        let account = host.create_account().await;
        let agent = account.create_agent("Ann").await;
        let channel = account.create_channel_with("https://app.example/hook", json!({"agent_ids": [agent.id]})).await;
        let added = add_webhook(&account, &webhook, json!({"events": ["chat_ended"], "strict_order": true})).await;
        let path = format!("{WEBHOOKS_PATH}/{}", added["webhook_id"].as_str().unwrap());
        let events = json!({"events": ["agent_status_changed", "channel_status_changed"]});
        account.admin.client.patch(&path, &events).await.expect(200);
        compare_statuses(host, time).await;
        assert_eq!(event_names(&webhook), Vec::<String>::new(), "the first comparison reports nothing");
        agent.set_presence("online").await;
        compare_statuses(host, time).await;
        compare_statuses(host, time).await;
        // The time limit makes the agent offline, without any request.
        time.advance(seconds(11 * 60));
        compare_statuses(host, time).await;
        let bodies: Vec<Value> = webhook.requests().iter().map(|request| request.json()).collect();
        let seen: Vec<_> =
            bodies.iter().map(|body| (&body["event_name"], &body["status"], number(&body["seq"]))).collect();
        let (of_agent, of_channel) = (json!("agent_status_changed"), json!("channel_status_changed"));
        let (online, offline) = (json!("online"), json!("offline"));
        let expected =
            [(&of_agent, &online, 1), (&of_channel, &online, 2), (&of_agent, &offline, 3), (&of_channel, &offline, 4)];
        assert_eq!(seen, expected);
        assert_eq!((&bodies[0]["agent"]["id"], &bodies[1]["widget_id"]), (&agent.id, &json!(channel.id)));
        assert_eq!(bodies[1].get("agent"), None);
    });
}

#[test]
fn statuses_are_reported_again_after_a_new_subscription() {
    run_with_virtual_time(async |host, time| {
        let webhook = TestReceiver::start(ok_response()).await;
        let account = host.create_account().await;
        let agent = account.create_agent("Ann").await;
        let added = add_webhook(&account, &webhook, json!({"events": ["agent_status_changed"]})).await;
        let path = format!("{WEBHOOKS_PATH}/{}", added["webhook_id"].as_str().unwrap());
        let subscribe = async |event: &str| {
            account.admin.client.patch(&path, &json!({"events": [event]})).await.expect(200);
            compare_statuses(host, time).await;
            // A watch ends a minute after the last change of the webhook.
            time.advance(seconds(61));
            compare_statuses(host, time).await;
        };
        compare_statuses(host, time).await;
        agent.set_presence("online").await;
        compare_statuses(host, time).await;
        subscribe("chat_ended").await;
        agent.set_presence("away").await;
        compare_statuses(host, time).await;
        subscribe("agent_status_changed").await;
        agent.set_presence("online").await;
        compare_statuses(host, time).await;
        let bodies: Vec<Value> = webhook.requests().iter().map(|request| request.json()).collect();
        let seen: Vec<_> = bodies.iter().map(|body| (&body["status"], number(&body["seq"]))).collect();
        assert_eq!(seen, [(&json!("online"), 1), (&json!("online"), 2)]);
    });
}

#[test]
fn failed_event_of_the_account_can_be_sent_again() {
    run_with_virtual_time(async |host, time| {
        let webhook = TestReceiver::start(CannedResponse::Json(400, json!({}))).await;
        let account = host.create_account().await;
        let agent = account.create_agent("Ann").await;
        let events = json!({"events": ["agent_status_changed"], "late_delivery": false, "format": "cloudevents"});
        add_webhook(&account, &webhook, events).await;
        compare_statuses(host, time).await;
        agent.set_presence("online").await;
        compare_statuses(host, time).await;
        time.run_until_failure_is_shown().await;
        let admin = &account.admin.client;
        let log = admin.get("/admin/deliveries?state=failed").await.expect(200);
        let failed = &log["deliveries"][0];
        assert_eq!((number(&failed["chat_id"]), &failed["type"]), (0, &json!("agent_status_changed")), "{log}");
        webhook.respond_with(ok_response());
        let replay = json!({"chat_id": 0, "seq": failed["seq"]});
        admin.post("/admin/deliveries/replay", &replay).await.expect(202);
        time.run_until_queues_are_empty().await;
        let last = webhook.requests().pop().unwrap().json();
        assert_eq!((&last["source"], &last["data"]["status"]), (&json!("urn:switchboard:account"), &json!("online")));
        assert_eq!(admin.get("/agent/chats/0").await.status, 404, "it is not a chat");
    });
}
