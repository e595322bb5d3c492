//! Tests that requests still succeed while SQS rejects tasks. Once SQS works again, the sweep (the scheduled search for
//! overdue deliveries) delivers the stored entries.

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};

use crate::support::account_with_webhook::{add_webhook, event_names, ok_response};
use crate::support::api_client::number;
use crate::support::bot_fixture::{BotFixture, chat_number};
use crate::support::test_host::{TestHost, VISITOR_ID, open_accepted_chat, run_with_virtual_time};
use crate::support::test_receiver::{CannedResponse, TestReceiver};
use crate::support::wait::{WAIT_TIMEOUT, wait_for};

impl TestHost {
    /// Makes every pending delivery overdue, so that the next sweep adds it to its queue.
    async fn make_deliveries_overdue(&self) {
        let tables = self.tables();
        let pending = tables
            .scan()
            .table_name("Chats")
            .filter_expression("delivery.#state = :pending")
            .expression_attribute_names("#state", "state");
        let pending = pending.expression_attribute_values(":pending", AttributeValue::S("pending".into()));
        for item in pending.send().await.unwrap().items.unwrap() {
            let overdue = tables.update_item().table_name("Chats");
            let overdue = overdue.key("pk", item["pk"].clone()).key("sk", item["sk"].clone());
            let overdue = overdue.update_expression("SET due_at = :zero");
            overdue.expression_attribute_values(":zero", AttributeValue::N("0".into())).send().await.unwrap();
        }
    }
}

fn undelivered(timeline: &[Value]) -> Vec<Value> {
    let kinds = ["delivery", "bot_delivery", "webhook_delivery"];
    let states = timeline.iter().flat_map(|entry| kinds.map(|kind| entry[kind]["state"].clone()));
    states.filter(|state| !state.is_null() && state != "delivered").collect()
}

#[test]
fn requests_succeed_and_are_delivered_after_an_sqs_outage() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create(host).await;
        let (account, admin) = (&fixture.account, &fixture.agent);
        let webhook_receiver = TestReceiver::start(ok_response()).await;
        add_webhook(account, &webhook_receiver, json!({})).await;
        let plain_integrator =
            TestReceiver::start_sequence([CannedResponse::error(7, "not now"), CannedResponse::ok()]).await;
        let plain = account.create_channel(&plain_integrator.url()).await;
        let [bot_chat, chat_to_message] = [1, 2];
        fixture.send_visitor_text(VISITOR_ID, "Hello").await;
        assert_eq!(open_accepted_chat(admin, &plain, "message").await, chat_to_message);
        let failed = admin.send_text(chat_to_message, "fails once").await;
        assert_eq!(admin.final_delivery(chat_to_message, failed).await["state"], "failed");
        let chat_to_close = open_accepted_chat(admin, &plain, "close").await;
        plain.send_text("accept", "Hello").await;
        let chat_to_accept = chat_to_close + 1;
        let chat_to_hand_over = chat_number(&fixture.send_visitor_text("hand over", "Agent!").await);

        time.run_until_queues_are_empty().await;
        assert_eq!(event_names(&webhook_receiver), ["chat_accepted", "chat_accepted"]);
        host.local.set_sqs_outage(true);
        let chat_id_text = |chat: u64| json!(chat.to_string());
        let path = |chat: u64, action: &str| format!("/agent/chats/{chat}/{action}");
        let message = json!({"type": "text", "text": "from the agent"});
        let (write, accept, close) =
            (path(chat_to_message, "messages"), path(chat_to_accept, "accept"), path(chat_to_close, "close"));
        let retry = path(chat_to_message, &format!("messages/{failed}/retry"));
        let (empty, name) = (json!({}), json!({"name": "Ada"}));
        let visitor = format!("/agent/visitors/{}", admin.chat(chat_to_message).await["visitor"]["number"]);
        let (bot_chat_id, chat_to_hand_over_id) = (chat_id_text(bot_chat), chat_id_text(chat_to_hand_over));
        let replies = futures_util::join!(
            async {
                fixture.channel.send_text(VISITOR_ID, "from the visitor").await;
                fixture.bot.send_text(&bot_chat_id, "from the bot").await.expect(200)
            },
            async { fixture.bot.invite_agent(&chat_to_hand_over_id).await.expect(200) },
            async { admin.client.post(&write, &message).await.expect(201) },
            async { admin.client.post(&retry, &empty).await.expect(202) },
            async { admin.client.post(&accept, &empty).await.expect(200) },
            async { admin.client.post(&close, &empty).await.expect(200) },
            async { admin.client.patch(&visitor, &name).await.expect(200) },
        );
        assert_eq!(number(&replies.2["seq"]), failed + 1);
        assert_eq!(plain_integrator.texts(), ["fails once"], "nothing was queued");
        assert_eq!((fixture.integrator.texts().len(), webhook_receiver.requests().len()), (0, 2));

        host.local.set_sqs_outage(false);
        let chats = [bot_chat, chat_to_hand_over, chat_to_message, chat_to_accept, chat_to_close];
        wait_for("everything is delivered", WAIT_TIMEOUT, async || {
            host.make_deliveries_overdue().await;
            host.local.run_schedule("schedule-requeue-deliveries").await.expect("the sweep runs");
            time.run_until_queues_are_empty().await;
            let mut undelivered_states = Vec::new();
            for chat in chats {
                undelivered_states.extend(undelivered(&admin.timeline(chat).await));
            }
            if undelivered_states.is_empty() { Ok(()) } else { Err(undelivered_states) }
        })
        .await;
        assert_eq!(fixture.integrator.texts(), ["from the bot"]);
        let mut texts = plain_integrator.texts();
        texts.sort_unstable();
        assert_eq!(texts, ["fails once", "fails once", "from the agent"]);
        let mut events = event_names(&webhook_receiver);
        events.sort_unstable();
        assert_eq!(events, ["chat_accepted", "chat_accepted", "chat_accepted", "chat_finished", "chat_updated"]);
        let bot_events: Vec<Value> =
            fixture.provider.requests().iter().map(|request| request.json()["event"].clone()).collect();
        let count = |kind: &str| bot_events.iter().filter(|event| *event == kind).count();
        assert_eq!((count("CLIENT_MESSAGE"), count("AGENT_UNAVAILABLE")), (3, 1), "{bot_events:?}");
    });
}

#[test]
fn sweep_gives_a_bots_chat_to_the_agents_in_a_long_outage() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create(host).await;
        let webhook = TestReceiver::start(ok_response()).await;
        add_webhook(&fixture.account, &webhook, json!({"events": ["bot_handed_over"]})).await;
        host.local.set_sqs_outage(true);
        fixture.channel.send_text(VISITOR_ID, "Hello").await;
        wait_for("the handover", WAIT_TIMEOUT, async || {
            host.make_deliveries_overdue().await;
            // The sweep reports that it could not queue the message.
            let _ = host.local.run_schedule("schedule-requeue-deliveries").await;
            let state = fixture.agent.chat(1).await["state"].clone();
            if state == "waiting" { Ok(()) } else { Err(state) }
        })
        .await;
        host.local.set_sqs_outage(false);
        wait_for("the event", WAIT_TIMEOUT, async || {
            host.make_deliveries_overdue().await;
            host.local.run_schedule("schedule-requeue-deliveries").await.expect("the sweep runs");
            time.run_until_queues_are_empty().await;
            let events = event_names(&webhook);
            if events == ["bot_handed_over"] { Ok(()) } else { Err(events) }
        })
        .await;
    });
}
